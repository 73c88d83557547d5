"""Several services on one PostgreSQL: any of them answers, one leads, and another takes over when it is gone."""

import json
import time
import urllib.request
from contextlib import ExitStack, closing

import pytest
from service_process import ServiceProcess
from serving import SHOP, wait_until

from tacit.service.calls import Patience
from tacit.service.client import Client
from tacit.service.host import Host
from tacit.service.postgres import PostgresStore

pytestmark = pytest.mark.compiled
TAKEN_OVER_WITHIN = 30.0
"""Seconds: two or three on a machine that does nothing else."""


def leader_of(service):
    """Return the address of the leader as a service knows it, its own if it leads."""
    with urllib.request.urlopen(service.url + "/readyz", timeout=10) as response:
        return json.load(response).get("leader", service.url)


def visit(agent, told):
    """Play an episode and write down what was acknowledged."""
    episode = agent.begin("new")
    actions = [episode.act("start"), episode.act("cart")]
    episode.end("thanks")
    told.append((episode.id, actions))


def test_a_service_takes_over_when_the_leader_is_killed_and_nothing_is_lost(tmp_path, postgres_server):
    database, told = postgres_server.new_schema(), []
    with ExitStack() as stack:
        services = [ServiceProcess(tmp_path / str(n), database) for n in range(3)]
        for service in services:
            stack.callback(service.stop)
            service.start(wait=False)
        for service in services:
            service.wait()
        leader = next(service for service in services if leader_of(service) == service.url)
        others = [service for service in services if service is not leader]
        assert {leader_of(service) for service in others} == {leader.url}
        with ExitStack() as clients:
            agents = [
                clients.enter_context(Client(service.url, patience=Patience(tries=60))).agent("shop")
                for service in others
            ]
            agents[0].put(SHOP)
            for n in range(20):
                visit(agents[n % 2], told)
            under_way = [agent.begin("back") for agent in agents]
            firsts = [episode.act("start") for episode in under_way]
            leader.kill()
            killed = time.monotonic()
            for episode, first in zip(under_way, firsts, strict=True):  # they go on where they were
                told.append((episode.id, [first, episode.act("cart")]))
                episode.end("hm")
            assert time.monotonic() - killed < TAKEN_OVER_WITHIN
            for n in range(18):
                visit(agents[n % 2], told)
            wait_until(lambda: {leader_of(service) for service in others} <= {each.url for each in others})
            assert agents[1].status().ended == 40
    with closing(PostgresStore(database)) as store:
        host = Host(store.agents()[0], store)
        host.restore([])
        assert host.ended == 40
        for name, actions in told:
            assert [step.action for step in host.known(name).steps] == actions


def test_who_does_not_lead_cannot_write(postgres_server):
    database = postgres_server.new_schema()
    with closing(PostgresStore(database)) as first, closing(PostgresStore(database)) as second:
        assert first.try_lead("http://one")
        assert not second.try_lead("http://two")
        assert second.leader() == "http://one"
        first.stop_leading()
        assert second.try_lead("http://two")
        assert first.leader() == "http://two"

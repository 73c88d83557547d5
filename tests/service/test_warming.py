"""How a service opens: health at once, readiness when kernels and journal are there, and what if they never are."""

import os
import sys
import threading
import time

import pytest
from service_process import ServiceProcess
from starlette.testclient import TestClient

from tacit.agent import Agent
from tacit.service import warming
from tacit.service.journal import StoreError
from tacit.service.serving import JOURNAL, TURN, _taking_turns, make_service
from tacit.service.sqlite import SqliteStore
from tacit.service.warming import open_beside


def until(holds):
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it took too long")


def test_a_service_says_what_it_waits_for_and_then_answers(tmp_path, monkeypatch):
    warm, given_up = threading.Event(), []
    monkeypatch.setattr(warming, "warm_kernels", warm.wait)
    service = make_service(SqliteStore(tmp_path / JOURNAL), opening=open_beside(given_up.append))
    with TestClient(service) as client:
        assert client.get("/healthz").status_code == 200
        until(lambda: "kernels" in client.get("/readyz").text)
        refused = client.post("/v1/agents/shop/episodes", json={"context": 1})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        warm.set()
        until(lambda: client.get("/readyz").status_code == 200)
        assert client.get("/v1/agents").json() == {"agents": []}
    assert given_up == []


def test_a_service_that_is_stopped_before_it_is_ready_stops(tmp_path, monkeypatch):
    warm = threading.Event()
    monkeypatch.setattr(warming, "warm_kernels", warm.wait)
    with TestClient(
        make_service(SqliteStore(tmp_path / JOURNAL), opening=open_beside(pytest.fail))
    ) as client:
        assert client.get("/readyz").status_code == 503
    warm.set()
    SqliteStore(tmp_path / JOURNAL).close()  # it was let go of


def test_a_service_that_cannot_be_opened_gives_up_and_says_why(tmp_path, monkeypatch):
    given_up = []
    store = SqliteStore(tmp_path / JOURNAL)

    def broken():
        raise StoreError("the file is damaged")

    monkeypatch.setattr(store, "agents", broken)
    with TestClient(make_service(store, opening=open_beside(given_up.append))):
        until(lambda: given_up)
    assert str(given_up[0]) == "the file is damaged"


@pytest.mark.compiled
def test_a_process_answers_health_before_it_is_ready(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", os.fspath(tmp_path / "kernels"))  # nothing is compiled yet
    service = ServiceProcess(tmp_path)
    service.start(wait=False)
    try:
        until(lambda: service.status("/healthz") == 200)
        assert service.status("/readyz") == 503
    finally:
        service.stop()


def test_agents_that_count_and_agents_of_vectors_find_their_kernels_ready(monkeypatch):
    played = []

    class Watched(Agent):
        def end(self, episode, feedback):
            super().end(episode, feedback)
            played.append(self.stage.name)

    monkeypatch.setattr(warming, "Agent", Watched)
    warming.warm_kernels()
    assert set(played) == {"fast learning", "generalising"}


def test_threads_of_a_service_take_short_turns_and_no_others():
    before = sys.getswitchinterval()
    with _taking_turns():
        assert sys.getswitchinterval() == pytest.approx(TURN)
    assert sys.getswitchinterval() == before > TURN

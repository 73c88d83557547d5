"""A service for tests: an application in this process, over a real journal, and what clients say to it."""

import threading
import time
from contextlib import contextmanager

import msgspec
from starlette.testclient import TestClient

from tacit.service.host import Host
from tacit.service.serving import JOURNAL, listen, make_server, make_service
from tacit.service.sqlite import SqliteStore

SHOP = {
    "layout": {
        "states": [["start"], ["cart", "list"]],
        "actions": ["ask", "show", "offer"],
        "contexts": ["new", "back"],
        "feedback": ["thanks", "hm"],
    },
    "seed": 7,
}


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


class Caller:
    """A client of one agent."""

    def __init__(self, client, name="shop"):
        self.client, self.base = client, f"/v1/agents/{name}"

    @property
    def host(self):
        return self.client.app.state.house.hosts[self.base.rpartition("/")[2]]

    def put(self, description):
        return self.client.put(self.base, json=description)

    def post(self, path, **body):
        return self.client.post(self.base + path, content=msgspec.json.encode(body))

    def begin(self, context, **more):
        return self.post("/episodes", context=context, **more)

    def act(self, episode, step, state, **more):
        return self.post(f"/episodes/{episode}/actions", step=step, state=state, **more)

    def hear(self, episode, feedback, **more):
        return self.post(f"/episodes/{episode}/feedback", feedback=feedback, **more)

    def play(self, context, states, feedback, **more):
        """Return the actions of a whole episode."""
        name = self.begin(context, **more).json()["episode"]
        actions = [self.act(name, n, state).json()["action"] for n, state in enumerate(states, 1)]
        assert self.hear(name, feedback).status_code == 200
        return actions


@contextmanager
def serving(folder, clock=None, store=None):
    """Give a client of a service whose journal is in a folder."""
    store = store if store is not None else SqliteStore(folder / JOURNAL)
    service = make_service(store, clock) if clock is not None else make_service(store)
    with TestClient(service, raise_server_exceptions=False) as client:
        yield client


@contextmanager
def shop(folder, clock=None, store=None):
    """Give the caller of an agent in a shop."""
    with serving(folder, clock, store) as client:
        caller = Caller(client)
        assert caller.put(SHOP).status_code in (200, 201)
        yield caller


def refusal(response):
    error = response.json()["error"]
    return response.status_code, error["code"], error.get("field")


def rebuilt(folder, name="shop"):
    """Return the agent that the journal alone makes, from its first event on."""
    store = SqliteStore(folder / JOURNAL)
    try:
        row = next(row for row in store.agents() if row.name == name)
        host = Host(row, store)
        host.restore([])
        return host.snapshot()()
    finally:
        store.close()


def wait_until(holds):
    for _ in range(300):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it took too long")


@contextmanager
def listening(folder, wrap=lambda service: service, port=0, options=None, store=None):
    """Give the address of a service that listens on this machine, in a thread, and the service itself."""
    store = store if store is not None else SqliteStore(folder / JOURNAL)
    service = make_service(store, options=options)
    with listen("127.0.0.1", port) as (socket, address):
        server = make_server(service, options)
        server.config.app = wrap(service)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield address, service
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()

"""Services that are killed at any moment under load: what was acknowledged is there afterwards, and there once.

TACIT_ATTACK scales the number of kills, as it does for tests/attack: 40 makes 200 kills of each store.
"""

import os
import random
import threading
import time
from collections import Counter
from contextlib import closing, contextmanager
from urllib.request import urlopen

import msgspec
import pytest
from service_process import StandbyService
from serving import SHOP
from store_places import PostgresPlace
from store_places import SqlitePlace as FilePlace

from tacit.service.calls import AgentCalls, Call, EpisodeCalls
from tacit.service.client import Client, Patience, ServiceError
from tacit.service.host import Host
from tacit.service.journal import JournalEvent
from tacit.service.serving import JOURNAL
from tacit.service.sqlite import SqliteStore

KILLS = round(5 * float(os.environ.get("TACIT_ATTACK", "1")))
OF_ONE = 20
"""Kills of one journal: every one of them replays it from its first event."""
VISITORS = 5
LONGEST = 0.5
"""Seconds that a service lives, once its visitors are back."""
ONCE = Patience(tries=1)

pytestmark = pytest.mark.compiled


class SqlitePlace(FilePlace):
    """The journal of a service in a folder."""

    def __init__(self, folder):
        self.address = None
        self._path = folder / JOURNAL

    def open(self):
        return SqliteStore(self._path)


@pytest.fixture(params=["sqlite", "postgres"])
def make_place(request):
    if request.param == "sqlite":
        return SqlitePlace
    server = request.getfixturevalue("postgres_server")
    return lambda folder: PostgresPlace(server)


class Over(Exception):  # noqa: N818, no error
    """The test ends."""


class Crowd:
    """Visitors in threads: they write down what was acknowledged, and say again what was not."""

    def __init__(self, url, seed):
        self._url, self._seed = url, seed
        self.told = {}
        """Acknowledged answers, by (episode, kind, step)."""
        self.repeated = 0
        self.faults = []
        self._up, self._over = threading.Event(), threading.Event()
        self._parked = threading.Semaphore(0)
        self._threads = [threading.Thread(target=self._visit, args=(n,)) for n in range(VISITORS)]

    def start(self):
        for thread in self._threads:
            thread.start()

    def let_in(self):
        self._up.set()

    def shut(self):
        """Let nobody try again; those who are in do not notice."""
        self._up.clear()

    def wait_until_parked(self):
        """Wait until everybody has noticed that the service is gone."""
        for _ in self._threads:
            assert self._parked.acquire(timeout=60), "somebody still waits for an answer"

    def end(self):
        self._over.set()
        self._up.set()
        for thread in self._threads:
            thread.join()

    def _visit(self, number):
        chance, count = random.Random(1_000 * self._seed + number), 0
        self._park()
        try:
            with Client(self._url, patience=ONCE, timeout=60) as client:
                while not self._over.is_set():
                    count += 1
                    self._play(client, f"v{number}-{count}", chance)
        except Over:
            return
        except Exception as error:  # a defect: the test must see it
            self.faults.append(error)
            self._parked.release()

    def _play(self, client, name, chance):
        agent = AgentCalls("shop")
        episode = EpisodeCalls(agent, name)
        self._say(client, (name, "begin", 0), agent.begin(chance.choice(["new", "back"]), name))
        for state in ("start", chance.choice(["cart", "list"])):
            call = episode.act(state)
            episode.acted(self._say(client, (name, "act", episode.steps + 1), call))
            if chance.random() < 0.05:
                self._say(client, (name, "abandon", 0), episode.abandon())
                return
        self._say(client, (name, "end", 0), episode.end(chance.choice(["thanks", "hm", None])))

    def _say(self, client, key, call):
        while True:
            try:
                answer = client.do(call)
            except ServiceError as error:
                if error.status not in (0, 503):
                    raise
                if self._over.is_set():
                    raise Over from None
                self.repeated += 1
                self._park()
            else:
                self.told[key] = msgspec.to_builtins(answer)
                return answer

    def _park(self):
        self._parked.release()
        self._up.wait()


def read_journal(store):
    """Return the agent's host from its first event, the one from its snapshot, and its events."""
    (row,) = store.agents()
    first, latest = Host(row, store), Host(row, store)
    first.restore([])
    latest.restore(store.load_snapshots(row.number))
    return first, latest, list(store.read(row.number))


def check_journal(events, told):
    """Raise unless all that was acknowledged is in the journal, as it was answered, and nothing is there twice."""
    found = {}
    for event in events:
        body = msgspec.json.decode(event.body)
        key = (event.episode, event.kind, body.get("step", 0))
        assert key not in found, f"{key} is there twice"
        found[key] = body
    endings = Counter(episode for episode, kind, _ in found if kind in ("end", "abandon"))
    assert not [episode for episode, times in endings.items() if times > 1]
    for key, answer in told.items():
        assert key in found, f"{key} was acknowledged, and is lost"
        if key[1] == "act":
            body = found[key]
            assert (body["action"], body["probability"]) == (answer["action"], answer["probability"])


@contextmanager
def attacked(folder, make_place, seed):
    place = make_place(folder)
    service = StandbyService(folder, place.address)
    crowd = Crowd(service.url, seed)
    try:
        service.start()
        with Client(service.url) as client:
            client.agent("shop").put(SHOP)
        crowd.start()
        yield place, service, crowd
    finally:
        crowd.end()
        service.stop()


def attack(folder, make_place, seed, kills):
    """Return how many answers were acknowledged and how many requests said again, over so many kills of one journal."""
    chance = random.Random(seed)
    with attacked(folder, make_place, seed) as (place, service, crowd):
        crowd.wait_until_parked()
        for _ in range(kills):
            crowd.let_in()
            time.sleep(chance.uniform(0.02, LONGEST))
            crowd.shut()
            service.kill()
            crowd.wait_until_parked()
            place.wait_for_others()
            with closing(place.open()) as store:
                first, latest, events = read_journal(store)
            assert first.snapshot()() == latest.snapshot()()
            check_journal(events, crowd.told)
            service.start()
            with Client(service.url) as client:
                known = client.do(Call("GET", "/v1/agents/shop", dict))
            with urlopen(f"{service.url}/v1/agents/shop/checkpoint") as response:
                served = response.read()
            assert served == first.agent.still().pack()
            assert (known["begun"], known["ended"]) == (first.agent.next_episode, first.ended)
            assert not crowd.faults
    return len(crowd.told), crowd.repeated


def test_nothing_acknowledged_is_lost_and_nothing_is_done_twice(tmp_path, make_place, record_property):
    acknowledged = repeated = 0
    for round_ in range(-(-KILLS // OF_ONE)):
        folder = tmp_path / str(round_)
        folder.mkdir()
        told, again = attack(folder, make_place, round_, min(OF_ONE, KILLS - OF_ONE * round_))
        acknowledged, repeated = acknowledged + told, repeated + again
    record_property("campaign", f"{KILLS} kills, {acknowledged} answers acknowledged, {repeated} said again")
    assert acknowledged > 5 * KILLS  # it was under load, on a slow machine, too


def test_control_losses_and_repeats_are_noticed():
    def event(kind, **body):
        return JournalEvent(1, "e", kind, msgspec.json.encode(body), 0.0)

    chosen = {"action": "ask", "probability": 0.5, "step": 1}
    kept = [event("begin"), event("act", **chosen), event("end")]
    check_journal(kept, {("e", "act", 1): chosen, ("e", "end", 0): {}})
    with pytest.raises(AssertionError, match="lost"):
        check_journal(kept[:2], {("e", "end", 0): {}})
    with pytest.raises(AssertionError, match="twice"):
        check_journal([*kept, kept[1]], {})
    with pytest.raises(AssertionError):
        check_journal([*kept, event("abandon")], {})
    with pytest.raises(AssertionError):
        check_journal(kept, {("e", "act", 1): chosen | {"action": "show"}})

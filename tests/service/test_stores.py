"""Stores: the same contract for both, under threads and kills; nothing acknowledged is lost or there twice."""

import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest
from store_places import PostgresPlace, SqlitePlace, numbered, numbers_of

from tacit.service.journal import JournalEvent, Snapshot, StoreError
from tacit.service.migrating import list_migrations
from tacit.service.paging import PAGE


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    if request.param == "sqlite":
        return SqlitePlace(tmp_path)
    return PostgresPlace(request.getfixturevalue("postgres_server"))


@pytest.fixture
def store(place):
    with closing(place.open()) as store:
        yield store


@pytest.fixture
def agent(store):
    return store.create_agent("shop", b'{"horizon": 2}', 1.5).number


def test_events_come_back_in_order_at_their_positions(store, agent):
    other = store.create_agent("bank", b"{}", 2.0).number
    events = [
        JournalEvent(agent, "e1", "begin", b'{"x": 1}', 1.25),
        JournalEvent(other, "e1", "begin", b"{}", 2.25),
        JournalEvent(agent, None, "fit", b"\x00\xff", 1.5),
        JournalEvent(agent, "caf\u00e9", "begin", b"", 0.5),
    ]
    positions = store.append(events[:3]) + store.append(events[3:])
    assert positions == sorted(set(positions))
    placed = [event._replace(position=position) for event, position in zip(events, positions, strict=True)]
    assert list(store.read(agent)) == [placed[0], *placed[2:]]
    assert list(store.read(other)) == [placed[1]]
    assert list(store.read(agent, after=positions[0])) == placed[2:]
    assert list(store.read(agent, limit=2)) == [placed[0], placed[2]]
    assert list(store.read(agent, limit=0)) == []
    assert (store.last_position(agent), store.last_position(other)) == (positions[3], positions[1])


def test_positions_follow_on_each_other_where_nobody_else_appends(store, agent):
    positions = store.append(numbered(agent, range(3))) + store.append(numbered(agent, range(2)))
    assert positions == list(range(positions[0], positions[0] + 5))


def test_nothing_appended_is_nothing_written(store, agent):
    assert store.append([]) == []
    assert store.last_position(agent) == 0


def test_all_of_a_group_is_written_or_none(store, agent):
    bad = JournalEvent(agent + 99, "e", "act", b"1", 1.0)
    with pytest.raises(StoreError, match="breaks a rule of the tables"):
        store.append([*numbered(agent, [0]), bad, *numbered(agent, [2])])
    with pytest.raises(StoreError):
        store.append([*numbered(agent, [3]), JournalEvent(agent, "\ud800", "act", b"4", 1.0)])
    assert list(store.read(agent)) == []
    store.append(numbered(agent, [5]))
    assert numbers_of(store.read(agent)) == [5]


def test_thousands_of_events_are_read_page_by_page(store, agent):
    many = 3 * PAGE
    store.append(numbered(agent, range(many)))
    assert numbers_of(store.read(agent)) == list(range(many))
    assert numbers_of(store.read(agent, limit=PAGE + 1)) == list(range(PAGE + 1))
    reading = store.read(agent)
    assert next(reading).body == b"0"
    store.append(numbered(agent, [many]))  # nothing is held open between pages
    assert numbers_of(reading) == list(range(1, many + 1))


def test_what_is_appended_meanwhile_is_read_once_and_in_order(store, agent):
    """Two append to one agent, and a third follows: were positions not in the order of commits, it would miss some."""
    groups, seen, last = 40, [], 0

    def append(first):
        for group in range(groups):
            store.append(numbered(agent, range(first + 5 * group, first + 5 * group + 5)))

    threads = [threading.Thread(target=append, args=[first]) for first in (0, 1000)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads) or store.last_position(agent) > last:
        for event in store.read(agent, after=last):
            assert event.position > last
            last = event.position
            seen.append(int(event.body))
    assert [n for n in seen if n < 1000] == list(range(5 * groups))
    assert [n for n in seen if n >= 1000] == list(range(1000, 1000 + 5 * groups))
    assert all(seen[i] + 4 == seen[i + 4] for i in range(0, len(seen), 5)), "groups stay together"


def test_an_episode_is_read_by_its_name_and_an_unknown_one_is_empty(store, agent):
    store.append([*numbered(agent, [1, 2], "a"), *numbered(agent, [3], "b"), *numbered(agent, [4], "a")])
    assert numbers_of(store.read_episode(agent, "a")) == [1, 2, 4]
    assert store.read_episode(agent, "c") == []
    assert store.read_episode(agent + 1, "a") == []


def test_agents_are_listed_by_name_and_a_name_is_that_of_one(store, agent):
    store.create_agent("Shop", b"{}", 2.0)
    row = store.create_agent("bank", b"{}", 3.0)
    with pytest.raises(ValueError, match="'shop' is taken"):
        store.create_agent("shop", b"{}", 4.0)
    assert [each.name for each in store.agents()] == ["Shop", "bank", "shop"]
    assert store.agents()[1] == row
    assert store.agents()[2] == (agent, "shop", b'{"horizon": 2}', 1.5)


def test_a_deleted_agent_leaves_its_name_and_keeps_its_events_to_itself(store, agent, place):
    store.append(numbered(agent, [1]))
    store.save_snapshot(agent, Snapshot(1, b"s"))
    store.delete_agent(agent, 5.0)
    store.delete_agent(agent, 6.0)
    assert (store.agents(), list(store.read(agent)), store.read_episode(agent, "e")) == ([], [], [])
    assert (store.load_snapshots(agent), store.last_position(agent)) == ([], 0)
    again = store.create_agent("shop", b"{}", 7.0)
    assert again.number != agent
    assert list(store.read(again.number)) == []
    assert place.run("SELECT count(*) FROM events")[0][0] == 1
    assert place.run("SELECT deleted FROM agents WHERE deleted IS NOT NULL") == [(5.0,)]


def test_the_last_two_snapshots_are_kept(store, agent):
    assert store.load_snapshots(agent) == []
    for position in (3, 5, 9):
        store.save_snapshot(agent, Snapshot(position, b"at %d" % position))
    store.save_snapshot(agent, Snapshot(9, b"again"))
    assert store.load_snapshots(agent) == [Snapshot(9, b"again"), Snapshot(5, b"at 5")]


def test_everything_is_there_when_it_is_opened_again(place):
    with closing(place.open()) as store:
        agent = store.create_agent("shop", b"{}", 1.0).number
        last = store.append(numbered(agent, range(10)))[-1]
        store.save_snapshot(agent, Snapshot(last, b"s"))
    with closing(place.open()) as store:
        assert numbers_of(store.read(agent)) == list(range(10))
        assert store.load_snapshots(agent) == [Snapshot(last, b"s")]
        assert store.append(numbered(agent, [10]))[0] > last
    assert len(place.run("SELECT number, name, applied FROM migrations")) == len(list_migrations(place.kind))


def test_a_store_that_is_closed_says_so(place):
    store = place.open()
    store.close()
    store.close()
    for call in (
        store.agents,
        store.check,
        lambda: list(store.read(1)),
        lambda: store.append(numbered(1, [1])),
    ):
        with pytest.raises(StoreError, match="was closed"):
            call()


def test_a_check_reads_and_writes(store, place):
    store.check()
    store.check()
    assert len(place.run("SELECT at FROM pulse")) == 1


def test_a_database_that_is_newer_than_the_program_is_refused(place):
    place.open().close()
    place.run("INSERT INTO migrations VALUES (9999, 'later', 'tomorrow')")
    with pytest.raises(StoreError, match="at migration 9999 and this program knows"):
        place.open()
    place.run("DELETE FROM migrations WHERE number = 9999")
    place.open().close()


APPENDING = """
import sys
from store_places import numbered, open_store
store = open_store(*sys.argv[1:3])
agent, number = int(sys.argv[3]), int(sys.argv[4])
while True:
    positions = store.append(numbered(agent, range(number, number + 3)))
    print(positions[-1], number + 3, flush=True)
    number += 3
"""


def append_until_killed(place, agent, first, seconds):
    """Let a process append threes, kill it some time after its first, and return what it said of each."""
    command = [sys.executable, "-c", APPENDING, place.kind, place.address, str(agent), str(first)]
    paths = {"PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=paths) as process:
        lines = [process.stdout.readline()]
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.readlines()
    return [tuple(map(int, line.split())) for line in lines if line.endswith("\n")]


def test_what_was_acknowledged_survives_a_kill_and_nothing_is_there_twice(place):
    draws = random.Random(13)
    with closing(place.open()) as store:
        agent = store.create_agent("shop", b"{}", 1.0).number
    written = 0
    for _ in range(10 if place.kind == "sqlite" else 5):
        said = append_until_killed(place, agent, written, draws.uniform(0.0, 0.05))
        place.wait_for_others()
        with closing(place.open()) as store:
            events = list(store.read(agent))
        found = numbers_of(events)
        assert found == list(range(len(found))), "nothing is missing, nothing is there twice"
        assert len(found) % 3 == 0, "groups are whole"
        assert said[-1][1] <= len(found) <= said[-1][1] + 3
        assert events[said[-1][1] - 1].position == said[-1][0]
        written = len(found)
    assert written > 30

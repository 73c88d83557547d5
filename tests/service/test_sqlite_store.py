"""The store in a file: one service at a time, full disks, damage, locks of other programs."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from store_places import SqlitePlace, numbered, numbers_of

from tacit.service import sqlite
from tacit.service.journal import StoreError


@pytest.fixture
def place(tmp_path):
    return SqlitePlace(tmp_path)


@pytest.fixture
def store(place):
    with closing(place.open()) as store:
        yield store


def test_two_services_on_one_file_are_refused(place, store):
    with pytest.raises(StoreError, match=r"one service at a time .* process \d+ has .* stop that one"):
        place.open()
    program = f"from tacit.service.sqlite import SqliteStore; SqliteStore({place.address!r})"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert "one service at a time" in done.stderr
    store.close()
    place.open().close()


def test_positions_are_the_next_ones_even_after_a_group_was_undone(store):
    agent = store.create_agent("shop", b"{}", 1.0).number
    assert store.append(numbered(agent, range(2))) == [1, 2]
    with pytest.raises(StoreError):
        store.append([*numbered(agent, [2]), *numbered(agent + 1, [3])])
    assert store.append(numbered(agent, [2])) == [3]


def test_a_full_disk_is_told_and_it_goes_on_when_there_is_room(store):
    agent = store.create_agent("shop", b"{}", 1.0).number
    store.append(numbered(agent, range(10)))
    (pages,) = store._writer.execute("PRAGMA page_count").fetchone()
    store._writer.execute(f"PRAGMA max_page_count = {pages + 2}")
    written = 10

    def fill():
        nonlocal written
        while written < 10_000:
            store.append(numbered(agent, range(written, written + 50)))
            written += 50

    with pytest.raises(StoreError, match=r"disk is full.*make room"):
        fill()
    with pytest.raises(StoreError, match="disk is full"):
        store.append(numbered(agent, range(written, written + 1000)))
    assert numbers_of(store.read(agent)) == list(range(written))
    store._writer.execute("PRAGMA max_page_count = 1000000")
    store.append(numbered(agent, range(written, written + 50)))
    assert numbers_of(store.read(agent)) == list(range(written + 50))


def test_a_damaged_file_is_told(place, tmp_path):
    with closing(place.open()) as store:
        agent = store.create_agent("shop", b"{}", 1.0).number
        store.append(numbered(agent, range(5000)))
    path = tmp_path / "tacit.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(StoreError, match="damaged"), closing(place.open()) as store:
        list(store.read(agent))
    path.write_bytes(b"no database at all, " * 1000)
    with pytest.raises(StoreError, match="is no database, or is damaged"):
        place.open()
    path.write_bytes(whole)
    with closing(place.open()) as store:
        assert len(list(store.read(agent))) == 5000


def test_a_lock_of_another_program_is_waited_for_and_then_told(place, monkeypatch):
    monkeypatch.setattr(sqlite, "PATIENCE", 0.1)
    with closing(place.open()) as store:
        agent = store.create_agent("shop", b"{}", 1.0).number
        with closing(sqlite3.connect(place.address, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="another program holds a lock"):
                store.append(numbered(agent, [1]))
            with pytest.raises(StoreError, match="another program holds a lock"):
                store.check()
            assert store.agents(), "reading goes on"
            other.execute("ROLLBACK")
        store.append(numbered(agent, [1]))
        assert numbers_of(store.read(agent)) == [1]


def test_a_file_that_may_not_be_written_is_told(store):
    store._writer.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreError, match="may not be written"):
        store.check()


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(StoreError, match="the folder must exist"):
        SqlitePlace(tmp_path / "nowhere").open()


def test_commits_are_on_disk_when_they_return(store):
    settings = [
        store._writer.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
    ]
    assert settings == ["wal", 2]
    with store._readers.lend() as reader, pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("DELETE FROM events")


@pytest.mark.parametrize(
    ("where", "index"),
    [("agent = 1 AND position > 5 ORDER BY position LIMIT 9", "events_by_agent (agent=? AND rowid>?)"),
     ("agent = 1 AND episode = 'e' ORDER BY position", "events_by_episode (agent=? AND episode=?)")],
)  # fmt: skip
def test_events_are_found_by_an_index_and_need_no_sorting(store, place, where, index):
    (row,) = place.run(f"EXPLAIN QUERY PLAN SELECT body FROM events WHERE {where}")
    assert index in row[-1]

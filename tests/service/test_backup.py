"""Backups: one moment of a journal that is being written, put back bit for bit; nothing is overwritten."""

import sqlite3
import threading
from contextlib import closing

import pytest
from operating import Running
from serving import SHOP, shop
from typer.testing import CliRunner

from tacit.cli.main import app
from tacit.service.backup import back_up, restore
from tacit.service.host import Host
from tacit.service.serving import JOURNAL
from tacit.service.sqlite import SqliteStore

TABLES = ("agents", "events", "snapshots", "migrations")


def rows(path, table, last=None):
    where = "" if last is None else f" WHERE position <= {last}"
    with closing(sqlite3.connect(path)) as opened:
        return opened.execute(f"SELECT * FROM {table}{where} ORDER BY 1, 2").fetchall()


def replayed(folder, last=None):
    """Return the agent that the first events of a journal make."""
    with closing(SqliteStore(folder / JOURNAL)) as store:
        (row,) = store.agents()
        host = Host(row, store)
        for event in store.read(row.number):
            if last is None or event.position <= last:
                host.replay(event)
        return host.snapshot()()


class Visitors(threading.Thread):
    """Plays episodes until it is told to stop; `done` are those whose feedback was acknowledged."""

    def __init__(self, running, name):
        super().__init__()
        self.running, self.name, self.done, self.over = running, name, [], threading.Event()

    def run(self):
        base, n = "/v1/agents/shop", 0
        with closing(self.running.connect()) as connection:

            def post(path, body):
                return self.running.ask("POST", base + path, body, connection)[0]

            while not self.over.is_set():
                name, n = f"{self.name}-{n}", n + 1
                assert post("/decide", {"context": "new", "state": "start", "id": name}) == 201
                assert post(f"/episodes/{name}/actions", {"step": 2, "state": "cart"}) == 200
                assert post(f"/episodes/{name}/feedback", {"feedback": ("hm", None)[n % 2]}) == 200
                self.done.append(name)


def test_a_copy_of_a_journal_that_is_being_written_is_one_moment_of_it(tmp_path):
    data, copies = tmp_path / "data", []
    data.mkdir()
    running = Running(data)
    try:
        assert running.ask("PUT", "/v1/agents/shop", SHOP)[0] == 201
        visitors = [Visitors(running, f"v{n}") for n in range(3)]
        for each in visitors:
            each.start()
        for n in range(4):
            while len(visitors[0].done) < 15 * (n + 1):
                assert visitors[0].is_alive()
                visitors[0].over.wait(0.01)
            acknowledged = [name for each in visitors for name in each.done]
            copies.append((back_up(data, tmp_path / f"{n}.sqlite", 0.0), acknowledged))
        for each in visitors:
            each.over.set()
            each.join()
    finally:
        assert running.stop() == 0
    seen = set()
    for copy, acknowledged in copies:
        events = rows(copy, "events")
        last = events[-1][0]
        seen.add(last)
        assert events == rows(data / JOURNAL, "events", last)  # the same, from the first to the last
        assert set(acknowledged) <= {row[2] for row in events if row[3] == "end"}
        again = tmp_path / f"again-{last}"
        assert restore(copy, again).read_bytes() == copy.read_bytes()
        assert replayed(again) == replayed(data, last)
    assert len(seen) == 4  # it was being written


def test_a_service_goes_on_from_a_copy(tmp_path):
    with shop(tmp_path) as caller:
        for _ in range(5):
            caller.play("new", ["start", "cart"], "hm")
        caller.begin("new", id="half")
        half = caller.act("half", 1, "start").json()
        copy = back_up(tmp_path, tmp_path / "copy.sqlite", 0.0)
        before = caller.host.snapshot()()
    restore(copy, tmp_path / "other")
    with shop(tmp_path / "other") as caller:
        assert caller.host.snapshot()() == before
        assert caller.act("half", 1, "start").json() == half
    for table in TABLES[:2]:
        assert rows(tmp_path / "other" / JOURNAL, table) == rows(copy, table)


def test_a_copy_is_one_file_of_its_owners_named_by_the_time_in_a_folder(tmp_path):
    with shop(tmp_path) as caller:
        caller.begin("new")
    (tmp_path / "copies").mkdir()
    made = back_up(tmp_path, tmp_path / "copies", 0.0)
    assert made.name == "tacit-19700101T000000Z.sqlite"
    assert made.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in (tmp_path / "copies").iterdir()] == [made.name]
    assert {table: rows(made, table) for table in TABLES} == {
        table: rows(tmp_path / JOURNAL, table) for table in TABLES
    }


def test_nothing_is_overwritten(tmp_path):
    with shop(tmp_path) as caller:
        caller.begin("new")
    copy = back_up(tmp_path, tmp_path / "copy", 0.0)
    content = copy.read_bytes()
    with pytest.raises(ValueError, match="nothing is overwritten"):
        back_up(tmp_path, copy, 0.0)
    with pytest.raises(ValueError, match="nothing is overwritten"):
        restore(copy, tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / f"{JOURNAL}-wal").touch()
    with pytest.raises(ValueError, match="nothing is overwritten"):
        restore(copy, tmp_path / "other")
    assert copy.read_bytes() == content


def test_what_is_no_journal_is_refused(tmp_path):
    with shop(tmp_path) as caller:
        caller.begin("new")
    copy = back_up(tmp_path, tmp_path / "copy", 0.0)
    content = copy.read_bytes()
    (tmp_path / "half").write_bytes(content[: len(content) // 2])
    (tmp_path / "text").write_text("hello")
    sqlite3.connect(tmp_path / "empty").close()
    for name in ("half", "text", "empty", "none"):
        with pytest.raises(ValueError, match="backup"):
            restore(tmp_path / name, tmp_path / "new")
    assert not (tmp_path / "new" / JOURNAL).exists()
    with pytest.raises(ValueError, match=r"holds journal\.sqlite"):
        back_up(tmp_path / "nowhere", tmp_path / "c", 0.0)


def test_the_commands(tmp_path):
    (tmp_path / "data").mkdir()
    with shop(tmp_path / "data") as caller:
        caller.begin("new")
    runner, copy = CliRunner(), tmp_path / "copy.sqlite"
    assert runner.invoke(app, ["backup", str(copy), "--data", str(tmp_path / "data")]).exit_code == 0
    back = ["restore", str(copy), "--data", str(tmp_path / "new")]
    assert runner.invoke(app, back).exit_code == 0
    assert (tmp_path / "new" / JOURNAL).read_bytes() == copy.read_bytes()
    again = runner.invoke(app, back)
    assert (again.exit_code, "nothing is overwritten" in again.output) == (1, True)


def test_a_folder_that_is_not_there_yet_is_made(tmp_path):
    with shop(tmp_path):
        made = back_up(tmp_path, tmp_path / "copies" / "daily", 0.0)
    assert made == tmp_path / "copies" / "daily" / "tacit-19700101T000000Z.sqlite"
    assert made.is_file()
    assert back_up(tmp_path, tmp_path / "one.sqlite", 0.0) == tmp_path / "one.sqlite"

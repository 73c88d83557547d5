"""The store in PostgreSQL: servers that go away, commits whose answer is lost, and who leads."""

import re
import subprocess
import sys
import threading
import time
from contextlib import closing

import psycopg
import pytest
from cut_line import CutLine
from store_places import PostgresPlace, numbered, numbers_of

from tacit.service import outcomes
from tacit.service.connecting import DEFAULTS
from tacit.service.election import LEADING
from tacit.service.journal import StoreError
from tacit.service.postgres import PostgresStore

SOON = 10.0
"""Seconds in which a server notices that a process has died."""


@pytest.fixture
def place(postgres_server):
    return PostgresPlace(postgres_server)


@pytest.fixture
def store(place):
    with closing(place.open()) as store:
        yield store


@pytest.fixture
def agent(store):
    return store.create_agent("shop", b"{}", 1.0).number


@pytest.fixture
def line(postgres_server):
    with closing(CutLine(postgres_server.folder)) as line:
        yield line


@pytest.fixture
def far_store(place, line):
    """A store at the other end of the line."""
    with closing(PostgresStore(re.sub("host=[^&]*", f"host={line.folder}", place.address))) as store:
        yield store


def test_a_server_that_was_away_costs_the_calls_made_meanwhile(postgres_server, store, agent):
    store.append(numbered(agent, [0]))
    postgres_server.stop()
    for call in (store.agents, store.check, lambda: store.append(numbered(agent, [1]))):
        with pytest.raises(StoreError, match=r"cannot be reached .*: see that it runs"):
            call()
    postgres_server.start()
    store.append(numbered(agent, [2]))
    assert numbers_of(store.read(agent)) == [0, 2]


def test_a_server_that_was_away_while_nobody_asked_costs_nothing(postgres_server, store, agent):
    store.append(numbered(agent, [0]))
    postgres_server.stop()
    postgres_server.start()
    store.append(numbered(agent, [1]))
    assert numbers_of(store.read(agent)) == [0, 1]


def test_a_crash_under_load_loses_nothing_acknowledged_and_repeats_nothing(postgres_server, store, agent):
    said, failed, done = [], [], threading.Event()

    def append():
        number = 0
        while not done.is_set():
            try:
                store.append(numbered(agent, [number, number + 1]))
                said.append(number)
            except StoreError:
                failed.append(number)
                time.sleep(0.02)
            number += 2

    thread = threading.Thread(target=append)
    thread.start()
    for _ in range(2):
        time.sleep(0.2)
        postgres_server.stop("immediate")
        postgres_server.start()
    time.sleep(0.3)
    done.set()
    thread.join()
    expected = [number for first in said for number in (first, first + 1)]
    assert numbers_of(store.read(agent)) == expected, "each outcome was found out, for the server came back"
    assert len(said) > 20
    assert failed


@pytest.mark.parametrize("cut", ["before", "after"])
def test_a_commit_whose_answer_is_lost_is_found_out(line, store, agent, far_store, cut):
    far_store.append(numbered(agent, [0]))
    line.cut = cut
    if cut == "after":
        (position,) = far_store.append(numbered(agent, [1]))
        assert position == store.last_position(agent)
    else:
        with pytest.raises(StoreError):
            far_store.append(numbered(agent, [1]))
    assert line.cuts == 1
    far_store.append(numbered(agent, [2]))
    assert numbers_of(store.read(agent)) == ([0, 1, 2] if cut == "after" else [0, 2])


@pytest.mark.parametrize("cut", ["before", "after"])
def test_nothing_is_read_or_written_until_the_outcome_is_known(
    line, store, agent, far_store, cut, monkeypatch
):
    monkeypatch.setattr(outcomes, "PATIENCE", 0.3)
    far_store.append(numbered(agent, [0]))
    line.cut, line.shut = cut, True
    with pytest.raises(StoreError, match="whether it was carried out is not known"):
        far_store.append(numbered(agent, [1]))
    for call in (far_store.agents, lambda: far_store.append(numbered(agent, [2]))):
        with pytest.raises(StoreError, match="does not say yet whether"):
            call()
    line.shut = False
    known = [0, 1] if cut == "after" else [0]
    assert soon(lambda: answers(far_store))
    assert numbers_of(far_store.read(agent)) == known
    far_store.append(numbered(agent, [3]))
    assert numbers_of(store.read(agent)) == [*known, 3]


def test_one_leads_and_when_it_stops_the_other_does(place, store):
    with closing(place.open()) as other:
        assert (store.leads(), store.try_lead(), store.try_lead(), store.leads()) == (False, True, True, True)
        assert (other.try_lead(), other.leads()) == (False, False)
        store.stop_leading()
        assert (store.leads(), other.try_lead(), other.leads(), store.try_lead()) == (
            False,
            True,
            True,
            False,
        )
        other.close()
        assert soon(store.try_lead)


def test_services_in_other_schemas_of_a_database_have_leaders_of_their_own(postgres_server, store):
    with closing(PostgresPlace(postgres_server).open()) as other:
        assert (store.try_lead(), other.try_lead()) == (True, True)


LEADER = """
import sys, time
from tacit.service.postgres import PostgresStore
store = PostgresStore(sys.argv[1])
print(store.try_lead(), flush=True)
time.sleep(600)
"""


def answers(store):
    try:
        store.check()
    except StoreError:
        return False
    return True


def soon(call):
    until = time.monotonic() + SOON
    while not call():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def test_when_the_leader_is_killed_another_leads(place, store):
    command = [sys.executable, "-c", LEADER, place.address]
    paths = {"PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=paths) as leader:
        assert leader.stdout.readline() == "True\n"
        assert not store.try_lead()
        leader.kill()
    assert soon(store.try_lead)


def test_the_lead_ends_with_the_server_and_can_be_taken_again(postgres_server, store):
    assert store.try_lead()
    postgres_server.stop()
    assert not store.leads()
    with pytest.raises(StoreError, match="cannot be reached"):
        store.try_lead()
    postgres_server.start()
    assert (store.leads(), store.try_lead(), store.leads()) == (False, True, True)


def test_a_leader_that_was_cut_off_and_does_not_know_it_appends_nothing(place, store, agent):
    assert store.try_lead()
    store.append(numbered(agent, [0]))
    place.run(
        f"SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = {LEADING}"
    )
    with closing(place.open()) as other:
        assert soon(other.try_lead)
        other.append(numbered(agent, [1]))
        with pytest.raises(StoreError, match="led in term 1 of 2; nothing was written"):
            store.append(numbered(agent, [2]))
        with pytest.raises(StoreError, match="only the service that leads may append"):
            store.append(numbered(agent, [2]))
        assert not store.leads()
        assert numbers_of(store.read(agent)) == [0, 1]


def test_a_server_that_is_only_read_is_told(place):
    with pytest.raises(StoreError, match="read-only"):
        PostgresStore(place.address + "%20-cdefault_transaction_read_only%3Don")
    with pytest.raises(StoreError, match="may only be read, and nothing was written"):
        PostgresStore(place.address + "%20-cdefault_transaction_read_only%3Don&target_session_attrs=any")


@pytest.mark.parametrize("address", ["postgresql://u:secret@[half/x", "host=a secret"])
def test_an_address_that_is_none_is_refused_and_not_shown(address):
    with pytest.raises(StoreError, match="must be like postgresql://") as refused:
        PostgresStore(address)
    assert "secret" not in str(refused.value)


def test_a_password_is_never_shown(tmp_path):
    with pytest.raises(StoreError, match=r"tacit on /.*cannot be reached") as refused:
        PostgresStore(f"postgresql://me:secret@/tacit?host={tmp_path}")
    assert "secret" not in str(refused.value)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install 'tacit\[serve\]'"):
        PostgresStore("postgresql://localhost/tacit")


def test_a_commit_is_on_disk_even_where_the_server_would_not_wait(place):
    address = place.address + "%20-csynchronous_commit%3Doff"
    with psycopg.connect(address) as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("off",)
    with closing(PostgresStore(address)) as store, store._connections.lend() as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
        assert connection.info.get_parameters()["application_name"] == DEFAULTS["application_name"]


def test_services_that_start_at_once_make_the_tables_once(place):
    opened, threads = [], []
    for _ in range(4):
        threads.append(threading.Thread(target=lambda: opened.append(place.open())))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 4
    for store in opened:
        store.close()

"""Ray gives what the other engines give, and no other machine can reach it."""

import ipaddress
import os
import socket
import sys
from pathlib import Path

import psutil
import pytest
import ray
from engine_work import Recorder, RefusedError, make_picky, make_square

from tacit.engines.dealing import AHEAD, deal


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Let the engine begin Ray, as it does for users, once for all tests here; its workers find this directory."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", path)
        environment.delenv("RAY_ADDRESS", raising=False)
        ray.shutdown()  # another test may have begun one
        assert [done.result for done in on_ray([1], make_square)] == [1]
        yield
    ray.shutdown()


def on_ray(tasks, make_work, **options):
    return deal(tasks, make_work, engine="ray", **options)


def test_the_same_results_in_the_same_order():
    """Elsewhere, with one thread each."""
    tasks = [("sleep", 0.5), *(("task", n) for n in range(6))]
    *dealt, process, threads = on_ray([*tasks, ("process", 0), ("threads", 0)], make_picky)
    assert dealt == list(deal(tasks, make_picky, jobs=0))
    assert process.result != os.getpid()
    assert threads.result == ("1", "1")


def test_listener_and_look_ahead():
    read, listener = [], Recorder()
    dealt = on_ray((read.append(n) or n for n in range(1000)), make_square, listener=listener, jobs=2)
    assert [next(dealt).result for _ in range(3)] == [0, 1, 4]
    assert len(read) <= 3 + AHEAD * 2
    dealt.close()
    assert ("begun", 0) in listener.said
    assert ("ended", 0, False) in listener.said


def test_failures():
    with pytest.raises(RefusedError, match="not 2"):
        list(on_ray([("task", 1), ("refuse", 2)], make_picky))
    tasks = [("die", 7), ("lookup", 2), ("task", 3)]
    dead, failed, well = on_ray(tasks, make_picky, keep_going=True, jobs=1)
    assert "Ray lost it" in dead.failure.reason
    assert failed.failure.reason == "KeyError: 2"
    assert well.result == ("task", 3)


def connections(process):
    """Return name and connection of each that a process has, none if it has ended meanwhile."""
    try:
        return [(process.name(), found) for found in process.net_connections(kind="inet")]
    except (psutil.Error, FileNotFoundError):
        return []


def listening():
    """Return who of this process and those that it began listens on which address, that of the machine or any."""
    here = psutil.Process()
    return [
        (name, ipaddress.ip_address(found.laddr.ip))
        for process in (here, *here.children(recursive=True))
        for name, found in connections(process)
        if found.status == psutil.CONN_LISTEN or found.type == socket.SOCK_DGRAM
    ]


def within_reach(found):
    """Return those whom another machine could reach: all but the ones on the loopback interface."""
    return [(name, at) for name, at in found if not (getattr(at, "ipv4_mapped", None) or at).is_loopback]


def test_no_other_machine_reaches_a_ray_that_begins_here():
    dealt = on_ray([("task", 1), ("sleep", 60)], make_picky, jobs=2)
    next(dealt)  # now there are actors, which listen too
    found = listening()
    dealt.close()
    assert {"gcs_server", "raylet"} <= {name for name, _ in found}
    assert within_reach(found) == []


def test_control_a_socket_on_every_interface_is_found():
    with socket.create_server(("", 0)), socket.create_server(("127.0.0.1", 0)):
        assert [str(at) for _, at in within_reach(listening())] == ["0.0.0.0"]

"""Ray gives what the other engines give."""

import os
import sys
from pathlib import Path

import pytest
import ray
from engine_work import Recorder, RefusedError, make_picky, make_square

from tacit.engines.dealing import AHEAD, deal


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Begin Ray once for all tests here, with two processors that find this directory."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    found = {"env_vars": {"PYTHONPATH": path}}
    ray.shutdown()  # another test may have begun one
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False, runtime_env=found)
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
    dealt = on_ray((read.append(n) or n for n in range(1000)), make_square, listener=listener)
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

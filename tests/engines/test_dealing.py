"""Dealing tasks out: order, bounded look-ahead, failures, whoever performs them."""

import pickle
import sys

import pytest
from engine_work import Loader, Recorder, RefusedError, make_broken, make_picky, make_square

from tacit.engines.dealing import AHEAD, deal
from tacit.engines.task import failed

EVERYWHERE = pytest.mark.parametrize("where", [{"jobs": 0}, {"jobs": 1}], ids=["here", "process"])
TOGETHER = pytest.mark.parametrize("where", [{"jobs": 0}, {"jobs": 2}], ids=["here", "processes"])


def results(tasks, make_work, **options):
    return [done.result for done in deal(tasks, make_work, **options)]


@TOGETHER
def test_results_come_in_the_order_of_the_tasks(where):
    tasks = [("sleep", 0.3), ("task", 1), ("task", 2), ("task", 3)]
    assert results(tasks, make_picky, **where) == tasks
    assert results([], make_picky, **where) == []


@EVERYWHERE
def test_listener_hears_everything(where):
    listener = Recorder()
    assert results(range(3), make_square, listener=listener, **where) == [0, 1, 4]
    for n in range(3):
        heard = [said for said in listener.said if said[1] == n]
        assert heard == [("begun", n), ("advanced", n, n, "squaring"), ("ended", n, False)]
    assert listener.ticks > 0


def test_listener_hears_of_the_end_of_a_task_that_waits_for_an_earlier_one():
    listener = Recorder()
    first = next(deal([("sleep", 1.0), ("task", 1)], make_picky, listener=listener, jobs=2))
    assert first.task == ("sleep", 1.0)
    assert ("ended", ("task", 1), False) in listener.said


@pytest.mark.parametrize("jobs", [0, 2])
def test_tasks_are_read_as_they_are_needed(jobs):
    read = []
    dealt = deal((read.append(n) or n for n in range(10_000)), make_square, jobs=jobs)
    assert read == []
    for n in range(3):
        assert next(dealt).task == n
        assert len(read) <= n + 1 + AHEAD * max(jobs, 1)
    dealt.close()


def test_results_that_wait_for_a_slow_one_are_bounded():
    read = []
    tasks = [("sleep", 1.0), *(("task", n) for n in range(100))]
    dealt = deal((read.append(task) or task for task in tasks), make_picky, jobs=2)
    next(dealt)
    assert 2 < len(read) <= AHEAD * 2 + 2
    dealt.close()


@pytest.mark.parametrize("jobs", [0, 2])
def test_work_is_made_once_in_each_worker(jobs, tmp_path):
    assert results(range(20), Loader(str(tmp_path)), jobs=jobs) == [n * n for n in range(20)]
    assert 1 <= len(list(tmp_path.iterdir())) <= max(jobs, 1)


def test_only_as_many_workers_as_tasks(tmp_path):
    assert results([2], Loader(str(tmp_path)), jobs=8) == [4]
    assert len(list(tmp_path.iterdir())) == 1


@EVERYWHERE
@pytest.mark.parametrize(
    ("task", "kind", "words"),
    [
        (("refuse", 3), RefusedError, "not 3"),
        (("network", 0), ConnectionResetError, "the other side hung up"),
        (("lookup", "x"), RuntimeError, "a task failed: KeyError: 'x'"),
        (("stubborn", 1), RuntimeError, "a task failed: StubbornError: 1 and 1"),
    ],
)
def test_a_failure_is_raised_as_what_it_is(where, task, kind, words):
    with pytest.raises(kind) as caught:
        results([("task", 0), task, ("task", 1)], make_picky, **where)
    assert (type(caught.value), str(caught.value)) == (kind, words)
    assert "picky" in caught.value.__notes__[0]  # the traceback of the task


@TOGETHER
def test_the_first_failure_in_the_order_of_tasks_is_raised(where):
    dealt = deal([("task", 0), ("sleep", 0.3), ("refuse", 1), ("refuse", 2)], make_picky, **where)
    assert [next(dealt).task for _ in range(2)] == [("task", 0), ("sleep", 0.3)]
    with pytest.raises(RefusedError, match="not 1"):
        next(dealt)


@EVERYWHERE
def test_others_keep_going(where):
    tasks = [("refuse", 1), ("task", 2), ("lookup", 3), ("task", 4)]
    done = list(deal(tasks, make_picky, keep_going=True, **where))
    assert [each.task for each in done] == tasks
    assert [each.result for each in done] == [None, ("task", 2), None, ("task", 4)]
    reasons = [each.failure and each.failure.reason for each in done]
    assert reasons == ["RefusedError: not 1", None, "KeyError: 3", None]
    assert "Traceback" in done[0].failure.details


@EVERYWHERE
def test_work_that_cannot_be_made_fails_the_task(where):
    with pytest.raises(RefusedError, match="no model"):
        results([1, 2], make_broken, **where)
    done = list(deal([1, 2], make_broken, keep_going=True, **where))
    assert ["no model" in each.failure.reason for each in done] == [True, True]


@EVERYWHERE
def test_an_error_in_making_tasks_comes_after_the_tasks_before_it(where):
    def broken():
        yield from range(3)
        raise RefusedError("the file ends in the middle of a line")

    seen = []
    with pytest.raises(RefusedError, match="in the middle"):
        seen.extend(done.result for done in deal(broken(), make_square, **where))
    assert seen == [0, 1, 4]


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(ValueError, match="engine must be one of local, ray, got 'cluster'"):
        deal([1], make_square, engine="cluster")
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        deal([1], make_square, jobs=-1)
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        deal([1], make_square, engine="ray", jobs=0)


def test_a_missing_ray_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"install tacit\[ray\]"):
        deal([1], make_square, engine="ray")


def test_only_errors_that_travel_are_kept():
    assert pickle.loads(pickle.dumps(failed(RefusedError("a")))).error.args == ("a",)
    assert failed(KeyError("a")).error is None

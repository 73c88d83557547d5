"""Worker processes: they die alone, ignore Ctrl-C, and never outlive those who began them."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from engine_work import make_picky, make_square

from tacit.engines.dealing import deal

PROGRAM = """
import signal, sys
sys.path[:0] = {path!r}
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
from engine_work import make_picky
from tacit.engines.dealing import deal

class Announcer:
    def begun(self, task): print("begun", flush=True)
    def advanced(self, *progress): pass
    def ended(self, done): pass
    def tick(self): pass

if __name__ == "__main__":
    try:
        list(deal([("sleep", 60), ("sleep", 60)], make_picky, jobs=2, listener=Announcer()))
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.fixture
def busy(tmp_path):
    """Return a process group of its own in which two workers sleep."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(path=[path for path in sys.path if path]))
    process = subprocess.Popen(
        [sys.executable, str(program)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert [process.stdout.readline() for _ in range(2)] == ["begun\n", "begun\n"]
    yield process
    for child in [*children(process.pid), process]:
        child.kill()
    process.communicate()


def children(pid):
    return psutil.Process(pid).children(recursive=True) if psutil.pid_exists(pid) else []


def wait_for_end(processes, seconds=20.0):
    _, left = psutil.wait_procs(processes, timeout=seconds)
    assert left == []


def wait_until(true, seconds=20.0):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    assert true()


def test_an_interrupt_leaves_no_process(busy):
    workers = children(busy.pid)
    assert len(workers) >= 2
    os.killpg(busy.pid, signal.SIGINT)  # as a terminal does: everyone gets it
    assert busy.wait(20) == 130
    wait_for_end(workers)


def test_workers_end_when_the_parent_is_killed(busy):
    workers = children(busy.pid)
    time.sleep(1.0)  # so that they are at their task, of which they have nothing to report
    busy.kill()
    wait_for_end(workers)


def test_a_worker_that_dies_loses_only_its_task():
    tasks = [("die", 7), ("task", 1), ("task", 2)]
    first, *others = deal(tasks, make_picky, jobs=1, keep_going=True)
    assert "ended with code 7" in first.failure.reason
    assert [done.result for done in others] == [("task", 1), ("task", 2)]
    with pytest.raises(RuntimeError, match="ended with code 7"):
        list(deal(tasks, make_picky, jobs=1))


def test_a_killed_worker_is_told():
    dealt = deal([("process", 0), ("sleep", 60), ("task", 1)], make_picky, jobs=1, keep_going=True)
    os.kill(next(dealt).result, signal.SIGKILL)
    killed, last = dealt
    assert "ended with code -9" in killed.failure.reason
    assert last.result == ("task", 1)


def test_a_worker_killed_while_it_sends_is_told():
    """The pipe then ends within a message, of which nobody has read more than the pipe holds."""
    dealt = deal([("process", 0), ("array", 5_000_000), ("task", 1)], make_picky, jobs=1, keep_going=True)
    worker = psutil.Process(next(dealt).result)
    wait_until(lambda: worker.memory_info().rss > 2 * 8 * 5_000_000)  # the array and its pickle
    time.sleep(0.5)
    worker.kill()
    killed, last = dealt
    assert "ended with code -9" in killed.failure.reason
    assert last.result == ("task", 1)


def test_no_process_outlives_the_iterator():
    before = set(psutil.Process().children())
    dealt = deal([("process", 0), ("sleep", 60)], make_picky, jobs=2)
    worker = next(dealt).result
    assert psutil.pid_exists(worker)
    dealt.close()
    assert not psutil.pid_exists(worker)
    with pytest.raises(ValueError, match="not 1"):
        list(deal([("refuse", 1), ("sleep", 60)], make_picky, jobs=2))
    left = set(psutil.Process().children()) - before
    assert not [child for child in left if "resource_tracker" not in " ".join(child.cmdline())]


def test_workers_use_one_thread_and_the_environment_stays():
    before = dict(os.environ)
    assert [done.result for done in deal([("threads", 0)], make_picky, jobs=1)] == [("1", "1")]
    assert dict(os.environ) == before


def test_what_cannot_be_pickled_is_told():
    done = list(deal([("unpicklable", 0), ("task", 1)], make_picky, jobs=1, keep_going=True))
    assert "pickle" in done[0].failure.reason
    assert done[1].result == ("task", 1)


def test_large_results_come_whole():
    done = list(deal([("array", 1_000_000)] * 3, make_picky, jobs=2))
    assert all(np.array_equal(each.result["array"], np.arange(1_000_000)) for each in done)


def test_zero_jobs_stay_in_this_process():
    assert [done.result for done in deal([("process", 0)], make_picky, jobs=0)] == [os.getpid()]
    (elsewhere,) = (done.result for done in deal([("process", 0)], make_picky, jobs=1))
    assert elsewhere != os.getpid()


def test_every_core_is_used_unless_told():
    assert sum(done.result for done in deal(range(4), make_square)) == 14

"""Work in a process beside: a process that is killed costs the time, not the work."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool

import pytest
from dying import die

from tacit.base.beside import GIVE_WAY, Beside


def wait_for(beside):
    until = time.monotonic() + 60
    while not beside.done:
        assert time.monotonic() < until
        time.sleep(0.02)
    return beside.wait()


@pytest.fixture
def beside():
    made = Beside()
    yield made
    made.stop()


def test_a_task_whose_process_is_killed_is_begun_again(tmp_path, beside):
    beside.begin(die, tmp_path / "tries", 1)
    assert wait_for(beside) == 2
    beside.begin(die, tmp_path / "tries", 1)
    assert wait_for(beside) == 3


def test_it_is_not_begun_for_ever(tmp_path, beside):
    beside.begin(die, tmp_path / "tries", 100)
    with pytest.raises(BrokenProcessPool):
        wait_for(beside)
    assert len((tmp_path / "tries").read_text()) == 3


PROGRAM = """
import os, sys, time
from tacit.base.beside import Beside

if __name__ == "__main__":
    from dying import rest

    beside = Beside()
    beside.begin(rest, sys.argv[1], 300)
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.02)
    {end}
"""


@pytest.mark.parametrize("end", ["beside.stop()", "os.kill(os.getpid(), 9)"])
def test_a_task_under_way_ends_with_what_began_it(tmp_path, end):
    """By `stop`, and when the program is killed: it neither waits for the task nor leaves it behind."""
    told = tmp_path / "pid"
    (tmp_path / "program.py").write_text(PROGRAM.format(end=end))
    command = [sys.executable, str(tmp_path / "program.py"), str(told)]
    began = time.monotonic()
    ended = subprocess.run(command, timeout=120, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    assert ended.returncode == (0 if end == "beside.stop()" else -signal.SIGKILL)
    assert time.monotonic() - began < 60
    until = time.monotonic() + 20
    while is_alive(int(told.read_text())):
        assert time.monotonic() < until
        time.sleep(0.05)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_process_gives_way_and_no_more_with_every_task(beside):
    here = os.nice(0)
    for _ in range(2):
        beside.begin(os.nice, 0)
        assert beside.wait() == min(here + GIVE_WAY, 19)

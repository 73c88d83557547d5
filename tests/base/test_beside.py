"""Work in a process beside: a process that is killed costs the time, not the work."""

import time
from concurrent.futures.process import BrokenProcessPool

import pytest
from dying import die

from tacit.base.beside import Beside


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

"""The harness itself, on subjects that are deliberately broken: what it must find, and what it must let pass."""

import os
import signal
import time

import numpy as np
import pytest
from campaign import Broken, Campaign, Outcome, attack, drawn, isolated, listed, lost, verdict

from tacit.base.checkpoint import load_tree
from tacit.logs.record import find_fault
from tacit.problem.layout import Layout


def refuse_in_tacit(_):
    Layout.regular([], n_actions=2, n_contexts=1, n_feedback=2)


def fail_in_tacit(_):
    Layout.from_json(3)


def overflow_in_tacit(_):
    find_fault({"episode": 1, "context": Overflowing(a=1)})


class Overflowing(dict):
    def values(self):
        return [np.float64(1e308) * 10]


def lose(_):
    raise lost("all of it")


def sleep(_):
    time.sleep(5)


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        (lambda _: None, Outcome.SOUND),
        (refuse_in_tacit, Outcome.REFUSED),
        (lambda _: load_tree("/nowhere/at/all", "agent"), Outcome.REFUSED),
        (fail_in_tacit, Outcome.TRACEBACK),
        (overflow_in_tacit, Outcome.TRACEBACK),
        (lose, Outcome.LOSS),
        (sleep, Outcome.HANG),
    ],
)
def test_outcomes_are_told_apart(judge, expected):
    assert verdict(judge, None, 0.2)[0] is expected
    if expected in (Outcome.SOUND, Outcome.REFUSED):
        assert isolated(judge, 0.2)(None) is expected
    else:
        with pytest.raises(Broken) as found:
            isolated(judge, 0.2)(None)
        assert found.value.outcome is expected


def test_a_fault_of_a_campaign_is_not_a_fault_of_tacit():
    with pytest.raises(ZeroDivisionError):
        verdict(lambda _: 1 // 0, None, 1)


def test_a_process_that_dies_is_a_raw_error():
    with pytest.raises(Broken, match="died"):
        isolated(lambda _: os.kill(os.getpid(), signal.SIGKILL), 1)(None)


def test_a_campaign_fails_with_the_number_of_the_input_that_repeats_it():
    found = attack(
        "one of three", listed([("a", 1), ("b", 2), ("c", 3)]), lambda n: lose(n) if n == 2 else None
    )
    assert (found.counts[Outcome.SOUND], found.counts[Outcome.LOSS]) == (2, 1)
    with pytest.raises(AssertionError, match=r"\[1\] loss: b: all of it"):
        found.check()
    Campaign("nothing").check()


def test_equal_seeds_give_equal_inputs():
    numbers = [[make() for make in drawn(5, lambda chance: int(chance.integers(1000)))] for _ in range(2)]
    assert numbers[0] == numbers[1]
    assert len(set(numbers[0])) > 1

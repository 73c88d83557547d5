"""Our own tasks: the shape of the corpora's, from nothing but a seed."""

import pytest

from tacit.envs.corpora import SLOTS
from tacit.envs.ontology import VALUES, generate_tasks
from tacit.envs.phrasing import mentions

TASKS = generate_tasks(1000, seed=5)


def test_tasks_follow_from_seed_and_number_alone():
    assert generate_tasks(10, seed=5) == TASKS[:10]
    assert generate_tasks(10, seed=6) != TASKS[:10]
    assert len({task.id for task in TASKS}) == len(TASKS)


def test_tasks_have_the_shape_of_the_corpora():
    for task in TASKS:
        assert tuple(task.slots) == SLOTS[task.domain]
        assert all(value in VALUES[slot] for slot, value in task.slots.items())
        assert not task.confirms
    share = sum(task.domain == "restaurant" for task in TASKS) / len(TASKS)
    assert 0.75 < share < 0.85


def test_requests_say_what_is_given_and_only_that():
    for task in TASKS:
        assert all(mentions(task.request, slot, task.slots[slot]) for slot in task.given), task
        assert not any(mentions(task.request, slot, task.slots[slot]) for slot in task.asked), task
        assert task.request == task.request.lower().strip(" ,")


def test_requests_are_worded_in_many_ways():
    bare = {task.request for task in TASKS if not task.given}
    assert len(bare) > 60
    assert len({task.request for task in TASKS}) > 700


def test_all_values_are_used():
    for slot, values in VALUES.items():
        assert {task.slots[slot] for task in TASKS if slot in task.slots} == set(values)


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_a_number_of_tasks_is_a_whole_number_above_0(n):
    with pytest.raises(ValueError, match="the number of tasks must be a whole number above 0"):
        generate_tasks(n, seed=0)

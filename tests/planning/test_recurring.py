import copy

import numpy as np
import pytest
from reference import nats_apart

from tacit.base.changes import commit
from tacit.planning.recurring import APART, _nats_apart, find_apart, find_recurring
from tacit.planning.transition import TransitionCounts
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite

GO = ("go", "stay")


def pond(turns=4, ends="anywhere"):
    """Return a pond of two cells that are the same at every turn."""
    states = (("shore",), *(("shore", "ice"),) * (turns - 1))
    actions = ((GO,), *((GO, GO),) * (turns - 1))
    return Layout(states, actions, Finite(("me",)), Finite(("no", "yes")), ends=ends)


def walk(counts, episodes, generator, leads):
    """Learn from episodes in which "go" leads from the shore to the ice with chance `leads(turn)`."""
    for _ in range(episodes):
        states, actions = [0], []
        for turn in range(3):
            action = int(generator.integers(2))
            actions.append(action)
            onto = action == 0 and generator.random() < leads(turn)
            states.append(1 if states[-1] == 1 or onto else 0)
        commit(counts.learn(0, states, actions))


@pytest.mark.parametrize("seed", range(5))
def test_nats_are_those_of_drawing_one_by_one(seed):
    generator = np.random.default_rng(seed)
    tables = generator.integers(0, 9, (4, 2, 3)) * generator.integers(0, 2, (4, 2, 3))
    apart = np.zeros(4, dtype=np.bool_)
    slow = [nats_apart(tables[i], np.delete(tables, i, axis=0)) for i in range(4)]
    assert _nats_apart(tables, apart) == pytest.approx(slow)


def test_one_that_is_another_does_not_part_the_others():
    alike, other = np.array([[30, 3]]), np.array([[3, 30]])
    assert find_apart(np.stack([alike, other, alike])).tolist() == [False, True, False]
    assert not find_apart(np.stack([alike, alike, alike])).any()


def test_draws_of_one_law_are_seldom_parted():
    """None of 200 families of 10 layers, 40 draws of 3 values each; with laws of their own, all of them."""
    generator = np.random.default_rng(0)
    parted = shown = 0
    for _ in range(200):
        law = generator.dirichlet(np.ones(3))
        parted += find_apart(generator.multinomial(40, law, (10, 1))).any()
        laws = generator.dirichlet(np.ones(3), 10)
        shown += find_apart(np.stack([generator.multinomial(40, each, 1) for each in laws])).any()
    assert parted <= 2
    assert shown == 200
    assert APART > 0


def test_layouts_without_common_labels_have_nothing_to_share():
    layout = Layout.regular([1, 2, 2], n_actions=2, n_contexts=1, n_feedback=2)
    assert find_recurring(layout) is None
    counts = TransitionCounts(layout)
    assert counts.counts(0) is counts._counts


def test_a_state_is_learned_in_all_its_layers_at_once():
    counts = TransitionCounts(pond())
    walk(counts, 60, np.random.default_rng(1), lambda turn: 0.7)
    shown, own = counts.counts(0), counts.to_state()["counts"]
    assert np.array_equal(shown[0, 0, :, :2], own[:, 0, :, :2].sum(axis=0))
    assert np.array_equal(shown[0, 0], shown[2, 0]), "what is known of one turn is known of the others"
    assert counts.estimate(0)[2, 0, 0, 1] == pytest.approx(0.7, abs=0.1)


def test_control_a_turn_at_which_it_is_another_is_learned_by_itself():
    counts = TransitionCounts(pond())
    walk(counts, 300, np.random.default_rng(1), lambda turn: 0.9 if turn == 1 else 0.1)
    estimate = counts.estimate(0)[:, 0, 0, 1]
    assert estimate == pytest.approx([0.1, 0.9, 0.1], abs=0.1)


def test_what_was_saved_goes_on_and_what_is_forgotten_is_forgotten_at_every_turn():
    layout, generator = pond(), np.random.default_rng(2)
    counts = TransitionCounts(layout)
    walk(counts, 50, generator, lambda turn: 0.7)
    again = TransitionCounts(layout)
    again.restore(copy.deepcopy(counts.to_state()))
    assert np.array_equal(again.counts(0), counts.counts(0))
    assert np.array_equal(again.estimate(0), counts.estimate(0))
    path = [0, 0, 1], [0, 0]
    changes = [*counts.learn(0, *path), *counts.forget(*path, {(0, 0): 0})]
    commit(changes)
    commit(changes)
    assert counts.to_state()["counts"][:, 0].sum() == 2, "the path that was just seen"
    assert counts.counts(0)[2, 0].sum() == 2
    again.restore(counts.to_state())
    assert np.array_equal(again.estimate(0), counts.estimate(0))


def test_many_paths_at_once_are_as_one_by_one():
    layout, generator = pond(ends=None), np.random.default_rng(3)
    states = np.zeros((40, 4), dtype=np.int64)
    states[:, 1:] = generator.integers(0, 2, (40, 3))
    actions = generator.integers(0, 2, (40, 4))
    one, all_of_them = TransitionCounts(layout), TransitionCounts(layout)
    for path in zip(states.tolist(), actions.tolist(), strict=True):
        commit(one.learn(0, *path))
    all_of_them.add_paths(states, actions)
    assert np.array_equal(one.estimate(0), all_of_them.estimate(0))

"""Watches over many places: a bound for all together, alarms that say what changed, and nothing lost on disk."""

import copy
import math

import numpy as np
import pytest

from tacit.base.changes import commit
from tacit.base.checkpoint import CheckpointError, load_tree, save_tree
from tacit.trust.watches import MOST_VALUES, DriftSettings, Watches

ALPHA = 0.05
SIZES = (3, 4)


def make_watches(alpha=ALPHA, n_values=3):
    return Watches("words", n_actions=2, n_values=n_values, alpha=alpha)


def draw(generator, episode, changed=False):
    """Return a place, an action and a value: one place of all has changed if `changed`."""
    place = int(generator.integers(SIZES[0])), int(generator.integers(SIZES[1]))
    law = (0.1, 0.1, 0.8) if changed and place == (1, 2) else (0.8, 0.1, 0.1)
    return [(place, int(generator.integers(2)), int(generator.choice(3, p=law)))], episode


def learn(watches, generator, episodes, changed=False):
    """Return the alarms that draws of some episodes raise."""
    alarms = []
    for t in episodes:
        changes, raised = watches.learn(*draw(generator, t, changed))
        commit(changes)
        alarms += raised
    return alarms


def restored(state, tmp_path, episodes):
    """Return watches that were written to disk and read again."""
    save_tree(tmp_path / "watches", "watches", {"state": state})
    watches = make_watches()
    watches.restore(load_tree(tmp_path / "watches", "watches")["state"], SIZES, episodes)
    return watches


def test_a_place_that_changes_raises_one_alarm_that_says_what_changed():
    watches, generator = make_watches(), np.random.default_rng(0)
    assert learn(watches, generator, range(4000)) == []
    alarms = learn(watches, generator, range(4000, 5000), changed=True)
    assert [(alarm.kind, alarm.place) for alarm in alarms] == [("words", (1, 2))]
    alarm = alarms[0]
    assert abs(alarm.changed - 4000) < 200
    assert alarm.value in (0, 2)
    assert abs(alarm.after - alarm.before) > 0.4
    assert alarm.drawn_before > 10 * alarm.drawn_after


def test_the_more_places_the_more_evidence_is_asked_for():
    """So that all together stay below alpha: the place that began first alarms first, all with the same draws."""
    watches, raised = make_watches(), {}
    for t in range(100):
        changes, alarms = watches.learn([(place, 0, int(t >= 60)) for place in np.ndindex(10, 40)], t)
        commit(changes)
        for alarm in alarms:
            raised.setdefault(alarm.place, t)
    assert sorted(watches.to_state()["numbers"]) == list(range(401, 801)), (
        "each began twice, none with another"
    )
    assert raised[0, 0] < raised[9, 39] < raised[0, 0] + 10


def test_learning_changes_nothing_before_it_is_committed_and_twice_is_once():
    watches, generator = make_watches(), np.random.default_rng(1)
    learn(watches, generator, range(50))
    before = copy.deepcopy(watches.to_state())
    changes, _ = watches.learn([((0, 0), 0, 1)], 50)
    assert same(before, watches.to_state())
    commit(changes)
    once = copy.deepcopy(watches.to_state())
    commit(changes)
    assert same(once, watches.to_state())
    assert not same(before, once)


def test_what_was_saved_goes_on_to_the_last_bit(tmp_path):
    watches, generator = make_watches(), np.random.default_rng(2)
    learn(watches, generator, range(1000))
    again, other = restored(watches.to_state(), tmp_path, 1000), copy.deepcopy(generator)
    assert same(watches.to_state(), again.to_state())
    alarms = learn(watches, generator, range(1000, 2000), changed=True)
    assert alarms == learn(again, other, range(1000, 2000), changed=True)
    assert len(alarms) == 1
    assert same(watches.to_state(), again.to_state())


@pytest.mark.parametrize(
    ("name", "spoil", "rule"),
    [
        ("times", lambda array: array[::-1].copy(), "ascending"),
        ("counts", lambda array: array + 1, "those of the draws"),
        ("scores", lambda array: array * 1.001, "those of the counts"),
        ("places", lambda array: array + 9, "below"),
        ("places", lambda array: array * 0, "each once"),
        ("numbers", lambda array: array * 0 + 1, "each of one place"),
        ("rows", lambda array: array + 1, "of shape"),
        ("begun", lambda number: 1, "from 1 to 1"),
    ],
)
def test_what_draws_could_not_have_left_is_refused(name, spoil, rule, tmp_path):
    watches = make_watches()
    learn(watches, np.random.default_rng(3), range(500))
    state = watches.to_state()
    with pytest.raises(CheckpointError, match=rule):
        restored(state | {name: spoil(state[name])}, tmp_path, 500)
    with pytest.raises(CheckpointError, match="in the episodes there were"):
        restored(state, tmp_path, 100)


def test_many_values_share_cells_and_places_never_seen_cost_nothing():
    watches = make_watches(n_values=1000)
    for t in range(200):
        commit(watches.learn([((0, 0), 0, t % 1000)], t)[0])
    state = watches.to_state()
    assert state["counts"].shape[1:] == (2, MOST_VALUES)
    assert state["places"].tolist() == [[0, 0]]


def test_alpha_zero_watches_nothing_and_others_are_refused():
    watches = make_watches(alpha=0.0)
    assert watches.learn([((0, 0), 0, 1)], 0) == ([], [])
    for wrong in (-0.1, 0.6, math.nan, True):
        with pytest.raises(ValueError, match=r"alpha of drift must be a number from 0 to 0\.5"):
            DriftSettings(alpha=wrong)


def test_draws_since_an_episode_are_counted_by_half_at_least():
    watches = make_watches()
    for t in range(100):
        commit(watches.learn([((0, 0), 0, t % 2)], t)[0])
    assert (100 - 80) / 2 <= watches.since((0, 0), 80) <= 100 - 80
    assert watches.since((0, 0), 99) == 0
    assert watches.since((2, 2), 0) == 0


def same(one, other):
    """Return whether two states are the same to the last bit."""
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)

"""What is known of each place: judged as tuples come, turned by outcomes and by what other places say, saved whole."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.base.changes import commit
from tacit.base.checkpoint import CheckpointError
from tacit.decoding.judgement import HETEROGENEOUS, HOMOGENEOUS, JudgementSettings
from tacit.learning.places import Places
from tacit.problem.layout import Layout

F = np.array([0.9, 0.05, 0.05, 0.1])
MOST_PLEASE = np.array([0.95, 0.8, 0.7, 0.1])


def places_of(endings: int = 1, contexts: int = 1, words: int = 2) -> Places:
    layout = Layout.regular([1, endings], n_actions=4, n_contexts=contexts, n_feedback=words)
    return Places(layout, 0.0, JudgementSettings())


def draw(generator, f, flips=(0.0, 0.0)):
    """Return an action, what is said after it and whether it pleased; `flips` talk like the other side."""
    a = int(generator.integers(len(f)))
    pleased = int(generator.random() < f[a])
    stray = generator.random() < flips[pleased]
    return a, (1 - pleased if stray else pleased), pleased


def tell(places, place, f, n, generator, outcomes=0, flips=(0.0, 0.0)):
    for i in range(n):
        a, y, pleased = draw(generator, f, flips)
        commit(places.learn((*place, y, a), pleased if i < outcomes else None))


def test_a_place_is_understood_after_a_few_tuples():
    places = places_of()
    tell(places, (0, 0), F, 200, np.random.default_rng(1))
    judgement = places.judgements[0, 0]
    assert judgement.kind == HETEROGENEOUS
    assert places.settled[0, 0]
    assert judgement.phi[1] > 0.99
    assert judgement.phi[0] < 0.01
    np.testing.assert_allclose(places.worth[0, 0], judgement.expected)


def test_nothing_changes_before_the_changes_are_made():
    places = places_of()
    tell(places, (0, 0), F, 60, np.random.default_rng(2))
    before = places.to_state(), places.judgements[0, 0]
    places.learn((0, 0, 1, 0), 1)
    after = places.to_state(), places.judgements[0, 0]
    assert before[1] is after[1]
    np.testing.assert_equal(before[0], after[0])


@pytest.mark.parametrize(("outcomes", "turned"), [(0, False), (12, True)])
def test_known_outcomes_turn_a_place_where_most_actions_please(outcomes, turned):
    places = places_of()
    tell(places, (0, 0), MOST_PLEASE, 400, np.random.default_rng(3), outcomes)
    assert places.judgements[0, 0].turned == turned
    best = int(places.judgements[0, 0].f.argmax())
    assert (best == 0) == turned


def test_outcomes_of_some_places_turn_those_of_which_none_is_known():
    places = places_of(contexts=3)
    generator = np.random.default_rng(4)
    for x in range(2):
        tell(places, (0, x), MOST_PLEASE, 300, generator, outcomes=8)
    tell(places, (0, 2), MOST_PLEASE, 300, generator)
    assert places.beliefs.majority
    assert places.judgements[0, 2].turned


def test_outcomes_that_agree_turn_nothing():
    places = places_of(contexts=2)
    generator = np.random.default_rng(5)
    for x in range(2):
        tell(places, (0, x), F, 300, generator, outcomes=8)
    assert not places.beliefs.majority
    assert not any(judgement.turned for judgement in places.judgements.values())


def test_where_many_are_polite_what_stands_out_is_the_reward():
    places = places_of(endings=3)
    generator = np.random.default_rng(6)
    for s in range(3):
        tell(places, (s, 0), F, 1000, generator, flips=(0.5, 0.0))
    assert places.beliefs.overlapping == {0}
    assert all(int(judgement.f.argmax()) == 0 for judgement in places.judgements.values())


def test_a_place_in_which_nothing_is_found_hopes_less_with_every_tuple():
    places = places_of(endings=2)
    generator = np.random.default_rng(7)
    tell(places, (0, 0), F, 200, generator)  # where something is found, words are known to be exclusive
    hopes = []
    for _ in range(4):
        tell(places, (1, 0), np.full(4, 0.5), 100, generator)
        hopes.append(float(places.hope[1, 0]))
    assert places.judgements[1, 0].kind == HOMOGENEOUS
    assert hopes == sorted(hopes, reverse=True)
    assert hopes[-1] < 0.3 < hopes[0]


def test_a_place_is_judged_on_all_its_tuples_when_beliefs_change_with_it():
    """Weak places lean towards words that overlap; when one of them tells nothing any more, it is judged again."""
    generator, places = np.random.default_rng(37), places_of(endings=3)
    chances = np.array([[0.5, 0.3, 0.25, 0.2], [0.55, 0.3, 0.3, 0.35], [0.9, 0.02, 0.02, 0.02]])
    for _ in range(200):
        s, a = int(generator.integers(3)), int(generator.integers(4))
        commit(places.learn((s, 0, int(generator.random() < chances[s, a]), a), None))
        assert places.judgements[s, 0].tuples.sum() == places._judged.tuples(s, 0)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_restored_is_what_was_saved(seed):
    generator = np.random.default_rng(seed)
    places = places_of(endings=2, contexts=2, words=3)
    for s in range(2):
        for x in range(2):
            tell(places, (s, x), F if s else MOST_PLEASE, 137, generator, outcomes=3 * x, flips=(0.3, 0.1))
    again = places_of(endings=2, contexts=2, words=3)
    again.restore(places.to_state())
    assert again.beliefs == places.beliefs
    for name in ("settled", "best", "hope", "worth"):
        np.testing.assert_array_equal(getattr(again, name), getattr(places, name))
    for place, judgement in places.judgements.items():
        np.testing.assert_array_equal(again.judgements[place].rewards, judgement.rewards)
    np.testing.assert_equal(again.to_state(), places.to_state())


def test_after_a_place_is_forgotten_what_is_restored_is_what_is_there():
    """Two endings where people mean opposite things: only without the one does the other say what words mean."""
    layout = Layout.regular([1, 3], n_actions=4, n_contexts=1, n_feedback=2, ends="anywhere")
    places, generator = Places(layout, 0.0, JudgementSettings()), np.random.default_rng(9)
    tell(places, (1, 0), F, 200, generator)
    tell(places, (2, 0), F, 200, generator, flips=(1.0, 1.0))
    tell(places, (3, 0), np.full(4, 0.9), 200, generator)
    assert places.judgements[3, 0].expected.max() == 0.0
    commit(places.forget([(2, 0)]))
    assert places.judgements[3, 0].expected.min() > 0.5
    again = Places(layout, 0.0, JudgementSettings())
    again.restore(places.to_state())
    np.testing.assert_array_equal(again.worth, places.worth)


def test_counts_that_could_not_have_been_saved_are_refused():
    places = places_of()
    tell(places, (0, 0), F, 50, np.random.default_rng(8))
    state = places.to_state()
    state["judged"]["numbers"] = state["judged"]["numbers"] * 9
    with pytest.raises(CheckpointError):
        places_of().restore(state)


def test_where_words_overlap_hope_is_on_the_scale_of_what_was_found():
    """Four in ten talk like the other side, so that the best action has 0.6 of type 1; the second was never seen."""
    generator, places = np.random.default_rng(4), places_of(endings=2)
    assert places.outlook(0).hope.max() == 1.0
    tell(places, (0, 0), [0.0, 0.95, 0.0, 0.0], 6000, generator, flips=(0.4, 0.4))
    assert 0 in places.beliefs.overlapping
    assert places.hope[1, 0] == 1.0
    assert places.best[0, 0] < places.outlook(0).hope[1] < 0.85


def test_control_where_words_are_exclusive_hope_is_of_rewards():
    generator, places = np.random.default_rng(4), places_of(endings=2)
    tell(places, (0, 0), [0.0, 0.5, 0.0, 0.0], 600, generator)
    assert 0 not in places.beliefs.overlapping
    assert places.outlook(0).hope[1] == 1.0


def nearly_found(flips: tuple[float, float]) -> Places:
    """Return places of which one is understood, and something was nearly found in the other."""
    generator, places = np.random.default_rng(4), places_of(endings=2)
    tell(places, (0, 0), [0.0, 0.95, 0.0, 0.0], 6000, generator, flips=flips)
    while not places.counts.tuples(1, 0) or not 1e-4 <= places.judgements[1, 0].p_value < 1e-3:
        tell(places, (1, 0), [0.0, 0.0, 0.9, 0.0], 1, generator, flips=flips)
        assert places.counts.tuples(1, 0) < 6000
    return places


def test_where_feedback_is_faint_what_was_nearly_found_is_played_as_it_seems():
    places = nearly_found((0.4, 0.4))
    assert places.judgements[1, 0].kind == HOMOGENEOUS
    assert not places.settled[1, 0]
    assert places.worth[1, 0].argmax() == 2
    again = places_of(endings=2)
    again.restore(places.to_state())
    np.testing.assert_array_equal(again.worth, places.worth)


def test_control_where_feedback_tells_much_what_was_nearly_found_is_only_hoped_for():
    places = nearly_found((0.0, 0.0))
    assert places.hope[1, 0] > 0.5
    assert not places.worth[1, 0].any()


@pytest.mark.parametrize(("outcomes", "worth"), [(0, 0.0), (20, 0.8)])
def test_known_outcomes_say_what_a_place_is_worth_in_which_all_actions_please(outcomes, worth):
    places, generator = places_of(), np.random.default_rng(6)
    tell(places, (0, 0), np.full(4, 0.95), 200, generator, outcomes)
    assert places.judgements[0, 0].kind == HOMOGENEOUS
    assert places.worth[0, 0].min() >= worth
    assert places.worth[0, 0].max() <= worth + 0.2
    again = places_of()
    again.restore(places.to_state())
    np.testing.assert_array_equal(again.worth, places.worth)

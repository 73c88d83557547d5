"""The drift detector: as its slow twin says, never above its bound, and quick where something changes."""

import itertools
import math

import numpy as np
import pytest
from reference_drift import log_evidence, log_terms

from tacit.trust.drift import SPACING, begin_watch, log_mixture, observe, prior_weight

ALPHA = 0.05


def watch_all(draws, n_actions, n_values):
    """Return the last watch, and the evidence after each draw."""
    watch, evidence = begin_watch(n_actions, n_values), []
    for t, (a, y) in enumerate(draws):
        watch, found = observe(watch, int(a), int(y), t)
        evidence.append(found)
    return watch, evidence


def first_alarm(draws, n_actions, n_values, alpha=ALPHA):
    """Return the number of the draw with which the evidence reaches 1 / alpha, None if it never does."""
    evidence = watch_all(draws, n_actions, n_values)[1]
    return next((t for t, found in enumerate(evidence) if found.log_e >= -math.log(alpha)), None)


def draw_values(generator, laws, actions):
    """Return draws (a, y) with y from laws (K, m)."""
    values = (generator.random(len(actions))[:, None] > laws.cumsum(axis=1)[actions, :-1]).sum(axis=1)
    return list(zip(actions.tolist(), values.tolist(), strict=True))


def drifting(generator, n_before, n_after, n_actions=2):
    """Return draws of three values whose laws change from one to another."""
    before, after = np.array([[0.8, 0.1, 0.1]] * n_actions), np.array([[0.2, 0.1, 0.7]] * n_actions)
    actions = generator.integers(n_actions, size=n_before + n_after)
    early = draw_values(generator, before, actions[:n_before])
    return early + draw_values(generator, after, actions[n_before:])


@pytest.mark.parametrize(("n_actions", "n_values"), [(1, 2), (3, 4)])
def test_evidence_is_that_of_the_slow_twin(n_actions, n_values):
    generator = np.random.default_rng(0)
    draws = [(int(generator.integers(n_actions)), int(generator.integers(n_values))) for _ in range(75)]
    draws += [(int(generator.integers(n_actions)), 0) for _ in range(30)]
    evidence = watch_all(draws, n_actions, n_values)[1]
    for n in (3, 5, 17, 50, 64, 75, 90, 105):
        expected = log_evidence(draws[:n], n_actions, n_values)
        assert evidence[n - 1].log_e == pytest.approx(expected, abs=1e-9)
    terms = log_terms(draws, n_actions, n_values)
    assert evidence[-1].episode == SPACING * max(terms, key=terms.get) - 1
    assert evidence[-1].draws == len(draws) - SPACING * max(terms, key=terms.get)


def test_very_strong_evidence_stays_finite_and_right():
    draws = [(0, 0)] * 300 + [(0, 1)] * 300
    evidence = watch_all(draws, 2, 2)[1]
    assert evidence[-1].log_e == pytest.approx(log_evidence(draws, 2, 2), abs=1e-6)
    assert evidence[-1].log_e > 200


def test_scores_are_the_closed_form_of_the_mixture():
    draws = drifting(np.random.default_rng(1), 300, 50)
    watch, _ = watch_all(draws, 2, 3)
    closed = log_mixture(watch.counts[:-1]) + log_mixture(watch.counts[-1] - watch.counts[:-1])
    np.testing.assert_allclose(watch.scores, closed, atol=1e-9)


def test_the_weights_of_all_changes_add_up_to_one():
    n = 10**6
    assert math.fsum(map(prior_weight, range(1, n))) == pytest.approx(1 - 64 / (64 + n - 1), abs=1e-12)


@pytest.mark.parametrize("p", [0.03, 0.2, 0.5])
def test_the_bound_holds_exactly_over_every_row_of_draws(p):
    """Over all 2^12 rows of two values: the expected evidence, and the chance that its largest exceeds 1 / alpha."""
    mean = exceeded = 0.0
    threshold = math.log(1 / 0.5)  # a large alpha: small ones are never reached in so few draws
    for row in itertools.product((0, 1), repeat=12):
        evidence = watch_all([(0, y) for y in row], 1, 2)[1]
        chance = p ** sum(row) * (1 - p) ** (12 - sum(row))
        mean += chance * math.exp(evidence[-1].log_e)
        exceeded += chance * (max(found.log_e for found in evidence) >= threshold)
    assert mean <= sum(map(prior_weight, (1, 2, 3)))
    assert exceeded <= 0.5


def test_no_alarm_where_nothing_changes_and_one_soon_where_it_does():
    """Twenty rows of 2,000 draws, alpha 0.05 each: one false alarm expected at most; a change of 0.6 in 60 draws."""
    generator = np.random.default_rng(2)
    healthy = [drifting(generator, 2000, 0) for _ in range(20)]
    assert sum(first_alarm(draws, 2, 3) is not None for draws in healthy) <= 1
    for draws in (drifting(generator, 1000, 80) for _ in range(10)):
        alarm = first_alarm(draws, 2, 3)
        assert alarm is not None
        assert 1000 <= alarm < 1060


def test_control_a_shuffled_row_that_drifted_raises_nothing():
    generator = np.random.default_rng(3)
    for _ in range(10):
        draws = drifting(generator, 500, 500)
        assert first_alarm(draws, 2, 3) is not None
        assert first_alarm([draws[i] for i in generator.permutation(len(draws))], 2, 3) is None


def test_how_actions_are_chosen_raises_no_alarm():
    """Actions follow what was drawn, and another one is preferred in the second half: no law has changed."""
    generator = np.random.default_rng(4)
    laws = np.array([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]])
    for _ in range(10):
        watch, a, alarmed = begin_watch(3, 2), 0, False
        for t in range(2000):
            y = int(generator.random() < laws[a, 1])
            watch, evidence = observe(watch, a, y, t)
            alarmed |= evidence.log_e >= -math.log(ALPHA)
            a = int(generator.integers(3)) if y == (t < 1000) or generator.random() < 0.05 else a
        assert not alarmed


def test_a_change_of_one_rare_action_is_seen():
    generator = np.random.default_rng(5)
    actions = (generator.random(3000) < 0.05).astype(int)
    before, after = np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([[0.5, 0.5], [0.0, 1.0]])
    draws = draw_values(generator, before, actions[:1500]) + draw_values(generator, after, actions[1500:])
    alarm = first_alarm(draws, 2, 2)
    assert alarm is not None
    assert actions[1500:alarm].sum() < 12


def test_what_is_given_stays_as_it_is_and_memory_grows_with_the_logarithm():
    watch, _ = watch_all(drifting(np.random.default_rng(6), 100, 0), 2, 3)
    copies = [array.copy() for array in watch]
    observe(watch, 0, 1, 100)
    assert all(np.array_equal(array, copy) for array, copy in zip(watch, copies, strict=True))
    rows = {n: len(watch_all([(0, 0)] * n, 1, 2)[0].times) for n in (500, 4000)}
    assert rows[4000] <= rows[500] + 2 * 3 + 2
    assert rows[4000] <= 2 * math.log2(4000 / SPACING) + 4

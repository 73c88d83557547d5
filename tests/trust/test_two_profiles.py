"""The fit of two profiles: its level is held, words that overlap included, and feedback that names actions is found."""

import numpy as np
import pytest
from drawn_counts import draw_counts

from tacit.decoding.judgement import HETEROGENEOUS, JudgementSettings, judge
from tacit.trust.two_profiles import combined_p_value, measure_misfit, pool_words

RUNS = 150


def draw_profiles(generator, Y, overlap):
    """Return (g0, g1): each side has words of its own, and says with chance `overlap` what the other would."""
    half = Y // 2
    pair = np.zeros((2, Y))
    pair[0, :half], pair[1, half:] = (
        generator.dirichlet(np.ones(half)),
        generator.dirichlet(np.ones(Y - half)),
    )
    return (1 - overlap) * pair + overlap * pair[::-1]


def draw_f(generator, K):
    f = generator.uniform(0.0, 0.25, K)
    f[generator.integers(K)] = generator.uniform(0.6, 0.95)
    return f


def fit_of(counts):
    judgement = judge(counts, 0.0, JudgementSettings())
    assert judgement.kind == HETEROGENEOUS
    return measure_misfit(counts, judgement.f, judgement.phi)


def p_values(Y, overlap, each, K=4):
    """Return the p-values of places in which two profiles hold."""
    generator = np.random.default_rng(0)
    best_last = [np.sort(draw_f(generator, K)) for _ in range(RUNS)]
    drawn = [draw_counts(generator, f, draw_profiles(generator, Y, overlap), each) for f in best_last]
    judged = [counts for counts in drawn if judge(counts, 0.0, JudgementSettings()).kind == HETEROGENEOUS]
    assert len(judged) > RUNS / 2
    return np.array([fit_of(counts).p_value for counts in judged])


@pytest.mark.parametrize(
    ("Y", "overlap", "each"),
    [
        (4, 0.0, [40] * 4),
        (6, 0.3, [150] * 4),
        (6, 0.3, [60, 60, 60, 2000]),  # an agent plays what it takes to be best
        (40, 0.0, [60] * 4),
        (40, 0.2, [300] * 4),
    ],
)
def test_the_level_is_held_where_two_profiles_hold(Y, overlap, each):
    found = p_values(Y, overlap, each)
    assert np.mean(found < 0.1) <= 0.16
    assert np.mean(found < 0.01) <= 0.04
    assert found.min() > 1e-4


@pytest.mark.parametrize("Y", [6, 30])
def test_feedback_that_names_the_action_is_found(Y):
    generator = np.random.default_rng(1)
    found = []
    for _ in range(50):
        f, said = draw_f(generator, 4), draw_profiles(generator, Y, 0.2)
        own = np.eye(Y)[np.arange(4)]  # each action has a word that a third say whatever came of it
        chances = 0.67 * (np.outer(f, said[1]) + np.outer(1 - f, said[0])) + 0.33 * own
        counts = generator.multinomial([100] * 4, chances).T.astype(np.float64)
        found.append(fit_of(counts).p_value < 0.001)
    assert np.mean(found) >= 0.95


def test_two_words_or_two_actions_leave_nothing_to_be_tested():
    generator = np.random.default_rng(0)
    two_words = draw_counts(generator, [0.9, 0.1, 0.1], np.eye(2), [60] * 3)
    two_actions = draw_counts(generator, [0.9, 0.1], draw_profiles(generator, 6, 0.0), [60] * 2)
    assert fit_of(two_words) is None
    assert fit_of(two_actions) is None
    assert combined_p_value([]) == 1.0


def test_one_place_that_does_not_fit_is_found_among_many():
    generator = np.random.default_rng(2)
    profiles = [draw_profiles(generator, 6, 0.2) for _ in range(30)]
    places = [draw_counts(generator, draw_f(generator, 4), said, [200] * 4) for said in profiles]
    misfits = [fit_of(counts) for counts in places]
    assert combined_p_value(misfits) > 0.01
    strange = places[0].copy()
    strange[0, 0] += 60
    strange[1, 1] += 60
    strange[2, 2] += 60
    assert combined_p_value([fit_of(strange), *misfits[1:]]) < 1e-4


def test_pooling_looks_at_no_action_and_loses_no_tuple():
    generator = np.random.default_rng(3)
    counts = generator.poisson(0.8, (30, 4)).astype(np.float64)
    phi = generator.random(30)
    pooled, _ = pool_words(counts, phi)
    assert (pooled.sum(axis=1) >= 12 - counts.sum(axis=1).max()).all()
    assert len(pooled) < 10
    np.testing.assert_array_equal(pooled.sum(axis=0), counts.sum(axis=0))
    shuffled = np.array([generator.permutation(row) for row in counts])
    assert len(pool_words(shuffled, phi)[0]) == len(pooled)

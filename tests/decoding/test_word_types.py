"""Where words stand, against a slow twin; a test that keeps its level and its power when words are many."""

import numpy as np
import pytest
from drawn_counts import draw_counts
from reference_words import climb_slowly
from scipy.stats import chi2

from tacit.decoding.word_types import (
    BETWEEN,
    MOST_ROUNDS,
    TWO_TYPES,
    climb,
    fit_types,
    freedom,
    leading_scores,
    soften,
)

ONE_BEST = np.array([0.85, 0.1, 0.05, 0.1])


def split(words, generator, overlap=0.0):
    """Return profiles (2, Y) of the words of each side, with a share of either said by the other."""
    pair = np.zeros((2, words))
    half = words // 2
    pair[0, :half], pair[1, half:] = (
        generator.dirichlet(np.ones(half)),
        generator.dirichlet(np.ones(words - half)),
    )
    return (1 - overlap) * pair + overlap * pair[::-1]


@pytest.mark.parametrize("levels", [TWO_TYPES, BETWEEN])
@pytest.mark.parametrize("seed", range(4))
def test_climbing_is_expectation_maximisation(levels, seed):
    generator = np.random.default_rng(seed)
    counts = draw_counts(generator, ONE_BEST, split(6, generator, 0.2), [40] * 4)
    counts = counts[counts.sum(axis=1) > 0]
    start = np.where(np.arange(len(counts)) < 2, 0.05, 0.95)
    positions = start.copy()
    gain, f = climb(counts, positions, np.array(levels), MOST_ROUNDS)
    slow = climb_slowly(counts, start, levels)
    assert gain == pytest.approx(slow[0], abs=1e-6)
    np.testing.assert_allclose(f, slow[1], atol=1e-6)
    np.testing.assert_allclose(positions, slow[2], atol=1e-6)


def test_each_round_of_climbing_gains():
    """More rounds are never less likely; the smoothing of f by half a tuple costs less than the margin."""
    generator = np.random.default_rng(5)
    counts = draw_counts(generator, ONE_BEST, split(8, generator, 0.3), [60] * 4)
    counts = counts[counts.sum(axis=1) > 0]
    start = np.where(np.arange(len(counts)) < 4, 0.05, 0.95)
    gains = [climb_slowly(counts, start, BETWEEN, rounds=n)[0] for n in (1, 2, 5, 20, 60)]
    assert (np.diff(gains) > -0.05).all()
    assert gains[-1] > gains[0]


def test_the_leading_component_is_that_of_a_decomposition():
    generator = np.random.default_rng(2)
    counts = generator.integers(1, 40, (7, 5)).astype(float)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    residuals = (counts - expected) / np.sqrt(expected)
    u, _, _ = np.linalg.svd(residuals)
    along = u[:, 0] / np.sqrt(counts.sum(axis=1))
    assert abs(np.corrcoef(leading_scores(counts), along)[0, 1]) > 0.999


@pytest.mark.parametrize("words", [2, 20, 100])
def test_words_find_their_side(words):
    generator = np.random.default_rng(words)
    pair = split(words, generator)
    counts = draw_counts(generator, ONE_BEST, pair, [300] * 4)
    types = fit_types(counts)
    side = (pair[1] > pair[0]).astype(float)
    seen = counts.sum(axis=1) >= 10
    agree = np.mean(np.abs(types.positions - side)[seen] < 0.5)
    assert max(agree, 1 - agree) > 0.95
    f = types.f if agree > 0.5 else 1 - types.f
    np.testing.assert_allclose(f, ONE_BEST, atol=0.08)


def p_values(words, actions, runs, seed, each=30):
    """Return p-values of feedback that does not depend on the action."""
    generator = np.random.default_rng([seed, words, actions])
    said = generator.dirichlet(np.ones(words))
    return np.array(
        [
            fit_types(generator.multinomial([each] * actions, said).T.astype(float)).p_value
            for _ in range(runs)
        ]
    )


@pytest.mark.compiled
@pytest.mark.parametrize("actions", [2, 5, 20])
@pytest.mark.parametrize("words", [2, 20, 100])
def test_p_values_of_feedback_that_tells_nothing_are_never_too_small(words, actions):
    """At the levels that places are judged by, far below 1 %: of 300 tables hardly one may be below 0.002.

    Where words and actions are many and tuples few, one in ten is below 5 %.
    """
    found = p_values(words, actions, 300, seed=1)
    assert np.mean(found < 0.002) <= 0.01
    assert np.mean(found < 0.05) < 0.13


@pytest.mark.parametrize(("words", "each"), [(2, 20), (20, 30), (50, 40), (100, 60)])
def test_a_few_tuples_of_an_action_show_what_pleases_however_many_words_there_are(words, each):
    """One of four actions pleases: found in nine of ten tables at a level of 1e-4."""
    generator = np.random.default_rng(words)
    found = [
        fit_types(draw_counts(generator, ONE_BEST, split(words, generator), [each] * 4)).p_value < 1e-4
        for _ in range(40)
    ]
    assert np.mean(found) >= 0.9


def test_control_the_chi_squared_of_all_differences_has_less_power():
    """With 100 words (Y - 1)(K - 1) degrees of freedom drown what one action differs by; types do not."""
    generator = np.random.default_rng(3)
    by_types, by_differences = [], []
    for _ in range(40):
        counts = draw_counts(generator, ONE_BEST, split(100, generator), [40] * 4)
        counts = counts[counts.sum(axis=1) > 0]
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        statistic = ((counts - expected) ** 2 / expected).sum()
        by_differences.append(chi2.sf(statistic, (len(counts) - 1) * 3) < 1e-4)
        by_types.append(fit_types(counts).p_value < 1e-4)
    assert np.mean(by_types) > np.mean(by_differences) + 0.2


def test_words_that_overlap_stand_between():
    pair = np.array([[0.6, 0.0, 0.4], [0.0, 0.6, 0.4]])
    counts = draw_counts(np.random.default_rng(1), ONE_BEST, pair, [400] * 4)
    softened = soften(counts, fit_types(counts)).choose()
    assert softened.overlaps > 3
    assert sorted(softened.positions.round(1))[::2] == [0.0, 1.0]
    assert 0.1 < softened.positions[2] < 0.9


def test_what_most_people_say_in_either_case_stands_between():
    """Four of five say nothing, pleased or not: the few words of the others still show how many were pleased."""
    pair = np.array([[0.0, 0.0, 0.1, 0.1, 0.8], [0.12, 0.08, 0.0, 0.0, 0.8]])
    for seed in range(10):
        counts = draw_counts(np.random.default_rng(seed), ONE_BEST, pair, [500] * 4)
        types = fit_types(counts)
        assert abs(types.f - ONE_BEST).max() > 0.3, "the control must fail: all of silence on one side"
        softened = soften(counts, types).choose()
        assert min(abs(f - ONE_BEST).max() for f in (softened.f, 1 - softened.f)) < 0.3
        assert 0.1 < softened.positions[4] < 0.9


def test_control_words_of_one_side_do_not_stand_between():
    pair = np.array([[0.6, 0.0, 0.4], [0.0, 1.0, 0.0]])
    counts = draw_counts(np.random.default_rng(1), ONE_BEST, pair, [400] * 4)
    types = fit_types(counts)
    softened = soften(counts, types).choose()
    assert softened.overlaps < 0
    np.testing.assert_array_equal(softened.positions, types.positions)


def test_tables_that_can_tell_nothing():
    assert fit_types(np.array([[5.0, 5.0], [0.0, 0.0]])).p_value == 1.0
    assert fit_types(np.array([[5.0], [5.0]])).p_value == 1.0
    two = fit_types(np.array([[9.0, 1.0], [1.0, 9.0]]))
    assert soften(np.array([[9.0, 1.0], [1.0, 9.0]]), two).choose() is two  # two words have no room between
    assert freedom(2) == pytest.approx(1.05)

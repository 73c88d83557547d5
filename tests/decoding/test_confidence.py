"""How sure decodings are: calibrated whatever the overlap, with intervals that hold what data cannot tell."""

import numpy as np
import pytest
from drawn_counts import draw_counts
from real_world.drawing import draw_rewards, draw_shape, draw_voices
from real_world.words import FOR_TWO, WAYS, overlapping
from scipy.special import betaln

from tacit.decoding.confidence import (
    SPREADS,
    Scenarios,
    heterogeneous_chance,
    imagine,
    inner_interval,
)
from tacit.decoding.counts import SeenCounts
from tacit.decoding.judgement import HETEROGENEOUS, JudgementSettings, judge, posterior_reward
from tacit.decoding.orientation import Worlds
from tacit.decoding.together import judge_together
from tacit.problem.layout import Layout

DEFAULT = JudgementSettings()
EXCLUSIVE, OVERLAPPING = Worlds(-9.0, 9.0, 9.0), Worlds(9.0, 9.0, 9.0)
ONE_BEST = np.array([0.85, 0.1, 0.05, 0.1])


def labels_of(seed, overlap, words):
    """Yield (confidence, tuples, of which right, whether the interval holds) of each word after each action."""
    generator = np.random.default_rng([seed, words, int(100 * overlap)])
    shape = draw_shape(generator)
    S, K, X = shape.sizes[-1], shape.actions, shape.contexts
    ways = FOR_TWO if words == 2 else WAYS
    pair = overlapping(words, overlap, "slip" if overlap == 0 else ways[generator.integers(len(ways))])
    voices = draw_voices(generator, X, 1, S, pair)[:, 0]  # (X, S, 2, Y)
    f = draw_rewards(generator, shape)[:, -1, :S]  # (X, S, K)
    joint = np.stack(
        [f[..., None] * voices[:, :, None, 1], (1 - f)[..., None] * voices[:, :, None, 0]], axis=-2
    )
    drawn = generator.multinomial(100, joint.reshape(X, S, K, -1)).reshape(joint.shape)  # (X, S, K, 2, Y)
    chance = joint[..., 0, :] / np.maximum(joint.sum(axis=-2), 1e-300)
    counts = SeenCounts.of_dense(drawn.sum(axis=3).transpose(1, 0, 3, 2).astype(float))
    nothing = SeenCounts.empty((S, X, words, 2))
    judged = judge_together(Layout.regular([1, S], K, X, words), counts, nothing, 0.0, DEFAULT, {})
    for (s, x), found in judged.found.items():
        if found.kind != HETEROGENEOUS:
            continue
        scenarios = imagine(found, judged.leanings.worlds((s, x), judged.beliefs))
        rewarded, (low, high) = scenarios.rewarded, scenarios.reward_interval()
        for a in range(K):
            for y in np.flatnonzero(drawn[x, s, a].sum(axis=0)):
                one = judged.judgements[s, x].rewards[y, a] >= 0.5
                sure = rewarded[y, a] if one else 1 - rewarded[y, a]
                held = low[y, a] - 0.02 <= chance[x, s, a, y] <= high[y, a] + 0.02
                yield sure, drawn[x, s, a, :, y].sum(), drawn[x, s, a, 0 if one else 1, y], held


@pytest.fixture(scope="module")
def labels():
    return np.array(
        [
            row
            for overlap in (0, 0.1, 0.2, 0.3, 0.4)
            for words in (2, 5, 20)
            for seed in range(8)
            for row in labels_of(seed, overlap, words)
        ],
        dtype=float,
    )


@pytest.mark.compiled
def test_confidence_is_calibrated_where_words_overlap(labels):
    """Of labels with a confidence of p a share p is right, within eight points; 120 problems."""
    for low, high in ((0.0, 0.5), (0.5, 0.8), (0.8, 0.95), (0.95, 1.01)):
        sure, n, right, _ = labels[(labels[:, 0] >= low) & (labels[:, 0] < high)].T
        assert n.sum() > 1000
        assert abs(right.sum() / n.sum() - (sure * n).sum() / n.sum()) < 0.08, (low, right.sum() / n.sum())


@pytest.mark.compiled
def test_intervals_hold_what_feedback_means(labels):
    """Within two points in nine of ten: where exactly words stand between the sides is not in them."""
    assert (labels[:, 1] * labels[:, 3]).sum() / labels[:, 1].sum() > 0.88


@pytest.mark.compiled
def test_control_confidence_that_takes_words_for_exclusive_is_not_calibrated():
    """What two types alone say: far too sure where three of ten on both sides talk like the other."""
    generator = np.random.default_rng(1)
    pair = np.array([[0.7, 0.3], [0.3, 0.7]])
    sure, right = [], []
    for _ in range(30):
        found = judge(draw_counts(generator, ONE_BEST, pair, [150] * 4), 0.0, DEFAULT)
        if found.kind != HETEROGENEOUS:
            continue
        meant = posterior_reward(found.f, found.phi, found.tuples)
        truth = (
            ONE_BEST * pair[1][:, None] / (ONE_BEST * pair[1][:, None] + (1 - ONE_BEST) * pair[0][:, None])
        )
        sure.append(np.maximum(meant, 1 - meant).mean())
        right.append(np.where(meant >= 0.5, truth, 1 - truth).mean())
    assert np.mean(sure) - np.mean(right) > 0.15


def test_where_words_are_exclusive_little_is_left_open():
    counts = draw_counts(np.random.default_rng(1), [1.0, 0.0, 0.0], np.eye(2), [200] * 3)
    found = judge(counts, 0.0, DEFAULT)
    scenarios = imagine(found, EXCLUSIVE)
    assert scenarios.rewarded[1, 0] > 0.99  # the second word after the one action that pleases
    assert scenarios.rewarded[0, 1] < 0.01
    low, high = scenarios.f_interval()
    assert (high - low).max() < 0.05


def test_what_is_not_identified_is_in_the_interval():
    """Shares of 0.6 and 0.4 are of f = 0.6 and 0.4, or of 1 and 0 where four of ten talk like the other."""
    found = judge(np.array([[240.0, 160.0, 160.0], [160.0, 240.0, 240.0]]), 0.0, DEFAULT)
    low, high = imagine(found, OVERLAPPING).f_interval()
    assert low[1] < 0.05
    assert high[0] > 0.8
    assert low[0] < 0.65


def test_doubt_of_the_turn_is_doubt_of_every_label():
    found = judge(draw_counts(np.random.default_rng(1), ONE_BEST, np.eye(2), [100] * 4), 0.0, DEFAULT)
    rewarded = imagine(found, Worlds(-9.0, 0.0, 0.0)).rewarded
    np.testing.assert_allclose(rewarded[:, 0], 0.5, atol=0.2)


def test_scenarios_are_the_same_for_the_same_counts():
    found = judge(draw_counts(np.random.default_rng(1), ONE_BEST, np.eye(2), [100] * 4), 0.0, DEFAULT)
    one, other = imagine(found, OVERLAPPING), imagine(found, OVERLAPPING)
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_an_interval_leaves_the_outermost_out():
    scenarios = Scenarios(np.arange(40.0)[:, None], np.arange(40.0)[:, None, None])
    assert [float(end[0]) for end in scenarios.f_interval()] == [1.0, 38.0]
    assert [float(end[0, 0]) for end in scenarios.reward_interval()] == [1.0, 38.0]
    assert inner_interval(np.array([3.0, 1.0, 2.0]), 0.99)[0] == 1.0


def test_the_cost_of_fitting_is_that_of_coins_around_their_mean():
    """Two words: the ratio of closed marginal likelihoods, less the log 4 that the types of two words cost."""
    counts = np.array([[30.0, 2.0, 3.0], [1.0, 28.0, 27.0]])
    one, zero = counts
    m = (one.sum() + 1) / (counts.sum() + 2)
    homogeneous = one.sum() * np.log(m) + zero.sum() * np.log(1 - m)
    closed = [
        (betaln(one + like * m, zero + like * (1 - m)) - betaln(like * m, like * (1 - m))).sum()
        for like in SPREADS
    ]
    odds = np.log(heterogeneous_chance(counts) / (1 - heterogeneous_chance(counts)))
    expected = np.log(np.mean(np.exp(closed))) - homogeneous + np.log(2) - np.log(4)
    assert odds == pytest.approx(expected, abs=0.2)


def test_a_homogeneous_place_grows_surer_with_tuples():
    generator = np.random.default_rng(1)

    def surety(n):
        draws = (generator.multinomial([n] * 4, [0.5, 0.5]).T * 1.0 for _ in range(50))
        return np.median([1 - heterogeneous_chance(counts) for counts in draws])

    assert 0.4 < surety(12) < surety(100) < surety(1000)
    assert surety(1000) > 0.9


def test_one_word_tells_nothing_apart():
    assert heterogeneous_chance(np.array([[30.0, 30.0], [0.0, 0.0]])) == 0.0

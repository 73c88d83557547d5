"""Evidence that words depend on the action: exact for any fit, however wrong; and the ratio against a slow twin."""

import numpy as np
import pytest
from reference_personal import said_slowly

from tacit.decoding.personal_evidence import action_ratios, score_actions, weigh_evidence
from tacit.decoding.personal_likelihood import Parameters, hear

MASK = np.array([[True, True, True], [True, True, False]])


def draw_wild(generator, n=300, words=3, scale=3.0):
    """Return tuples of two endings whose words depend on nothing, and parameters that are sure of much."""
    x = np.column_stack([np.ones(n), generator.normal(size=(n, 2))])
    s = generator.integers(2, size=n)
    a = np.array([generator.integers(MASK[e].sum()) for e in s])
    shapes = (0, 3), (2, 3, 3), (2, words, 3), (2, 2, words, 3)
    parameters = Parameters(*(generator.normal(size=shape) * scale for shape in shapes))
    return x, s, a, generator.integers(words, size=n), parameters


def test_the_ratio_is_that_of_its_slow_twin():
    x, s, a, w, parameters = draw_wild(np.random.default_rng(0), 40, scale=1.0)
    heard, order = hear(x, s, a, w, 2)
    slow = []
    for i in order:
        every = [said_slowly(x[i], s[i], b, w[i], *parameters)[0] for b in np.flatnonzero(MASK[s[i]])]
        slow.append(every[a[i]] / np.mean(every))
    np.testing.assert_allclose(action_ratios(heard, MASK, parameters), slow)


def test_over_all_actions_the_mean_of_the_ratio_is_one_for_any_parameters():
    x, s, _, w, parameters = draw_wild(np.random.default_rng(1))
    kept = s == 0
    heard = [hear(x[kept], s[kept], np.full(kept.sum(), b), w[kept], 2)[0] for b in range(3)]
    np.testing.assert_allclose(np.mean([action_ratios(each, MASK, parameters) for each in heard], axis=0), 1)


@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_control_words_that_depend_on_nothing_are_no_evidence_however_wild_the_fit(scale):
    """By Markov's bound a gain over 4 is met once in 50; of 200 draws at most ten are allowed."""
    gains = []
    for seed in range(200):
        *tuples, parameters = draw_wild(np.random.default_rng(seed), 60, scale=scale)
        gains.append(weigh_evidence(hear(*tuples, 2)[0], MASK, parameters).gains.sum())
    assert np.mean(np.array(gains) > 4) <= 0.05


def test_words_that_depend_on_the_action_are_evidence_though_the_fit_is_too_sure():
    """Four of five words are as is foretold with certainty: the product of the ratios alone would be nearly nothing."""
    generator = np.random.default_rng(2)
    n = 300
    a = generator.integers(3, size=n)
    w = np.where(generator.random(n) < 0.8, a == 0, a != 0).astype(int)
    theta, gamma = np.full((1, 3, 1), -20.0), np.zeros((2, 2, 1))
    theta[0, 0], gamma[0, 0], gamma[1, 1] = 20.0, 20.0, 20.0
    sure = Parameters(np.zeros((0, 1)), theta, gamma, np.zeros((2, 1, 2, 1)))
    heard = hear(np.ones((n, 1)), np.zeros(n, int), a, w, 1)[0]
    one = np.ones((1, 3), bool)
    evidence = weigh_evidence(heard, one, sure)
    assert np.log(action_ratios(heard, one, sure)).sum() < -100
    assert evidence.gains[0] == pytest.approx(score_actions(heard, one, sure) - np.log(2))
    assert (evidence.gains[0], evidence.z) > (8, 1.5)

"""Words of two types: what feedback means where there are many words, few tuples, or words that both sides use.

In one last state and context Pr[y | a] = f_a g_1(y) + (1 - f_a) g_0(y). A word is of type 1 if it is said rather after a
reward. Given its type, its tuples fall on the actions as one of two profiles,

    type 1: q_a f_a / sum_b q_b f_b,        type 0: q_a (1 - f_a) / sum_b q_b (1 - f_b),      q_a = n_a / n,

so that words share K numbers, f, however many they are: a word that was said five times says little of itself and still
adds to f. Both are found by expectation maximisation: w_y = Pr[type of y is 1 | its tuples], f_a = share of type 1 among
the tuples of action a. Where no word is said on both sides w is phi of Eq. 4 and f the reward; where words overlap f is
the reward up to an affine map, which keeps the order of the actions.

The gain in log likelihood over one profile for all words tests whether feedback depends on the action at all: twice the
gain is compared with chi-squared of K - 1 degrees of freedom and a few more, whatever the number of words. A test of all
(Y - 1)(K - 1) differences has no power when words are many.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincc

from tacit.base.arrays import FloatArray
from tacit.base.jit import kernel

CUTS = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Shares of the tuples at which words, in order of their leading component, are cut to begin from."""
CERTAIN = 0.95
"""The weight of a word on its side of the cut to begin with."""
MOST_ROUNDS = 60
"""Rounds of expectation maximisation from one beginning; most need fewer than twenty."""
ENOUGH = 1e-5
"""The gain of a round, in nats, below which it was the last."""
EXTRA_FREEDOM = 1 / 80
"""Times K squared: what choosing the types adds to the degrees of freedom, by simulation (up to 20 actions and 100 words)."""


class WordTypes(NamedTuple):
    """The types of the words of one last state and context: `weights` w (Y,), `f` (K,) and the `gain` in nats."""

    gain: float
    f: FloatArray
    weights: FloatArray

    @property
    def p_value(self) -> float:
        """Return how likely such a gain is where feedback does not depend on the action."""
        K = len(self.f)
        freedom = K - 1 + EXTRA_FREEDOM * K * K
        return float(gammaincc(freedom / 2, max(self.gain, 0.0)))


def fit_types(counts: FloatArray) -> WordTypes:
    """Return the types of words from their counts (Y, K); which type is the reward is not decided here.

    Every action must have tuples. A word that was never said has weight 0.

    >>> types = fit_types(np.array([[9.0, 1.0, 1.0], [1.0, 9.0, 9.0], [9.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    >>> types.weights.round(), types.f.round(1)
    (array([1., 0., 1., 0.]), array([0.9, 0.1, 0.2]))
    """
    seen = counts.sum(axis=1) > 0
    weights = np.zeros(len(counts))
    if seen.sum() < 2 or counts.shape[1] < 2:
        return WordTypes(0.0, np.zeros(counts.shape[1]), weights)
    gain, f, weights[seen] = _fit(np.ascontiguousarray(counts[seen]), np.array(CUTS))
    return WordTypes(gain, f, weights)


@kernel
def _fit(counts: FloatArray, cuts: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return gain, f and weights of the best of several beginnings."""
    order = np.argsort(leading_scores(counts))
    mass = counts.sum(axis=1)[order]
    best, best_f, best_weights = -np.inf, np.zeros(counts.shape[1]), np.zeros(len(counts))
    last_cut = 0
    for share in cuts:
        below = np.cumsum(mass) - mass / 2 <= share * mass.sum()
        cut = min(max(int(below.sum()), 1), len(mass) - 1)
        if cut == last_cut:
            continue
        last_cut = cut
        weights = np.full(len(counts), CERTAIN)
        weights[order[:cut]] = 1 - CERTAIN
        gain, f = climb(counts, weights)
        if gain > best:
            best, best_f, best_weights = gain, f, weights
    return best, best_f, best_weights


@kernel
def leading_scores(counts: FloatArray) -> FloatArray:
    """Return the words' scores on the leading component of the standardised residuals, (Y,)."""
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    expected = np.outer(rows, columns) / columns.sum()
    residuals = (counts - expected) / np.sqrt(expected)
    gram = residuals.T @ residuals
    axis = np.ascontiguousarray(gram[np.argmax(np.diag(gram))])
    for _ in range(50):
        length = math.sqrt((axis**2).sum())
        if length == 0.0:
            break
        axis = gram @ (axis / length)
    return (residuals @ axis) / np.sqrt(rows)


@kernel
def climb(counts: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """Return the gain and f that expectation maximisation leads to from `weights`, which it changes in place."""
    tuples = counts.sum(axis=0)
    gain = -np.inf
    for _ in range(MOST_ROUNDS):
        f = (weights @ counts + 0.5) / (tuples + 1.0)  # half a tuple on each side: no action is impossible
        one = np.log(f * tuples.sum() / (f @ tuples))
        zero = np.log((1 - f) * tuples.sum() / ((1 - f) @ tuples))
        odds = counts @ (one - zero)
        base = counts @ zero
        before, gain = gain, 0.0
        for y in range(len(odds)):  # log (e^base+odds + e^base) / 2 of each word
            gain += base[y] + max(odds[y], 0.0) + math.log1p(math.exp(-abs(odds[y]))) - math.log(2.0)
            weights[y] = 1 / (1 + math.exp(-min(max(odds[y], -40.0), 40.0)))
        if gain - before < ENOUGH:
            break
    return gain, (weights @ counts) / tuples

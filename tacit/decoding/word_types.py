"""What words mean where they are many, are said by both sides, or were heard a few times: positions, not clusters.

In one last state and context Pr[y | a] = f_a g_1(y) + (1 - f_a) g_0(y). The tuples of a word fall on the actions by
where it stands between the two sides, lambda_y = Pr[r = 1 | y]:

    Pr[a | y] = lambda_y h_1(a) + (1 - lambda_y) h_0(a),    h_1 = q f / sum q f,    h_0 = q (1 - f) / sum q (1 - f),

with q_a = n_a / n. So words share K numbers, f, however many they are: a word that was said five times says little of
itself and still adds to f. A word stands at one of a few levels of g_1(y) / (g_0(y) + g_1(y)), whatever rule draws the
actions: 0 and 1 where every word belongs to one side (phi of Eq. 4, of two types), more where words overlap, alike
beforehand. At 1/2 it tells nothing, as silence of both sides does. Expectation maximisation finds f; as the outermost
words stand at 0 and 1, f is as far spread as the words allow, and the reward up to an affine map where no word is
exclusive, which keeps the order of the actions.

Tuples may leave open whether the word said most, such as silence, stands with one side or between them. Of readings
that they hardly tell apart, the one is taken whose f is likelier beforehand (`tacit.decoding.orientation`): one action
stands out. What the places of a context say of it together holds for each of them, so that all are on one scale.

The gain in log likelihood over one profile for all words tests whether feedback depends on the action at all: twice the
gain of two types is compared with chi-squared of K - 1 degrees of freedom and a few more, whatever the number of words.
A test of all (Y - 1)(K - 1) differences has no power when words are many.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincc, xlogy

from tacit.base.arrays import FloatArray
from tacit.base.jit import kernel
from tacit.decoding.orientation import log_density

CUTS = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Shares of the tuples at which words, in order of their leading component, are cut to begin from."""
CERTAIN = 0.95
"""The position of a word on its side of the cut to begin with."""
TWO_TYPES = (0.0, 1.0)
BETWEEN = (0.0, 0.25, 0.4, 0.5, 0.6, 0.75, 1.0)
"""Levels of a word: on one side or the other, or between; finer in the middle, where a word that most say may stand."""
FIRST_ROUNDS, MOST_ROUNDS = 8, 60
"""Rounds of expectation maximisation from every beginning, and from the best of them; most need fewer than twenty."""
ENOUGH = 1e-5
"""The gain of a round, in nats, below which it was the last."""
EXTRA_FREEDOM = 1 / 80
"""Times K squared: what choosing the types adds to the degrees of freedom, by simulation (20 actions, 100 words)."""


class WordTypes(NamedTuple):
    """Where the words of one last state and context stand: `positions` (Y,), `f` (K,) and the `gain` in nats.

    `overlaps` is whether levels between the sides are likelier than two types, by so many nats, and `between` the same
    with how likely either f is beforehand.
    """

    gain: float
    f: FloatArray
    positions: FloatArray
    overlaps: float = -math.inf
    between: float = 0.0

    @property
    def p_value(self) -> float:
        """Return how likely such a gain of two types is where feedback does not depend on the action."""
        return float(gammaincc(freedom(len(self.f)) / 2, max(self.gain, 0.0)))


def freedom(n_actions: int) -> float:
    """Return the degrees of freedom that twice the gain of two types has where feedback tells nothing."""
    return n_actions - 1 + EXTRA_FREEDOM * n_actions**2


def likelihood_ratio(table: FloatArray) -> float:
    """Return twice the log likelihood ratio against independence of rows and columns.

    >>> round(likelihood_ratio(np.array([[10.0, 0.0], [0.0, 10.0]])), 2)  # 40 log 2
    27.73
    """
    terms = xlogy(table, table).sum() + xlogy(table.sum(), table.sum())
    margins = [xlogy(table.sum(axis=axis), table.sum(axis=axis)).sum() for axis in (0, 1)]
    return float(max(2 * (terms - sum(margins)), 0.0))


def fit_types(counts: FloatArray) -> WordTypes:
    """Return two types of words from their counts (Y, K); which type is the reward is not decided here.

    Every action must have tuples. A word that was never said stands between the two.

    >>> types = fit_types(np.array([[9.0, 1.0, 1.0], [1.0, 9.0, 9.0], [9.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    >>> types.positions.round(1), types.f.round(1)
    (array([1. , 0. , 1. , 0.5]), array([0.9, 0.1, 0.2]))
    """
    seen = counts.sum(axis=1) > 0
    positions = np.full(len(counts), 0.5)
    if seen.sum() < 2 or counts.shape[1] < 2:
        return WordTypes(0.0, np.zeros(counts.shape[1]), positions)
    gain, f, positions[seen] = _fit(np.ascontiguousarray(counts[seen]), np.array(CUTS), np.array(TWO_TYPES))
    return WordTypes(gain, f, positions)


class Readings(NamedTuple):
    """Both ways to read a table: words of two `types`, and `softened`, with positions between, if there is room."""

    types: WordTypes
    softened: WordTypes | None = None

    def choose(self, between: bool | None = None) -> WordTypes:
        """Return whichever is likelier, or, if places of a context say together whether words stand `between`, that.

        Places that are read in different ways cannot be compared.
        """
        if self.softened is None:
            return self.types
        if self.softened.between > 0 if between is None else between:
            return self.softened
        return self.types._replace(overlaps=self.softened.overlaps, between=self.softened.between)


def read_both_ways(counts: FloatArray, below: float) -> Readings:
    """Return how counts (Y, K) are read; with positions between only where the p-value of two types is below this."""
    types = fit_types(counts)
    return soften(counts, types) if types.p_value < below else Readings(types)


def soften(counts: FloatArray, types: WordTypes) -> Readings:
    """Return the two types that were fitted to counts (Y, K), and beside them words with positions between."""
    seen = counts.sum(axis=1) > 0
    if seen.sum() < 3:  # two words have no room between
        return Readings(types)
    gain, f, positions = _fit_between(
        np.ascontiguousarray(counts[seen]), types.positions[seen], np.array(BETWEEN)
    )
    likelier = gain + stands_out(f) - types.gain - stands_out(types.f)
    softened = np.full(len(counts), 0.5)
    softened[seen] = positions
    return Readings(types, WordTypes(types.gain, f, softened, gain - types.gain, likelier))


@kernel
def _fit(counts: FloatArray, cuts: FloatArray, levels: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return gain, f and positions of the best of several beginnings."""
    order = np.argsort(leading_scores(counts))
    mass = counts.sum(axis=1)[order]
    best, best_positions = -np.inf, np.zeros(len(counts))
    last_cut = 0
    for share in cuts:
        below = np.cumsum(mass) - mass / 2 <= share * mass.sum()
        cut = min(max(int(below.sum()), 1), len(mass) - 1)
        if cut == last_cut:
            continue
        last_cut = cut
        positions = np.full(len(counts), CERTAIN)
        positions[order[:cut]] = 1 - CERTAIN
        gain, _ = climb(counts, positions, levels, FIRST_ROUNDS)
        if gain > best:
            best, best_positions = gain, positions
    best, f = climb(counts, best_positions, levels, MOST_ROUNDS)
    return best, f, best_positions


@kernel
def _fit_between(
    counts: FloatArray, positions: FloatArray, levels: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return gain, f and positions of the best of several beginnings, the first of which are `positions`."""
    best_positions = positions.copy()
    best, best_f = climb(counts, best_positions, levels, MOST_ROUNDS)
    for begin in range(len(levels) - 1):
        positions = graded_positions(counts) if begin == 0 else parted_positions(counts, levels[begin])
        gain, f = climb(counts, positions, levels, MOST_ROUNDS)
        if gain + stands_out(f) > best + stands_out(best_f):
            best, best_f, best_positions = gain, f, positions
    return best, best_f, best_positions


@kernel
def stands_out(f: FloatArray) -> float:
    """Return the log density of how often actions please against the best, f (K,) turned so that sum f <= K/2.

    The best itself is as likely to please often as seldom: readings differ in the scale of f.
    """
    t = 1 - f if f.sum() > len(f) / 2 else f
    return log_density(t) + (len(t) - 1) * math.log(max(t.max(), 0.01))


@kernel
def parted_positions(counts: FloatArray, between: float) -> FloatArray:
    """Return positions with the word said most `between` the sides, as silence is, and the others on either of them."""
    scores, common = leading_scores(counts), int(np.argmax(counts.sum(axis=1)))
    positions = np.where(scores < scores[common], 1 - CERTAIN, CERTAIN)
    positions[common] = between
    return positions


@kernel
def graded_positions(counts: FloatArray) -> FloatArray:
    """Return positions by the leading component: the outermost words at 0 and 1, those that tell nothing between."""
    scores = leading_scores(counts)
    low, high = min(scores.min(), -1e-12), max(scores.max(), 1e-12)
    return np.asarray(np.where(scores < 0, 0.5 - 0.5 * scores / low, 0.5 + 0.5 * scores / high))


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
    return np.asarray((residuals @ axis) / np.sqrt(rows))


@kernel
def climb(
    counts: FloatArray, positions: FloatArray, levels: FloatArray, rounds: int
) -> tuple[float, FloatArray]:
    """Return the gain and f that expectation maximisation leads to from `positions`, which it changes in place."""
    Y, K = counts.shape
    tuples, L = counts.sum(axis=0), len(levels)
    rewarded = positions @ counts  # (K,): tuples of each action that were a reward, in expectation
    gain = -np.inf
    f = rewarded / tuples
    for _ in range(rounds):
        f = (rewarded + 0.5) / (tuples + 1.0)  # half a tuple on each side: no action is impossible
        one, zero = f * tuples.sum() / (f @ tuples), (1 - f) * tuples.sum() / ((1 - f) @ tuples)
        logs, odds = np.empty((L, K)), np.empty((L, K))  # of a tuple with a word at each level, by action
        rate, meant = (f @ tuples) / tuples.sum(), np.empty(L)  # Pr[r = 1], and given a word at each level
        for level in range(L):
            meant[level] = levels[level] * rate / (levels[level] * rate + (1 - levels[level]) * (1 - rate))
            for a in range(K):
                mixed = meant[level] * one[a] + (1 - meant[level]) * zero[a]
                logs[level, a], odds[level, a] = math.log(mixed), meant[level] * one[a] / mixed
        before, gain = gain, 0.0
        rewarded[:] = 0.0
        weights = np.empty(L)
        for y in range(Y):
            for level in range(L):
                weights[level] = 0.0
                for a in range(K):
                    weights[level] += counts[y, a] * logs[level, a]
            top, total = weights.max(), 0.0
            for level in range(L):  # not as arrays: each would be allocated for every word of every round
                weights[level] = math.exp(weights[level] - top)
                total += weights[level]
            gain += top + math.log(total / L)
            positions[y] = 0.0
            for level in range(L):
                share = weights[level] / total
                positions[y] += share * meant[level]
                for a in range(K):
                    rewarded[a] += share * counts[y, a] * odds[level, a]
        if gain - before < ENOUGH:
            break
    return gain, rewarded / tuples

"""Whether feedback answers to the outcome alone: two profiles of words explain what is said after every action.

By Assumption 2.1 Pr[y | a] = f_a g_1(y) + (1 - f_a) g_0(y) in one last state and context, whatever words both sides
share: counts (Y, K) have expectations of rank two. Words said a few times are pooled with others, which keeps the rank;
with which ones, their actions have no say in, or the level would be lost. After some rounds of expectation maximisation
from what was judged, the residuals

    r_ya = (n_ya - mu_ya) / sqrt(mu_ya),      mu_ya = n_a Pr[y | a],

lose what any change of f, g_1 and g_0 could take up, their projection on the tangent space of matrices of rank two, so
that it does not matter how near those are to their best values (a C(alpha) test). The squares that are left add up to
chi-squared of (K - 2)(Y - 2) degrees of freedom where the model holds, and have that mean also where counts are small;
the variance is 2 (K - 2)(Y - 2) and what the fourth moments of small counts add. Places are added up, and the one that
fits worst is weighed against as many as there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincc

from tacit.base.arrays import FloatArray
from tacit.base.jit import kernel

LEAST_EACH = 3.0
"""Tuples of a word for each action, on average, below which it is pooled."""
ROUNDS = 40
"""Of expectation maximisation: the projection does the rest."""
INWARD = 0.02
"""How far f and positions are moved from 0 and 1 to begin with, where expectation maximisation would stay."""
LEAST_EXPECTED = 0.5
"""Below so many expected tuples a cell's residual is taken for one of so many, which makes it smaller."""


class Misfit(NamedTuple):
    """How far the counts of one place are from two profiles: sum of squares, its mean and variance if they hold.

    `explained` is the sum of squares if all actions were alike: all that feedback tells of the action.
    """

    squares: float
    freedom: float
    variance: float
    explained: float

    @property
    def p_value(self) -> float:
        """Return how likely so much is where two profiles hold."""
        return _upper_tail(self.squares, self.freedom, self.variance)


def measure_misfit(counts: FloatArray, f: FloatArray, phi: FloatArray) -> Misfit | None:
    """Return how far counts (Y, K) are from two profiles, None where two profiles explain everything.

    `f` (K,) and `phi` (Y,) are what was judged; every action must have tuples.

    >>> counts = np.array([[40.0, 4, 4], [50, 6, 6], [5, 50, 20], [5, 40, 70]])
    >>> measure_misfit(counts, np.array([0.9, 0.1, 0.1]), np.array([1.0, 1, 0, 0])).p_value < 1e-3
    True
    >>> counts[2:, 2] = [50, 40]
    >>> measure_misfit(counts, np.array([0.9, 0.1, 0.1]), np.array([1.0, 1, 0, 0])).p_value > 0.3
    True
    """
    pooled, positions = pool_words(counts, phi)
    Y, K = pooled.shape
    if Y < 3 or K < 3:
        return None
    inside = np.clip(f, INWARD, 1 - INWARD), np.clip(positions, INWARD, 1 - INWARD)
    squares, flat, explained = _residual_squares(np.ascontiguousarray(pooled), *inside)
    freedom = float((K - 2) * (Y - 2))
    variance = 2 * freedom + (freedom / (Y * K)) ** 2 * flat
    return Misfit(squares, freedom, variance, explained)


def combined_p_value(misfits: Sequence[Misfit]) -> float:
    """Return how likely misfits as large are where two profiles hold in all places: in sum, or in the worst of them."""
    if not misfits:
        return 1.0
    rows = np.array(misfits)
    together = _upper_tail(*rows[:, :3].sum(axis=0))
    worst = min(misfit.p_value for misfit in misfits)
    return min(2 * min(together, worst * len(misfits)), 1.0)


def pool_words(counts: FloatArray, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return counts (Y', K) and positions (Y',) in which words said a few times are pooled, in their order.

    >>> pool_words(np.array([[9.0, 9.0], [1.0, 4.0], [9.0, 1.0], [2.0, 1.0]]), np.array([1.0, 0.2, 0.9, 0.1]))
    (array([[9., 9.],
           [9., 1.],
           [3., 5.]]), array([1.    , 0.9   , 0.1625]))
    """
    totals = counts.sum(axis=1)
    least = LEAST_EACH * counts.shape[1]
    often, rare = np.flatnonzero(totals >= least), np.flatnonzero((totals > 0) & (totals < least))
    # A group is full when it has tuples enough; what is left over at the end joins the last one.
    group = np.minimum(
        (np.cumsum(totals[rare]) - totals[rare]) // least, max(totals[rare].sum() // least - 1, 0)
    )
    _, group = np.unique(group, return_inverse=True)
    n = len(often) + (int(group.max()) + 1 if len(rare) else 0)
    pooled, standing = np.zeros((n, counts.shape[1])), np.zeros(n)
    at = np.concatenate([np.arange(len(often)), len(often) + group]).astype(np.int64)
    words = np.concatenate([often, rare])
    np.add.at(pooled, at, counts[words])
    np.add.at(standing, at, totals[words] * phi[words])
    return pooled, standing / pooled.sum(axis=1)


def weighed_alike(counts: FloatArray) -> tuple[FloatArray, float]:
    """Return counts (Y, K) with all tried actions as often as the rarest of them, and what part of their noise is left.

    >>> weighed_alike(np.array([[80.0, 2.0], [20.0, 8.0]]))
    (array([[8., 2.],
           [2., 8.]]), 0.55)
    """
    tuples = counts.sum(axis=0)
    parts = tuples[tuples > 0].min() / np.where(tuples > 0, tuples, np.inf)
    return np.asarray(counts * parts), float(parts.mean())


def _upper_tail(squares: float, mean: float, variance: float) -> float:
    """Return the chance that a gamma variable of this mean and variance is no smaller."""
    return float(gammaincc(mean**2 / variance, squares * mean / variance)) if mean > 0 else 1.0


@kernel
def _residual_squares(counts: FloatArray, f: FloatArray, positions: FloatArray) -> tuple[float, float, float]:
    """Return squares of projected residuals, sum 1 / mu, and the squares if all actions were alike."""
    Y, K = counts.shape
    tuples, rows = counts.sum(axis=0), counts.sum(axis=1)
    g = np.empty((Y, 2))
    g[:, 0], g[:, 1] = rows * positions, rows * (1 - positions)
    f = _maximise(counts, f, g)
    sides = np.empty((K, 2))
    sides[:, 0], sides[:, 1] = f * tuples, (1 - f) * tuples
    expected = g @ sides.T
    scale = np.maximum(expected, LEAST_EXPECTED)
    residuals = counts - expected
    plain = np.outer(rows, tuples) / tuples.sum()
    explained = ((counts - plain) ** 2 / np.maximum(plain, LEAST_EXPECTED)).sum()
    squares = (residuals**2 / scale).sum() - _taken_up(residuals, scale, g, sides, f)
    return squares, (1 / scale).sum(), explained


@kernel
def _maximise(counts: FloatArray, f: FloatArray, g: FloatArray) -> FloatArray:
    """Return f (K,) after some rounds of expectation maximisation; `g` (Y, 2) is changed in place."""
    Y, K = counts.shape
    tuples = counts.sum(axis=0)
    for j in range(2):
        g[:, j] /= g[:, j].sum()
    for _ in range(ROUNDS):
        pleased, said = np.zeros(K), np.zeros((Y, 2))
        for y in range(Y):
            for a in range(K):
                one, zero = f[a] * g[y, 0], (1 - f[a]) * g[y, 1]
                if counts[y, a] > 0:
                    share = counts[y, a] * one / (one + zero)
                    pleased[a] += share
                    said[y, 0] += share
                    said[y, 1] += counts[y, a] - share
        f = pleased / tuples
        for j in range(2):
            g[:, j] = said[:, j] / max(said[:, j].sum(), 1e-12)
    return f


@kernel
def _taken_up(
    residuals: FloatArray, scale: FloatArray, g: FloatArray, sides: FloatArray, f: FloatArray
) -> float:
    """Return the squares of residuals that changes of f, g_1 and g_0 can take up.

    d mu_ya = sum_j g_yj beta_aj + sides_aj gamma_yj. The actions with the least and the largest f keep their sides,
    which makes the changes unique; gamma_y is eliminated word by word.
    """
    Y, K = residuals.shape
    low, high = np.argmin(f), np.argmax(f)
    if low == high:
        return 0.0
    number, n = np.full(K, -1), 0
    for a in range(K):
        if a not in (low, high):
            number[a], n = n, n + 1
    matrix, target = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
    taken: float = 0.0
    for y in range(Y):
        own, right = np.zeros((2, 2)), np.zeros(2)
        for a in range(K):
            for i in range(2):
                right[i] += sides[a, i] * residuals[y, a] / scale[y, a]
                for j in range(2):
                    own[i, j] += sides[a, i] * sides[a, j] / scale[y, a]
        inverse = np.linalg.inv(own + 1e-9 * np.trace(own) * np.eye(2))
        solved = inverse @ right
        taken += float(right @ solved)
        cross = np.zeros((2, 2 * n))  # of gamma_y with beta
        for a in range(K):
            if number[a] < 0:
                continue
            at = 2 * number[a]
            for j in range(2):
                target[at + j] += g[y, j] * residuals[y, a] / scale[y, a]
                for i in range(2):
                    matrix[at + i, at + j] += g[y, i] * g[y, j] / scale[y, a]
                    cross[i, at + j] = sides[a, i] * g[y, j] / scale[y, a]
        target -= cross.T @ solved
        matrix -= cross.T @ inverse @ cross
    matrix += 1e-9 * np.trace(matrix) / max(2 * n, 1) * np.eye(2 * n)
    return taken + float(target @ np.linalg.solve(matrix, target))

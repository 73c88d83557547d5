"""How sure a decoding is: the probability that what was decoded is the latent reward, given the tuples behind it.

Where words stand between the two types, p_y, and the share of type 1 after each action, t_a, are fitted
(`tacit.decoding.word_types`). What they mean depends on what data do not tell (`tacit.decoding.orientation`): which
type is the reward, and how many of those who are not pleased (t_0) and of those who are (t_1) say words of type 1:

    g_r(y) = t_r G_1(y) + (1 - t_r) G_0(y),    G_1(y) ~ Pr[y] p_y,    G_0(y) ~ Pr[y] (1 - p_y),
    f_a = (t_a - t_0) / (t_1 - t_0),           Pr[r = 1 | y, a] = f_a g_1(y) / (f_a g_1(y) + (1 - f_a) g_0(y)).

A scenario is a turn with a t_0 and a t_1 that could be, as likely as shares and known outcomes make it: in a world in
which words overlap as they do there, and in one in which they hardly do. The noise of t is in it by drawing t anew.
Confidence is the mean over all scenarios, an interval holds all but the outermost: what cannot be identified, too.

That a place is heterogeneous at all is weighed by the gain in likelihood of two types, with flat priors on f.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, expit, logsumexp, xlogy

from tacit.base.arrays import BoolArray, FloatArray
from tacit.decoding.judgement import LEVEL, Judgement
from tacit.decoding.orientation import GRID, OVERLAP_SCALE, Worlds, overlap_steps, overlap_weights
from tacit.decoding.word_types import fit_types

LITTLE_OVERLAP = 0.05
"""The mean of t_0 and of 1 - t_1 where words are taken to be exclusive: hardly anybody's are. Chosen by reliability
over overlaps of 0 to 40 % (`benchmarks/calibration.py --choose`)."""
DRAWS, SEED = 6, 31
"""Times that t is drawn anew within its noise, and of those draws."""
SCENARIOS = 120
"""Of a place: three at either end are outside an interval of 95 %."""
SPREADS = (2.0, 8.0, 32.0)
"""Tosses that the Beta law of shares around their mean is worth: from anywhere to within a few percent."""
RULED_OUT = 0.025
"""The probability below which a homogeneous place is taken to be one: half of what an interval misses."""
NEGLIGIBLE = 1e-3
"""What is less likely than this, of the likeliest, is left out."""


class Scenarios(NamedTuple):
    """What a heterogeneous place may be, all alike: `f` (P, K) and Pr[r = 1 | y, a] (P, Y, K)."""

    f: FloatArray
    rewards: FloatArray

    @property
    def rewarded(self) -> FloatArray:
        """Return Pr[r = 1 | y, a] over all of them, (Y, K)."""
        return np.asarray(self.rewards.mean(axis=0))

    def reward_interval(self, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
        """Return between what Pr[r = 1 | y, a] lies, low and high (Y, K)."""
        return inner_interval(self.rewards, level)

    def f_interval(self, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
        """Return between what f lies, low and high (K,)."""
        return inner_interval(self.f, level)


class OverlapPoints(NamedTuple):
    """Shares with a t_0 and a t_1 that could be: `weights`, `t_0`, `t_1`, `turned` (P,) each, `shares` (P, K)."""

    weights: FloatArray
    t_0: FloatArray
    t_1: FloatArray
    turned: BoolArray
    shares: FloatArray


def imagine(found: Judgement, worlds: Worlds) -> Scenarios:
    """Return what a heterogeneous place may be; `found` is its judgement before it was turned.

    >>> from tacit.decoding.judgement import JudgementSettings, judge
    >>> found = judge(np.array([[57.0, 1.0, 1.0], [3.0, 59.0, 59.0]]), 0.0, JudgementSettings())
    >>> said = imagine(found, Worlds(-5.0, 5.0, 5.0)).rewarded  # (Y, K)
    >>> said[0, 0] > 0.95, said[1, 1] < 0.05, 0.2 < said[1, 0] < 0.8  # the pleased may say the second word, too
    (np.True_, np.True_, np.True_)
    """
    parts = [part for shares in drawn_shares(found) for part in _both_worlds(shares, worlds)]
    points = OverlapPoints(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    mass = np.cumsum(points.weights)
    chosen = np.searchsorted(mass, (np.arange(SCENARIOS) + 0.5) / SCENARIOS * mass[-1])
    return _mean_of_points(OverlapPoints(*(each[chosen] for each in points)), found.phi, found.tuples)


def drawn_shares(found: Judgement) -> FloatArray:
    """Return t (DRAWS, K) within its noise, the same for the same counts: Beta with half a tuple on each side."""
    one = found.f * found.tuples
    return np.random.default_rng(SEED).beta(one + 0.5, found.tuples - one + 0.5, (DRAWS, len(one)))


def _both_worlds(shares: FloatArray, worlds: Worlds) -> Iterator[OverlapPoints]:
    """Yield what shares (K,) may come of, in both worlds and turns, unless they are negligible."""
    overlap, exclusive, overlapping = (float(expit(odds)) for odds in worlds)
    for scale, world, upright in (
        (LITTLE_OVERLAP, 1 - overlap, exclusive),
        (OVERLAP_SCALE, overlap, overlapping),
    ):
        for chance, turned in ((world * upright, False), (world * (1 - upright), True)):
            if chance > NEGLIGIBLE:
                yield _weigh_points(1 - shares if turned else shares, scale, chance, turned)


def _weigh_points(shares: FloatArray, scale: float, chance: float, turned: bool) -> OverlapPoints:
    """Return every t_0 and t_1, of the mean `scale` beforehand, that shares t (K,) may come of, `chance` together."""
    weights = overlap_weights(shares, scale)
    (step_0, step_1), at = overlap_steps(shares), np.arange(GRID) + 0.5
    t_0, t_1 = np.repeat(at * step_0, GRID), 1 - np.tile(at * step_1, GRID)
    flat = weights.ravel()
    kept = flat > NEGLIGIBLE * flat.max()
    if not kept.any():  # this turn makes no minority of it: as if words were exclusive
        flat, t_0, t_1, kept = np.ones(1), np.zeros(1), np.ones(1), np.ones(1, dtype=np.bool_)
    n = int(np.count_nonzero(kept))
    total = float(flat[kept].sum())
    return OverlapPoints(
        chance / total * flat[kept], t_0[kept], t_1[kept], np.full(n, turned), np.tile(shares, (n, 1))
    )


def _mean_of_points(points: OverlapPoints, phi: FloatArray, tuples: FloatArray) -> Scenarios:
    """Return what feedback means at each point, with words at phi (Y,) before they are turned."""
    t_0, t_1 = points.t_0[:, None], points.t_1[:, None]
    f = np.clip((points.shares - t_0) / (t_1 - t_0), 0.0, 1.0)  # (P, K)
    positions = np.where(points.turned[:, None], 1 - phi, phi)  # (P, Y)
    typed = (points.shares @ tuples / tuples.sum())[:, None]  # the share of type 1 over all tuples
    one, zero = positions / np.maximum(typed, 1e-12), (1 - positions) / np.maximum(1 - typed, 1e-12)
    said_1, said_0 = ((t * one + (1 - t) * zero)[:, :, None] for t in (t_1, t_0))  # g_r over Pr[y], (P, Y, 1)
    pleased, other = f[:, None, :] * said_1, (1 - f[:, None, :]) * said_0
    return Scenarios(f, pleased / np.maximum(pleased + other, 1e-300))


def inner_interval(values: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends between which all but the outermost of values (P, ...) lie.

    >>> inner_interval(np.arange(100.0), 0.9)
    (array(5.), array(94.))
    """
    outside = round(len(values) * (1 - level) / 2)
    ordered = np.sort(values, axis=0)
    return np.asarray(ordered[outside]), np.asarray(ordered[len(values) - 1 - outside])


def heterogeneous_chance(counts: FloatArray) -> float:
    """Return the probability that feedback depends on the action, from counts (Y, K), beforehand one half.

    The gain of two types, averaged over the types of each word, less what fitting a share to each action costs. How far
    shares are spread nobody knows beforehand, least of all where words overlap: `SPREADS` count alike.

    >>> heterogeneous_chance(np.array([[27.0, 3.0, 3.0], [3.0, 27.0, 27.0]])) > 0.999
    True
    >>> heterogeneous_chance(np.full((2, 3), 900.0)) < 0.1 < heterogeneous_chance(np.full((2, 3), 10.0))
    True
    """
    if np.count_nonzero(counts.sum(axis=1)) < 2:
        return 0.0
    types, tuples = fit_types(counts), counts.sum(axis=0)
    one = types.f * tuples
    fitted = [_average_less_best(one, tuples - one, like) for like in SPREADS]
    cost = float(logsumexp(fitted)) - math.log(len(SPREADS))
    return float(expit(types.gain + math.log(2) + cost))  # log 2: type 1 may be either


def _average_less_best(one: FloatArray, zero: FloatArray, like: float) -> float:
    """Return the log likelihood of tosses of coins (K,) averaged over their prior, less that of the best coins.

    The prior is Beta around their common mean, worth `like` tosses.
    """
    total = np.maximum(one + zero, 1e-12)
    mean = (one.sum() + 1) / (total.sum() + 2)
    alpha, beta = like * mean, like * (1 - mean)
    averaged = betaln(one + alpha, zero + beta) - betaln(alpha, beta)
    return float((averaged - xlogy(one, one / total) - xlogy(zero, zero / total)).sum())

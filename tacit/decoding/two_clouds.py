"""The direction in which points are two clouds: a mixture of two normal distributions of one covariance.

Whoever is pleased answers around one point and whoever is not around another, in every region and ending g and after
every action a with another chance,

    p(y | g, a) = p_ga N(y; m_1, C) + (1 - p_ga) N(y; m_0, C),

so that points which look like two clouds and fall into them by what was done are likeliest. Where all have variance 1
and are uncorrelated, as they are made here, C = I - p (1 - p) d d' for d = m_1 - m_0, so C^-1 d points along d, and a
round of expectation maximisation is a few sums. It begins along several axes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from tacit.base.arrays import FloatArray, IntArray

STRENGTH = 4.0
"""Points that each (g, a) has beforehand, in the clouds as all are."""
LEAST_SHARE = 0.05
"""Of the points, in the smaller cloud."""
FIRST_ROUNDS, MOST_ROUNDS = 5, 40
"""Rounds from every beginning, and from the best of them."""
LEAST_LEFT = 0.02
"""Of the variance along d, that is within the clouds."""


LEAST_GAIN, LEAST_DISTANCE = 10.0, 2.5
"""Nats for each dimension, and deviations, from which on two clouds are evident. Of 120 normal clouds none was two, and
two clouds three deviations apart always were after 2,000 points; one that is skewed or flat may be taken for two."""


class TwoClouds(NamedTuple):
    """Two clouds: the `gain` over one cloud, in nats, each point's chance of the second (n,), and the `direction` (q,),
    scaled so that clouds have variance 1 along it; `distance` is how far apart their means are then.
    """

    gain: float
    chances: FloatArray
    direction: FloatArray
    distance: float

    @property
    def evident(self) -> bool:
        """Return whether they are two to anybody who sees them."""
        return self.gain > LEAST_GAIN * len(self.direction) and self.distance > LEAST_DISTANCE


def find_clouds(points: FloatArray, groups: IntArray, starts: FloatArray) -> TwoClouds:
    """Return the likeliest two clouds of points (n, q); `starts` (q, m) are axes to begin from.

    `groups` (n,) are those of region, ending and action.

    >>> generator = np.random.default_rng(0)
    >>> points = generator.standard_normal((400, 3))
    >>> points[:150, 1] += 5
    >>> clouds = find_clouds(points, np.zeros(400, dtype=int), np.eye(3))
    >>> int(np.abs(clouds.direction).argmax()), clouds.evident, round(clouds.distance)
    (1, True, 5)
    """
    centred = points - points.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    whiten = axes / np.sqrt(np.maximum(variances, 1e-12 * max(float(variances[-1]), 1e-300)))
    white = centred @ whiten
    begun = [begin(centred @ start) for start in starts.T]
    tried = [climb_clouds(white, groups, chances, FIRST_ROUNDS) for chances in begun]
    best = max(tried, key=lambda each: each.gain)
    found = climb_clouds(white, groups, best.chances, MOST_ROUNDS)
    return found._replace(direction=whiten @ found.direction)


def begin(along: FloatArray) -> FloatArray:
    """Return chances (n,) to begin from: where points are along an axis, on which they are centred."""
    return np.asarray(expit(3 * along / max(float(along.std()), 1e-300)))


def climb_clouds(white: FloatArray, groups: IntArray, chances: FloatArray, rounds: int) -> TwoClouds:
    """Return the clouds that so many rounds of expectation maximisation lead to from chances (n,).

    The gain is that of where points are along d, for across d all clouds are alike.
    """
    n, often = len(white), np.bincount(groups)
    gain, distance, direction = -np.inf, 0.0, np.zeros(white.shape[1])
    for _ in range(rounds):
        share = float(np.clip(chances.mean(), LEAST_SHARE, 1 - LEAST_SHARE))
        by_group = (np.bincount(groups, chances) + STRENGTH * share) / (often + STRENGTH)
        one = chances @ white / max(float(chances.sum()), 1e-300)
        zero = (1 - chances) @ white / max(float((1 - chances).sum()), 1e-300)
        apart = one - zero
        left = max(1 - share * (1 - share) * float(apart @ apart), LEAST_LEFT)
        odds = (white @ apart - float(apart @ (one + zero)) / 2) / left + logit(by_group)[groups]
        chances = np.asarray(expit(odds))
        length = math.sqrt(float(apart @ apart))
        direction, distance = apart / max(length * math.sqrt(left), 1e-300), length / math.sqrt(left)
        far = (white @ direction - float(zero @ direction)) ** 2
        gain = float((np.log1p(-by_group)[groups] + np.logaddexp(0, odds) - far / 2).sum())
        gain += n / 2 * (1 - math.log(left))
    return TwoClouds(gain, chances, direction, distance)

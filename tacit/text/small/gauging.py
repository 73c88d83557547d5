"""Theta and M of conversations (Assumption 2.3), from rewards that were read of reactions left out of the fits.

Where a fit without a reaction holds one candidate to be right (f at least twice what is even, or 1/2), places are
heterogeneous:

    theta   how often that candidate pleased, of those who were offered it
    M       how many of the candidates on offer please, all together: K times how often one that is drawn evenly does

Choices are weighed as if they had been even. The form of f holds its sum to 1, but what is read of reactions is not
held to it: M above 1 says that several candidates please.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.text.small.ensemble import Ensemble
from tacit.text.small.posterior import Sample

HELD_RIGHT, SURELY_RIGHT = 2.0, 0.5
"""f of the best candidate from which on a place is heterogeneous: a multiple of 1/K, or this."""
FEWEST_TAKEN = 10
"""Reactions to candidates held right below which nothing is said."""


class Gauge(NamedTuple):
    """Theta and M with their standard errors, and how many candidates there are on average; zeros if not known."""

    theta: float = 0.0
    theta_error: float = 0.0
    M: float = 0.0
    M_error: float = 0.0
    candidates: float = 0.0


def gauge_rewards(posterior: Ensemble, sample: Sample, weights: FloatArray) -> Gauge:
    """Return the constants of reactions, each read with that part of weights (P, E, m) which was fitted without it.

    Reaction n was left out of part n modulo P; see `tacit.text.small.left_out`.
    """
    rows, size = np.arange(len(sample)), sample.mask.sum(axis=1)
    f, read = np.zeros(sample.mask.shape), np.zeros(len(sample))
    for number, fit in enumerate(weights):
        some, reader = rows[number :: len(weights)], posterior.put_fitting(fit)
        f[some], read[some] = reader.rewards(sample.part(some)), reader.rewarded(sample.part(some))
    best = f.argmax(axis=1)
    evenly, there = 1 / (size * sample.chance), f[rows, best] >= np.minimum(HELD_RIGHT / size, SURELY_RIGHT)
    held = there & (sample.taken == best)
    if held.sum() < FEWEST_TAKEN:
        return Gauge()
    theta, theta_error = weighted_mean(read[held], evenly[held])
    M, M_error = weighted_mean((size * read)[there], evenly[there])
    return Gauge(theta, theta_error, M, M_error, float(np.average(size[there], weights=evenly[there])))


def weighted_mean(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Return a weighted mean and its standard error.

    >>> weighted_mean(np.array([0.0, 1.0]), np.array([1.0, 1.0]))[0]
    0.5
    """
    mean = float(np.average(values, weights=weights))
    return mean, float(np.sqrt(((weights * (values - mean)) ** 2).sum()) / weights.sum())

"""Estimators of a value from weighted episodes, whatever the episodes are made of."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray

MOST_WEIGHT = 1e100
"""The weight that an episode can have: beyond, nothing but it would count, and squares would soon overflow."""


class Estimated(NamedTuple):
    """A value and its standard error."""

    value: float
    error: float


def episode_weights(ratios: FloatArray) -> FloatArray:
    """Return the product over steps of ratios pi/p (n, H), (n,), at most `MOST_WEIGHT`; NaN nowhere.

    >>> episode_weights(np.array([[2.0, 0.5], [1e200, 1e200], [1e300, 0.0]]))
    array([1.e+000, 1.e+100, 0.e+000])
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        weights = ratios.prod(axis=1)
    never = (ratios == 0).any(axis=1)  # whatever overflowed before
    return np.where(never, 0.0, np.minimum(weights, MOST_WEIGHT))


def are_too_large(ratios: FloatArray) -> bool:
    """Return whether the steps of an episode weigh too much together, up to any of them."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return not bool((np.cumprod(ratios, axis=1) < MOST_WEIGHT).all())


def importance_sampling(weights: FloatArray, rewards: FloatArray) -> Estimated:
    """Return 1/n sum w r.

    >>> importance_sampling(np.array([1.0, 1.0]), np.array([1.0, 0.0])).value
    0.5
    """
    return estimate_mean(weights * rewards)


def self_normalised(weights: FloatArray, rewards: FloatArray) -> Estimated:
    """Return sum w r / sum w, its error by the delta method: sqrt(sum w^2 (r - V)^2) / sum w."""
    total = float(weights.sum())
    if total == 0:
        return Estimated(math.nan, math.inf)
    value = float(weights @ rewards) / total
    return Estimated(value, float(np.sqrt(((weights * (rewards - value)) ** 2).sum())) / total)


def estimate_mean(terms: FloatArray) -> Estimated:
    """Return the mean of terms (n,) and its standard error."""
    n = len(terms)
    spread = float(terms.std(ddof=1)) if n > 1 else math.inf
    return Estimated(float(terms.mean()), spread / math.sqrt(n))


def effective_size(weights: FloatArray) -> float:
    """Return (sum w)^2 / sum w^2: how many episodes of the policy itself the weighted ones are worth.

    >>> effective_size(np.array([1.0, 1.0, 0.0]))
    2.0
    """
    square = float((weights**2).sum())
    return float(weights.sum()) ** 2 / square if square > 0 else 0.0

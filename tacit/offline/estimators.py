"""Estimators of a value from weighted episodes, whatever the episodes are made of."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray


class Estimated(NamedTuple):
    """A value and its standard error."""

    value: float
    error: float


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

"""Means over seeds with their 95 % Student t intervals, as numbers and in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from tacit.base.arrays import FloatArray

LEVEL = 0.95

SeedInterval = dict[str, float | None]
"""{"mean", "low", "high"}, as it stands in `summary.json`."""


def mean_interval(values: Sequence[float | None]) -> SeedInterval:
    """Return {"mean", "low", "high"} over seeds; no interval from one seed, nothing where a value is missing.

    >>> mean_interval([1.0, 1.0])
    {'mean': 1.0, 'low': 1.0, 'high': 1.0}
    >>> mean_interval([1.0])
    {'mean': 1.0, 'low': None, 'high': None}
    """
    numbers = [value for value in values if value is not None]
    if not numbers or len(numbers) < len(values):
        return {"mean": None, "low": None, "high": None}
    mean = float(np.mean(numbers))
    if len(numbers) == 1:
        return {"mean": mean, "low": None, "high": None}
    half = float(half_width(np.array(numbers)[:, None])[0])
    return {"mean": mean, "low": mean - half, "high": mean + half}


def half_width(values: FloatArray) -> FloatArray:
    """Return half of the interval's width for each column of values (seeds, n); NaN from one seed."""
    n = len(values)
    if n < 2:
        return np.full(values.shape[1:], np.nan)
    quantile = stdtrit(n - 1, (1 + LEVEL) / 2)  # Student t
    return np.asarray(quantile * values.std(axis=0, ddof=1) / np.sqrt(n))


def show_interval(interval: SeedInterval, decimals: int = 3) -> str:
    """Return an interval as text.

    >>> show_interval({"mean": 0.7, "low": 0.68, "high": 0.72}, 2)
    '0.70 [0.68, 0.72]'
    >>> show_interval({"mean": None, "low": None, "high": None})
    '-'
    """
    mean, low, high = interval["mean"], interval["low"], interval["high"]
    if mean is None:
        return "-"
    text = f"{mean:,.{decimals}f}"
    return text if low is None or high is None else f"{text} [{low:,.{decimals}f}, {high:,.{decimals}f}]"


def plus_minus(interval: SeedInterval, decimals: int) -> str:
    """Return a mean with half of its interval's width.

    >>> plus_minus({"mean": 0.7, "low": 0.68, "high": 0.72}, 2)
    '0.70±0.02'
    """
    mean, high = interval["mean"], interval["high"]
    if mean is None:
        return "-"
    return f"{mean:,.{decimals}f}" + (f"±{high - mean:,.{decimals}f}" if high is not None else "")

"""Checks of single numbers, shared by all settings: each raises with the rule, the value and the remedy."""

import math
from typing import Any

import numpy as np


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise unless `value` is a whole number of at least `least`.

    >>> check_whole("episodes", 2.5, 1)
    Traceback (most recent call last):
    ValueError: episodes must be a whole number of at least 1, got 2.5
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


def check_number(name: str, value: Any, low: float, high: float) -> None:
    """Raise unless `value` is a finite number strictly between `low` and `high`.

    >>> check_number("delta", 1.0, 0, 1)
    Traceback (most recent call last):
    ValueError: delta must be a number above 0 and below 1, got 1.0
    """
    ok = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (ok and math.isfinite(value) and low < value < high):
        above = f" and below {high:g}" if high < math.inf else ""
        raise ValueError(f"{name} must be a number above {low:g}{above}, got {value!r}")

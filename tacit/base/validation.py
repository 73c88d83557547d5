"""Checks of single values, shared by all settings: each raises with the rule, the value and the remedy."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray

MOST = 2**53
"""Of any setting: float64 holds whole numbers exactly up to it."""
LEAST = 1e-50
"""Of any setting that must be positive: what is divided by it does not overflow."""
SIMPLEX_TOLERANCE = 1e-9
"""How far a distribution may be from summing to 1: rounding of its own arithmetic, and nothing more."""


def check_whole(name: str, value: Any, least: int, most: int = 2**63 - 1) -> None:
    """Raise unless `value` is a whole number of at least `least`, and at most `most`.

    >>> check_whole("episodes", 2.5, 1)
    Traceback (most recent call last):
    ValueError: episodes must be a whole number of at least 1, got 2.5
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    if value > most:
        raise ValueError(f"{name} must be at most {most}, got {value!r}")


def check_number(name: str, value: Any, low: float, high: float = math.inf) -> None:
    """Raise unless `value` is a number strictly between `low` and `high`, within what can be computed with.

    >>> check_number("delta", 1.0, 0, 1)
    Traceback (most recent call last):
    ValueError: delta must be a number above 0 and below 1, got 1.0
    """
    least, most = (LEAST if low == 0 else low), min(high, MOST)
    if not (is_numeric(value) and low < value < high and least <= value <= most):
        above = f" and below {high:g}" if high < math.inf else ""
        raise ValueError(f"{name} must be a number above {low:g}{above}, got {value!r}")


def is_numeric(value: Any) -> bool:
    """Return whether `value` is a number, of Python or of NumPy; True and False are none."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def check_within(name: str, value: Any, low: float, high: float) -> None:
    """Raise unless `value` is a number from `low` to `high`, both included.

    >>> check_within("c", 5, 0, 1)
    Traceback (most recent call last):
    ValueError: c must be a number from 0 to 1, got 5
    """
    if not (is_numeric(value) and low <= value <= high):
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {value!r}")


def check_choice(name: str, value: Any, options: Sequence[str]) -> None:
    """Raise unless `value` is one of some words."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} must be one of {tuple(options)}, got {value!r}")


def check_encodable(what: str, text: Any) -> str:
    """Return `text`, or raise unless it is one that can be written down as UTF-8: half of a surrogate pair cannot."""
    if not isinstance(text, str):
        raise ValueError(f"{what} must be a text, got {text!r}")
    if is_encodable(text):
        return text
    raise ValueError(
        f"{what} must be text that UTF-8 can hold, got {text!r}; replace what was cut in half, by "
        'text.encode("utf-8", "replace").decode()'
    )


def is_encodable(text: str) -> bool:
    r"""Return whether a text can be written down as UTF-8.

    >>> is_encodable("so \u2026"), is_encodable("so \ud83d")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_distribution(rows: FloatArray, exists: BoolArray) -> bool:
    """Return whether every row (..., K) with something that `exists` is a distribution over that, and the rest zero.

    >>> is_distribution(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([[True, True], [True, False]]))
    True
    """
    sums = rows.sum(axis=-1)
    return bool(
        (rows >= 0).all()
        and not rows[~np.broadcast_to(exists, rows.shape)].any()
        and (np.abs(sums - np.broadcast_to(exists, rows.shape).any(axis=-1)) <= SIMPLEX_TOLERANCE).all()
    )

"""The rate at which cumulative regret (Eq. 1) grows, beside that of Theorem 4.3."""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import FloatArray, IntArray

THEOREM = 0.75
"""The exponent of T in Theorem 4.3."""
SPAN = 100
"""The rate is fitted over the last two decades of episodes: 10^4 to 10^6 on the whole budget."""


def first_fitted(episodes: int) -> int:
    """Return the first episode of the fit.

    >>> first_fitted(1_000_000)
    10000
    """
    return max(episodes // SPAN, 1)


def fit_slope(episodes: IntArray, regret: FloatArray) -> float | None:
    """Return b of the least-squares line log regret = a + b log T; None from fewer than two points above zero.

    Points evenly spaced in log T weigh every part of the fitted range alike.

    >>> T = np.array([1, 10, 100, 1000])
    >>> round(fit_slope(T, 3 * T**0.5), 6)
    0.5
    """
    fitted = (episodes >= first_fitted(int(episodes[-1]))) & (regret > 0)
    if fitted.sum() < 2:
        return None
    return float(np.polyfit(np.log(episodes[fitted]), np.log(regret[fitted]), 1)[0])

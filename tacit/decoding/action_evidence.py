"""Whether words depend on the action: held-out tuples of uniform actions, with a bound that holds for any fit.

For any q, fitted well or not, let R = q(w | x, s, a) / mean_b q(w | x, s, b). If w does not depend on the action, a
uniform action makes the mean of R exactly 1 given x, s and w, and so that of the product of (1 - v + v R) over tuples
that q was not fitted to: it exceeds e^G with a chance of at most e^-G. With v = 1 it gains most where q is right; with
v = 1/2 what is said with too much confidence, as a fit of many features does, loses at most log 2 a tuple. The mean of
both products has mean 1, too. No second model is fitted to be compared with: one that follows words too closely
without actions would lose against anything.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.base.saved import Saved


class ActionEvidence(NamedTuple):
    """That words depend on the action: nats of each ending, (S,), of all as one, and how many standard errors."""

    gains: FloatArray
    gain: float
    z: float


def weigh_ratios(ratios: FloatArray, endings: IntArray, n_endings: int) -> ActionEvidence:
    """Return the evidence of R (n,) of tuples of uniform actions in endings (n,) that nothing was fitted to.

    >>> weigh_ratios(np.full(20, 2.0), np.zeros(20, dtype=int), 2).gains.round(1)
    array([13.2,  0. ])
    """
    bold, careful = np.log(ratios), np.log((1 + ratios) / 2)
    each = (np.bincount(endings, logs, n_endings) for logs in (bold, careful))
    gains = np.logaddexp(*each) - math.log(2)
    error = float(careful.std()) * math.sqrt(len(careful)) if len(careful) else 0.0
    total = float(np.logaddexp(bold.sum(), careful.sum())) - math.log(2)
    return ActionEvidence(gains, total, float(careful.sum()) / error if error > 0 else 0.0)


def restore_evidence(saved: Saved, n_endings: int) -> ActionEvidence:
    """Return the evidence that was saved by its names."""
    return ActionEvidence(saved.floats("gains", (n_endings,)), saved.number("gain"), saved.number("z"))

"""Whether words depend on the action: held-out tuples of uniform actions, with a bound that holds for any fit.

For any q, fitted well or not, let R = q(w | x, s, a) / mean_b q(w | x, s, b). If w does not depend on the action, a
uniform action makes the mean of R exactly 1 given x, s and w, and so that of the product of (1 - v + v R) over tuples
that q was not fitted to: it exceeds e^G with a chance of at most e^-G. With v = 1 it gains most where q is right; with
v = 1/2 what is said with too much confidence, as a fit of many features does, loses at most log 2 a tuple. The mean of
both products has mean 1, too. No second model is fitted to be compared with: one that follows words too closely
without actions would lose against anything.

What was understood of earlier tuples is not fitted to the next one either: over a run, each read before it is learned
from, the product is a martingale, whoever reads them, and the bound holds for all times at once.
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


class RunningEvidence(NamedTuple):
    """The evidence of tuples that were read one after the other, each before it was learned from: log products."""

    bold: float = 0.0
    careful: float = 0.0

    @property
    def gain(self) -> float:
        """Return the nats by which it is shown that words depend on the action; the chance of G is at most e^-G."""
        return float(np.logaddexp(self.bold, self.careful)) - math.log(2)

    def after(self, ratio: float) -> RunningEvidence:
        """Return the evidence after one more tuple of a uniform action, with its R.

        >>> RunningEvidence().after(2.0).gain > 0 > RunningEvidence().after(0.5).gain
        True
        """
        ratio = max(ratio, 1e-12)
        return RunningEvidence(self.bold + math.log(ratio), self.careful + math.log((1 + ratio) / 2))


def restore_evidence(saved: Saved, n_endings: int) -> ActionEvidence:
    """Return the evidence that was saved by its names."""
    return ActionEvidence(saved.floats("gains", (n_endings,)), saved.number("gain"), saved.number("z"))

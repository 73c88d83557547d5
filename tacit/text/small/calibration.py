"""How boldly feedback is read: two numbers, chosen by reactions that were left out of the fits.

A ridge that keeps weights from being learned by heart makes them timid, and what was fitted to few reactions is too
sure of itself. Where a reaction is read, u (what fits) is multiplied by `boldness`, t and k (what is meant) by
`sharpness`. Of the pairs by which choices that were left out are about as likely as by the best, given what was said,
the one nearest to how they were fitted is taken: the very best is a lucky one, and too sure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from tacit.base.arrays import FloatArray
from tacit.text.small.likelihood import Design, rewards_of_taken
from tacit.text.small.likelihood_kernels import weigh_feedback
from tacit.text.small.posterior import LARGEST_RATIO, clipped

BOLDER = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
SHARPER = (1.0, 1.5, 2.0, 3.0)
"""What is tried."""
AS_LIKELY = 2.0
"""Log-likelihood that pairs may lack: those within it are a region of confidence 0.86 for two numbers."""


class Scales(NamedTuple):
    """What u, and what t and k are multiplied by where feedback is read."""

    boldness: float = 1.0
    sharpness: float = 1.0

    @property
    def distance(self) -> float:
        """Return how far they are from reading as it was fitted."""
        return abs(math.log(self.boldness)) + abs(math.log(self.sharpness))


def calibrate(design: Design, weights: FloatArray, fits: Sequence[FloatArray]) -> Scales:
    """Return the scales by which reactions are foretold best: their rewards by the fit that left them out.

    Reaction n was left out of fit n modulo their number. What is meant is what all `weights` say.
    """
    _, believed = rewards_of_taken(design, weights)
    odds = np.where(design.profiled, clipped(design.profile @ design.split(weights)[4]), LARGEST_RATIO)

    def likelihood(f: FloatArray, sharpness: float) -> float:
        plain = expit(clipped(sharpness * odds))
        value, _, _ = weigh_feedback(f * plain + (1 - f) * (1 - plain), clipped(sharpness * believed.ratio))
        return value

    rewards = {boldness: foretell(design, fits, boldness) for boldness in BOLDER}
    likely = {
        Scales(boldness, sharpness): likelihood(rewards[boldness], sharpness)
        for boldness in BOLDER
        for sharpness in SHARPER
    }
    best = max(likely.values())
    return min((pair for pair in likely if likely[pair] >= best - AS_LIKELY), key=lambda pair: pair.distance)


def foretell(design: Design, fits: Sequence[FloatArray], boldness: float) -> FloatArray:
    """Return f of the candidates taken, (n,), each by the fit that left it out, with u multiplied by the boldness."""
    f = np.zeros(len(design))
    for number, fit in enumerate(fits):
        rows = np.arange(number, len(design), len(fits))
        part = design.part(rows)
        echo, W, *rest = part.split(fit)
        f[rows] = rewards_of_taken(part, np.concatenate([boldness * echo, boldness * W, *rest]))[0]
    return f

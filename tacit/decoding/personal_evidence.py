"""Whether words depend on the action: held-out tuples of uniform actions, with a bound that holds for any fit.

For any q, fitted well or not, let R = q(w | x, s, a) / mean_b q(w | x, s, b). If w does not depend on the action, a
uniform action makes the mean of R exactly 1 given x, s and w, and so that of the product of (1 - v + v R) over tuples
that q was not fitted to: it exceeds e^G with a chance of at most e^-G. With v = 1 it gains most where q is right; with
v = 1/2 what is said with too much confidence, as a fit of many features does, loses at most log 2 a tuple. The mean of
both products has mean 1, too. No second model is fitted to be compared with: one that follows words too closely
without actions would lose against anything.

The same quantity with v = 1/2 chooses among forms: it is a proper score of which action was taken, given what was said,
and does not ask how well words are foretold that have nothing to do with it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

from tacit.base.arrays import BoolArray, FloatArray
from tacit.decoding.personal_likelihood import Heard, Parameters, with_units


class Evidence(NamedTuple):
    """That words depend on the action: nats of each ending, (S,), and how many standard errors all of them are."""

    gains: FloatArray
    z: float


def weigh_evidence(heard: Heard, mask: BoolArray, at: Parameters) -> Evidence:
    """Return the evidence of tuples of uniform actions that were not fitted to."""
    ratios, bounds = action_ratios(heard, mask, at), heard.bounds
    bold, careful = np.log(ratios), np.log((1 + ratios) / 2)
    gains = [
        np.logaddexp(bold[bounds[s] : bounds[s + 1]].sum(), careful[bounds[s] : bounds[s + 1]].sum())
        - math.log(2)
        for s in range(len(mask))
    ]
    error = float(careful.std()) * math.sqrt(len(careful))
    return Evidence(np.array(gains), float(careful.sum()) / error if error > 0 else 0.0)


def score_actions(heard: Heard, mask: BoolArray, at: Parameters) -> float:
    """Return the careful gain of all tuples, in nats."""
    return float(np.log((1 + action_ratios(heard, mask, at)) / 2).sum())


def action_ratios(heard: Heard, mask: BoolArray, at: Parameters) -> FloatArray:
    """Return R of each tuple, (n,): how much likelier its word is after its action than after any of the ending's."""
    ratios, W = np.ones(len(heard.words)), at.gamma.shape[1]
    for s, allowed in enumerate(mask):
        rows = slice(*heard.bounds[s : s + 2])
        u, here = with_units(heard.linear[rows], at.units), np.arange(heard.bounds[s + 1] - heard.bounds[s])
        logits, words = u @ at.joined(s).T, heard.words[rows]
        one = softmax(logits[:, -W:], axis=1)[here, words][:, None]
        zero = softmax(logits[:, -2 * W : -W], axis=1)[here, words][:, None]
        chances = np.maximum(zero + (one - zero) * expit(logits[:, : -2 * W]), 1e-300)  # (n, K)
        ratios[rows] = chances[here, heard.actions[rows]] / chances[:, allowed].mean(axis=1)
    return ratios

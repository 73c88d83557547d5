"""How likely feedback is after the choices that came before it, with its slopes in all weights (eq. 5).

A remark is kind with probability q = f P + (1 - f)(1 - P), f the reward of the candidate taken and P = sigmoid(k) that
the person is plain. A kind remark is y with a probability e^t times that of an unkind one, and of unkind ones nothing
more is known: they are spread over what was heard in the way that makes it likeliest. Then

    likelihood of all = product of (1 + q (e^t - 1)) / (1 + c (e^t - 1)),    sum (e^t - 1) / (1 + c (e^t - 1)) = 0

times a constant, whoever chose (Qin and Lawless, 1994). c is the share of kind remarks that t alone asks for; were it
mean(q), as Bayes' rule for choices given feedback has it, nothing would say how many people are pleased.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.validation import SIMPLEX_TOLERANCE
from tacit.text.small.likelihood_kernels import (
    believe_fits,
    believe_meaning,
    explain_by_all,
    explain_by_fitting,
    explain_by_meaning,
    slopes_of_rewards,
    take_rewards,
)

SURE = 1e-9
"""How near probabilities may come to 0 and 1 in a likelihood."""


@dataclass(frozen=True, eq=False)
class Design:
    """What the weights of a fit multiply, (n, ...) each: see `tacit.text.small.posterior`."""

    match: FloatArray
    mask: BoolArray
    asked: FloatArray
    offered: FloatArray
    state: FloatArray
    reading: FloatArray
    profile: FloatArray
    profiled: BoolArray
    taken: IntArray
    chance: FloatArray
    sounds: FloatArray
    known: FloatArray

    def __len__(self) -> int:
        return len(self.taken)

    def part(self, rows: BoolArray | IntArray) -> Design:
        """Return some rows as a design of their own."""
        return Design(*(each[rows] for each in vars(self).values()))

    @property
    def uniform(self) -> BoolArray:
        """Return which candidates were taken with the same chance as all others on offer, (n,)."""
        return np.asarray(np.abs(self.chance * self.mask.sum(axis=1) - 1) <= SIMPLEX_TOLERANCE)

    @property
    def sizes(self) -> list[int]:
        """Return how many weights there are of match, W, state, feedback, profile and remarks that are heard again."""
        W = self.asked.shape[1] * self.offered.shape[2]
        parts = (self.state, self.reading, self.profile, self.known)
        return [self.match.shape[2], W, *(each.shape[1] for each in parts)]

    @property
    def fitting(self) -> int:
        """Return how many weights say what fits: those of match, W and state, which come first."""
        return sum(self.sizes[:3])

    @property
    def candidates(self) -> tuple[FloatArray, BoolArray, FloatArray, FloatArray, FloatArray, IntArray]:
        """Return what a reward is made of, in the order that kernels take it in."""
        return self.match, self.mask, self.asked, self.offered, self.state, self.taken

    @property
    def remarks(self) -> tuple[FloatArray, FloatArray, BoolArray, FloatArray]:
        """Return what meaning is made of, in the order that kernels take it in."""
        return self.reading, self.profile, self.profiled, self.known

    def split(self, weights: FloatArray) -> list[FloatArray]:
        """Return the weights of each part."""
        return np.split(weights, np.cumsum(self.sizes)[:-1])


class Believed(NamedTuple):
    """What weights say of each row: fits (n, K), g, t and P (n,)."""

    fits: FloatArray
    good: FloatArray
    ratio: FloatArray
    plain: FloatArray

    def kind(self, f: FloatArray) -> FloatArray:
        """Return q of rewards f: how likely a remark is kind."""
        return f * self.plain + (1 - f) * (1 - self.plain)


def believed_of(design: Design, weights: FloatArray) -> Believed:
    """Return what weights say of each row."""
    fitting, meaning = np.split(weights, [design.fitting])
    said = believe_fits(*design.candidates[:-1], fitting)
    return Believed(*said, *believe_meaning(*design.remarks, meaning))


def rewards_of_taken(design: Design, weights: FloatArray) -> tuple[FloatArray, Believed]:
    """Return f of the candidates that were taken, (n,), and what it was made of."""
    believed = believed_of(design, weights)
    return take_rewards(believed.fits, believed.good, design.taken), believed


def explain_feedback(design: Design, weights: FloatArray) -> tuple[float, FloatArray]:
    """Return the log-likelihood of the module's docstring, and its slopes in the weights.

    Own values of remarks that are heard again count, and their slopes are 0: they are not fitted together with f.
    """
    return explain_by_all(*design.candidates, *design.remarks, weights)


def explain_fixed(
    design: Design, fitting: FloatArray, t: FloatArray, plain: FloatArray
) -> tuple[float, FloatArray]:
    """Return the same where t and P (n,) are known, and its slopes in `fitting`, the weights of match, W and state."""
    return explain_by_fitting(*design.candidates, t, plain, fitting)


def explain_meaning(design: Design, f: FloatArray, meaning: FloatArray) -> tuple[float, FloatArray]:
    """Return the same where f (n,) is known, and its slopes in `meaning`: weights of feedback, profile, own values."""
    return explain_by_meaning(*design.remarks, f, meaning)


def explain_rewards(design: Design, weights: FloatArray, rewards: FloatArray) -> tuple[float, FloatArray]:
    """Return the log-likelihood of known rewards under f, and its slopes in the weights; others are not touched."""
    f, believed = rewards_of_taken(design, weights)
    f = np.clip(f, SURE, 1 - SURE)
    value = (rewards * np.log(f) + (1 - rewards) * np.log1p(-f)).sum()
    in_log = rewards - f * (1 - rewards) / (1 - f)
    slopes = slopes_of_rewards(design.match, *design.candidates[2:], believed.fits, believed.good, in_log)
    return float(value), np.concatenate([slopes, np.zeros(len(weights) - len(slopes))])

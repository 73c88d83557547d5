"""How much likelier feedback makes the choice that came before it, with its slopes in all weights (eq. 5).

A remark is kind with probability q = f P + (1 - f)(1 - P), f the reward of the candidate taken and P = sigmoid(k) that
the person is plain. Of all choices of the sample, feedback y of ratio e^t makes a choice with q

    (1 + q (e^t - 1)) / (1 + mean(q) (e^t - 1))

times as likely: Bayes' rule, whoever chose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.validation import SIMPLEX_TOLERANCE
from tacit.text.small.posterior import LARGEST_RATIO, clipped

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
        """Return how many weights there are of match, W, state, feedback and profile."""
        W = self.asked.shape[1] * self.offered.shape[2]
        return [self.match.shape[2], W, *(each.shape[1] for each in (self.state, self.reading, self.profile))]

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
    echo, W, state, feedback, profile = design.split(weights)
    asked = design.asked @ W.reshape(design.asked.shape[1], -1)
    scores = design.match @ echo + np.einsum("nkq,nq->nk", design.offered, asked)
    odds = np.where(design.profiled, clipped(design.profile @ profile), LARGEST_RATIO)
    return Believed(
        np.asarray(softmax(np.where(design.mask, scores, -np.inf), axis=1)),
        np.asarray(expit(design.state @ state)),
        clipped(design.reading @ feedback),
        np.asarray(expit(odds)),
    )


def rewards_of_taken(design: Design, weights: FloatArray) -> tuple[FloatArray, Believed]:
    """Return f of the candidates that were taken, (n,), and what it was made of."""
    believed = believed_of(design, weights)
    return believed.good * believed.fits[np.arange(len(design)), design.taken], believed


def explain_feedback(design: Design, weights: FloatArray) -> tuple[float, FloatArray]:
    """Return the log-likelihood of the module's docstring, and its slopes in the weights."""
    f, believed = rewards_of_taken(design, weights)
    q, plain = believed.kind(f), believed.plain
    ratio = np.exp(believed.ratio)
    more, mean = ratio - 1, q.mean()
    own, pooled = 1 + q * more, 1 + mean * more
    in_q = more / own - (more / pooled).mean()
    in_t = ratio * (q / own - mean / pooled)
    in_k = in_q * (2 * f - 1) * plain * (1 - plain) * design.profiled
    slopes = [
        slopes_of_rewards(design, believed, f * in_q * (2 * plain - 1)),
        design.reading.T @ in_t,
        design.profile.T @ in_k,
    ]
    return float((np.log(own) - np.log(pooled)).sum()), np.concatenate(slopes)


def explain_rewards(design: Design, weights: FloatArray, rewards: FloatArray) -> tuple[float, FloatArray]:
    """Return the log-likelihood of known rewards under f, and its slopes in the weights; others are not touched."""
    f, believed = rewards_of_taken(design, weights)
    f = np.clip(f, SURE, 1 - SURE)
    value = (rewards * np.log(f) + (1 - rewards) * np.log1p(-f)).sum()
    slopes = slopes_of_rewards(design, believed, rewards - f * (1 - rewards) / (1 - f))
    return float(value), np.concatenate([slopes, np.zeros(len(weights) - len(slopes))])


def slopes_of_rewards(design: Design, believed: Believed, in_log: FloatArray) -> FloatArray:
    """Return slopes in the weights of match, W and state, from those in log f of the candidates taken, (n,)."""
    chosen = np.arange(design.mask.shape[1]) == design.taken[:, None]
    in_scores = in_log[:, None] * (chosen - believed.fits)
    echo = np.einsum("nk,nkf->f", in_scores, design.match)
    W = design.asked.T @ np.einsum("nk,nkq->nq", in_scores, design.offered)
    return np.concatenate([echo, W.ravel(), design.state.T @ (in_log * (1 - believed.good))])

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
from scipy.special import expit

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
    sounds: FloatArray

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

    @property
    def fitting(self) -> int:
        """Return how many weights say what fits: those of match, W and state, which come first."""
        return sum(self.sizes[:3])

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
    return Believed(*fits_of(design, fitting), *meant_by(design, meaning))


def fits_of(design: Design, fitting: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return fits (n, K) and g (n,) by the weights of match, W and state."""
    echo, W, state = np.split(fitting, np.cumsum(design.sizes)[:2])
    asked = design.asked @ W.reshape(design.asked.shape[1], -1)
    scores = design.match @ echo + np.einsum("nkq,nq->nk", design.offered, asked)
    return softmax_of(scores, design.mask), np.asarray(expit(design.state @ state))


def meant_by(design: Design, meaning: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return t and P of each row, (n,) each, by the weights of feedback and profile."""
    feedback, profile = np.split(meaning, [design.sizes[3]])
    odds = np.where(design.profiled, clipped(design.profile @ profile), LARGEST_RATIO)
    return clipped(design.reading @ feedback), np.asarray(expit(odds))


def softmax_of(scores: FloatArray, mask: BoolArray) -> FloatArray:
    """Return the softmax over the candidates that there are, (n, K): fits call it thousands of times."""
    scores = np.where(mask, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def rewards_of_taken(design: Design, weights: FloatArray) -> tuple[FloatArray, Believed]:
    """Return f of the candidates that were taken, (n,), and what it was made of."""
    believed = believed_of(design, weights)
    return believed.good * believed.fits[np.arange(len(design)), design.taken], believed


def explain_feedback(design: Design, weights: FloatArray) -> tuple[float, FloatArray]:
    """Return the log-likelihood of the module's docstring, and its slopes in the weights."""
    f, believed = rewards_of_taken(design, weights)
    value, in_q, in_t = weigh_choices(believed.kind(f), believed.ratio)
    in_log = f * in_q * (2 * believed.plain - 1)
    slopes = [
        slopes_of_rewards(design, believed.fits, believed.good, in_log),
        slopes_of_meaning(design, f, believed.plain, in_q, in_t),
    ]
    return value, np.concatenate(slopes)


def explain_fixed(
    design: Design, fitting: FloatArray, t: FloatArray, plain: FloatArray
) -> tuple[float, FloatArray]:
    """Return the same where t and P (n,) are known, and its slopes in `fitting`, the weights of match, W and state."""
    fits, good = fits_of(design, fitting)
    f = good * fits[np.arange(len(design)), design.taken]
    value, in_q, _ = weigh_choices(f * plain + (1 - f) * (1 - plain), t)
    return value, slopes_of_rewards(design, fits, good, f * in_q * (2 * plain - 1))


def explain_meaning(design: Design, f: FloatArray, meaning: FloatArray) -> tuple[float, FloatArray]:
    """Return the same where f (n,) is known, and its slopes in `meaning`, the weights of feedback and profile."""
    t, plain = meant_by(design, meaning)
    value, in_q, in_t = weigh_choices(f * plain + (1 - f) * (1 - plain), t)
    return value, slopes_of_meaning(design, f, plain, in_q, in_t)


def weigh_choices(q: FloatArray, t: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return the log-likelihood given q and t, (n,) each, and its slopes in them."""
    ratio = np.exp(t)
    more, mean = ratio - 1, q.mean()
    own, pooled = 1 + q * more, 1 + mean * more
    in_q = more / own - (more / pooled).mean()
    in_t = ratio * (q / own - mean / pooled)
    return float((np.log(own) - np.log(pooled)).sum()), in_q, in_t


def explain_rewards(design: Design, weights: FloatArray, rewards: FloatArray) -> tuple[float, FloatArray]:
    """Return the log-likelihood of known rewards under f, and its slopes in the weights; others are not touched."""
    f, believed = rewards_of_taken(design, weights)
    f = np.clip(f, SURE, 1 - SURE)
    value = (rewards * np.log(f) + (1 - rewards) * np.log1p(-f)).sum()
    in_log = rewards - f * (1 - rewards) / (1 - f)
    slopes = slopes_of_rewards(design, believed.fits, believed.good, in_log)
    return float(value), np.concatenate([slopes, np.zeros(len(weights) - len(slopes))])


def slopes_of_rewards(design: Design, fits: FloatArray, good: FloatArray, in_log: FloatArray) -> FloatArray:
    """Return slopes in the weights of match, W and state, from those in log f of the candidates taken, (n,)."""
    chosen = np.arange(design.mask.shape[1]) == design.taken[:, None]
    in_scores = in_log[:, None] * (chosen - fits)
    echo = np.einsum("nk,nkf->f", in_scores, design.match)
    W = design.asked.T @ np.einsum("nk,nkq->nq", in_scores, design.offered)
    return np.concatenate([echo, W.ravel(), design.state.T @ (in_log * (1 - good))])


def slopes_of_meaning(
    design: Design, f: FloatArray, plain: FloatArray, in_q: FloatArray, in_t: FloatArray
) -> FloatArray:
    """Return slopes in the weights of feedback and profile, from those in q and t, (n,) each."""
    in_k = in_q * (2 * f - 1) * plain * (1 - plain) * design.profiled
    return np.concatenate([design.reading.T @ in_t, design.profile.T @ in_k])

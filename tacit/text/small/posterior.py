"""The posterior over candidates from text: the structured class of eq. 4 on features, and what it is made of.

    u(s, a)    = w·match + x(s)'W z(a)          does a fit what was said: by its words, and by what was learned
    f(x, s, a) = g(s) softmax_a(u)              the reward of candidate a: is the state any good, does a fit it
    t(y)       = v·reading + o(y)               log P(y | kind words are meant) / P(y | unkind words are)
    k(x)       = u·profile                      log-odds that the person means what they say; no profile: certain
    l(x, y)    = log (e^(t+k) + 1)/(e^t + e^k)  log P(y | x, reward 1) / P(y | x, reward 0)
    h(x, y, s)_a ∝ 1 + f(x, s, a) (e^l - 1)     Bayes' rule for a candidate that was taken uniformly (eq. 3)

A person is plain or contrary, a remark kind or unkind; which it is nobody says, and a reward is a plain person's kind
remark or a contrary one's unkind. The sum of f is g ≤ 1 < K/2: that rewarding candidates are the minority is built in.
x(s) are leading components of the vectors of request, answers, what was said and profile, and a 1, z(a) those of the
candidate (`tacit.text.small.affinity`). `tacit.text.small.fitting` fits the weights; several
fits are read together (`tacit.text.small.ensemble`). A reading begins with how kind the remark sounds
(`tacit.text.small.sounding`); leading components of what the encoder makes of it follow, and a 1. o is a remark's own
value, if it was heard again and again (`tacit.text.small.recurring`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from tacit.base.arrays import BoolArray, Float32Array, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.text.small.affinity import Affinity, Projection
from tacit.text.small.recurring import DIGEST, mark_recurring

LARGEST_RATIO = 12.0
"""Largest |log-odds| in a fit: nothing is taken for surer than 1 in 160,000."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Reactions as numbers, padded to the most candidates.

    `match` (n, K, F) and `mask` (n, K): how well candidates fit by their words, and which there are; `offer` (n, K):
    which rows of `items` (C, D), the candidates' vectors; `said` (n, R, D) vectors of what was said, zeros where
    nothing was; `state` (n, S) of the conversation; `reading` (n, E) of the feedback; `profile` (n, E), zeros where
    there is none; `taken` (n,) and the probability of that, `chance` (n,); `sounds` (n,) how kind the feedback sounds,
    zeros where nothing was heard; `remark` (n,) its number, by which it is known when it is heard again.
    """

    match: FloatArray
    mask: BoolArray
    offer: IntArray
    items: Float32Array
    said: Float32Array
    state: FloatArray
    reading: FloatArray
    profile: FloatArray
    taken: IntArray
    chance: FloatArray
    sounds: FloatArray
    remark: IntArray

    def __len__(self) -> int:
        return len(self.taken)

    def part(self, rows: BoolArray | IntArray | slice) -> Sample:
        """Return some rows as a sample of their own."""
        return Sample(**{name: each if name == "items" else each[rows] for name, each in vars(self).items()})

    @property
    def profiled(self) -> BoolArray:
        """Return whose profile there is, (n,)."""
        return np.asarray(self.profile.any(axis=1))


@dataclass(frozen=True, eq=False)
class TextPosterior:
    """The functions of the module's docstring with their weights, all of them arrays.

    Where feedback is read, `boldness` multiplies u, and `sharpness` t and k (`tacit.text.small.calibration`). Choices
    are made by f as it was fitted.
    """

    affinity: Affinity
    state_projection: Projection
    state_weights: FloatArray
    feedback_projection: Projection
    feedback_weights: FloatArray
    profile_projection: Projection
    profile_weights: FloatArray
    recurring: IntArray
    own_weights: FloatArray
    boldness: float = 1.0
    sharpness: float = 1.0

    def fits(self, sample: Sample, boldness: float = 1.0) -> FloatArray:
        """Return softmax_a(u), (n, K), u multiplied by the boldness."""
        scores = boldness * self.affinity.scores(sample.match, sample.said, sample.items, sample.offer)
        return np.asarray(softmax(np.where(sample.mask, scores, -np.inf), axis=1))

    def goodness(self, sample: Sample) -> FloatArray:
        """Return g(s), (n,): how likely it is that some candidate earns a reward in the state."""
        return np.asarray(expit(self.state_projection(sample.state) @ self.state_weights))

    def rewards(self, sample: Sample) -> FloatArray:
        """Return f(x, s, a), (n, K)."""
        return self.goodness(sample)[:, None] * self.fits(sample)

    def kindness(self, sample: Sample) -> FloatArray:
        """Return t(y), (n,), sharpened."""
        read = reading_of(sample, self.feedback_projection) @ self.feedback_weights
        return self.sharpness * clipped(
            read + mark_recurring(self.recurring, sample.remark) @ self.own_weights
        )

    def plainness(self, sample: Sample) -> FloatArray:
        """Return k(x), (n,), sharpened; `LARGEST_RATIO` where there is no profile."""
        return self.sharpness * log_odds_plain(sample.profile, self.profile_projection, self.profile_weights)

    def ratios(self, sample: Sample) -> FloatArray:
        """Return l(x, y), (n,)."""
        return log_ratio(self.kindness(sample), self.plainness(sample))

    def predict(self, sample: Sample) -> FloatArray:
        """Return h(x, y, s), (n, K)."""
        f = self.goodness(sample)[:, None] * self.fits(sample, self.boldness)
        return bayes(f, self.ratios(sample), sample.mask)

    @property
    def as_fitted(self) -> TextPosterior:
        """Return the posterior whose feedback is read as boldly as it was fitted."""
        return replace(self, boldness=1.0, sharpness=1.0)

    def rewarded(self, sample: Sample) -> FloatArray:
        """Return how likely the candidate taken was rewarded, given the feedback, (n,)."""
        fits = self.fits(sample, self.boldness)[np.arange(len(sample)), sample.taken]
        f = self.goodness(sample) * fits
        return np.asarray(f / (f + (1 - f) * np.exp(-self.ratios(sample))))

    def promising(self, sample: Sample) -> FloatArray:
        """Return how likely some candidate would have earned a reward, given the feedback, (n,)."""
        fits = self.fits(sample, self.boldness)[np.arange(len(sample)), sample.taken]
        g, more = self.goodness(sample), np.expm1(self.ratios(sample))  # e^l - 1
        return np.asarray(g * (1 + fits * more) / (1 + g * fits * more))

    @property
    def fitting(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the weights of what fits, flat: of match, W and state."""
        return self.affinity.echo, self.affinity.weights.ravel(), self.state_weights

    @property
    def meaning(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the weights of what is meant: of feedback and profile, and of remarks that are heard again."""
        return self.feedback_weights, self.profile_weights, self.own_weights

    def put_fitting(self, weights: FloatArray) -> TextPosterior:
        """Return the same with other weights of what fits, (m,)."""
        echo, W, state = np.split(weights, np.cumsum([each.size for each in self.fitting])[:-1])
        affinity = replace(self.affinity, echo=echo, weights=W.reshape(self.affinity.weights.shape))
        return replace(self, affinity=affinity, state_weights=state)

    def put_meaning(self, weights: FloatArray) -> TextPosterior:
        """Return the same with other weights of what is meant, (m,)."""
        feedback, profile, own = np.split(weights, np.cumsum([each.size for each in self.meaning])[:-1])
        return replace(self, feedback_weights=feedback, profile_weights=profile, own_weights=own)

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values from which `from_state` rebuilds it."""
        return {
            name: value.to_state() if isinstance(value, (Affinity, Projection)) else value
            for name, value in vars(self).items()
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> TextPosterior:
        """Return the posterior that `to_state` described."""
        saved = Saved.of(state)
        parts: dict[str, Any] = {}
        for part in ("state", "feedback", "profile"):
            projection = Projection.from_state(saved.part(f"{part}_projection"))
            weights = saved.floats(f"{part}_weights", (projection.size + 1 + (part == "feedback"),))
            parts |= {f"{part}_projection": projection, f"{part}_weights": weights}
        parts["recurring"] = recurring = saved.indices("recurring", 1 << DIGEST)
        parts["own_weights"] = saved.floats("own_weights", (len(recurring),))
        parts |= {name: saved.number(name, 0) for name in ("boldness", "sharpness")}
        return cls(affinity=Affinity.from_state(saved.part("affinity")), **parts)


def reading_of(sample: Sample, projection: Projection) -> FloatArray:
    """Return what feedback is read off, (n, parts + 2): how kind it sounds, its components, and a 1."""
    return np.column_stack([sample.sounds, projection(sample.reading)])


def log_odds_plain(profile: FloatArray, projection: Projection, weights: FloatArray) -> FloatArray:
    """Return k(x), (n,), clipped; `LARGEST_RATIO` where there is no profile (a row of zeros)."""
    odds = clipped(projection(profile) @ weights)
    return np.where(profile.any(axis=1), odds, LARGEST_RATIO)


def clipped(odds: FloatArray) -> FloatArray:
    """Return log-odds within ±`LARGEST_RATIO`."""
    return np.clip(odds, -LARGEST_RATIO, LARGEST_RATIO)


def log_ratio(kindness: FloatArray, plainness: FloatArray) -> FloatArray:
    """Return l = log (e^(t+k) + 1)/(e^t + e^k): no surer than the less sure of the two.

    >>> log_ratio(np.array([3.0, 3.0, 3.0]), np.array([50.0, -50.0, 0.0]))
    array([ 3., -3.,  0.])
    """
    return np.asarray(np.logaddexp(kindness + plainness, 0) - np.logaddexp(kindness, plainness))


def bayes(rewards: FloatArray, ratios: FloatArray, mask: BoolArray) -> FloatArray:
    """Return h_a ∝ 1 + f_a (e^l - 1) over the candidates that there are, (n, K) (eq. 3, 4).

    >>> bayes(np.array([[0.9, 0.0]]), np.array([3.0]), np.ones((1, 2), bool)).round(2)
    array([[0.95, 0.05]])
    """
    weights = np.where(mask, 1 + rewards * np.expm1(np.clip(ratios, -50, 50))[:, None], 0.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))

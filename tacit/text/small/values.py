"""What a choice before the last is worth: how good a place it leads to, learned from what it led to.

    Q_h(s, a) = sigmoid(w·like(s, a) + x(s)'W z(a) + b)
                            fitted to V_{h+1}(s') = max_a' Q_{h+1}(s', a'), at the end f(x, s', a'), and to r

like(s, a) is how alike the candidate and each thing that was said are, as whole sentences.

Where a conversation ended with the choice, it is fitted to how likely that was rewarded; elsewhere to the mean of
V_{h+1} and how likely the episode was rewarded in the end. V alone fades from turn to turn: what is learned of few
episodes is timid, and the turn before learns from that. Every episode teaches it, whoever chose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from tacit.base.arrays import BoolArray, Float32Array, FloatArray
from tacit.base.saved import Saved
from tacit.text.small.affinity import Affinity, Projection, fit_components
from tacit.text.small.lbfgs import find_lowest

RIDGES = (0.01, 0.1, 1.0)
"""Among which what was left out of the fit chooses."""
FOLDS = 3
STEPS = 150
LIKE_RIDGE = 0.01
"""How strongly w is held to 0: its few weights are soon learned."""


@dataclass(frozen=True, eq=False)
class StepValue:
    """The function Q_h of the module's docstring."""

    affinity: Affinity
    bias: float

    def __call__(self, said: Float32Array, items: Float32Array) -> FloatArray:
        """Return what candidates with vectors `items` (K, D) are worth after `said` (R, D), (K,)."""
        like, offer = (items @ said.T)[None], np.arange(len(items))[None]
        return np.asarray(expit(self.affinity.scores(like, said[None], items, offer)[0] + self.bias))

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values from which `from_state` rebuilds it."""
        return {"affinity": self.affinity.to_state(), "bias": self.bias}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> StepValue:
        """Return what `to_state` described."""
        saved = Saved.of(state)
        return cls(Affinity.from_state(saved.part("affinity")), saved.number("bias"))


def fit_value(said: Float32Array, items: Float32Array, led_to: FloatArray, parts: int) -> StepValue:
    """Return Q of one step from what was `said` (n, R, D), the candidates taken (n, D), and what they led to (n,)."""
    pairs, roles, item = make_pairs(said, items, parts)
    fold = np.arange(len(led_to)) % FOLDS

    def left_out(ridge: float) -> float:
        lost = 0.0
        for n in range(FOLDS if len(led_to) >= FOLDS else 0):
            some = fold != n
            odds = pairs.part(~some).score(climb_value(pairs.part(some), led_to[some], ridge))
            lost += cross_entropy(odds, led_to[~some])
        return lost

    ridge = min(RIDGES, key=left_out)
    like, W, bias = climb_value(pairs, led_to, ridge)
    return StepValue(Affinity(like, roles, item, W), bias)


def make_pairs(
    said: Float32Array, items: Float32Array, parts: int
) -> tuple[Pairs, tuple[Projection, ...], Projection]:
    """Return what weights multiply, and the projections of what was `said` (n, R, D) and of `items` taken (n, D)."""
    roles, item = fit_components(said, items, parts)
    asked = Affinity(np.zeros(0), roles, item, np.zeros((0, 0))).asked(said)
    like = np.einsum("nrd,nd->nr", said, items).astype(np.float64)
    return Pairs(like, asked, item.components(items)), roles, item


class ValueWeights(NamedTuple):
    """w (R,), W (p, q) and b."""

    like: FloatArray
    W: FloatArray
    bias: float


class Pairs(NamedTuple):
    """What the weights multiply: `like` (n, R), x `asked` (n, p) and z `offered` (n, q)."""

    like: FloatArray
    asked: FloatArray
    offered: FloatArray

    def part(self, rows: BoolArray) -> Pairs:
        """Return some rows."""
        return Pairs(*(each[rows] for each in self))

    def split(self, flat: FloatArray) -> ValueWeights:
        """Return weights that stand in one row."""
        R, p, q = (each.shape[1] for each in self)
        return ValueWeights(flat[:R], flat[R:-1].reshape(p, q), float(flat[-1]))

    def score(self, weights: ValueWeights) -> FloatArray:
        """Return the log-odds w·like + x'W z + b, (n,)."""
        learned = np.einsum("nq,nq->n", self.asked @ weights.W, self.offered)
        return np.asarray(self.like @ weights.like + learned + weights.bias)


def climb_value(pairs: Pairs, led_to: FloatArray, ridge: float) -> ValueWeights:
    """Return the weights of a logistic regression on values (n,) in [0, 1]; W is held to 0 by the ridge."""
    R, p, q = (each.shape[1] for each in pairs)
    hold = np.repeat([LIKE_RIDGE, ridge, 0.0], [R, p * q, 1])

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        odds = pairs.score(pairs.split(flat))
        slope = expit(odds) - led_to
        in_W = pairs.asked.T @ (slope[:, None] * pairs.offered)
        slopes = np.concatenate([pairs.like.T @ slope, in_W.ravel(), [slope.sum()]])
        return cross_entropy(odds, led_to) + float((hold * flat * flat).sum()), slopes + 2 * hold * flat

    begin = np.zeros(len(hold))
    return pairs.split(find_lowest(objective, begin, STEPS))


def cross_entropy(odds: FloatArray, values: FloatArray) -> float:
    """Return -sum of v log sigmoid(o) + (1 - v) log sigmoid(-o)."""
    return float(-(values * log_expit(odds) + (1 - values) * log_expit(-odds)).sum())

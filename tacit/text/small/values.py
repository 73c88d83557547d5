"""What a choice before the last is worth: how good a place it leads to, learned from what it led to.

    Q_h(s, a) = sigmoid(x(s)'W z(a) + b)      fitted to V_{h+1}(s') = max_a' Q_{h+1}(s', a'), at the end f(x, s', a')

Where a conversation ended with the choice, it is fitted to how likely that was rewarded. Every episode teaches it,
whoever chose: what a choice leads to does not depend on why it was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from tacit.base.arrays import Float32Array, FloatArray
from tacit.base.saved import Saved
from tacit.text.small.affinity import Affinity, fit_components

RIDGES = (0.01, 0.1, 1.0)
"""Among which what was left out of the fit chooses."""
FOLDS = 3
STEPS = 150


@dataclass(frozen=True, eq=False)
class StepValue:
    """The function Q_h of the module's docstring."""

    affinity: Affinity
    bias: float

    def __call__(self, said: Float32Array, items: Float32Array) -> FloatArray:
        """Return what candidates with vectors `items` (K, D) are worth after `said` (R, D), (K,)."""
        match, offer = np.zeros((1, len(items), 0)), np.arange(len(items))[None]
        return np.asarray(expit(self.affinity.scores(match, said[None], items, offer)[0] + self.bias))

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
    roles, item = fit_components(said, items, parts)
    asked = Affinity(np.zeros(0), roles, item, np.zeros((0, 0))).asked(said)
    offered = item.components(items)
    fold = np.arange(len(led_to)) % FOLDS

    def left_out(ridge: float) -> float:
        lost = 0.0
        for n in range(FOLDS if len(led_to) >= FOLDS else 0):
            some = fold != n
            W, bias = climb_value(asked[some], offered[some], led_to[some], ridge)
            odds = score_pairs(asked[~some], offered[~some], W) + bias
            lost += cross_entropy(odds, led_to[~some])
        return lost

    ridge = min(RIDGES, key=left_out)
    W, bias = climb_value(asked, offered, led_to, ridge)
    return StepValue(Affinity(np.zeros(0), roles, item, W), bias)


def climb_value(
    asked: FloatArray, offered: FloatArray, led_to: FloatArray, ridge: float
) -> tuple[FloatArray, float]:
    """Return W (p, q) and b of a logistic regression on values in [0, 1]; W is held to 0 by the ridge."""
    p, q = asked.shape[1], offered.shape[1]

    def objective(weights: FloatArray) -> tuple[float, FloatArray]:
        W, bias = weights[:-1].reshape(p, q), weights[-1]
        odds = score_pairs(asked, offered, W) + bias
        slope = expit(odds) - led_to
        gradient = asked.T @ (slope[:, None] * offered) + 2 * ridge * W
        loss = cross_entropy(odds, led_to) + ridge * float((W * W).sum())
        return loss, np.append(gradient.ravel(), slope.sum())

    found = minimize(
        objective, np.zeros(p * q + 1), jac=True, method="L-BFGS-B", options={"maxiter": STEPS}
    ).x
    return found[:-1].reshape(p, q), float(found[-1])


def score_pairs(asked: FloatArray, offered: FloatArray, W: FloatArray) -> FloatArray:
    """Return x'W z of rows (n, p) and (n, q), (n,)."""
    return np.asarray(np.einsum("nq,nq->n", asked @ W, offered))


def cross_entropy(odds: FloatArray, values: FloatArray) -> float:
    """Return -sum of v log sigmoid(o) + (1 - v) log sigmoid(-o)."""
    return float(-(values * log_expit(odds) + (1 - values) * log_expit(-odds)).sum())

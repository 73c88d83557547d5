"""The learner that sees the reward, of the class that fits: logistic regression, counted dynamics, Thompson sampling.

For each last state and action the reward is regressed on the features of the person,
max_w sum_i log p(r_i | w x_i) - ridge |w|^2 / 2, by Newton's method, refitted on a geometric schedule. An episode draws
each logit from its Laplace posterior and each transition from its Dirichlet posterior, and does what is best by these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from context_world.problem import Problem
from context_world.vectors import logistic
from tacit.base.arrays import FloatArray

RIDGE, RIDGE_OF_OFFSET = 1.0, 0.1
FIRST_FIT, GROWTH = 20, 1.2
"""Episodes before the first fit, and how many times more there are at each that follows."""
STEPS, SETTLED = 12, 1e-6
"""Of Newton's method at most, and the step at which it is done."""
EAGERNESS = 0.5
"""Of the posterior's standard deviation: what chance plays with. Half of it earns more than all of it."""
PRIOR = 0.3
"""Visits of each following state that are there before any."""


class Fit(NamedTuple):
    """Weights (F,) of a regression and their posterior covariance (F, F)."""

    weights: FloatArray
    covariance: FloatArray


class SeesReward:
    """Learns from rewards; `told` (n, F) are the people as they come, of whom each episode sees its own."""

    def __init__(self, problem: Problem, told: FloatArray, seed: int) -> None:
        self.sizes, n_last, K = problem.sizes, problem.sizes[-1], problem.n_actions
        self._told = standardise(told)
        F = self._told.shape[1]
        self._ridge = np.array([RIDGE_OF_OFFSET, *np.full(F - 1, RIDGE)])
        self._weights = np.zeros((n_last, K, F))
        self._covariances = np.zeros((n_last, K, F, F)) + np.diag(1 / self._ridge)
        self._seen: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._visits = np.zeros_like(problem.transitions)
        for h, n in enumerate(self.sizes[1:]):
            self._visits[h, :, :, :n] = PRIOR
        self._generator = np.random.default_rng([seed, 17])
        self._ended, self._next_fit = 0, FIRST_FIT
        self._actions: list[FloatArray] = []

    def begin(self, person: int) -> None:
        """Plan an episode: Q_h = sum_s' P V_{h+1}, of one draw of everything that is not known."""
        x = self._told[person]
        means = self._weights @ x  # (S, K)
        errors = np.sqrt(np.maximum((self._covariances @ x) @ x, 0))
        logits = means + EAGERNESS * errors * self._generator.standard_normal(means.shape)
        self._actions = [logits]
        values = np.zeros(self._visits.shape[-1])
        values[: self.sizes[-1]] = logistic(logits).max(axis=1)
        drawn = self._generator.standard_gamma(self._visits)
        for chances in drawn[::-1]:
            q = (chances @ values) / np.maximum(chances.sum(axis=2), 1e-300)  # (S, K)
            self._actions.insert(0, q)
            values = q.max(axis=1)

    def act(self, turn: int, state: int) -> int:
        """Return the best action by what was drawn."""
        return int(self._actions[turn][state].argmax())

    def end(self, person: int, states: list[int], taken: list[int], reward: int) -> None:
        """Learn from the reward of an episode."""
        for h, following in enumerate(states[1:]):
            self._visits[h, states[h], taken[h], following] += 1
        self._seen.setdefault((states[-1], taken[-1]), []).append((person, reward))
        self._ended += 1
        if self._ended >= self._next_fit:
            self._next_fit = int(self._ended * GROWTH) + 1
            self._fit()

    def _fit(self) -> None:
        for place, rows in self._seen.items():
            people, rewards = np.array(rows).T
            fit = fit_logistic(
                self._told[people], rewards.astype(np.float64), self._weights[place], self._ridge
            )
            self._weights[place], self._covariances[place] = fit


def standardise(told: FloatArray) -> FloatArray:
    """Return features (n, F + 1) of mean 0 and variance 1 after a constant 1; those that do not vary are 0.

    >>> standardise(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[1.0, -1.0, 0.0], [1.0, 1.0, 0.0]]
    """
    spread = told.std(axis=0)
    varies = spread > 1e-9 * np.abs(told).max(axis=0)
    scaled = (told - told.mean(axis=0)) / np.where(varies, spread, 1.0) * varies
    return np.concatenate([np.ones((len(told), 1)), scaled], axis=1)


def fit_logistic(x: FloatArray, rewards: FloatArray, start: FloatArray, ridge: FloatArray) -> Fit:
    """Return the maximum a posteriori and Laplace's covariance: Newton's method with halved steps from `start`."""
    weights, loss = start, loss_of(x, rewards, start, ridge)
    for _ in range(STEPS):
        chances = logistic(x @ weights)
        gradient = x.T @ (rewards - chances) - ridge * weights
        curvature = (x.T * (chances * (1 - chances))) @ x + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        while (better := loss_of(x, rewards, weights + step, ridge)) > loss and np.abs(step).max() > SETTLED:
            step = step / 2
        weights, loss = weights + step, min(better, loss)
        if np.abs(step).max() <= SETTLED * 1e3:
            break
    return Fit(weights, np.asarray(np.linalg.inv(curvature), dtype=np.float64))


def loss_of(x: FloatArray, rewards: FloatArray, weights: FloatArray, ridge: FloatArray) -> float:
    """Return what the regression minimises."""
    logits = x @ weights
    return float((np.logaddexp(0, logits) - rewards * logits).sum() + (ridge * weights**2).sum() / 2)

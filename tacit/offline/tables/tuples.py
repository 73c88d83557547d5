"""Tuples from logs: the last step of each episode whose last action was random, weighted to uniform.

An action that was drawn with probability p among K counts w = 1/(K p) times, which makes the weighted tuples those of
uniform actions (Lemma 3.3). Given the action, weights change nothing by Assumption 2.1, but where p follows something
that the log does not hold they undo it. Their effective size, in unweighted tuples, is (sum w)^2 / sum w^2.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaincc, xlogy

from tacit.base.arrays import FloatArray, IntArray
from tacit.logs.survey import ReadEpisode
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded

FLUSH = 50_000
"""Tuples kept as lists before they become arrays."""
MOST_TUPLES = 200_000
"""Tuples kept of logs with vectors: a uniform sample of all, so that memory is bounded."""
UNIFORM_LEVEL = 0.01
"""Of the test that actions without logged probability were uniform."""
NOT_RANDOM, UNKNOWN_PROBABILITY = "last action not random", "probability of the last action unknown"


@dataclass
class WeightedTuples:
    """Context, last state, action, feedback, weight and position of n episodes; values as the layout encodes them."""

    contexts: IntArray | FloatArray
    states: IntArray
    actions: IntArray
    feedback: IntArray | FloatArray
    weights: FloatArray
    positions: IntArray

    def __len__(self) -> int:
        return len(self.states)

    def part(self, chosen: IntArray) -> WeightedTuples:
        """Return the tuples of some indices."""
        ends, weights = (self.states[chosen], self.actions[chosen]), self.weights[chosen]
        return WeightedTuples(
            self.contexts[chosen], *ends, self.feedback[chosen], weights, self.positions[chosen]
        )


@dataclass
class WeightedCounts:
    """Sums over tuples of each (s, x, y, a): how many, of their weights; of squares of weights by (s, x, a)."""

    n: FloatArray  # (S_H, X, Y, K)
    weight: FloatArray  # (S_H, X, Y, K)
    square: FloatArray  # (S_H, X, K)

    @staticmethod
    def empty(shape: tuple[int, int, int, int]) -> WeightedCounts:
        """Return sums of no tuples."""
        S, X, _, K = shape
        return WeightedCounts(np.zeros(shape), np.zeros(shape), np.zeros((S, X, K)))

    def add(
        self, states: IntArray, groups: IntArray, values: IntArray, actions: IntArray, weights: FloatArray
    ) -> None:
        """Add tuples, given by their indices."""
        at = (states, groups, values, actions)
        np.add.at(self.n, at, 1.0)
        np.add.at(self.weight, at, weights)
        np.add.at(self.square, (states, groups, actions), weights**2)

    def __add__(self, other: WeightedCounts) -> WeightedCounts:
        return WeightedCounts(self.n + other.n, self.weight + other.weight, self.square + other.square)

    @property
    def effective_size(self) -> float:
        """Return (sum w)^2 / sum w^2 over all tuples."""
        total = float(self.square.sum())
        return float(self.weight.sum()) ** 2 / total if total > 0 else 0.0

    def effective(self) -> FloatArray:
        """Return counts (S_H, X, Y, K) in effective tuples: each action's shares by weight, its number by its weights.

        Where the weight of an action is the same for all its tuples, these are the plain counts.

        >>> counts = WeightedCounts.empty((1, 1, 2, 1))
        >>> zero = np.zeros(3, dtype=np.int64)
        >>> counts.add(zero, zero, np.array([0, 1, 1]), zero, np.array([2.0, 2.0, 2.0]))
        >>> counts.effective().ravel()
        array([1., 2.])
        """
        by_action = self.weight.sum(axis=2)  # (S_H, X, K)
        size = np.divide(by_action**2, self.square, out=np.zeros_like(by_action), where=self.square > 0)
        shares = self.weight / np.where(by_action > 0, by_action, 1.0)[:, :, None, :]
        return np.asarray(np.round(shares * size[:, :, None, :], 9))  # sums of equal weights are whole


@dataclass
class Columns:
    """Tuples as they come in; with `most`, a uniform sample of all that came (reservoir sampling)."""

    most: int | None = None
    seen: int = 0
    rows: list[tuple[Encoded, int, int, Encoded, float, int]] = field(default_factory=list)
    _generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(17), repr=False)

    def add(self, episode: ReadEpisode, weight: float) -> None:
        """Take the last step of an episode."""
        self.seen += 1
        place = len(self.rows)
        if self.most is not None and place == self.most:
            place = int(self._generator.integers(self.seen))
            if place >= self.most:
                return
        end = (episode.context, episode.states[-1], episode.actions[-1], episode.feedback)
        row = (*end, weight, episode.position)
        self.rows[place : place + 1] = [row]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self) -> WeightedTuples:
        """Return the tuples as arrays and forget them."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * 6
        contexts, states, actions, feedback, weights, positions = map(np.array, columns)
        self.rows.clear()
        ends = states.astype(np.int64), actions.astype(np.int64)
        return WeightedTuples(
            contexts, *ends, feedback, weights.astype(np.float64), positions.astype(np.int64)
        )


@dataclass
class Selection:
    """Which episodes can teach what feedback means, and how much each counts.

    `left_out` counts the others by reason. With `assume_uniform`, actions without a probability count as uniform.
    """

    layout: Layout
    assume_uniform: bool = False
    left_out: Counter[str] = field(default_factory=Counter)

    def weight(self, episode: ReadEpisode) -> float | None:
        """Return the weight of an episode, 0 if its last action was not random, None if that is not known."""
        K, p = int(self.layout.n_actions[-1, episode.states[-1]]), episode.probabilities[-1]
        if p is None:
            return 1.0 if self.assume_uniform or K == 1 else None
        if p == 1 and K > 1:
            self.left_out[NOT_RANDOM] += 1
            return 0.0
        return 1 / (K * p)


def uniformity_p_value(layout: Layout, counts: FloatArray) -> float:
    """Return the p-value of last actions being uniform in each state and context, from counts (S_H, X, K).

    The likelihood-ratio test, all states and contexts with at least five tuples an action at once.
    """
    statistic, freedom = 0.0, 0
    for s, x in np.argwhere(counts.sum(axis=-1) > 0):
        K = int(layout.n_actions[-1, s])
        n = counts[s, x, :K]
        if K > 1 and n.sum() >= 5 * K:
            statistic += 2 * float(xlogy(n, n * K / n.sum()).sum())
            freedom += K - 1
    return float(gammaincc(freedom / 2, statistic / 2)) if freedom else 0.0

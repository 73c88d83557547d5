"""Which last-layer states can be reached, how surely, and by which policies (Lemmas 3.1, 3.2; Eq. 2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.problem.layout import Layout


@dataclass(frozen=True)
class Mixture:
    """A uniform mixture over the policies that were played; equal ones are kept once with a weight.

    `choices` (n, H-1, S) are the distinct deterministic policies (the last layer is always uniform),
    `weights` (n,) how often each was played.
    """

    choices: IntArray
    weights: IntArray

    def pick(self, draw: float) -> IntArray:
        """Return the policy (H-1, S) that a uniform draw in [0, 1) selects."""
        cumulative = np.cumsum(self.weights)
        chosen: IntArray = self.choices[np.searchsorted(cumulative, draw * cumulative[-1], side="right")]
        return chosen


@dataclass(frozen=True)
class Homes:
    """What homing leaves behind: a mixture for each last-layer state, and how often it arrived.

    `visits` and `episodes` (S_H,): the homing episodes of each state, and those that reached it.
    `epsilon` and `delta` are the accuracy and failure probability of Lemmas 3.1 and 3.2.
    """

    layout: Layout
    mixtures: tuple[Mixture, ...]
    visits: IntArray
    episodes: IntArray
    epsilon: float
    delta: float

    @property
    def frequency(self) -> FloatArray:
        """Return p_hat, the empirical visiting frequency of each state under its own mixture, (S_H,) (dev. 11)."""
        return self.visits / np.maximum(self.episodes, 1)

    @property
    def reachable(self) -> BoolArray:
        """Return which states belong to the set of Eq. 2, p_hat >= 4 epsilon, (S_H,)."""
        return self.frequency >= 4 * self.epsilon  # eq. (2)

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Return bounds on p*_s, the largest probability of reaching each state, by Lemma 3.2.

        p_hat - beta <= p* <= p_hat + beta + epsilon for all states, with probability at least 1 - 2 delta.
        The upper bound needs as many episodes as Lemma 3.1 asks for (`homing_episodes`), which the paper's
        experiment does not have (dev. 12): there it says what these policies reach, not what the best would.
        """
        beta = deviation(self.layout, self.episodes, self.delta)
        low = np.clip(self.frequency - beta, 0.0, 1.0)
        return low, np.clip(self.frequency + beta + self.epsilon, 0.0, 1.0)

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values from which `from_state` rebuilds this."""
        return {
            "choices": [mixture.choices for mixture in self.mixtures],
            "weights": [mixture.weights for mixture in self.mixtures],
            "visits": self.visits,
            "episodes": self.episodes,
            "epsilon": self.epsilon,
            "delta": self.delta,
        }

    @staticmethod
    def from_state(layout: Layout, state: Mapping[str, Any]) -> Homes:
        """Return what `to_state` described."""
        saved, size = Saved.of(state), layout.endings.size
        choices, weights = saved.entries("choices"), saved.entries("weights")
        saved.check(len(choices) == len(weights) <= size, "choices", f"as many as weights, {size} at most")
        mixtures = tuple(restore_mixture(layout, choices, i, weights, i) for i in choices)
        visits, episodes = saved.wholes("visits", (size,)), saved.wholes("episodes", (size,))
        saved.check((visits <= episodes).all(), "visits", "no more than episodes")
        for s, mixture in enumerate(mixtures):
            saved.check(mixture.weights.sum() == episodes[s] > 0, "weights", "as many as there were episodes")
        epsilon, delta = saved.number("epsilon", 0, 0.25), saved.number("delta", 0, 1)
        return Homes(layout, mixtures, visits, episodes, epsilon, delta)


def restore_mixture(layout: Layout, choices: Saved, name: str, weights: Saved, weights_name: str) -> Mixture:
    """Return the policies and their weights that were saved under two names: actions that exist, each policy once."""
    H, S = layout.horizon, layout.max_states
    policies = choices.wholes(name, (None, H - 1, S))
    offered = np.maximum(layout.n_actions[:-1], 1)
    choices.check((policies < offered).all(), name, "actions that the states offer")
    choices.check(len({one.tobytes() for one in policies}) == len(policies), name, "policies that differ")
    return Mixture(policies, weights.wholes(weights_name, (len(policies),), low=1))


def deviation(layout: Layout, episodes: IntArray, delta: float) -> FloatArray:
    """Return beta = √(log(S K H / delta) / (2 N)) of Lemma 3.2."""
    size = int(layout.n_states.sum()) * layout.max_actions * layout.horizon
    return np.sqrt(math.log(size / delta) / (2 * np.maximum(episodes, 1)))


def homing_episodes(layout: Layout, epsilon: float, delta: float, constant: float = 1.0) -> int:
    """Return N = C S² K H log(S K H / delta) / epsilon² of Lemma 3.1, as in its proof (dev. 1).

    >>> homing_episodes(Layout.regular([1, 2], 2, 2, 2), epsilon=0.5, delta=0.1)
    690
    """
    S, K, H = int(layout.n_states.sum()), layout.max_actions, layout.horizon
    return math.ceil(constant * S**2 * K * H * math.log(S * K * H / delta) / epsilon**2)

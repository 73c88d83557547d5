"""A problem as a judge describes it, whatever agents can be told of it, and its exact values.

An episode has at most H turns. After an action it goes on to a state of the next turn, or it ends there; the person
is then pleased or not, and says one of Y words or nothing. Axis order is (x, h, s, a, s').
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.jit import kernel

CERTAIN = 1 - 1e-9
"""From this chance of going on, an episode does not end there."""


@dataclass(frozen=True)
class World:
    """How people and dynamics are, for a time.

    `contexts` (X,); `transitions` (H, S, K, S) to the states of the next turn, where what a row lacks of one is the
    chance that the episode ends after the action; `rewards` (X, H, S, K), the chance that the person is pleased, given
    that it ended there; `voices` (X, H, S, 2, Y + 1), what is said by whoever is not pleased and by whoever is, in
    the last column nothing. `voices_by_action` (X, H, S, 2, K, Y + 1), if given, is said in their place.
    """

    contexts: FloatArray
    transitions: FloatArray
    rewards: FloatArray
    voices: FloatArray
    voices_by_action: FloatArray | None = None


@dataclass(frozen=True)
class Problem:
    """Something to learn: `labels` name the states of each turn, `worlds` follow each other, each for as long.

    A label may stand in several turns. At each turn an episode breaks off with chance `breaks`, whatever happened.
    `outcomes` are the episodes of which the agent is told how they ended. With `misjoined`, what is heard of an
    episode is what the person before it said.
    """

    labels: tuple[tuple[int, ...], ...]
    worlds: tuple[World, ...]
    breaks: float = 0.0
    outcomes: int = 0
    misjoined: bool = False

    @property
    def n_turns(self) -> int:
        return len(self.labels)

    @property
    def n_states(self) -> int:
        return int(self.worlds[0].transitions.shape[1])

    @property
    def n_actions(self) -> int:
        return int(self.worlds[0].transitions.shape[2])

    @property
    def n_contexts(self) -> int:
        return len(self.worlds[0].contexts)

    @property
    def n_words(self) -> int:
        return int(self.worlds[0].voices.shape[-1]) - 1

    @property
    def ends(self) -> tuple[tuple[int, ...], ...]:
        """Return the labels of the states of each turn in which an episode can end."""
        goes_on = np.min(
            [world.transitions.sum(axis=3).min(axis=2) for world in self.worlds], axis=0
        )  # (H, S)
        return tuple(
            tuple(label for s, label in enumerate(layer) if goes_on[h, s] < CERTAIN)
            for h, layer in enumerate(self.labels)
        )

    @property
    def ends_early(self) -> bool:
        """Return whether an episode can end before the last turn."""
        return any(self.ends[:-1])

    @property
    def silent(self) -> bool:
        """Return whether anybody ever says nothing."""
        return any(bool(world.voices[..., -1].any()) for world in self.worlds)


def solve_world(world: World) -> tuple[FloatArray, FloatArray]:
    """Return the optimal value of each context (X,) and a policy that earns it (X, H, S, K).

    V_h(s) = max_a [ sum_s' P(s'|s, a) V_{h+1}(s') + (1 - sum_s' P(s'|s, a)) f(x, h, s, a) ].
    """
    X, H, S, K = world.rewards.shape
    policy, value = np.zeros((X, H, S, K)), np.zeros((X, S))
    for h in range(H - 1, -1, -1):
        ending = 1 - world.transitions[h].sum(axis=2)  # (S, K)
        q = ending * world.rewards[:, h] + np.einsum("skj,xj->xsk", world.transitions[h], value)
        np.put_along_axis(policy[:, h], q.argmax(axis=2)[..., None], 1.0, axis=2)
        value = q.max(axis=2)
    return value[:, 0], policy


def uniform_values(world: World) -> FloatArray:
    """Return the value of uniform play for each context, (X,)."""
    K = world.rewards.shape[-1]
    policy = np.full(world.rewards.shape[1:], 1 / K)
    return np.array([value_of(world.transitions, rewards, policy) for rewards in world.rewards])


def worth_learning(world: World) -> float:
    """Return how much more than uniform play the optimum earns, over all contexts."""
    return float((solve_world(world)[0] - uniform_values(world)) @ world.contexts)


@kernel
def value_of(transitions: FloatArray, rewards: FloatArray, policy: FloatArray) -> float:
    """Return what `policy` (H, S, K) earns where rewards are (H, S, K)."""
    H, S, K = rewards.shape
    visits = np.zeros(S)
    visits[0] = 1.0
    value = 0.0
    for h in range(H):
        following = np.zeros(S)
        for s in range(S):
            for a in range(K):
                mass = visits[s] * policy[h, s, a]
                if mass > 0.0:
                    ending = 1.0
                    for j in range(S):
                        following[j] += mass * transitions[h, s, a, j]
                        ending -= transitions[h, s, a, j]
                    value += mass * ending * rewards[h, s, a]
        visits = following
    return value

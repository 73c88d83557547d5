"""Homing (Algorithm 2): learn a policy that reaches each last-layer state.

For each last-layer state in turn, EULER plays N episodes on the reward 1{s_H = s}, the last action
uniform. The policies that it played, mixed uniformly, are the homing policy of that state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tacit.base.arrays import IntArray
from tacit.learning.collection import Collection
from tacit.learning.settings import Settings, check_runnable
from tacit.learning.stage import Episode, Plan, Stage, deterministic_policy
from tacit.planning.euler import log_factor, plan_euler
from tacit.planning.reachability import Homes, Mixture
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded


class Homing:
    """The stage that learns homing policies, one last-layer state after the other."""

    name: ClassVar[str] = "homing"
    explores: ClassVar[bool] = True
    remarks: tuple[str, ...] = ()

    def __init__(self, layout: Layout, settings: Settings) -> None:
        check_runnable(layout, settings)
        self._layout, self._settings = layout, settings
        self._log_term = log_factor(layout, settings.homing.episodes, settings.homing.delta)
        self._mixtures: list[Mixture] = []
        self._visits = np.zeros(layout.n_states[-1], dtype=np.int64)
        self._episodes = np.zeros(layout.n_states[-1], dtype=np.int64)
        self._start_target()

    @property
    def target(self) -> int:
        """Return the last-layer state that homing is at: as many as are finished."""
        return len(self._mixtures)

    def plan(self, context: Encoded, draw: float) -> Plan:
        """Return EULER's optimistic policy for the present target; the context plays no part."""
        reached = np.zeros(self._layout.max_states)
        reached[self.target] = 1.0
        choices, _, _ = plan_euler(
            self._counts,
            self._layout.mask,
            self._layout.n_states,
            reached,
            reached,
            self._log_term,
            self._settings.homing.bonus_scale,
        )
        policy = deterministic_policy(choices, self._layout)
        return Plan(policy, self.name, uniform_last=True, target=self.target)

    def learn(self, episode: Episode, feedback: Encoded | None) -> float | None:
        """Count the transitions and the policy; one whose target is finished has nothing to teach."""
        states, actions, target = episode.states, episode.actions, episode.plan.target
        if target != self.target:
            return None
        for h in range(len(states) - 1):
            self._counts[h, states[h], actions[h], states[h + 1]] += 1.0
        if len(states) == self._layout.horizon:
            self._remember(np.argmax(episode.plan.policy[:-1], axis=2))
            self._visits[target] += states[-1] == target
            self._episodes[target] += 1
            if self._episodes[target] >= self._settings.homing.episodes:
                self._mixtures.append(Mixture(*self._played()))
                self._start_target()
        return None

    def next(self) -> Stage:
        """Return collection once every last-layer state has its homing policy."""
        if self.target < self._layout.n_states[-1]:
            return self
        return Collection(self._layout, self._settings, self._homes())

    def to_state(self) -> dict[str, Any]:
        """Return the counts, the policies played and the targets finished."""
        choices, weights = self._played()
        return {
            "homes": self._homes().to_state(),
            "counts": self._counts,
            "choices": choices,
            "weights": weights,
        }

    @classmethod
    def from_state(cls, layout: Layout, settings: Settings, state: Mapping[str, Any]) -> Homing:
        """Return the stage that `to_state` described."""
        stage = cls(layout, settings)
        homes = Homes.from_state(layout, state["homes"])
        stage._mixtures = list(homes.mixtures)
        stage._visits, stage._episodes = homes.visits, homes.episodes
        stage._counts = state["counts"]
        for choices, weight in zip(state["choices"], state["weights"], strict=True):
            stage._weights[choices.tobytes()] = int(weight)
        return stage

    def _start_target(self) -> None:
        H, S, K = self._layout.mask.shape
        self._counts = np.zeros((H - 1, S, K, S))
        self._weights: dict[bytes, int] = {}  # a policy's choices -> how often it was played

    def _remember(self, choices: IntArray) -> None:
        key = choices.tobytes()
        self._weights[key] = self._weights.get(key, 0) + 1

    def _played(self) -> tuple[IntArray, IntArray]:
        H, S, _ = self._layout.mask.shape
        flat = np.frombuffer(b"".join(self._weights), dtype=np.int64)
        choices = flat.reshape(len(self._weights), H - 1, S)
        return choices, np.array(list(self._weights.values()), dtype=np.int64)

    def _homes(self) -> Homes:
        homing = self._settings.homing
        return Homes(
            self._layout,
            tuple(self._mixtures),
            self._visits.copy(),
            self._episodes.copy(),
            homing.epsilon,
            homing.delta,
        )

"""Homing (Algorithm 2): learn a policy that reaches each last-layer state.

For each last-layer state in turn, EULER plays N episodes on the reward 1{s_H = s}, the last action
uniform. The policies that it played, mixed uniformly, are the homing policy of that state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.base.changes import Change, assign, put
from tacit.base.saved import Saved
from tacit.learning.collection import Collection, restore_homes
from tacit.learning.episode import Episode
from tacit.learning.settings import check_runnable
from tacit.learning.stage import (
    NOTHING,
    Lesson,
    PolicyPlan,
    Setup,
    Stage,
    deterministic_policy,
    ending_of,
    policy_plan,
    read_dynamics,
    refuse_early_endings,
    refuse_open,
    refuse_silence,
)
from tacit.planning.euler import log_factor, plan_euler
from tacit.planning.reachability import Homes, Mixture, restore_mixture
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import Anchor
from tacit.trust.diagnostics import diagnose_nothing
from tacit.trust.findings import Finding


class Homing:
    """The stage that learns homing policies, one last-layer state after the other."""

    name: ClassVar[str] = "homing"
    explores: ClassVar[bool] = True
    remarks: tuple[str, ...] = ()

    def __init__(self, setup: Setup) -> None:
        self._setup, self._layout, self._homing = setup, setup.layout, setup.settings.homing
        refuse_early_endings(self._layout, "the paper's recipe")
        refuse_open(self._layout, "the paper's recipe")
        check_runnable(self._layout, setup.settings)
        self._log_term = log_factor(self._layout, self._homing.episodes, self._homing.delta)
        self._mixtures: list[Mixture] = []
        self._visits = np.zeros(self._layout.endings.size, dtype=np.int64)
        self._episodes = np.zeros(self._layout.endings.size, dtype=np.int64)
        self._dynamics = setup.dynamics(self._layout)
        self._weights: dict[bytes, int] = {}  # a policy's choices -> how often it was played, for this target

    @property
    def target(self) -> int:
        """Return the ending that homing is at: as many as are finished."""
        return len(self._mixtures)

    def plan(self, context: Encoded, draw: float) -> PolicyPlan:
        """Return EULER's optimistic policy for the present target; the target's own reward knows no context."""
        reached = np.zeros(self._layout.max_states)
        reached[self.target] = 1.0
        choices, _, _ = plan_euler(
            self._dynamics.counts(context),
            self._layout.mask,
            self._layout.n_states,
            reached,
            reached,
            self._log_term,
            self._homing.bonus_scale,
        )
        policy = deterministic_policy(choices, self._layout)
        return PolicyPlan(policy, self.name, explores=True, uniform_last=True, target=self.target)

    def policy(self, context: Encoded) -> FloatArray:
        """Return the uniform policy: what is worth reaching is not known yet."""
        return self._layout.uniform_policy

    def learn(self, episode: Episode, feedback: Encoded | None, outcome: int | None = None) -> Lesson:
        """Return transitions and policy counted; one whose target is finished has nothing to teach."""
        refuse_silence(self._layout, feedback, "the paper's recipe")
        plan = policy_plan(episode)
        if plan.target != self.target:
            return NOTHING
        changes = [*self._dynamics.learn(episode.encoded, episode.states, episode.actions)]
        if len(episode.states) == self._layout.horizon:
            changes += self._count(plan, ending_of(self._layout, episode)[0])
        return Lesson(changes=changes)

    def next(self) -> Stage:
        """Return collection once every last-layer state has its homing policy."""
        if self.target < self._layout.endings.size:
            return self
        return Collection(self._setup, self._homes())

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return that nothing was kept to diagnose."""
        return diagnose_nothing(self._layout, self.name, anchors)

    def to_state(self) -> dict[str, Any]:
        """Return the counts, the policies played and the targets finished."""
        choices, weights = self._played(self._weights)
        return {
            "homes": self._homes().to_state(),
            "dynamics": self._dynamics.to_state(),
            "choices": choices,
            "weights": weights,
        }

    @classmethod
    def from_state(cls, setup: Setup, state: Mapping[str, Any]) -> Homing:
        """Return the stage that `to_state` described."""
        saved = Saved.of(state)
        dynamics = read_dynamics(setup, saved)
        homes = restore_homes(setup, saved.part("homes"))
        played = restore_mixture(setup.layout, saved, "choices", saved, "weights")
        target, wanted = len(homes.mixtures), setup.settings.homing.episodes
        saved.check(target < setup.layout.endings.size, "homes", "those of some endings, not of all")
        saved.check((homes.episodes[:target] == wanted).all(), "homes", f"of {wanted} episodes each")
        at_it = played.weights.sum() == homes.episodes[target] < wanted
        saved.check(at_it and not homes.episodes[target + 1 :].any(), "weights", "as many as episodes so far")
        stage = cls(setup)
        stage._mixtures = list(homes.mixtures)
        stage._visits, stage._episodes = homes.visits, homes.episodes
        stage._dynamics.restore(dynamics)
        for choices, weight in zip(played.choices, played.weights, strict=True):
            stage._weights[choices.tobytes()] = int(weight)
        return stage

    def _count(self, plan: PolicyPlan, ending: int) -> list[Change]:
        """Return what a whole episode changes; the last one of a target leaves its mixture and starts the next."""
        target, choices = plan.target, np.argmax(plan.policy[:-1], axis=2).tobytes()
        times, episodes = self._weights.get(choices, 0) + 1, self._episodes[target] + 1
        changes = [
            put(self._weights, choices, times),
            put(self._visits, target, self._visits[target] + (ending == target)),
            put(self._episodes, target, episodes),
        ]
        if episodes >= self._homing.episodes:
            mixture = Mixture(*self._played({**self._weights, choices: times}))
            changes += [
                assign(self, "_mixtures", [*self._mixtures, mixture]),
                assign(self, "_dynamics", self._setup.dynamics(self._layout)),
                assign(self, "_weights", {}),
            ]
        return changes

    def _played(self, weights: Mapping[bytes, int]) -> tuple[IntArray, IntArray]:
        H, S, _ = self._layout.mask.shape
        flat = np.frombuffer(b"".join(weights), dtype=np.int64)
        choices = flat.reshape(len(weights), H - 1, S)
        return choices, np.array(list(weights.values()), dtype=np.int64)

    def _homes(self) -> Homes:
        return Homes(
            self._layout,
            tuple(self._mixtures),
            self._visits.copy(),
            self._episodes.copy(),
            self._homing.epsilon,
            self._homing.delta,
        )

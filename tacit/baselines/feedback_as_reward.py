"""Algorithm 4 on feedback taken at its word: y is the reward. Given true rewards, this is the ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from tacit.learning.policy_learning import PolicyLearner
from tacit.learning.settings import Settings
from tacit.learning.stage import Episode, Plan, Stage
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded, Finite


class FeedbackAsReward:
    """Believes the feedback: the i-th of n values is the reward i / (n - 1).

    A `blind` one does so without seeing the context: it takes everybody for the same person.
    """

    name: ClassVar[str] = "feedback as reward"
    explores: ClassVar[bool] = False
    remarks: tuple[str, ...] = ()

    def __init__(self, layout: Layout, settings: Settings, blind: bool = False) -> None:
        self._top = _top_value(layout)
        self._blind = blind
        self._seen = replace(layout, contexts=Finite((0,))) if blind else layout
        self._learner = PolicyLearner(self._seen, settings, np.ones(layout.n_states[-1], dtype=np.bool_))

    def plan(self, context: Encoded, draw: float) -> Plan:
        """Return the policy of the occupancy measure of Algorithm 4, line 6."""
        policy, dual, converged = self._learner.plan(0 if self._blind else context)
        return Plan(policy, self.name, dual=dual, converged=converged)

    def learn(self, episode: Episode, feedback: Encoded | None) -> float | None:
        """Take the feedback for the reward."""
        reward = None if feedback is None else float(feedback / self._top)
        self._learner.learn(0 if self._blind else episode.encoded, episode, reward)
        return reward

    def next(self) -> Stage:
        """Return itself."""
        return self

    def to_state(self) -> dict[str, Any]:
        """Return what was learned."""
        return {"blind": self._blind, "learner": self._learner.to_state()}

    @classmethod
    def from_state(cls, layout: Layout, settings: Settings, state: Mapping[str, Any]) -> FeedbackAsReward:
        """Return the stage that `to_state` described."""
        stage = cls(layout, settings, state["blind"])
        stage._learner = PolicyLearner.from_state(stage._seen, settings, state["learner"])
        return stage


def with_reward_as_feedback(layout: Layout) -> Layout:
    """Return the layout of an agent that is told the true reward, 0 or 1, in place of the feedback."""
    return replace(layout, feedback=Finite((0, 1)))


def _top_value(layout: Layout) -> int:
    if not isinstance(layout.feedback, Finite) or layout.feedback.size < 2:
        raise ValueError(
            "to believe feedback it must be finite with at least two values in order of merit, "
            f"got {layout.feedback!r}"
        )
    return layout.feedback.size - 1

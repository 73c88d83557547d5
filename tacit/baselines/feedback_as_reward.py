"""Algorithm 4 on feedback taken at its word: y is the reward. Given true rewards, this is the ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.saved import Saved
from tacit.learning.episode import Episode
from tacit.learning.policy_learning import PolicyLearner
from tacit.learning.stage import Lesson, PolicyPlan, Setup, Stage, refuse_open
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded, Finite
from tacit.trust.anchors import Anchor
from tacit.trust.diagnostics import diagnose_nothing
from tacit.trust.findings import Finding


class FeedbackAsReward:
    """Believes the feedback: the i-th of n values is the reward i / (n - 1).

    A `blind` one does so without seeing the context: it takes everybody for the same person.
    """

    name: ClassVar[str] = "feedback as reward"
    explores: ClassVar[bool] = False
    remarks: tuple[str, ...] = ()

    def __init__(self, setup: Setup, blind: bool = False) -> None:
        layout = self._layout = setup.layout
        refuse_open(layout, "believing feedback")
        self._top = _top_value(layout)
        self._blind = blind
        self._learner = PolicyLearner(_seen(setup, blind), np.ones(layout.endings.size, dtype=np.bool_))

    def plan(self, context: Encoded, draw: float) -> PolicyPlan:
        """Return the policy of the occupancy measure of Algorithm 4, line 6."""
        policy, dual, converged = self._learner.plan(0 if self._blind else context)
        return PolicyPlan(policy, self.name, dual=dual, converged=converged)

    def policy(self, context: Encoded) -> FloatArray:
        """Return the policy that it plays."""
        return self.plan(context, 0.0).policy

    def learn(self, episode: Episode, feedback: Encoded | None, outcome: int | None = None) -> Lesson:
        """Take the feedback for the reward; silence, which no order of merit has a place for, for none."""
        heard = None if feedback is None or feedback > self._top else feedback
        reward = None if heard is None else float(heard / self._top)
        changes = self._learner.learn(0 if self._blind else episode.encoded, episode, reward)
        return Lesson(reward, changes=changes)

    def next(self) -> Stage:
        """Return itself."""
        return self

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return that nothing was kept to diagnose."""
        return diagnose_nothing(self._layout, self.name, anchors)

    def to_state(self) -> dict[str, Any]:
        """Return what was learned."""
        return {"blind": self._blind, "learner": self._learner.to_state()}

    @classmethod
    def from_state(cls, setup: Setup, state: Mapping[str, Any]) -> FeedbackAsReward:
        """Return the stage that `to_state` described."""
        saved = Saved.of(state)
        blind = saved.flag("blind")
        learner = PolicyLearner.from_state(_seen(setup, blind), saved.part("learner"))
        saved.check(learner.judged.all(), "learner", "judged everywhere")
        stage = cls(setup, blind)
        stage._learner = learner
        return stage


def with_reward_as_feedback(layout: Layout) -> Layout:
    """Return the layout of an agent that is told the true reward, 0 or 1, in place of the feedback."""
    return replace(layout, feedback=Finite((0, 1)))


def _seen(setup: Setup, blind: bool) -> Setup:
    """Return the problem as it is seen: with one context for all, if blind."""
    return replace(setup, layout=replace(setup.layout, contexts=Finite((0,)))) if blind else setup


def _top_value(layout: Layout) -> int:
    if not isinstance(layout.feedback, Finite) or layout.feedback.size < 2:
        raise ValueError(
            "to believe feedback it must be finite with at least two values in order of merit, "
            f"got {layout.feedback!r}"
        )
    return layout.feedback.size - 1

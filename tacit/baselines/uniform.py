"""The floor: every action uniform, nothing learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tacit.base.arrays import FloatArray
from tacit.learning.episode import Episode
from tacit.learning.stage import NOTHING, Lesson, PolicyPlan, Setup, Stage, refuse_open
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import Anchor
from tacit.trust.diagnostics import diagnose_nothing
from tacit.trust.findings import Finding


class Uniform:
    """Plays uniformly for good."""

    name: ClassVar[str] = "uniform"
    explores: ClassVar[bool] = False
    remarks: tuple[str, ...] = ()

    def __init__(self, setup: Setup) -> None:
        refuse_open(setup.layout, "uniform play")
        self._layout = setup.layout

    def plan(self, context: Encoded, draw: float) -> PolicyPlan:
        """Return the uniform policy."""
        return PolicyPlan(self._layout.uniform_policy, self.name, uniform_last=True)

    def policy(self, context: Encoded) -> FloatArray:
        """Return the uniform policy."""
        return self._layout.uniform_policy

    def learn(self, episode: Episode, feedback: Encoded | None, outcome: int | None = None) -> Lesson:
        """Learn nothing."""
        return NOTHING

    def next(self) -> Stage:
        """Return itself."""
        return self

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return that nothing was kept to diagnose."""
        return diagnose_nothing(self._layout, self.name, anchors)

    def to_state(self) -> dict[str, Any]:
        """Return nothing: there is no state."""
        return {}

    @classmethod
    def from_state(cls, setup: Setup, state: Mapping[str, Any]) -> Uniform:
        """Return the stage."""
        return cls(setup)

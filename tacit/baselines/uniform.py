"""The floor: every action uniform, nothing learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tacit.learning.settings import Settings
from tacit.learning.stage import Episode, Plan, Stage
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded


class Uniform:
    """Plays uniformly for good."""

    name: ClassVar[str] = "uniform"
    explores: ClassVar[bool] = False
    remarks: tuple[str, ...] = ()

    def __init__(self, layout: Layout, settings: Settings) -> None:
        self._layout = layout

    def plan(self, context: Encoded, draw: float) -> Plan:
        """Return the uniform policy."""
        return Plan(self._layout.uniform_policy, self.name, uniform_last=True)

    def learn(self, episode: Episode, feedback: Encoded | None) -> float | None:
        """Learn nothing."""
        return None

    def next(self) -> Stage:
        """Return itself."""
        return self

    def to_state(self) -> dict[str, Any]:
        """Return nothing: there is no state."""
        return {}

    @classmethod
    def from_state(cls, layout: Layout, settings: Settings, state: Mapping[str, Any]) -> Uniform:
        """Return the stage."""
        return cls(layout, settings)

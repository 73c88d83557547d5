"""What agents differ by: what a state offers, how things are encoded, and which stages they begin with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from tacit.base.changes import Changes
from tacit.learning.episode import Episode, Plan, refuse_end
from tacit.learning.stage import Stage
from tacit.problem.spaces import Label
from tacit.trust.anchors import Anchor


class World(Protocol):
    """Reads contexts, states and feedback for an agent; `Layered` for labels and vectors, `Conversations` for text.

    A state is `shown` to stages as the world reads it: an index in its layer, or a turn of a conversation.
    """

    name: ClassVar[str]
    plan_draws: ClassVar[int]
    """Uniform numbers that planning takes of an episode's own, before one for each step."""

    @property
    def horizon(self) -> int:
        """Return how many steps an episode has at most."""

    def first_stage(self) -> Stage:
        """Return the stage that learning begins with."""

    def meet_context(self, context: object) -> World:
        """Return the world that can read a context: itself, or one that has taken it in; or raise ValueError."""

    def meet_feedback(self, feedback: object) -> World:
        """Return the world that can read feedback: itself, or one that has taken it in; or raise ValueError."""

    def meet_state(self, episode: Episode, state: object, actions: Sequence[str], step: int | None) -> World:
        """Return the world that can read a state and its actions: itself, or one that has taken them in."""

    def carry_over(self, before: World, stage: Stage, episodes: Iterable[Episode]) -> tuple[Stage, Changes]:
        """Return the stage of the world that this one has grown out of as it is in this one, and what open episodes
        need; or raise ValueError if it cannot grow.
        """

    def read_context(self, context: object) -> Any:
        """Return a context as stages see it, or raise ValueError."""

    def read_feedback(self, feedback: object) -> Any:
        """Return feedback as stages see it, silence (None) among it, None if it is missing; or raise ValueError."""

    def read_state(
        self, episode: Episode, state: object, actions: Sequence[str] | None, step: int | None
    ) -> tuple[int, Any]:
        """Return (step, shown) of a state and the actions on offer, or raise ValueError; steps count from 0.

        Asked again for the state of the last step taken, that step and what was shown then. `step`, which users count
        from 1, is the one that is meant; None if the state must tell.
        """

    def uniform_plan(self, stage: Stage) -> Plan:
        """Return the plan of an episode that takes every action with the same chance, whatever the stage knows."""

    def followed(self, plan: Plan, step: int, shown: Any, action: int, chance: float) -> Plan:
        """Return the plan of an episode in which somebody else took an action, by that chance; or raise ValueError."""

    def can_end(self, step: int, shown: Any) -> bool:
        """Return whether an episode can end after an action in the state shown at a step."""

    def offered(self, step: int, shown: Any) -> tuple[Label, ...]:
        """Return the actions on offer, as the user knows them."""

    def read_anchor(self, anchor: Anchor) -> Anchor:
        """Return an episode with known outcome as stages can read it, or raise ValueError."""

    def context_label(self, context: Any, encoded: Any) -> Any:
        """Return a context as the user knows it, in plain values; `encoded` is the same as stages see it."""

    def state_label(self, step: int, shown: Any) -> Label:
        """Return a state as the user knows it."""

    def policy(self, stage: Stage, context: Any) -> Mapping[Label, Mapping[Label, float]]:
        """Return for each state the probability of each action that the stage takes to be best."""

    def save_episode(self, episode: Episode) -> dict[str, Any]:
        """Return plan and states of an open episode as plain values and arrays."""

    def restore_context(self, state: Mapping[str, Any]) -> Any:
        """Return the context of a saved episode as stages see it, to the last bit as it was."""

    def restore_episode(self, stage: Stage, state: Mapping[str, Any]) -> tuple[Plan, list[Any]]:
        """Return (plan, states) that `save_episode` described."""

    def to_state(self) -> dict[str, Any]:
        """Return plain values from which the class's `from_state` rebuilds the world."""


def check_over(world: World, episode: Episode) -> None:
    """Raise ValueError unless all steps were taken, or the last state is one in which an episode can end."""
    taken = len(episode.actions)
    if taken == world.horizon:
        return
    last = (taken - 1, episode.states[-1]) if taken else None
    if last is None or not world.can_end(*last):
        refuse_end(episode, world.horizon, None if last is None else world.state_label(*last))

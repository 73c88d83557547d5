"""The baseline: what is done in episodes that are held out, to compare with. It is chance, or a fixed choice.

A fixed choice is what a product did before it had an agent: an action by state, or the first on offer. The agent is
told of it as of any action that somebody else took, with the chance 1, and learns from it.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct

from tacit.agent import Agent
from tacit.learning.episode import Episode
from tacit.problem.layout import Layout
from tacit.service.bodies import Ask
from tacit.service.errors import invalid

UNIFORM: Final = "uniform"
FIRST: Final = "first"


class FixedChoice(Struct, forbid_unknown_fields=True):
    """What is always done in a state."""

    state: Any
    action: Any


Baseline = Literal["uniform", "first"] | list[FixedChoice]


def check_baseline(baseline: Baseline, holdout: float, layout: Layout | None) -> None:
    """Raise RefusedError unless a baseline is of use, and of a layout's states and actions; conversations have none."""
    if baseline == UNIFORM:
        return
    if holdout == 0:
        raise invalid("a baseline is for episodes that are held out, got no `holdout`; give one", "baseline")
    if layout is None:
        raise invalid(
            "of conversations only the agent's own choices are learned from, so those held out stay uniform; leave "
            "`baseline` out",
            "baseline",
        )
    if baseline == FIRST:
        return
    for each in baseline:
        assert isinstance(each, FixedChoice)
        _check_choice(each, layout)


def choose_fixed(baseline: Baseline, agent: Agent, episode: Episode, asked: Ask) -> Any:
    """Return the action of a baseline in a state, None where it leaves that to chance."""
    if baseline == UNIFORM:
        return None
    offered = asked.actions
    if offered is None:
        offered = list(agent.world.offered(*agent.world.read_state(episode, asked.state, None, asked.step)))
    if baseline == FIRST:
        return offered[0]
    for each in baseline:
        assert isinstance(each, FixedChoice)
        if each.state == asked.state and each.action in offered:
            return each.action
    return None


def _check_choice(choice: FixedChoice, layout: Layout) -> None:
    known = [
        actions
        for states, menus in zip(layout.states, layout.actions, strict=True)
        for state, actions in zip(states, menus, strict=True)
        if state == choice.state
    ]
    if not known:
        raise invalid(
            f"a baseline is of states that the layout has, got {choice.state!r}; leave it out", "baseline"
        )
    if not any(choice.action in actions for actions in known):
        raise invalid(
            f"a baseline does what there is to do in a state, got {choice.action!r} in {choice.state!r}; name "
            "one of its actions",
            "baseline",
        )

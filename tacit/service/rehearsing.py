"""Rehearsals: what takes long in a request with texts is done first in a thread, where it holds up nobody.

Texts are turned into numbers by a model that is loaded when it is first needed, in seconds, and reads a sentence in
tens of milliseconds. What it read is kept, so a request that was rehearsed finds everything there. A rehearsal only
asks: it reads, plans and works out what would be learned, all of which changes nothing, and lets everything that is
wrong be found by the request itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tacit.service.bodies import Anchors, Ask, Begin, Decide, Feedback
from tacit.service.host import Host
from tacit.service.labelling import probe

Rehearsal = Callable[..., object]


def rehearse(host: Host, request: Callable[..., Any], told: tuple[Any, ...]) -> None:
    """Do what takes long in a request of an agent, and leave no trace but in memory of what texts are."""
    known = REHEARSALS.get(getattr(request, "__name__", ""))
    if known is None:
        return
    try:
        known(host, *told)
    except Exception:  # the request finds it again, and says what is wrong
        return


def _begin(host: Host, body: Begin) -> None:
    host.agent.world.read_context(body.context)


def _decide(host: Host, body: Decide) -> None:
    world = host.agent.world
    episode = probe(host.agent, world, body.context)
    at, shown = world.read_state(episode, body.state, body.actions, 1)
    episode.plan.chances(at, shown)


def _act(host: Host, name: str, body: Ask) -> None:
    account = host.accounts[name]
    episode = host.agent.episode(account.number)
    if body.step == len(account.steps) + 1:
        at, shown = host.agent.world.read_state(episode, body.state, body.actions, body.step)
        episode.plan.chances(at, shown)


def _hear(host: Host, name: str, body: Feedback) -> None:
    episode = host.agent.episode(host.accounts[name].number)
    host.agent.stage.learn(episode, host.agent.world.read_feedback(body.feedback), body.outcome)


def _expire(host: Host, at: float) -> None:
    for account in host.late(at):
        if account.steps:
            _hear(host, account.id, Feedback(None))


def _anchor(host: Host, body: Anchors) -> None:
    for each in body.anchors:
        host.agent.world.read_context(each.context)
        host.agent.world.read_feedback(each.feedback)


REHEARSALS: dict[str, Rehearsal] = {
    "begin": _begin,
    "decide": _decide,
    "act": _act,
    "hear": _hear,
    "expire": _expire,
    "anchor": _anchor,
    "label": lambda host, body: host.label(body),
    "policy": lambda host, context: host.agent.world.read_context(context),
}
"""By the name of the method of the host, or of its agent."""

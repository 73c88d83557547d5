"""Watching agents: what the page is told of them, and the server-sent events by which it is told whenever that changes.

However many listen, an agent is looked at once: at most twice a second, and so seldom that looking takes about a
twentieth of the time. The id of an event is that of what it says: who comes back with it is told what changed.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tacit.learning.layered import Layered
from tacit.problem.spaces import Finite
from tacit.service.accounts import Account
from tacit.service.baseline import UNIFORM
from tacit.service.chance import estimate_chance, weigh_steps
from tacit.service.errors import RefusedError
from tacit.service.history import History
from tacit.service.host import Host
from tacit.service.house import House
from tacit.service.journal import StoreError
from tacit.service.meanings import shorten, tell_meanings
from tacit.service.page_bodies import AgentsView, AgentView, ContextShown, Glance, Health, Recent, RecentStep
from tacit.service.progress import ANSWERS, STAGES

MOST_LISTENERS = 64
"""Open streams; each is a connection and a look at what changed twice a second."""
LOOK_EVERY = 0.5
"""Seconds between looks at an agent."""
PART = 20
"""Of the time: looking may take one of so many parts."""
LONGEST = 5.0
"""Seconds that nobody looks at most, however long a look took: the first one also loads code."""
HEARTBEAT = 10.0
"""Seconds after which a stream says that it is there."""
MOST_EVENTS = 300_000
"""Of the journal that are read for an agent's history: those before are left out."""
PIECE = 1_000
"""Events that are read at once, so that decisions go on between."""
RECENT, CONTEXTS = 20, 100
"""Episodes, and contexts to ask a policy for, that are listed."""
LARGEST_CONTEXT = 4_000
"""Bytes of a context that can still be asked for in an address."""

EVENTS = "text/event-stream"
ENCODER = msgspec.json.Encoder()


class Message(NamedTuple):
    """An event: its kind, what it says in JSON, and whether it is the last."""

    kind: str
    data: bytes
    last: bool = False

    @property
    def id(self) -> str:
        """Return the id of what it says."""
        return hashlib.blake2b(self.data, digest_size=8).hexdigest()

    def encode(self) -> bytes:
        """Return it as a server-sent event."""
        return b"event: %s\nid: %s\ndata: %s\n\n" % (self.kind.encode(), self.id.encode(), self.data)


class Look(NamedTuple):
    """What was last seen of an agent: by which host, at which counters, when, and how long that took."""

    host: Host
    counters: tuple[Any, ...]
    at: float
    took: float
    said: Any

    def holds(self, counters: tuple[Any, ...]) -> bool:
        """Return whether it still says what there is to say, or another look would come too soon."""
        return self.counters == counters or time.monotonic() < self.at + min(PART * self.took, LONGEST)


class Watchers:
    """Those who watch a house. `stopping` says when they must be let go."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.listeners = 0
        self.stopping: Callable[[], bool] = lambda: False
        self._histories: dict[int, History] = {}
        self._looks: dict[str, Look] = {}
        self._glances: dict[str, Look] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def watch(self, request: Request) -> Response:
        """Answer GET /v1/agents/{name}/watch."""
        name = request.path_params["name"]
        self._house.find(name)
        return self._stream(request, lambda: self.look_at(name))

    async def watch_all(self, request: Request) -> Response:
        """Answer GET /v1/watch."""
        return self._stream(request, self.glance)

    async def look_at(self, name: str) -> Message:
        """Return what there is to say of an agent now; what was said before, if nothing happened or it was just now."""
        async with self._locks[name]:
            try:
                host = self._house.find(name)
            except RefusedError as refusal:
                gone = refusal.status == 404
                if gone and (known := self._looks.pop(name, None)) is not None:
                    self._histories.pop(known.host.row.number, None)
                return Message("gone" if gone else "trouble", ENCODER.encode(refusal.to_json()), gone)
            known = self._looks.get(name)
            counters = self._counters(host)
            if known is not None and known.host is host and known.holds(counters):
                message: Message = known.said
                return message
            history = await self._catch_up(host)
            began = time.monotonic()
            view = view_agent(self._house, host, history, self._health())
            message = Message("agent", ENCODER.encode(view))
            self._looks[name] = Look(host, counters, began, time.monotonic() - began, message)
            return message

    async def glance(self) -> Message:
        """Return what there is to say of all agents."""
        house = self._house
        if house.failure is not None:
            return Message(
                "trouble", ENCODER.encode({"error": {"code": "unready", "message": house.failure}})
            )
        listed = [self._glance_at(host) for host in house.hosts.values()]
        self._glances = {name: look for name, look in self._glances.items() if name in house.hosts}
        return Message("agents", ENCODER.encode(AgentsView(listed, version("tacit"), self._health())))

    def _glance_at(self, host: Host) -> Glance:
        """Return an agent as it stands in the list, as it was if nothing happened or that was just now."""
        known, counters = self._glances.get(host.row.name), self._counters(host)
        if known is None or known.host is not host or not known.holds(counters):
            began = time.monotonic()
            said = glance_at(self._house, host)
            known = Look(host, counters, began, time.monotonic() - began, said)
            self._glances[host.row.name] = known
        glance: Glance = known.said
        return glance

    def _health(self) -> Health:
        return Health(self._house.waiting, self.listeners)

    def _counters(self, host: Host) -> tuple[Any, ...]:
        """Return what changes whenever there is something new to say."""
        agent = host.agent
        return (
            agent.next_episode,
            host.ended,
            host.position,
            id(agent.stage),
            id(agent.world),
            self.listeners,
        )

    async def _catch_up(self, host: Host) -> History:
        """Return the history of an agent, up to what is in the journal now."""
        number = host.row.number
        if number not in self._histories:
            after = max(host.position - MOST_EVENTS, 0)
            self._histories[number] = History(lambda account: self._weigh(host.row.name, account), after)
        history = self._histories[number]
        try:
            while host.position > history.position:
                events = await self._house.events(host, history.position, PIECE)
                history.tell(events)
                if len(events) < PIECE:
                    break
        except StoreError:  # it is shown as far as it is known
            pass
        return history

    def _weigh(self, name: str, account: Account) -> float | None:
        host = self._house.hosts.get(name)  # the one that lives now: after a failure there is another
        return None if host is None else weigh_steps(host.agent, account.steps)

    def _stream(self, request: Request, look: Callable[[], Awaitable[Message]]) -> Response:
        if self.listeners >= MOST_LISTENERS:
            raise RefusedError(
                429, "busy", f"{self.listeners} watch already; close a page, or try again later"
            )
        known = request.headers.get("last-event-id", "")
        headers = {
            "cache-control": "no-store",
            "x-accel-buffering": "no",
            "x-content-type-options": "nosniff",
        }
        return StreamingResponse(self._events(look, known), media_type=EVENTS, headers=headers)

    async def _events(self, look: Callable[[], Awaitable[Message]], known: str) -> AsyncIterator[bytes]:
        self.listeners += 1
        try:
            yield b"retry: 2000\n\n"
            spoke = time.monotonic()
            while not self.stopping():
                message = await look()
                if message.id != known:
                    yield message.encode()
                    known, spoke = message.id, time.monotonic()
                elif time.monotonic() - spoke >= HEARTBEAT:
                    yield b": still here\n\n"
                    spoke = time.monotonic()
                if message.last:
                    return
                await asyncio.sleep(LOOK_EVERY)
        finally:
            self.listeners -= 1


def view_agent(house: House, host: Host, history: History, health: Health) -> AgentView:
    """Return all that the page shows of an agent."""
    status, agent, latest = house.status(host), host.agent, list(history.latest)
    return AgentView(
        status=status,
        answer=ANSWERS[status.verdict],
        stage=STAGES.get(status.stage, ""),
        rewards=history.shown(),
        held_rewards=history.held_windows(),
        lately=history.lately(),
        held=history.held_out(),
        baseline=host.description.baseline != UNIFORM,
        uniform=None if history.lately() is None else estimate_chance(agent, history.tried),
        meanings=tell_meanings(agent.stage, latest),
        contexts=list_contexts(host, latest),
        has_policy=isinstance(agent.world, Layered),
        recent=[tell_recent(account) for account in latest[:RECENT]],
        health=health,
    )


def glance_at(house: House, host: Host) -> Glance:
    """Return an agent as it stands in the list."""
    status = house.status(host)
    warnings = sum(finding.severity != "info" for finding in status.findings)
    counts = status.begun, status.ended, status.open
    return Glance(status.name, status.stage, status.verdict, *counts, warnings)


def list_contexts(host: Host, recent: list[Account]) -> list[ContextShown]:
    """Return contexts that a policy can be asked for: all labels if they are few, otherwise those met last."""
    world = host.agent.world
    if isinstance(world, Layered) and isinstance(world.layout.contexts, Finite):
        labels = world.layout.contexts.labels
        if len(labels) <= CONTEXTS:
            return [ContextShown(shorten(label), label) for label in labels]
    met = {ENCODER.encode(account.context): account.context for account in recent}
    small = [value for key, value in met.items() if len(key) <= LARGEST_CONTEXT]
    return [ContextShown(shorten(value), value) for value in small[:CONTEXTS]]


def tell_recent(account: Account) -> Recent:
    """Return an episode that has ended in words."""
    steps = [
        RecentStep(shorten(step.state), shorten(step.action), _rounded(step.probability))
        for step in account.steps
    ]
    said = None if account.feedback is None else shorten(account.feedback)
    told = account.id, account.begun, shorten(account.context), steps, account.ended or ""
    return Recent(*told, said, account.outcome, account.decoded)


def _rounded(chance: float | None) -> float | None:
    return None if chance is None else round(chance, 4)

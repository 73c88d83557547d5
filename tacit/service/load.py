"""A load generator: many people at once, from another process, as an environment would send them.

Each connection plays one episode after the other; what it says comes from an environment of its own, so an agent at the
other end learns as it would in a simulation. It speaks HTTP/1.1 over plain sockets: a client that does more would cost
more than the service, and be what is measured.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import gymnasium as gym
import numpy as np

from tacit.envs.booking import BookingEnv, make_dialogues
from tacit.envs.dialogues import Dialogue
from tacit.envs.gym_adapter import GymSource
from tacit.envs.layered import Clouds, LayeredEnv
from tacit.envs.ontology import generate_tasks
from tacit.envs.random_mdp import random_mdp
from tacit.envs.synthetic import VARIANTS, synthetic
from tacit.problem.spaces import Vectors
from tacit.service.calls import AgentCalls, Call, EpisodeCalls, ServiceError, new_id, read_answer, unreachable

T = TypeVar("T")
Env = gym.Env[Any, Any]
PERCENTILES = (50, 95, 99)
TASKS = 50
"""Of the environment in which people book something."""
PATIENCE = 120.0
"""Seconds that a service may take to become ready."""
PAUSE = 0.05
"""Seconds that a connection waits after an episode that went wrong, before it begins another."""


def find_environment(name: str) -> Env:
    """Return an environment by name: one of those here, or "module:function", which makes one.

    >>> find_environment("tacit.envs.synthetic:synthetic").layout.horizon
    3
    """
    if name in ENVIRONMENTS:
        return ENVIRONMENTS[name]()
    module, _, function = name.partition(":")
    if not function:
        raise ValueError(
            f"an environment is {', '.join(ENVIRONMENTS)}, or module:function that makes one, got {name!r}"
        )
    made: Env = getattr(import_module(module), function)()
    return made


def synthetic_vectors() -> LayeredEnv:
    """Return the variant "personal" with contexts that are vectors: two clouds of people in three dimensions."""
    mdp = synthetic("personal").mdp
    shown = replace(mdp, layout=replace(mdp.layout, contexts=Vectors(3)))
    return LayeredEnv(shown, context_vectors=Clouds(np.array([[0.0, 0, 1], [1.0, 0, 0]])))


@cache
def booking_dialogues() -> tuple[Dialogue, ...]:
    """Return people who want to book something; connections share them."""
    return tuple(make_dialogues(generate_tasks(TASKS, seed=0), "hard", seed=0))


ENVIRONMENTS: dict[str, Callable[[], Env]] = {
    "booking": lambda: BookingEnv(booking_dialogues()),
    **{name: partial(synthetic, name) for name in VARIANTS},
    "vectors": synthetic_vectors,
    "random": partial(random_mdp, 0),
}


def describe_agent(env: Env, seed: int) -> dict[str, Any]:
    """Return the description of an agent for an environment: of conversations, or by the `layout` that it has."""
    layout = getattr(env.unwrapped, "layout", None)
    if isinstance(env.unwrapped, BookingEnv):
        return {"text": {"horizon": env.unwrapped.horizon}, "seed": seed}
    if layout is None:
        raise ValueError(
            f"an agent is made for an environment with a `layout`, {env!r} has none; make the agent first, with PUT"
        )
    return {"layout": layout.to_json(), "seed": seed}


class Target(NamedTuple):
    """Where a service is, and what every request says at its head."""

    host: str
    port: int
    head: bytes

    @classmethod
    def of(cls, url: str, key: str | None = None) -> Target:
        """Return the address that a URL names; it must be one of plain HTTP."""
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"the load generator speaks plain HTTP, to http://HOST:PORT, got {url!r}")
        port = parts.port or 80
        head = f"host: {parts.hostname}:{port}\r\ncontent-type: application/json\r\n"
        head += "" if key is None else f"authorization: Bearer {key}\r\n"
        return cls(parts.hostname, port, head.encode())

    def write(self, call: Call[T]) -> bytes:
        """Return a call as it goes over the wire."""
        body = call.content or b""
        start = f"{call.method} {call.path} HTTP/1.1\r\n".encode()
        return b"%b%bcontent-length: %d\r\n\r\n%b" % (start, self.head, len(body), body)


class Wire(asyncio.Protocol):
    """One connection, which asks one thing at a time and is told when the answer is there."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._heard = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what it writes to."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        """Let whoever waits know that no answer will come."""
        self._transport = None
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error or ConnectionResetError("the connection was closed"))

    def data_received(self, data: bytes) -> None:
        """Take in a part of an answer."""
        self._heard += data
        found = read_response(self._heard)
        if found is not None and self._answer is not None and not self._answer.done():
            self._heard = b""
            self._answer.set_result(found)

    @property
    def open(self) -> bool:
        """Return whether it can be asked."""
        return self._transport is not None

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Return status and content of the answer, or raise OSError."""
        if self._transport is None:
            raise ConnectionResetError("the connection was closed")
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()


def read_response(heard: bytes) -> tuple[int, bytes] | None:
    r"""Return status and content of an answer as far as it was heard, None if there is more to come.

    >>> read_response(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
    (200, b'{}')
    >>> read_response(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{")
    """
    end = heard.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = heard[:end].lower()
    at = head.find(b"content-length:")
    length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
    content = heard[end + 4 :]
    return (int(head[9:12]), content) if len(content) >= length else None


@dataclass
class Load:
    """What a load came to: seconds of each call by its kind, errors by their code, true rewards where known."""

    seconds: float = 0.0
    episodes: int = 0
    timings: dict[str, list[float]] = field(default_factory=lambda: {"begin": [], "act": [], "end": []})
    errors: Counter[str] = field(default_factory=Counter)
    rewards: list[float] = field(default_factory=list)

    @property
    def requests(self) -> int:
        """Return how many requests were answered well."""
        return sum(map(len, self.timings.values()))

    def to_json(self) -> dict[str, Any]:
        """Return it as numbers: throughput, percentiles of each call in milliseconds, errors, rewards."""
        last = self.rewards[-max(len(self.rewards) // 5, 1) :]
        return {
            "seconds": round(self.seconds, 3),
            "episodes": self.episodes,
            "requests": self.requests,
            "episodes_per_second": round(self.episodes / self.seconds, 1),
            "requests_per_second": round(self.requests / self.seconds, 1),
            "milliseconds": dict(self._percentiles()),
            "errors": dict(self.errors),
            "reward": round(float(np.mean(self.rewards)), 4) if self.rewards else None,
            "reward_last_fifth": round(float(np.mean(last)), 4) if last else None,
        }

    def _percentiles(self) -> Iterator[tuple[str, dict[str, float]]]:
        for kind, seconds in self.timings.items():
            if seconds:
                values = np.percentile(seconds, PERCENTILES) * 1000
                yield kind, {f"p{p}": round(float(v), 2) for p, v in zip(PERCENTILES, values, strict=True)}


class Loader:
    """Plays episodes of an agent over some connections at once, and takes the time."""

    def __init__(self, url: str, agent: str, key: str | None = None) -> None:
        self._url, self._target, self._agent = url, Target.of(url, key), AgentCalls(agent)
        self.load = Load()
        self._left = self._begun = 0
        self._rate = self._first = 0.0

    async def prepare(self, description: dict[str, Any] | None) -> None:
        """Wait until the service is ready, and make the agent if it is described."""
        line = await self._connect()
        try:
            await self._wait_until_ready(line)
            if description is not None:
                call = self._agent.put(description)
                read_answer(call, *await line.ask(self._target.write(call)))
        finally:
            line.close()

    async def run(
        self,
        make: Callable[[], Env],
        episodes: int,
        connections: int,
        seed: int,
        told: Callable[[int], None] | None = None,
        rate: float = 0.0,
    ) -> Load:
        """Return what so many episodes came to; `told` hears of each.

        With a `rate` no more than so many begin a second, evenly; else each connection begins one after the other.
        """
        sources = [GymSource(make()) for _ in range(connections)]
        begin = time.perf_counter()  # what makes environments ready is no part of the pace
        self._left, self._rate, self._begun, self._first = episodes, rate, 0, begin
        await asyncio.gather(
            *(self._keep_playing(each, seed + n, told) for n, each in enumerate(sources) if n < episodes)
        )
        self.load.seconds += time.perf_counter() - begin
        return self.load

    async def _wait_until_ready(self, line: Wire) -> None:
        until = time.perf_counter() + PATIENCE
        while (await line.ask(self._target.write(Call("GET", "/readyz", dict))))[0] != 200:
            if time.perf_counter() > until:
                raise unreachable(self._url, TimeoutError(f"it was not ready in {PATIENCE:.0f} seconds"))
            await asyncio.sleep(PAUSE)

    async def _keep_playing(
        self, source: GymSource, seed: int | None, told: Callable[[int], None] | None
    ) -> None:
        line = Wire()
        while self._left > 0:
            self._left -= 1
            await self._wait_for_turn()
            try:
                if not line.open:
                    line = await self._connect()
                await self._play(line, source, seed)
            except (ServiceError, OSError) as error:
                code = error.code if isinstance(error, ServiceError) else "unreachable"
                self.load.errors[code] += 1
                await asyncio.sleep(PAUSE)
            seed = None
            if told is not None:
                told(1)
        line.close()

    async def _wait_for_turn(self) -> None:
        """Wait until the next episode may begin."""
        if self._rate:
            at, self._begun = self._first + self._begun / self._rate, self._begun + 1
            await asyncio.sleep(max(at - time.perf_counter(), 0))

    async def _play(self, line: Wire, source: GymSource, seed: int | None) -> None:
        context, state = source.begin(seed)
        name = new_id()
        await self._ask(line, "begin", self._agent.begin(context, name))
        episode = EpisodeCalls(self._agent, name)
        while state is not None:
            chosen = await self._ask(line, "act", episode.act(state, *source.offer))
            state = source.step(episode.acted(chosen).action)
        if source.broke_off:
            await self._ask(line, "end", episode.abandon())
        else:
            await self._ask(line, "end", episode.end(source.feedback))
        self.load.episodes += 1
        if source.reward is not None:
            self.load.rewards.append(source.reward)

    async def _ask(self, line: Wire, kind: str, call: Call[T]) -> T:
        request = self._target.write(call)
        begin = time.perf_counter()
        status, content = await line.ask(request)
        taken = time.perf_counter() - begin
        answer = read_answer(call, status, content)
        self.load.timings[kind].append(taken)
        return answer

    async def _connect(self) -> Wire:
        loop = asyncio.get_running_loop()
        try:
            _, line = await loop.create_connection(Wire, self._target.host, self._target.port)
        except OSError as error:
            raise unreachable(self._url, error) from error
        return line

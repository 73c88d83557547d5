"""Clients of a service in Python: `Client` waits for answers, `AsyncClient` lets others go on meanwhile.

    with Client("http://127.0.0.1:8040") as client:
        shop = client.agent("shop")
        episode = shop.begin("new")
        action = episode.act("start")
        episode.end("thanks")

Both send what `tacit.service.calls` makes and read what comes by it; requests that no answer came to, and those that
were turned away for a moment, are sent again. An agent of a service is driven as `tacit.Agent` is, so that
`tacit.simulate.play_episode` plays either.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self, TypeVar

import httpx2
import msgspec

from tacit.service.bodies import Accepted, AgentStatus, Began, ChosenBody, DecodedBody
from tacit.service.calls import (
    LIST,
    PASSING,
    AgentCalls,
    Call,
    EpisodeCalls,
    Patience,
    ServiceError,
    chosen_of,
    policy_of,
    read_answer,
    unreachable,
)
from tacit.trust.anchors import Anchor

__all__ = ["AsyncClient", "Client", "Patience", "ServiceError"]

T = TypeVar("T")
TIMEOUT = 30.0
"""Seconds that an answer may take: longer than a fit that decisions wait for."""


HttpOutcome = httpx2.Response | httpx2.TransportError
"""What became of a request: an answer, or that none came."""


class _Tries(NamedTuple):
    """How a call is tried until it is answered: both clients ask here after each try."""

    url: str
    patience: Patience
    chance: random.Random

    def wait(self, tried: int, outcome: HttpOutcome) -> float | None:
        """Return the seconds until the next try, None if there is none."""
        if isinstance(outcome, httpx2.TransportError):
            return self.patience.wait(tried, None, self.chance)
        if outcome.status_code in PASSING:
            return self.patience.wait(tried, outcome.headers.get("retry-after"), self.chance)
        return None

    def read(self, call: Call[T], outcome: HttpOutcome) -> T:
        """Return what the last try was answered, or raise ServiceError."""
        if isinstance(outcome, httpx2.TransportError):
            raise unreachable(self.url, outcome) from outcome
        return read_answer(call, outcome.status_code, outcome.content)


def _options(url: str, key: str | None, timeout: float) -> dict[str, Any]:
    headers = {"content-type": "application/json"}
    headers |= {} if key is None else {"authorization": f"Bearer {key}"}
    return {"base_url": url.rstrip("/"), "headers": headers, "timeout": timeout}


class Client:
    """A service, by its address; `key` is one that it gave out, where it asks for one."""

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = TIMEOUT, patience: Patience | None = None
    ) -> None:
        self._tries = _Tries(url, patience or Patience(), random.Random())
        self._http = httpx2.Client(**_options(url, key, timeout))

    def agent(self, name: str) -> RemoteAgent:
        """Return the agent of that name; nothing is asked yet."""
        return RemoteAgent(self, name)

    def agents(self) -> list[AgentStatus]:
        """Return how every agent is doing."""
        return self.do(LIST).agents

    def do(self, call: Call[T]) -> T:
        """Return what a call is answered, however often it must be sent; or raise ServiceError."""
        tried, outcome = 1, self._send(call)
        while (wait := self._tries.wait(tried, outcome)) is not None:
            time.sleep(wait)
            tried, outcome = tried + 1, self._send(call)
        return self._tries.read(call, outcome)

    def _send(self, call: Call[T]) -> HttpOutcome:
        try:
            return self._http.request(call.method, call.path, content=call.content)
        except httpx2.TransportError as error:
            return error

    def lines(self, call: Call[T]) -> Iterator[T]:
        """Yield the lines of an answer, as they come."""
        try:
            with self._http.stream(call.method, call.path) as response:
                if response.status_code >= 400:
                    read_answer(call, response.status_code, response.read())
                for line in response.iter_lines():
                    yield msgspec.json.decode(line, type=call.gives)
        except httpx2.TransportError as error:
            raise unreachable(self._tries.url, error) from error

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RemoteEpisode:
    """An episode at a service."""

    def __init__(self, client: Client, calls: EpisodeCalls, began: Began) -> None:
        self._client, self._calls = client, calls
        self.id, self.stage = began.episode, began.stage
        self.probability: float | None = None
        """With which chance the last action was drawn."""
        self.decoded_reward: float | None = None
        """What the feedback was taken to mean, None if nothing."""

    def act(self, state: Any, actions: Any = None) -> Any:
        """Return what to do in a state; `actions` are what can be done, where the layout does not say."""
        chosen = self._client.do(self._calls.act(state, actions))
        self.probability = self._calls.acted(chosen).probability
        return chosen.action

    def took(self, state: Any, action: Any, probability: float | None = None, actions: Any = None) -> None:
        """Tell which action was taken in a state by somebody else, with which chance if that is known."""
        self._calls.acted(self._client.do(self._calls.took(state, action, probability, actions)))

    def end(self, feedback: Any, outcome: int | None = None) -> Accepted:
        """Tell how the person reacted (None: not at all); return what that was taken to mean."""
        accepted = self._client.do(self._calls.end(feedback, outcome))
        self.decoded_reward = _reward(accepted)
        return accepted

    def abandon(self) -> None:
        """Say that the episode broke off, so that nobody could react."""
        self._client.do(self._calls.abandon())


class RemoteAgent:
    """An agent at a service, driven as `tacit.Agent` is."""

    def __init__(self, client: Client, name: str) -> None:
        self._client, self._calls = client, AgentCalls(name)

    def put(self, description: Mapping[str, Any]) -> AgentStatus:
        """Make it, unless it is there; it must have been described the same then."""
        return self._client.do(self._calls.put(description))

    def status(self) -> AgentStatus:
        """Return how it is doing."""
        return self._client.do(self._calls.status())

    def delete(self) -> None:
        """Delete it."""
        self._client.do(self._calls.delete())

    def begin(self, context: Any, id: str | None = None, user: str | int | None = None) -> RemoteEpisode:
        """Begin an episode."""
        began = self._client.do(self._calls.begin(context, id, user))
        return RemoteEpisode(self._client, EpisodeCalls(self._calls, began.episode), began)

    def act(self, episode: RemoteEpisode, state: Any, actions: Any = None) -> Any:
        """Return what to do in a state."""
        return episode.act(state, actions)

    def end(self, episode: RemoteEpisode, feedback: Any, outcome: int | None = None) -> None:
        """Tell how the person reacted."""
        episode.end(feedback, outcome)

    def abandon(self, episode: RemoteEpisode) -> None:
        """Say that an episode broke off."""
        episode.abandon()

    def decide(
        self,
        context: Any,
        state: Any,
        actions: Any = None,
        id: str | None = None,
        user: str | int | None = None,
    ) -> tuple[RemoteEpisode, Any]:
        """Begin an episode and return it with its first action, in one request."""
        decided = self._client.do(self._calls.decide(context, state, actions, id, user))
        calls = EpisodeCalls(self._calls, decided.episode)
        episode = RemoteEpisode(self._client, calls, Began(decided.episode, decided.stage))
        episode.probability = calls.acted(chosen_of(decided)).probability
        return episode, decided.action

    def anchor(self, anchors: Iterable[Anchor], id: str | None = None) -> int:
        """Give known outcomes; return how many there are now."""
        return (self._client.do(self._calls.anchor(anchors, id))).anchors

    def label(self, episodes: Iterable[Mapping[str, Any]]) -> list[DecodedBody | None]:
        """Return what the feedback of logged episodes means, None while that is not known."""
        return (self._client.do(self._calls.label(episodes))).labels

    def checkpoint(self) -> bytes:
        """Return it as a file, which `tacit.Agent.load` reads."""
        return self._client.do(self._calls.checkpoint())

    def load(self, content: bytes) -> None:
        """Let it go on from the file of an agent, before its first episode."""
        self._client.do(self._calls.load(content))

    def policy(self, context: Any) -> dict[Any, dict[Any, float]]:
        """Return what it takes to be best for a context: by state, the chance of each action."""
        return policy_of(self._client.do(self._calls.policy(context)))

    def retire(self, action: Any, state: Any = msgspec.UNSET) -> None:
        """Offer an action no more, in one state or in all."""
        self._client.do(self._calls.retire(action, state))

    def export(self) -> Iterator[dict[str, Any]]:
        """Yield the episodes that have ended, as records of the log format."""
        return self._client.lines(self._calls.export())


class AsyncClient:
    """`Client` for programs with an event loop: the same, awaited."""

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = TIMEOUT, patience: Patience | None = None
    ) -> None:
        self._tries = _Tries(url, patience or Patience(), random.Random())
        self._http = httpx2.AsyncClient(**_options(url, key, timeout))

    def agent(self, name: str) -> AsyncRemoteAgent:
        """Return the agent of that name; nothing is asked yet."""
        return AsyncRemoteAgent(self, name)

    async def agents(self) -> list[AgentStatus]:
        """Return how every agent is doing."""
        return (await self.do(LIST)).agents

    async def do(self, call: Call[T]) -> T:
        """Return what a call is answered, however often it must be sent; or raise ServiceError."""
        tried, outcome = 1, await self._send(call)
        while (wait := self._tries.wait(tried, outcome)) is not None:
            await asyncio.sleep(wait)
            tried, outcome = tried + 1, await self._send(call)
        return self._tries.read(call, outcome)

    async def _send(self, call: Call[T]) -> HttpOutcome:
        try:
            return await self._http.request(call.method, call.path, content=call.content)
        except httpx2.TransportError as error:
            return error

    async def lines(self, call: Call[T]) -> AsyncIterator[T]:
        """Yield the lines of an answer, as they come."""
        try:
            async with self._http.stream(call.method, call.path) as response:
                if response.status_code >= 400:
                    read_answer(call, response.status_code, await response.aread())
                async for line in response.aiter_lines():
                    yield msgspec.json.decode(line, type=call.gives)
        except httpx2.TransportError as error:
            raise unreachable(self._tries.url, error) from error

    async def aclose(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class AsyncRemoteEpisode:
    """`RemoteEpisode`, awaited."""

    def __init__(self, client: AsyncClient, calls: EpisodeCalls, began: Began) -> None:
        self._client, self._calls = client, calls
        self.id, self.stage = began.episode, began.stage
        self.probability: float | None = None
        self.decoded_reward: float | None = None

    async def act(self, state: Any, actions: Any = None) -> Any:
        """Return what to do in a state; `actions` are what can be done, where the layout does not say."""
        chosen: ChosenBody = await self._client.do(self._calls.act(state, actions))
        self.probability = self._calls.acted(chosen).probability
        return chosen.action

    async def took(
        self, state: Any, action: Any, probability: float | None = None, actions: Any = None
    ) -> None:
        """Tell which action was taken in a state by somebody else, with which chance if that is known."""
        self._calls.acted(await self._client.do(self._calls.took(state, action, probability, actions)))

    async def end(self, feedback: Any, outcome: int | None = None) -> Accepted:
        """Tell how the person reacted (None: not at all); return what that was taken to mean."""
        accepted = await self._client.do(self._calls.end(feedback, outcome))
        self.decoded_reward = _reward(accepted)
        return accepted

    async def abandon(self) -> None:
        """Say that the episode broke off, so that nobody could react."""
        await self._client.do(self._calls.abandon())


class AsyncRemoteAgent:
    """`RemoteAgent`, awaited."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client, self._calls = client, AgentCalls(name)

    async def put(self, description: Mapping[str, Any]) -> AgentStatus:
        """Make it, unless it is there; it must have been described the same then."""
        return await self._client.do(self._calls.put(description))

    async def status(self) -> AgentStatus:
        """Return how it is doing."""
        return await self._client.do(self._calls.status())

    async def delete(self) -> None:
        """Delete it."""
        await self._client.do(self._calls.delete())

    async def begin(
        self, context: Any, id: str | None = None, user: str | int | None = None
    ) -> AsyncRemoteEpisode:
        """Begin an episode."""
        began = await self._client.do(self._calls.begin(context, id, user))
        return AsyncRemoteEpisode(self._client, EpisodeCalls(self._calls, began.episode), began)

    async def decide(
        self,
        context: Any,
        state: Any,
        actions: Any = None,
        id: str | None = None,
        user: str | int | None = None,
    ) -> tuple[AsyncRemoteEpisode, Any]:
        """Begin an episode and return it with its first action, in one request."""
        decided = await self._client.do(self._calls.decide(context, state, actions, id, user))
        calls = EpisodeCalls(self._calls, decided.episode)
        episode = AsyncRemoteEpisode(self._client, calls, Began(decided.episode, decided.stage))
        episode.probability = calls.acted(chosen_of(decided)).probability
        return episode, decided.action

    async def anchor(self, anchors: Iterable[Anchor], id: str | None = None) -> int:
        """Give known outcomes; return how many there are now."""
        return (await self._client.do(self._calls.anchor(anchors, id))).anchors

    async def label(self, episodes: Iterable[Mapping[str, Any]]) -> list[DecodedBody | None]:
        """Return what the feedback of logged episodes means, None while that is not known."""
        return (await self._client.do(self._calls.label(episodes))).labels

    async def checkpoint(self) -> bytes:
        """Return it as a file, which `tacit.Agent.load` reads."""
        return await self._client.do(self._calls.checkpoint())

    async def load(self, content: bytes) -> None:
        """Let it go on from the file of an agent, before its first episode."""
        await self._client.do(self._calls.load(content))

    async def policy(self, context: Any) -> dict[Any, dict[Any, float]]:
        """Return what it takes to be best for a context: by state, the chance of each action."""
        return policy_of(await self._client.do(self._calls.policy(context)))

    async def retire(self, action: Any, state: Any = msgspec.UNSET) -> None:
        """Offer an action no more, in one state or in all."""
        await self._client.do(self._calls.retire(action, state))

    def export(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the episodes that have ended, as records of the log format."""
        return self._client.lines(self._calls.export())


def _reward(accepted: Accepted) -> float | None:
    return None if accepted.decoded is None else accepted.decoded.reward

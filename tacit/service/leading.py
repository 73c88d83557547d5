"""Several services on one database: one leads, learns and writes; the others send requests on to it and stand by.

An agent's next decision depends on all that it learned, so one process holds the agents. The others keep listening,
so that whoever asks any of them is answered, and one of them takes the lead within seconds when the leader is gone:
it reads the journal, where everything is that was ever acknowledged.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Protocol

import httpx2
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tacit.service.errors import unready
from tacit.service.house import House
from tacit.service.journal import StoreError
from tacit.service.limits import read_limited
from tacit.service.warming import READING, Opening, warmed

LOOK_EVERY = 0.5
"""Seconds between looks at who leads."""
STANDING_BY = "another service leads, and cannot be reached"
AWAY = "the database is away"
CONNECTING = 2.0
"""Seconds in which the leader must take a connection."""
MOST_SENT, SENDING = 1 << 28, 60.0
"""Bytes of a body that is sent on, and seconds for it to come; the leader may allow less."""
HOP = frozenset(
    ("connection", "keep-alive", "host", "transfer-encoding", "upgrade", "te", "trailer", "content-length")
)
"""Headers that belong to one connection."""


class Electing(Protocol):
    """A store that knows which of several services leads."""

    def try_lead(self, address: str = "") -> bool:
        """Return whether this service leads, now or already, and say where it can be asked."""

    def leads(self) -> bool:
        """Return whether this service leads."""

    def leader(self) -> str:
        """Return where the service that leads can be asked, "" if that is not known."""


def open_in_turn(store: Electing, address: str, give_up: Callable[[Exception], None]) -> Opening:
    """Return what lets a house answer while its service leads, and sends requests on while another does."""

    async def stand(house: House) -> None:
        while True:
            await stand_once(house, store, address)
            await asyncio.sleep(LOOK_EVERY)

    @contextlib.asynccontextmanager
    async def opening(house: House) -> AsyncIterator[None]:
        forwarder = Forwarder()
        house.send_on = forwarder.send
        async with warmed(house, stand, give_up):
            yield
        await forwarder.close()

    return opening


async def stand_once(house: House, store: Electing, address: str) -> None:
    """Lead for as long as that can be, or find out who does."""
    try:
        if not await asyncio.to_thread(store.try_lead, address):
            house.leader, house.failure = await asyncio.to_thread(store.leader), STANDING_BY
            return
        house.leader, house.failure = "", READING
        await house.start()
        while await asyncio.to_thread(store.leads):
            await asyncio.sleep(LOOK_EVERY)
    except StoreError:
        pass
    await house.leave(AWAY)


class Forwarder:
    """Sends requests on to the service that leads, and its answers back as they come."""

    def __init__(self) -> None:
        self._client = httpx2.AsyncClient(timeout=httpx2.Timeout(None, connect=CONNECTING))
        self._faults = (httpx2.TransportError,)

    async def send(self, request: Request, leader: str) -> Response:
        """Return the leader's answer, or raise RefusedError if it cannot be reached."""
        headers = [(name, value) for name, value in request.headers.items() if name not in HOP]
        if request.client is not None:
            headers.append(("x-forwarded-for", request.client.host))
        url = f"{leader}{request.url.path}" + (f"?{request.url.query}" if request.url.query else "")
        content = await read_limited(request.receive, MOST_SENT, SENDING)
        asked = self._client.build_request(request.method, url, headers=headers, content=content)
        try:
            answered = await self._client.send(asked, stream=True)
        except self._faults as error:
            raise unready(f"{STANDING_BY} ({type(error).__name__}); try again in a moment") from None
        kept = {name: value for name, value in answered.headers.items() if name.lower() not in HOP}
        kept.pop("content-encoding", None)
        return StreamingResponse(
            answered.aiter_bytes(), answered.status_code, kept, background=BackgroundTask(answered.aclose)
        )

    async def close(self) -> None:
        """Close the connections to the leader."""
        await self._client.aclose()

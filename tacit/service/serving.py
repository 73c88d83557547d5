"""How the service runs: the journal is opened, agents are rebuilt, requests are answered until it is told to stop."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tacit.service.answers import answer, refuse
from tacit.service.documentation import write_documentation
from tacit.service.errors import unready
from tacit.service.express import Express
from tacit.service.house import House
from tacit.service.journal import JournalStore
from tacit.service.leading import open_in_turn
from tacit.service.limits import limits_of
from tacit.service.openapi import describe_service
from tacit.service.operations import make_operations
from tacit.service.options import ServiceOptions
from tacit.service.page import page_routes
from tacit.service.postgres import PostgresStore
from tacit.service.routes import ENDPOINTS, Endpoint, make_app
from tacit.service.sqlite import SqliteStore
from tacit.service.warming import Opening, open_beside, open_first

BACKLOG = 1024
"""Connections that may wait to be taken."""
TURN = 5e-4
"""Seconds after which a thread that reads texts, or packs a snapshot, lets the event loop have its turn."""
JOURNAL = "journal.sqlite"
"""The file of the journal in the folder of a service."""


def open_store(data: Path, database: str | None = None) -> JournalStore:
    """Return the store of a service: SQLite in its folder, or the PostgreSQL that `database` names."""
    if database is not None:
        return PostgresStore(database)
    data.mkdir(0o700, parents=True, exist_ok=True)
    return SqliteStore(data / JOURNAL)


def make_service(
    store: JournalStore,
    clock: Callable[[], float] = time.time,
    opening: Opening = open_first,
    options: ServiceOptions | None = None,
) -> Starlette:
    """Return the whole application: agents, health, documentation; with options also keys, limits, metrics, links."""
    house = House(store, clock, None if options is None else limits_of(options))
    around = None if options is None else make_operations(house, options, clock)

    async def healthz(request: Request) -> Response:
        return answer({"alive": True})

    async def readyz(request: Request) -> Response:
        if house.leader:
            return answer({"ready": True, "leader": house.leader})
        return answer({"ready": True}) if house.failure is None else refuse(unready(house.failure))

    described = describe_service([*ENDPOINTS, *(around.described if around is not None else ())])

    async def openapi(request: Request) -> Response:
        return answer(described)

    async def docs(request: Request) -> Response:
        return HTMLResponse(write_documentation(described))

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with opening(house):
            yield

    more: list[Route | Endpoint] = [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/openapi.json", openapi),
        Route("/docs", docs),
        *page_routes(),
    ]
    if around is None:
        return make_app(house, more, lifespan)
    return make_app(house, [*more, *around.endpoints], lifespan, around.gate, around.middleware)


@contextlib.contextmanager
def listen(host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """Give a socket that listens, and the address at which others find it; or raise OSError that says why it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise OSError(
                f"nothing can listen at {host}, port {port}: {error.strerror}; choose another --port"
            ) from None
        listener.listen(BACKLOG)
        yield listener, find_address(listener)


def find_address(listener: socket.socket, options: ServiceOptions | None = None) -> str:
    """Return where others find a service: what the options say, or where it listens."""
    if options is not None and options.advertise is not None:
        return options.advertise
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(store: JournalStore, listener: socket.socket, options: ServiceOptions | None = None) -> None:
    """Answer requests until the process is told to stop (SIGINT, SIGTERM); those under way are finished first.

    Raises RuntimeError if the service cannot be opened.
    """
    faults: list[Exception] = []

    def give_up(error: Exception) -> None:
        faults.append(error)
        server.should_exit = True

    opening = open_beside(give_up)
    if isinstance(store, PostgresStore):
        opening = open_in_turn(store, find_address(listener, options), give_up)
    service = make_service(store, opening=opening, options=options)
    server = make_server(service, options)
    with _ending_well(), _taking_turns():
        server.run(sockets=[listener])
    for fault in faults:
        raise RuntimeError(str(fault)) from fault


def make_server(service: Starlette, options: ServiceOptions | None = None) -> uvicorn.Server:
    """Return what answers requests for a service; when it is told to stop, those under way are finished first."""
    chosen = options if options is not None else ServiceOptions()
    config = uvicorn.Config(
        service,
        http=Express,
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=chosen.stop_seconds,
        forwarded_allow_ips=list(chosen.proxies),
        server_header=False,
        date_header=False,
        ws="none",
    )
    server = uvicorn.Server(config)
    # Streams of those who watch would never end by themselves.
    service.state.watchers.stopping = lambda: server.should_exit
    return server


@contextlib.contextmanager
def _ending_well() -> Iterator[None]:
    """End with exit code 0 at SIGTERM: uvicorn raises it again when all is done, which would end the process by it."""
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _taking_turns() -> Iterator[None]:
    """Let threads of Python change more often: at the usual 5 ms a decision waits that long for whoever computes."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)

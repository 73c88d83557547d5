"""How the service runs: the journal is opened, agents are rebuilt, requests are answered until it is told to stop."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tacit.service.documentation import write_documentation
from tacit.service.errors import unready
from tacit.service.house import House
from tacit.service.journal import Store
from tacit.service.openapi import describe_service
from tacit.service.page import page_routes
from tacit.service.postgres import PostgresStore
from tacit.service.routes import answer, make_app, refuse
from tacit.service.sqlite import SqliteStore

BACKLOG = 1024
"""Connections that may wait to be taken."""
JOURNAL = "journal.sqlite"
"""The file of the journal in the folder of a service."""


def open_store(data: Path, database: str | None = None) -> Store:
    """Return the store of a service: SQLite in its folder, or the PostgreSQL that `database` names."""
    if database is not None:
        return PostgresStore(database)
    data.mkdir(parents=True, exist_ok=True)
    return SqliteStore(data / JOURNAL)


def make_service(store: Store, clock: Callable[[], float] = time.time) -> Starlette:
    """Return the whole application: agents, health, documentation."""
    house = House(store, clock)

    async def healthz(request: Request) -> Response:
        return answer({"alive": True})

    async def readyz(request: Request) -> Response:
        return answer({"ready": True}) if house.failure is None else refuse(unready(house.failure))

    described = describe_service()

    async def openapi(request: Request) -> Response:
        return answer(described)

    async def docs(request: Request) -> Response:
        return HTMLResponse(write_documentation(described))

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await house.start()
        try:
            yield
        finally:
            await house.stop()

    more = [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/openapi.json", openapi),
        Route("/docs", docs),
        *page_routes(),
    ]
    app = make_app(house, more, lifespan)
    app.state.house = house
    return app


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
        number = listener.getsockname()[1]
        yield (
            listener,
            f"http://[{host}]:{number}" if family == socket.AF_INET6 else f"http://{host}:{number}",
        )


def make_server(service: Starlette) -> uvicorn.Server:
    """Return what answers requests for a service; when it is told to stop, those under way are finished first."""
    config = uvicorn.Config(
        service,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=10,
        server_header=False,
        date_header=False,
        ws="none",
    )
    server = uvicorn.Server(config)
    # Streams of those who watch would never end by themselves.
    service.state.watchers.stopping = lambda: server.should_exit
    return server


def run(service: Starlette, listener: socket.socket) -> None:
    """Answer requests until the process is told to stop (SIGINT, SIGTERM)."""
    make_server(service).run(sockets=[listener])

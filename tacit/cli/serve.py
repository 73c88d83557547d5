"""`tacit serve`: agents behind HTTP."""

from __future__ import annotations

import logging
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from tacit.cli.terminal import guarded, say

if TYPE_CHECKING:
    from tacit.service.options import ServiceOptions


def serve(
    port: Annotated[
        int | None, typer.Option(help="Where it listens, 8040 by default; 0 finds a free one.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="The folder of its journal and keys, tacit-data by default.")
    ] = None,
    host: Annotated[
        str | None, typer.Option(help="The address it listens at; by default this machine's own.")
    ] = None,
    database: Annotated[
        str | None, typer.Option(help="postgresql://... in place of SQLite in the folder.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Options in a TOML file.")] = None,
    log: Annotated[str | None, typer.Option(help="json or text; to standard error.")] = None,
    access_log: Annotated[bool | None, typer.Option(help="Log every request.")] = None,
    more: Annotated[
        list[str] | None, typer.Option("--set", help="Any other option, as body-bytes=100000.")
    ] = None,
) -> None:
    """Put agents behind HTTP: begin episodes, ask for actions, report how people reacted. Ctrl-C stops it."""
    console = Console()
    with guarded(console, "Everything that was answered is in the journal; run the same command to go on."):
        try:
            from tacit.service.options import read_options, read_settings
            from tacit.service.serving import listen
        except ImportError as error:
            raise ImportError(
                f"the service needs more packages: {error}; pip install 'tacit[serve]'"
            ) from None
        flags = read_settings(more or []) | {"port": port, "data": data, "host": host, "database": database}
        options = read_options(os.environ, flags | {"log": log, "access_log": access_log}, config)
        with listen(options.host, options.port) as (listener, address):
            _run(console, options, listener, address)


def _run(console: Console, options: ServiceOptions, listener: socket.socket, address: str) -> None:
    """Answer until the process is told to stop."""
    from tacit.service.keys import Keys
    from tacit.service.logbook import logging_to, note
    from tacit.service.serving import open_store
    from tacit.service.serving import serve as answer

    with logging_to(options.log):
        store = open_store(options.data, options.database)
        say(console, f"Tacit listens at {address} (its interface: {address}/docs). Ctrl-C stops it.")
        keys = Keys(options.data)
        if not keys.exist:
            say(
                console,
                "There are no keys, so this machine alone is answered; `tacit keys create` makes one.",
            )
        note(logging.INFO, "started", address=address, keys=len(keys.all()), asks_for_keys=keys.exist)
        try:
            answer(store, listener, options)
        finally:
            note(logging.INFO, "stopped")

"""`tacit serve`: agents behind HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tacit.cli.terminal import guarded, say


def serve(
    port: Annotated[
        int, typer.Option(help="Where it listens; 0 finds a free one.", min=0, max=65_535)
    ] = 8040,
    data: Annotated[Path, typer.Option(help="The folder of its journal; made if it is not there.")] = Path(
        "tacit-data"
    ),
    host: Annotated[
        str, typer.Option(help="The address it listens at; by default this machine's own.")
    ] = "127.0.0.1",
    database: Annotated[
        str | None, typer.Option(help="postgresql://... in place of SQLite in the folder.")
    ] = None,
) -> None:
    """Put agents behind HTTP: begin episodes, ask for actions, report how people reacted. Ctrl-C stops it."""
    console = Console()
    with guarded(console, "Everything that was answered is in the journal; run the same command to go on."):
        try:
            from tacit.service.serving import listen, open_store
            from tacit.service.serving import serve as answer
        except ImportError as error:
            raise ImportError(
                f"the service needs more packages: {error}; pip install 'tacit[serve]'"
            ) from None
        with listen(host, port) as (socket, address):
            store = open_store(data, database)
            say(console, f"Tacit listens at {address} (its interface: {address}/docs). Ctrl-C stops it.")
            answer(store, socket)

"""`tacit backup` and `tacit restore`: copies of a service's journal."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tacit.cli.terminal import guarded, say

Data = Annotated[Path, typer.Option(help="The folder of the service.", envvar="TACIT_SERVE_DATA")]
FOLDER = Path("tacit-data")


def backup(
    target: Annotated[
        Path, typer.Argument(help="A file that is not there yet, or a folder, which may be new.")
    ],
    data: Data = FOLDER,
) -> None:
    """Copy the journal of a service, which may be running; keys and the secret of links are no part of it."""
    console = Console()
    with guarded(console, "Nothing was left at the target."):
        from tacit.service.backup import back_up

        say(console, f"The journal was copied to {back_up(data, target, time.time())}.")


def restore(
    copy: Annotated[Path, typer.Argument(help="A file that `tacit backup` made.")], data: Data = FOLDER
) -> None:
    """Put a copy of a journal into a folder that has none; `tacit serve` goes on from there."""
    console = Console()
    with guarded(console, "The folder has the journal whole, or none."):
        from tacit.service.backup import restore

        say(console, f"The journal is at {restore(copy, data)}; `tacit serve --data {data}` goes on.")

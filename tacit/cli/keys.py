"""`tacit keys`: who may ask a service for what."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tacit.cli.terminal import guarded, say

keys_app = typer.Typer(help="Keys of a service: make one, list them, revoke one.", no_args_is_help=True)

Data = Annotated[Path, typer.Option(help="The folder of the service.", envvar="TACIT_SERVE_DATA")]
FOLDER = Path("tacit-data")
UNCHANGED = "The keys are as they were, or as you wanted them; `tacit keys list` shows which."


@keys_app.command()
def create(
    scope: Annotated[list[str], typer.Option(help="decide, feedback or admin; may be repeated.")],
    name: Annotated[str, typer.Option(help="What the key is called.")],
    agent: Annotated[
        list[str] | None, typer.Option(help="An agent that it is for; may be repeated. All by default.")
    ] = None,
    data: Data = FOLDER,
) -> None:
    """Make a key and print it, once: nobody can read it again."""
    with guarded(Console(stderr=True), UNCHANGED):
        from tacit.service.keys import Keys

        token = Keys(data).create(name, scope, agent or [], time.time())
        typer.echo(token)
        say(Console(stderr=True), f"This is the key {name!r}. Keep it: it is not shown again.", "note")


@keys_app.command("list")
def list_keys(data: Data = FOLDER) -> None:
    """List the keys: name, how they begin, scopes, agents, when they were made."""
    console = Console()
    with guarded(console, UNCHANGED):
        from tacit.service.keys import Keys

        keys = Keys(data)
        for key in keys.all():
            made = datetime.fromtimestamp(key.created, UTC).isoformat(timespec="seconds")
            agents = ", ".join(key.agents) or "all agents"
            say(console, f"{key.name}  tacit_{key.prefix}_...  {', '.join(key.scopes)}  {agents}  {made}")
        if not keys.all():
            words = "nobody is let in" if keys.exist else "this machine alone is answered"
            say(console, f"There are no keys, so {words}.")


@keys_app.command()
def revoke(name: Annotated[str, typer.Argument(help="The key.")], data: Data = FOLDER) -> None:
    """Revoke a key; a service that runs refuses it at once."""
    console = Console()
    with guarded(console, UNCHANGED):
        from tacit.service.keys import Keys

        Keys(data).revoke(name)
        say(console, f"The key {name!r} was revoked.")

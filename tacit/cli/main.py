"""The command line, `tacit`: all commands put together.

What a command needs is imported when it is called, so that `tacit --help` answers at once.
"""

from __future__ import annotations

from importlib.metadata import version as installed_version
from typing import Annotated

import typer

from tacit.cli.backup import backup, restore
from tacit.cli.data import data_app
from tacit.cli.doctor import doctor
from tacit.cli.keys import keys_app
from tacit.cli.load import load
from tacit.cli.logs import logs_app
from tacit.cli.reproduce import reproduce
from tacit.cli.serve import serve
from tacit.cli.terminal import Commands

app = typer.Typer(
    cls=Commands,
    help="Learn what to do over several turns from how people react, with no reward ever observed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(reproduce)
app.command()(doctor)
app.command()(serve)
app.command()(backup)
app.command()(restore)
app.add_typer(keys_app, name="keys")
app.command()(load)
app.add_typer(data_app, name="data")
app.add_typer(logs_app)


def show_version(wanted: bool) -> None:
    """Print the version and stop, if wanted."""
    if wanted:
        typer.echo(f"tacit {installed_version('tacit')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Take the options that every command shares."""

"""How every command speaks and how it ends: one style for what is said, one place for exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from tacit.cli.exit_codes import FAILED, INTERRUPTED

ERRORS = (ValueError, OSError, ImportError, RuntimeError)
"""What a command raises where something is wrong that its user can mend; anything else is a defect of ours."""
COLOURS = {"error": "red", "warning": "yellow", "finding": "yellow", "note": "cyan"}


def say(console: Console, text: object, kind: str = "") -> None:
    """Print a line as it is, whatever brackets it holds; `kind` stands before it: error, warning, finding, note."""
    line = Text(f"{kind}: " if kind else "", style=COLOURS.get(kind, ""))
    line.append(
        str(text).encode("utf-8", "backslashreplace").decode(), style="default"
    )  # names of files may be odd
    console.print(line, soft_wrap=True, highlight=False)


def fail(console: Console, text: object) -> NoReturn:
    """Say what went wrong and end the command."""
    say(console, text, "error")
    raise typer.Exit(FAILED)


@contextmanager
def guarded(console: Console, interrupted: str) -> Iterator[None]:
    """Let a command end as all do: an error in a line, Ctrl-C with what became of the work, and their exit codes."""
    try:
        yield
    except KeyboardInterrupt:
        console.print()
        say(console, f"Interrupted. {interrupted}")
        raise typer.Exit(INTERRUPTED) from None
    except typer.Exit:  # a RuntimeError of typer's, and no error
        raise
    except ERRORS as error:
        fail(console, error)


class Commands(TyperGroup):
    """The commands put together; what is wrong with how they were called is said as every other error is."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Return the context of a call whose options are in order."""
        with _in_one_style():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Return what the command returns that was called."""
        with _in_one_style():
            return super().invoke(ctx)


@contextmanager
def _in_one_style() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        told = getattr(error, "format_message", None)  # typer's own errors, wherever it keeps their classes
        if told is None or type(error).__name__ == "NoArgsIsHelpError":
            raise
        context, console = getattr(error, "ctx", None), Console(stderr=True)
        if context is not None:
            say(console, f"{context.get_usage()}\nTry '{context.command_path} --help' for help.")
        say(console, told(), "error")
        raise typer.Exit(getattr(error, "exit_code", FAILED)) from None

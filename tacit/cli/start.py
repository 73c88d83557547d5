"""How `tacit` starts: Ctrl-C ends it with a word and its exit code, also while Python is still importing.

Hardly anything is imported before that is so. Once a command is at work it answers itself
(`tacit.cli.terminal.guarded`), for it knows what became of the work.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from types import FrameType

from tacit.cli.exit_codes import INTERRUPTED


def start() -> None:
    """Run the command line. Before and after its commands nothing can be lost: there Ctrl-C ends it at once."""
    own = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a shell may have it ignored
    if own:
        signal.signal(signal.SIGINT, leave)
    from tacit.cli.main import app

    try:
        if own:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        app()
    except KeyboardInterrupt:
        leave()
    except SystemExit as end:
        _end(end)
        raise


def leave(number: int = signal.SIGINT, frame: FrameType | None = None) -> None:
    """Say that the program was interrupted, and end it; what an import would make of an exception is not known."""
    with suppress(OSError, ValueError):
        os.write(sys.stderr.fileno(), b"Interrupted.\n")
    os._exit(INTERRUPTED)


def _end(end: SystemExit) -> None:
    """End an interrupted program with its code, where Python may end it by the signal instead; say so if no one did."""
    if end.code != INTERRUPTED:
        return
    signal.signal(signal.SIGINT, leave)
    unsaid = isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt)  # caught by typer
    atexit._run_exitfuncs()  # engines end their workers there
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    if unsaid:
        leave()
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    start()

"""One command at a time in a directory of results: a second would clear away what the first is writing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class BusyError(RuntimeError):
    """A directory in which another command is at work."""


@contextmanager
def hold(directory: Path) -> Iterator[None]:
    """Keep other commands out of a directory, which is made if need be, or raise `BusyError` if one is at work there.

    The lock is the system's: it ends with the process that holds it, however that ends.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, hold(Path(folder)):
    ...     try:
    ...         with hold(Path(folder)):
    ...             pass
    ...     except BusyError as error:
    ...         str(error)[:44]
    'one command at a time can work in a director'
    """
    directory.mkdir(parents=True, exist_ok=True)
    if fcntl is None:
        yield
        return
    descriptor = os.open(
        directory, os.O_RDONLY | os.O_CLOEXEC
    )  # the directory itself, so nothing is left behind
    try:
        _lock(descriptor, directory)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, directory: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BusyError(
            f"one command at a time can work in a directory, another is at work in {str(directory)!r}; wait for it, or "
            "give another --out"
        ) from None

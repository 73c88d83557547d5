"""Files that are written whole or not at all, and are on disk when they have their name.

Everything that Tacit writes goes through `NewFile`: what is under way has a name of its own, and takes the one that it
was meant for when it is kept. A crash, a kill or a full disk leaves what was there before.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO, Any, TypeVar

PART = ".part"
"""The ending of files under way; one that a kill left behind can be removed."""
LONGEST_STEM = 200
"""Characters of a file's name that stay in the name of its part: file systems take 255 bytes."""

T = TypeVar("T")


class WriteError(OSError):
    """A file that cannot be written; the message says why and what to do."""


class NewFile:
    """A binary file under way: `keep` gives it its name, `discard` removes it.

    A link is followed, and the file that it leads to is replaced; an earlier file's permissions are kept. As a context
    manager it is kept at the end, and discarded if anything was raised.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with NewFile(Path(folder) / "numbers") as file:
    ...         n = file.write(b"1 2 3")
    ...         before = (Path(folder) / "numbers").exists()
    ...     n, before, (Path(folder) / "numbers").read_bytes()
    (5, False, b'1 2 3')
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._target = Path(os.path.realpath(path))
        name = f"{self._target.name[:LONGEST_STEM]}.{secrets.token_hex(4)}{PART}"
        self._part = self._target.with_name(name)
        self._mode = self._attempt(_mode_to_keep, self._target)
        self._file: IO[bytes] = self._attempt(open, self._part, "xb")

    def readable(self) -> bool:
        """Return False."""
        return False

    def writable(self) -> bool:
        """Return True."""
        return True

    @property
    def closed(self) -> bool:
        """Return whether it was kept or discarded."""
        return self._file.closed

    def write(self, content: Any) -> int:
        """Write bytes, and return how many."""
        return self._attempt(self._file.write, content)

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._file.tell()

    def flush(self) -> None:
        """Hand to the system what is buffered here."""
        self._attempt(self._file.flush)

    def keep(self) -> None:
        """Bring the file to disk and give it its name; on failure it is discarded."""
        try:
            self._attempt(self._bring_to_disk)
            self._attempt(os.replace, self._part, self._target)
        except BaseException:  # Ctrl-C, too, leaves nothing half written
            self.discard()
            raise
        self._attempt(sync_folder, self._target.parent)

    def discard(self) -> None:
        """Remove what was written, if it was not kept."""
        with suppress(OSError):  # a full disk fails once more when buffers are flushed
            self._file.close()
        self._part.unlink(missing_ok=True)

    def __enter__(self) -> NewFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.keep()
        else:
            self.discard()

    def _bring_to_disk(self) -> None:
        self._file.flush()
        if self._mode is not None:
            os.chmod(self._part, self._mode)
        os.fsync(self._file.fileno())
        self._file.close()

    def _attempt(self, act: Callable[..., T], *arguments: Any) -> T:
        """Return what an act on the file returns; say of which file it was if it fails."""
        try:
            return act(*arguments)
        except WriteError:
            raise
        except OSError as error:
            raise _unwritable(self.path, error) from error


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that a crash leaves either the old content or the new, and the new on disk."""
    with NewFile(path) as file:
        file.write(content)


@contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a folder to fill, which at the end is on disk and takes its name, or is removed if anything was raised.

    There may be an empty folder of that name, and nothing else.
    """
    target = Path(os.path.realpath(path))
    try:
        stem = target.name[:LONGEST_STEM]
        with TemporaryDirectory(PART, f"{stem}.", target.parent, ignore_cleanup_errors=True) as around:
            made = Path(around) / "new"
            made.mkdir()
            yield made
            _sync_tree(made)
            os.replace(made, target)
        sync_folder(target.parent)
    except WriteError:
        raise
    except OSError as error:
        raise _unwritable(path, error) from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise `WriteError` unless a file can be made at a place: before hours of work, not after them."""
    NewFile(path).discard()


def check_distinct(
    outputs: Iterable[str | os.PathLike[str] | None], inputs: Iterable[str | os.PathLike[str]] = ()
) -> None:
    """Raise ValueError if a file that will be written is one that is read, or if two that are written are one.

    Files are the same by what they are, not by what they are called: links of either kind lead to one file. Outputs
    that are None are not written.

    >>> check_distinct(["labels.jsonl", None], ["logs.jsonl"])
    >>> check_distinct(["labels.jsonl", "./labels.jsonl"])
    Traceback (most recent call last):
    ...
    ValueError: every output must have a place of its own, got 'labels.jsonl' and './labels.jsonl', which are the \
same file; give another place for one of them
    """
    read = {_identity(place): place for place in inputs}
    written: dict[tuple[object, ...], str | os.PathLike[str]] = {}
    for place in outputs:
        if place is None:
            continue
        same = _identity(place)
        if same in read:
            raise ValueError(
                f"what is written must not replace what is read, got {os.fspath(place)!r}, which is the same file as "
                f"the input {os.fspath(read[same])!r}; give another place"
            )
        if same in written:
            raise ValueError(
                f"every output must have a place of its own, got {os.fspath(written[same])!r} and "
                f"{os.fspath(place)!r}, which are the same file; give another place for one of them"
            )
        written[same] = place


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk, where the system lets folders be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def refusal(error: OSError) -> str:
    """Return why the system refuses to write, and what to do."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return f"{error.strerror or error}; {'make room or ' * full}give another place"


def _unwritable(path: str | os.PathLike[str], error: OSError) -> WriteError:
    return WriteError(f"{os.fspath(path)!r} cannot be written: {refusal(error)}")


def _sync_tree(folder: Path) -> None:
    """Bring a folder and all that is in it to disk."""
    for inside, _, names in os.walk(folder):
        for name in names:
            with open(Path(inside) / name, "rb") as file:
                os.fsync(file.fileno())
        sync_folder(Path(inside))


def _identity(place: str | os.PathLike[str]) -> tuple[object, ...]:
    """Return by what a file is known: its device and number, or where it will be if it is not there yet."""
    try:
        found = os.stat(place)
    except OSError:
        return (os.path.realpath(place),)
    return found.st_dev, found.st_ino


def _mode_to_keep(path: Path) -> int | None:
    """Return the permissions of the file that will be replaced, None if there is none; refuse what is no file."""
    try:
        found = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        what = "a directory" if stat.S_ISDIR(found) else "no regular file"
        raise WriteError(f"{str(path)!r} cannot be written: it is {what}; give the name of a file")
    return stat.S_IMODE(found)

"""Files of lines that are appended to: whole members at a time, and mended first where a kill left one unfinished."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from tacit.base.files import NewFile, WriteError, refusal, sync_folder
from tacit.logs.files import MOST_LINE, check_file, parse_json
from tacit.logs.lines import Chunk, read_chunks
from tacit.logs.packing import Seal, is_packed, pack, unpack

COPIED = 1 << 20
"""Bytes that are copied at once."""


class AppendedFile:
    """A file that grows by whole blocks: what cannot be written whole is taken back, and the file stays as it was.

    One process may append to a file at a time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = open(path, "ab", buffering=0)  # noqa: SIM115, closed by `close`
            sync_folder(path.parent)
        except OSError as error:
            raise self._error(error) from error

    def append(self, block: bytes) -> None:
        """Add a block at the end."""
        begin, rest = os.fstat(self._file.fileno()).st_size, memoryview(block)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except BaseException as error:  # Ctrl-C, too: nothing may be added after half a block
            os.ftruncate(self._file.fileno(), begin)
            if isinstance(error, OSError):
                raise self._error(error) from error
            raise

    def sync(self) -> None:
        """Bring what was added to disk."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._error(error) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _error(self, error: OSError) -> WriteError:
        return WriteError(f"{str(self.path)!r} cannot be added to: {refusal(error)}")


def mend(path: Path) -> bytes:
    """Return what must come before lines that are appended, a missing newline or nothing; the file is mended for them.

    What follows the last whole line (of a packed file: the last whole member) was never finished: it is cut off, with a
    warning. Lines that can still be unpacked from what is cut off are packed anew, so all that could be read stays. To
    find that out a packed file is read whole.
    """
    if not path.exists():
        return b""
    check_file(path)
    return _mend_packed(path) if is_packed(path.name) else _mend_plain(path)


def _mend_plain(path: Path) -> bytes:
    with open(path, "rb+") as file:
        size, end = file.seek(0, os.SEEK_END), _end_of_lines(file)
        if end == size:
            return b""
        file.seek(end)
        if size - end <= MOST_LINE and _is_record(file.read()):
            return b"\n"
        file.truncate(end)
    _warn(path, size - end)
    return b""


def _end_of_lines(file: io.BufferedRandom) -> int:
    """Return where the last whole line of a file ends."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        begin = max(end - 65536, 0)
        file.seek(begin)
        place = file.read(end - begin).rfind(b"\n")
        if place >= 0:
            return begin + place + 1
        end = begin
    return 0


def _is_record(line: bytes) -> bool:
    """Return whether a last line lacks nothing but its end: no beginning of an object is an object."""
    try:
        return isinstance(parse_json(line), dict)
    except ValueError:
        return False


def _mend_packed(path: Path) -> bytes:
    end, last = _end_of_members(path)
    size = path.stat().st_size
    if end < size:
        chunks = (chunk for chunk in read_chunks(path, end) if isinstance(chunk, Chunk))
        first = next(chunks, None)
        if first is not None:
            _replace_end(path, end, (pack(path.name, chunk.lines) for chunk in chain([first], chunks)))
            last = b"\n"
        else:
            os.truncate(path, end)
        _warn(path, size - end)
    return b"" if last == b"\n" else b"\n"


def _end_of_members(path: Path) -> tuple[int, bytes]:
    """Return where a packed file can go on, and the last byte of the lines before.

    That is after its last whole member; and after one that is broken within, which is no doing of a kill: it stays as
    it is, to be told whenever the file is read.
    """
    end, last = 0, b"\n"
    with open(path, "rb") as file:
        for part in unpack(file, path.name):
            if not isinstance(part, Seal):
                last = part[-1:] or last
                continue
            end = end if part.loose else part.end
            last = last if part.whole else b"\n"  # who reads it drops the line that is broken
    return end, last


def _replace_end(path: Path, end: int, members: Iterable[bytes]) -> None:
    """Replace what follows some byte of a file, in a copy that takes the file's place when it is whole."""
    with open(path, "rb") as old, NewFile(path) as new:
        while end > 0 and (block := old.read(min(end, COPIED))):
            new.write(block)
            end -= len(block)
        for member in members:
            new.write(member)


def _warn(path: Path, size: int) -> None:
    warnings.warn(
        f"{str(path)!r} ended with {size:,} bytes that were never finished: they were cut off, whole lines among "
        "them kept",
        stacklevel=6,
    )

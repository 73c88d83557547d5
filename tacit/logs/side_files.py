"""Side files: where episodes that were set aside are kept, one for each set of logs, and none that is not Tacit's."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tacit.logs.files import MOST_LINE, REJECTED, parse_json
from tacit.logs.writing import LineWriter

KEYS = ("file", "line", "rule", "problem", "raw")
"""What a line of a side file tells: where it stood, which rule it breaks, why, and the line itself."""


def side_file(logs: Sequence[str | os.PathLike[str]]) -> Path:
    """Return where what is wrong with logs is kept: a name beside the first that no other logs have.

    >>> side_file(["day/2026.01.jsonl"]).as_posix(), side_file(["day/2026.01.jsonl.gz"]).as_posix()
    ('day/2026.01.rejected.jsonl', 'day/2026.01.jsonl.gz.rejected.jsonl')
    >>> side_file(["a.jsonl", "b.jsonl"]).name
    'a.and-1-more-19c2b9b9.rejected.jsonl'
    """
    first = Path(logs[0])
    if first.is_dir():
        first = first.resolve()  # `.` has no name
        stem = f"{first.name}.directory"
    else:
        stem = first.name.removesuffix(".jsonl")
    if len(logs) > 1:
        others = hashlib.sha256(
            "\n".join(os.fspath(log) for log in logs[1:]).encode("utf-8", "surrogateescape")
        )
        stem += f".and-{len(logs) - 1}-more-{others.hexdigest()[:8]}"
    return first.parent / (stem + REJECTED)


def is_side_file(path: Path) -> bool:
    """Return whether a file is one that Tacit wrote, by its name and its first line, or is empty."""
    return path.name.endswith(REJECTED) and holds_rejected(path)


def holds_rejected(path: Path) -> bool:
    """Return whether a file of any name is one that Tacit wrote of bad episodes, by its first line, or is empty."""
    if not path.is_file():
        return False
    with suppress(OSError, ValueError), open(path, "rb") as file:
        line = file.readline(MOST_LINE)
        return not line or tuple(parse_json(line)) == KEYS
    return False


def remove_stale(path: Path) -> None:
    """Remove what an earlier call left where bad episodes go, if it is Tacit's."""
    if holds_rejected(path):
        with suppress(OSError):
            path.unlink()


class SideFile:
    """A side file under way, written line by line; it takes its name when it is closed."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._writer = LineWriter(Path(path))

    def write(self, *told: Any) -> None:
        """Write a line: what `KEYS` name, the last as bytes."""
        *where, raw = told
        row = [_plain(each) if isinstance(each, str) else each for each in where]
        text = raw.decode("utf-8", "backslashreplace").rstrip("\r\n")
        self._writer.write(dict(zip(KEYS, [*row, text], strict=True)))

    def close(self, keep: bool = True) -> None:
        """Finish the file; `keep=False` leaves what was there before."""
        self._writer.close(keep)


def _plain(text: str) -> str:
    """Return text that JSON can hold: names of files may be no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()

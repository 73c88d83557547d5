"""Log files: JSON lines and CSV (plain, gzip, zstd) and Parquet, found by their endings, and what a line of them is.

`tacit.logs.pieces` reads them, `tacit.logs.writing` writes them.
"""

from __future__ import annotations

import os
import reprlib
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from tacit.logs.record import Fault, LogError

LINE_ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.zst", ".ndjson.zst")
PARQUET = ".parquet"
CSV_ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
"""Endings of logs that are read and not written: a directory that holds others has them for something else."""
REJECTED = ".rejected.jsonl"
"""The ending of side files, which a directory's logs are not."""
MOST_LINE = 16 << 20
"""Bytes of a line or row, at most: an episode has hundreds or thousands, and one line must not take all memory."""

ROW_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


class RawRecord(NamedTuple):
    """One line or row before it is understood; `fault` says what is wrong with it or with the file from there on.

    `number` is that of an episode of several lines among those of its file. `again` reads the line once more, where it
    was not kept.
    """

    file: str
    line: int
    line_text: bytes = b""
    record: dict[str, Any] | None = None
    fault: Fault | None = None
    number: int | None = None
    again: Callable[[RawRecord], bytes] | None = None

    @property
    def place(self) -> int:
        """Return by which number it is known: its line or row, or where an episode has several lines its own."""
        return self.line if self.number is None else self.number

    def text(self) -> bytes:
        """Return the line, or the row as a line."""
        if self.again is not None:
            return self.again(self)
        if self.record is None:
            return self.line_text
        try:
            return orjson.dumps(self.record, default=str, option=ROW_OPTIONS)
        except TypeError:  # nested deeper than orjson writes, or numbers beyond 64 bits
            return reprlib.repr(self.record).encode("utf-8", "backslashreplace")


def parse_json(text: bytes) -> Any:
    """Return the value of a JSON text, or raise ValueError."""
    return orjson.loads(text)


def dump_json(value: Any) -> bytes:
    """Return a value as JSON text."""
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)


LogPaths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A file, a directory of files, or several of either."""


def find_logs(paths: LogPaths) -> list[Path]:
    """Return the log files that paths stand for, those of a directory by name; raise `LogError` if there are none."""
    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = [file for path in several for file in _files_of(Path(path))]
    if not found:
        raise LogError("logs must be at least one file, got none; give a file or a directory of files")
    return found


def _files_of(path: Path) -> list[Path]:
    if os.path.isdir(path):  # which says no where `Path.is_dir` raises
        files = list_folder(path)
        named = [file for file in files if is_log(file)] or [file for file in files if is_csv(file)]
        return regular_files(named, f"logs in {str(path)!r}; files must end in {read_endings()}")
    check_file(path)
    if not is_log(path) and not is_csv(path):
        raise LogError(f"logs must end in {read_endings()}, got {path.name!r}; rename or convert the file")
    return [path]


def list_folder(folder: Path) -> list[Path]:
    """Return what stands in a folder, by name, without side files."""
    try:
        return [file for file in sorted(folder.iterdir()) if not file.name.endswith(REJECTED)]
    except OSError as error:
        raise LogError(
            f"the folder {str(folder)!r} cannot be read ({error.strerror}); give another"
        ) from None


def regular_files(named: Iterable[Path], wanted: str) -> list[Path]:
    """Return those of a folder's files that can be read to an end; raise `LogError` if there are none.

    A folder, a pipe or a socket is left out, whatever its name, and so is a link that leads nowhere.
    """
    named = list(named)
    files = [file for file in named if file.is_file()]
    if not files:
        others = ", ".join(repr(file.name) for file in named if file not in files)
        raise LogError(f"there are no {wanted}{f', and be regular files, got {others}' if others else ''}")
    return files


def check_file(path: Path) -> None:
    """Raise `LogError` unless a path leads to a regular file: a pipe may never end, and is read once only."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        raise LogError(f"there is no file {str(path)!r} that can be read ({error}); check the path") from None
    if not stat.S_ISREG(mode):
        raise LogError(
            f"logs must be regular files, got {str(path)!r}, which is none; write it to a file first"
        )


def is_log(path: Path) -> bool:
    """Return whether a file is by its ending a log as Tacit writes them."""
    return path.name.endswith((*LINE_ENDINGS, PARQUET))


def is_csv(path: Path) -> bool:
    """Return whether a file is CSV by its ending."""
    return path.name.endswith(CSV_ENDINGS)


def known_endings() -> str:
    """Return the endings of logs that Tacit writes, for messages."""
    return ", ".join((*LINE_ENDINGS, PARQUET))


def read_endings() -> str:
    """Return the endings of logs that Tacit reads, for messages."""
    return ", ".join((*LINE_ENDINGS, PARQUET, *CSV_ENDINGS))


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet by its ending."""
    return path.name.endswith(PARQUET)


def zstandard_module() -> Any:
    """Return zstandard, or say what to install."""
    try:
        import zstandard
    except ImportError:
        raise LogError("logs in .zst need the package zstandard; install tacit[logs]") from None
    return zstandard


def arrow_module() -> Any:
    """Return pyarrow, or say what to install."""
    try:
        import pyarrow  # type: ignore[import-untyped]
    except ImportError:
        raise LogError("logs in Parquet need the package pyarrow; install tacit[logs]") from None
    return pyarrow


def parquet_module() -> Any:
    """Return pyarrow's Parquet, or say what to install."""
    arrow_module()
    import pyarrow.parquet  # type: ignore[import-untyped]

    return pyarrow.parquet

"""Log files: JSON lines (plain, gzip, zstd) and Parquet, found and streamed; `tacit.logs.writing` writes them.

A Parquet file that Tacit writes has one column a key of the format; context, steps, feedback and the episode's name are
JSON text, for their types may differ from row to row, and the file's metadata says so. A Parquet file without that mark
is read as it stands: nested columns, a list of structs for the steps.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from tacit.logs.record import LogError

LINE_ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.zst", ".ndjson.zst")
PARQUET = ".parquet"
REJECTED = ".rejected.jsonl"
"""The ending of side files, which a directory's logs are not."""
MARK = {b"tacit.logs": b"json"}
"""Metadata of a Parquet file whose values are JSON text: part of the format, not the name of a module."""
JSON_COLUMNS = ("episode", "context", "steps", "feedback")
BATCH = 10_000
"""Rows of Parquet read or written at once."""
PACKED = 1 << 17
"""Bytes that are read at once to be unpacked."""


class RawRecord(NamedTuple):
    """One line or row before it is understood; `damage` says why a file ends here."""

    file: str
    line: int
    line_text: bytes = b""
    record: dict[str, Any] | None = None
    damage: str | None = None

    def text(self) -> bytes:
        """Return the line, or the row as a line."""
        if self.record is None:
            return self.line_text
        return orjson.dumps(self.record, default=str, option=orjson.OPT_SERIALIZE_NUMPY)


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
    if path.is_dir():
        files = [file for file in sorted(path.iterdir()) if is_log(file) and not file.name.endswith(REJECTED)]
        if not files:
            raise LogError(f"there are no logs in {str(path)!r}; files must end in {known_endings()}")
        return files
    if not path.is_file():
        raise LogError(f"there is no file {str(path)!r}; check the path")
    if not is_log(path):
        raise LogError(f"logs must end in {known_endings()}, got {path.name!r}; rename or convert the file")
    return [path]


def is_log(path: Path) -> bool:
    """Return whether a file is a log by its ending."""
    return path.name.endswith((*LINE_ENDINGS, PARQUET))


def known_endings() -> str:
    """Return the endings of logs, for messages."""
    return ", ".join((*LINE_ENDINGS, PARQUET))


def iterate_raw(files: Iterable[Path]) -> Iterator[RawRecord]:
    """Yield every line or row of the files; empty lines are skipped, a damaged file ends with a record that says so."""
    for file in files:
        number = 0
        rows = _parquet_records(file) if is_parquet(file) else _line_records(file)
        try:
            for raw in rows:
                number = raw.line
                yield raw
        except damages() as error:
            yield damaged(file, number + 1, error)


def open_lines(path: Path) -> IO[bytes]:
    """Return a file of JSON lines opened for reading, unpacked if its ending says so."""
    if path.name.endswith(".gz"):
        return gzip.open(path, "rb")  # type: ignore[return-value]
    if path.name.endswith(".zst"):
        return io.BufferedReader(ZstandardReader(path), PACKED)
    return open(path, "rb")


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet by its ending."""
    return path.name.endswith(PARQUET)


def damages() -> tuple[type[Exception], ...]:
    """Return what reading a damaged file raises."""
    kinds: list[type[Exception]] = [OSError, EOFError, zlib.error]
    for module, name in (("zstandard", "ZstdError"), ("pyarrow", "ArrowException")):
        if module in sys.modules:
            kinds.append(getattr(sys.modules[module], name))
    return tuple(kinds)


def records_of(table: Any, marked: bool) -> Iterator[dict[str, Any]]:
    """Yield the records of a Parquet batch; of a file with Tacit's mark, from their JSON text."""
    if not marked:
        yield from (_without_nulls(row) for row in table.to_pylist())
        return
    for row in table.to_pylist():
        record = {key: value for key, value in row.items() if value is not None}
        for key in JSON_COLUMNS:
            if key in record:
                record[key] = orjson.loads(record[key])
        yield record


def is_marked(path: Path) -> bool:
    """Return whether a Parquet file's values are JSON text."""
    metadata = parquet_module().ParquetFile(path).schema_arrow.metadata or {}
    return all(metadata.get(key) == value for key, value in MARK.items())


class ZstandardReader(io.RawIOBase):
    """Unpacks a zstd file of any number of frames; one that ends within a frame raises, where the library is silent."""

    def __init__(self, path: Path) -> None:
        self._zstandard = zstandard_module()
        self._file = open(path, "rb")  # noqa: SIM115, closed by `close`
        self._frame: Any = None
        self._ready = b""
        self._left = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as there is something ready, at least one byte unless the file is at its end."""
        while not self._ready:
            packed = self._left or self._file.read(PACKED)
            self._left = b""
            if not packed:
                if self._frame is not None:
                    raise EOFError("it ends within a frame")
                return 0
            self._frame = self._frame or self._zstandard.ZstdDecompressor().decompressobj()
            self._ready = self._frame.decompress(packed)
            if self._frame.eof:
                self._left, self._frame = self._frame.unused_data, None
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def _line_records(file: Path) -> Iterator[RawRecord]:
    with open_lines(file) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield RawRecord(str(file), number, line.rstrip(b"\r\n"))


def _parquet_records(file: Path) -> Iterator[RawRecord]:
    reader, marked, number = parquet_module().ParquetFile(file), is_marked(file), 0
    for batch in reader.iter_batches(BATCH):
        for record in records_of(batch, marked):
            number += 1
            yield RawRecord(str(file), number, record=record)


def damaged(file: Path, line: int, error: Exception) -> RawRecord:
    """Return what stands for the rest of a file that cannot be read."""
    return RawRecord(
        str(file), line, damage=f"the file cannot be read from here on ({error}); use a whole copy"
    )


def _without_nulls(value: Any) -> Any:
    """Return a nested row without the fields that it does not have, which Arrow fills with None."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


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

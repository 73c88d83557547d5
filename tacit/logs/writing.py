"""Writing log files: JSON lines (plain, gzip, zstd) and Parquet, whole or not at all, or line after line."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import orjson

from tacit.base.files import NewFile
from tacit.logs.files import (
    BATCH,
    JSON_COLUMNS,
    MARK,
    arrow_module,
    is_log,
    is_parquet,
    known_endings,
    parquet_module,
    zstandard_module,
)
from tacit.logs.record import LogError

OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE


class LineWriter:
    """Writes JSON lines; the file takes its name when it is closed, so that it is whole or not there.

    With `append` lines are added to the file itself, each flushed whole with its block; a line that an earlier
    program left unfinished is cut off first.
    """

    def __init__(self, path: Path, append: bool = False) -> None:
        self.path = path
        if append and path.name.endswith((".jsonl", ".ndjson")):
            _cut_unfinished(path)
        self._raw: IO[bytes] | NewFile = open(path, "ab") if append else NewFile(path)  # noqa: SIM115
        self._file = _packed(self._raw, path.name)

    def write(self, record: Mapping[str, Any]) -> None:
        """Write one record."""
        self._file.write(orjson.dumps(record, option=OPTIONS))

    def write_lines(self, lines: bytes) -> None:
        """Write lines that are already JSON."""
        self._file.write(lines)

    def close(self, keep: bool = True) -> None:
        """Finish the file; `keep=False` leaves what was there before."""
        with _finishing(self._raw, keep):
            if self._file is not self._raw:
                self._file.close()

    def __enter__(self) -> LineWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(keep=kind is None)


class LogWriter:
    """Writes episodes to a file of the format, by its ending; with `append`, after those it has.

    >>> import tempfile
    >>> from tacit.logs.files import find_logs, iterate_raw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with LogWriter(Path(folder) / "logs.jsonl.gz") as writer:
    ...         writer.write({"episode": 1, "context": 0, "steps": [{"state": 0, "action": 1}], "feedback": 1})
    ...     [raw.line for raw in iterate_raw(find_logs(folder))]
    [1]
    """

    def __init__(self, path: str | os.PathLike[str], append: bool = False) -> None:
        path = Path(path)
        if not is_log(path):
            raise LogError(f"logs must end in {known_endings()}, got {path.name!r}")
        if append and is_parquet(path):
            raise LogError(f"a Parquet file is written whole, got append=True for {path.name!r}; use .jsonl")
        self._writer = _ParquetLogWriter(path) if is_parquet(path) else LineWriter(path, append)

    def write(self, episode: Any) -> None:
        """Write one episode, a `LoggedEpisode` or its record."""
        self._writer.write(episode.to_json() if hasattr(episode, "to_json") else episode)

    def close(self, keep: bool = True) -> None:
        """Finish the file; `keep=False` leaves what was there before."""
        self._writer.close(keep)

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(keep=kind is None)


class ParquetWriter:
    """Writes rows in batches; the file takes its name when it is closed."""

    def __init__(self, path: Path, schema: Any) -> None:
        self.path, self._schema = path, schema
        self._rows: list[Mapping[str, Any]] = []
        self._raw = NewFile(path)
        self._file = parquet_module().ParquetWriter(self._raw, schema)

    def write(self, row: Mapping[str, Any]) -> None:
        """Write one row."""
        self._rows.append(row)
        if len(self._rows) >= BATCH:
            self._flush()

    def close(self, keep: bool = True) -> None:
        """Finish the file; `keep=False` leaves what was there before."""
        with _finishing(self._raw, keep):
            if keep:
                self._flush()
            self._file.close()

    def write_table(self, table: Any) -> None:
        """Write rows that Arrow has already."""
        self._file.write_table(table)

    def _flush(self) -> None:
        if self._rows:
            self.write_table(arrow_module().Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


class _ParquetLogWriter(ParquetWriter):
    def __init__(self, path: Path) -> None:
        arrow = arrow_module()
        columns = [
            (key, arrow.string()) for key in ("episode", "time", "user", "context", "steps", "feedback")
        ]
        super().__init__(path, arrow.schema([*columns, ("reward", arrow.float64())], metadata=MARK))

    def write(self, row: Mapping[str, Any]) -> None:
        text = {
            key: orjson.dumps(row[key], option=orjson.OPT_SERIALIZE_NUMPY).decode() for key in JSON_COLUMNS
        }
        extra = {key: str(row[key]) for key in ("time", "user") if row.get(key) is not None}
        reward = row.get("reward")
        super().write(text | extra | {"reward": None if reward is None else float(reward)})


@contextmanager
def _finishing(file: IO[bytes] | NewFile, keep: bool) -> Iterator[None]:
    """Keep a file when what packs it has written its last, or discard it; lines that were appended stay."""
    if isinstance(file, NewFile) and not keep:
        with suppress(OSError):  # a full disk fails once more, of what is not wanted
            yield
        file.discard()
        return
    with file:
        yield


def _packed(file: IO[bytes] | NewFile, name: str) -> Any:
    """Return a file that packs what is written to it as its name's ending says; the same lines give the same bytes."""
    if name.endswith(".gz"):
        return gzip.GzipFile("", "wb", 6, file, mtime=0)
    return (
        zstandard_module().ZstdCompressor().stream_writer(file, closefd=False)
        if name.endswith(".zst")
        else file
    )


def _cut_unfinished(path: Path) -> None:
    """Cut off what follows the last newline of a file: a line that was never finished."""
    if not path.exists():
        return
    with open(path, "rb+") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            begin = max(end - 65536, 0)
            file.seek(begin)
            place = file.read(end - begin).rfind(b"\n")
            if place >= 0:
                file.truncate(begin + place + 1)
                return
            end = begin
        file.truncate(0)

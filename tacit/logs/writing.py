"""Writing log files: JSON lines (plain, gzip, zstd) and Parquet, whole or not at all, or appended block by block."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any

import orjson

from tacit.base.files import NewFile
from tacit.logs.appending import AppendedFile, mend
from tacit.logs.files import arrow_module, is_log, is_parquet, known_endings, parquet_module
from tacit.logs.packing import MEMBER, is_packed, pack
from tacit.logs.parquet import BATCH, DIGESTS, JSON_COLUMNS, MARK, RowsDigest
from tacit.logs.record import LogError

OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE
PLAIN = 1 << 13
"""Bytes of lines that are held before they are written to a file that is not packed."""


class LineWriter:
    """Writes JSON lines; the file takes its name when it is closed, so that it is whole or not there.

    With `append` lines are added to the file itself, many at once as a member that stands alone (`tacit.logs.packing`).
    What an earlier program left unfinished at its end is mended first (`tacit.logs.appending.mend`), with a warning.
    """

    def __init__(self, path: Path, append: bool = False) -> None:
        self.path = path
        self._most = MEMBER if is_packed(path.name) else PLAIN
        self._held = bytearray(mend(path) if append else b"")
        self._file: AppendedFile | NewFile = AppendedFile(path) if append else NewFile(path)
        self._empty, self._lock = not append, Lock()

    def write(self, record: Mapping[str, Any]) -> None:
        """Write one record."""
        self.write_lines(orjson.dumps(record, option=OPTIONS))

    def write_lines(self, lines: bytes) -> None:
        """Write lines that are already JSON; if that fails they are held, and tried again with the next."""
        with self._lock:
            self._held += lines
            if len(self._held) >= self._most:
                self._write_held()

    def flush(self) -> None:
        """Bring all that was written to disk; of a file that is appended to."""
        if isinstance(self._file, NewFile):
            raise LogError(
                f"a file that is written whole is on disk when it is closed, got flush of {self.path.name!r}; open it "
                "with append=True"
            )
        with self._lock:
            self._write_held()
            self._file.sync()

    def close(self, keep: bool = True) -> None:
        """Finish the file; `keep=False` leaves what was there before, but for lines that were appended."""
        if isinstance(self._file, AppendedFile):
            try:
                self.flush()
            finally:
                self._file.close()
        elif keep:
            with self._file:
                self._write_held(self._empty)
        else:
            self._file.discard()

    def __enter__(self) -> LineWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(keep=kind is None)

    def _write_held(self, even_nothing: bool = False) -> None:
        """Write what is held, as a member that stands alone."""
        if self._held or even_nothing:
            member = pack(self.path.name, bytes(self._held))
            self._file.append(member) if isinstance(self._file, AppendedFile) else self._file.write(member)
            self._held.clear()
            self._empty = False


class LogWriter:
    """Writes episodes to a file of the format, by its ending; with `append`, after those it has.

    A file that is appended to can be read at any time. A kill loses what was not flushed: some kilobytes, of a packed
    file up to a megabyte. What was flushed is on disk, so acknowledge an episode after `flush`. Opening such a file
    mends what a kill left, for which a packed file is read whole. Threads may share a writer, processes a file may not.

    >>> import tempfile
    >>> from tacit.logs.files import find_logs
    >>> from tacit.logs.pieces import iterate_raw
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

    def flush(self) -> None:
        """Bring every episode that was written to disk, so that it can be acknowledged; needs `append=True`."""
        if isinstance(self._writer, ParquetWriter):
            raise LogError(
                f"a Parquet file is on disk when it is closed, got flush of {self._writer.path.name!r}; use .jsonl"
            )
        self._writer.flush()

    def close(self, keep: bool = True) -> None:
        """Finish the file; `keep=False` leaves what was there before, but for episodes that were appended."""
        self._writer.close(keep)

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(keep=kind is None)


class ParquetWriter:
    """Writes rows in batches, with checksums; the file takes its name when it is closed."""

    def __init__(self, path: Path, schema: Any) -> None:
        self.path, self._schema = path, schema
        self._rows: list[Mapping[str, Any]] = []
        self._digests: list[str] = []
        self._raw = NewFile(path)
        self._file = parquet_module().ParquetWriter(self._raw, schema, write_page_checksum=True)

    def write(self, row: Mapping[str, Any]) -> None:
        """Write one row."""
        self._rows.append(row)
        if len(self._rows) >= BATCH:
            self._write_rows()

    def write_table(self, table: Any) -> None:
        """Write rows that Arrow has already, as a row group."""
        digest = RowsDigest(self._schema, bool(self._schema.metadata))
        digest.add(table)
        self._file.write_table(table, row_group_size=max(len(table), 1))
        self._digests.append(digest.hexdigest())

    def close(self, keep: bool = True) -> None:
        """Finish the file; `keep=False` leaves what was there before."""
        if not keep:
            with suppress(OSError):  # a full disk fails once more, of what is not wanted
                self._file.close()
            self._raw.discard()
            return
        with self._raw:
            self._write_rows()
            self._file.add_key_value_metadata({DIGESTS: orjson.dumps(self._digests).decode()})
            self._file.close()

    def _write_rows(self) -> None:
        if self._rows:
            self.write_table(arrow_module().Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


class _ParquetLogWriter(ParquetWriter):
    def __init__(self, path: Path) -> None:
        arrow = arrow_module()
        columns = [
            (key, arrow.string())
            for key in ("episode", "time", "user", "context", "steps", "feedback", "abandoned")
        ]
        super().__init__(path, arrow.schema([*columns, ("reward", arrow.float64())], metadata=MARK))

    def write(self, row: Mapping[str, Any]) -> None:
        text = {
            key: orjson.dumps(row[key], option=orjson.OPT_SERIALIZE_NUMPY).decode()
            for key in JSON_COLUMNS
            if row.get(key) is not None
        }
        extra = {key: str(row[key]) for key in ("time", "user") if row.get(key) is not None}
        reward = row.get("reward")
        super().write(text | extra | {"reward": None if reward is None else float(reward)})

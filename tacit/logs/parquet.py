"""Parquet files of logs and labels, row group by row group, each checked against its digest.

A Parquet file that Tacit writes has one column a key of the format; all but time, user and reward are JSON text, for
types may differ from row to row, and the file's metadata says so. A Parquet file without that mark
is read as it stands: nested columns, a list of structs for the steps.

Parquet's own checksums (of pages, which are asked for in writing and verified in reading) leave out the headers and the
footer. So the metadata of our files also hold a digest of the rows of each row group, as they are read: names and types
of columns, which of them are JSON text, every value. Files without digests are read as they stand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from tacit.base.arrays import BoolArray
from tacit.logs.files import MOST_LINE, RawRecord, arrow_module, dump_json, parquet_module, parse_json
from tacit.logs.record import Fault

MARK = {b"tacit.logs": b"json"}
"""Metadata of a Parquet file whose values are JSON text: part of the format, not the name of a module."""
DIGESTS = "tacit.digests"
"""The key of the metadata that holds the digests of row groups, a list in JSON."""
JSON_COLUMNS = ("episode", "context", "steps", "feedback", "abandoned")
BATCH = 10_000
"""Rows that are read or written at once, at most."""
MOST_SHARED = 1 << 30
"""Bytes that a batch may have at worst, if all of its row group is kept once for every row."""
FAILURES = (OSError, ValueError, TypeError, KeyError, OverflowError, MemoryError, RuntimeError)
"""What pyarrow raises of a damaged file beside its own errors."""


class RowsDigest:
    """A digest of rows, whatever the batches in which they come.

    >>> import pyarrow
    >>> table = pyarrow.table({"reason": ["decoded", None, "uncertain"], "confidence": [1.0, 0.5, None]})
    >>> whole, parts = RowsDigest(table.schema), RowsDigest(table.schema)
    >>> whole.add(table)
    >>> for n in range(3):
    ...     parts.add(table.slice(n, 1))
    >>> whole.hexdigest() == parts.hexdigest()
    True
    """

    def __init__(self, schema: Any, marked: bool = False) -> None:
        self._columns = [(hashlib.blake2b(), hashlib.blake2b()) for _ in schema]
        self._head = dump_json([marked, *([field.name, str(field.type)] for field in schema)])

    def add(self, rows: Any) -> None:
        """Take in more rows, a batch or a table."""
        for (lengths, values), column in zip(self._columns, rows.columns, strict=True):
            for chunk in getattr(column, "chunks", [column]):
                _update(lengths, values, chunk)

    def hexdigest(self) -> str:
        """Return the digest of the rows so far."""
        parts = [part.digest() for column in self._columns for part in column]
        return hashlib.blake2b(self._head + b"".join(parts), digest_size=16).hexdigest()


def _update(lengths: Any, values: Any, column: Any) -> None:
    """Add a column to two digests: how long each value is (or that there is none), and the values."""
    if not len(column):
        return
    arrow, n = arrow_module(), len(column)
    if arrow.types.is_string(column.type):
        _, offsets, text = column.buffers()
        ends = np.frombuffer(offsets, np.int32, n + 1, column.offset * 4)
        lengths.update(np.where(_is_null(column), -1, np.diff(ends)).astype(np.int32))
        values.update(memoryview(text or b"")[ends[0] : ends[-1]])
    elif arrow.types.is_float64(column.type):
        null, numbers = _is_null(column), np.frombuffer(column.buffers()[1], np.float64, n, column.offset * 8)
        lengths.update(null.astype(np.int32))
        values.update(np.where(null, 0.0, numbers))
    else:  # a type that no file of ours has: a digest, and another one
        values.update(repr(column.to_pylist()).encode())


def _is_null(column: Any) -> BoolArray:
    """Return which values there are not, from the bits that say so: asking Arrow takes a fifth of a second to load."""
    bits = column.buffers()[0]
    if bits is None or not column.null_count:
        return np.zeros(len(column), np.bool_)
    there = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    missing: BoolArray = there[column.offset : column.offset + len(column)] == 0
    return missing


class ParquetRows:
    """A Parquet file opened for reading; `groups` are the numbers of its row groups and of their first rows, from 1."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._reader = parquet_module().ParquetFile(file, page_checksum_verification=True)
        metadata = self._reader.metadata
        told: Mapping[bytes, bytes] = metadata.metadata or {}
        self._marked = all(told.get(key) == value for key, value in MARK.items())
        self._sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        self._digests = _digests_of(told, len(self._sizes))
        firsts = np.cumsum([1, *self._sizes]).tolist()
        self.groups = list(enumerate(firsts[:-1]))

    def rows(self, group: int, first: int) -> Iterator[RawRecord]:
        """Yield the rows of a row group; what is wrong with it comes last."""
        digest, row = RowsDigest(self._reader.schema_arrow, self._marked), first
        try:
            for batch in self._reader.iter_batches(self._batch_size(group), [group]):
                if self._digests is not None:
                    digest.add(batch)
                yield from self._records(batch, row)
                row += batch.num_rows
        except (*FAILURES, arrow_module().ArrowException) as error:
            yield self._damage(group, first, row, f"it cannot be read from row {row:,} on ({_line(error)})")
            return
        if row - first != self._sizes[group]:
            yield self._damage(group, first, row, f"it must have {self._sizes[group]:,} rows")
        elif self._digests is not None and digest.hexdigest() != self._digests[group]:
            yield self._damage(group, first, row, "they are not what was written")

    def _batch_size(self, group: int) -> int:
        """Return how many rows are read at once, by what the file says of their sizes.

        Where values are kept once and referred to, each row of a batch may be as large as all that is kept. Which
        columns are kept so is not asked: pyarrow ends the process over a damaged description of one.
        """
        total: int = self._reader.metadata.row_group(group).total_byte_size
        size: int = total // max(self._sizes[group], 1)
        return max(1, min(BATCH, MOST_LINE // max(size, 1), MOST_SHARED // max(total, 1)))

    def _records(self, batch: Any, first: int) -> Iterator[RawRecord]:
        file, read = self.file, _from_json if self._marked else _without_nulls
        for begin, rows in _convert(batch, first):
            if isinstance(rows, Fault):
                yield RawRecord(file, begin, fault=rows)
                continue
            for number, row in enumerate(rows, begin):
                try:
                    yield RawRecord(file, number, b"", read(row))
                except ValueError as error:
                    fault = Fault(
                        "not-json", f"the columns {JSON_COLUMNS} must hold JSON text ({error}); mend the row"
                    )
                    yield RawRecord(file, number, RawRecord(file, number, record=row).text(), fault=fault)

    def _damage(self, group: int, first: int, row: int, what: str) -> RawRecord:
        read = (
            f"rows {first:,} to {row - 1:,} were read, but nothing vouches for them"
            if row > first
            else "no row was read"
        )
        message = (
            f"a row group must be whole, got number {group + 1}, of which {read}: {what}; use a whole copy"
        )
        return RawRecord(self.file, first, fault=Fault("damaged-file", message))


def open_parquet(file: Path) -> ParquetRows | RawRecord:
    """Return a file opened for reading, or what is wrong with it."""
    try:
        return ParquetRows(str(file))
    except (*FAILURES, arrow_module().ArrowException) as error:
        message = (
            f"the file must be whole Parquet, got one that cannot be read ({_line(error)}); use a whole copy"
        )
        return RawRecord(str(file), 1, fault=Fault("damaged-file", message))


def _digests_of(told: Mapping[bytes, bytes], groups: int) -> Sequence[str] | None:
    """Return the digests that the metadata hold, None without; raise if they are not of so many row groups."""
    text = told.get(DIGESTS.encode())
    if text is None:
        return None
    digests = parse_json(text)
    if not isinstance(digests, list) or len(digests) != groups:
        raise ValueError(f"its metadata are not those of {groups:,} row groups")
    return digests


def _convert(batch: Any, first: int) -> Iterator[tuple[int, list[dict[str, Any]] | Fault]]:
    """Yield the rows of a batch and the number of the first, by halves where it is too large or some cannot be had."""
    error: Exception | None = None
    if batch.nbytes <= MOST_LINE:
        try:
            yield first, batch.to_pylist()
            return
        except (*FAILURES, arrow_module().ArrowException) as caught:
            error = caught
    if batch.num_rows > 1:
        half = batch.num_rows // 2
        yield from _convert(batch.slice(0, half), first)
        yield from _convert(batch.slice(half), first + half)
    elif error is not None:
        yield first, Fault("bad-row", f"a row must hold values that can be read ({_line(error)}); mend it")
    else:
        message = f"a row must have at most {MOST_LINE:,} bytes, got {batch.nbytes:,}; split the episode"
        yield first, Fault("line-too-long", message)


def _from_json(row: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a row of JSON texts; raise ValueError if one is none."""
    record = {key: value for key, value in row.items() if value is not None}
    for key in JSON_COLUMNS:
        if key in record:
            record[key] = orjson.loads(record[key])
    return record


def _without_nulls(value: Any) -> Any:
    """Return a nested row without the fields that it does not have, which Arrow fills with None."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _line(error: Exception) -> str:
    """Return what an error says, in one line and not at length."""
    return " ".join(str(error).split())[:200] or type(error).__name__

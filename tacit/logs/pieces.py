"""Logs in pieces that can be read apart: some megabytes of JSON lines, a row group of Parquet, episodes of CSV.

Whoever reads logs, as one stream or piece by piece in several processes, reads them here, and meets the same lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tacit.logs.csv_columns import CsvSettings
from tacit.logs.csv_episodes import read_csv
from tacit.logs.files import RawRecord, is_csv, is_parquet
from tacit.logs.lines import Chunk, read_chunks
from tacit.logs.parquet import open_parquet


class RowGroup(NamedTuple):
    """A row group of a Parquet file, and the number of its first row."""

    file: str
    group: int
    line: int


class CsvEpisodes(NamedTuple):
    """Episodes of a CSV file, put together: only who reads it from the beginning knows where a row begins."""

    records: list[RawRecord]


Piece = Chunk | RowGroup | CsvEpisodes | RawRecord
"""What a worker is given: lines, rows, episodes, or what is wrong at some place of a file."""
TOGETHER = 2_000
"""Episodes of CSV files in a piece."""


def list_pieces(files: Iterable[Path], csv: CsvSettings | None = None) -> Iterator[Piece]:
    """Yield the pieces of files, in order."""
    for file in files:
        if is_csv(file):
            episodes = read_csv(file, csv or CsvSettings())
            while some := list(islice(episodes, TOGETHER)):
                yield CsvEpisodes(some)
        else:
            yield from _row_groups(file) if is_parquet(file) else read_chunks(file)


def raw_records(piece: Piece) -> Iterator[RawRecord]:
    """Yield the lines or rows of a piece; empty lines are skipped."""
    if isinstance(piece, RawRecord):
        yield piece
    elif isinstance(piece, CsvEpisodes):
        yield from piece.records
    elif isinstance(piece, Chunk):
        for line, text in enumerate(piece.lines.split(b"\n"), piece.line):
            if text and not text.isspace():
                yield RawRecord(piece.file, line, text)
    else:
        rows = open_parquet(Path(piece.file))
        yield from [rows] if isinstance(rows, RawRecord) else rows.rows(piece.group, piece.line)


def iterate_raw(files: Iterable[Path], csv: CsvSettings | None = None) -> Iterator[RawRecord]:
    """Yield every line or row of the files, and what is wrong with a file where it stands; empty lines are skipped."""
    for file in files:
        if is_csv(file):
            yield from read_csv(file, csv or CsvSettings())
            continue
        if is_parquet(file):
            yield from _parquet_records(file)
        else:
            for chunk in read_chunks(file):
                yield from raw_records(chunk)


def _parquet_records(file: Path) -> Iterator[RawRecord]:
    """Yield the rows of a Parquet file, which is opened once."""
    rows = open_parquet(file)
    if isinstance(rows, RawRecord):
        yield rows
        return
    for group, first in rows.groups:
        yield from rows.rows(group, first)


def _row_groups(file: Path) -> Iterator[RowGroup | RawRecord]:
    rows = open_parquet(file)
    if isinstance(rows, RawRecord):
        yield rows
        return
    for group, first in rows.groups:
        yield RowGroup(str(file), group, first)

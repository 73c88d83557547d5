"""Logs in pieces that can be read apart: some megabytes of JSON lines, or a row group of Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tacit.logs.files import (
    RawRecord,
    arrow_module,
    damaged,
    damages,
    is_marked,
    is_parquet,
    open_lines,
    parquet_module,
    records_of,
)

PIECE = 4 << 20
"""Bytes of JSON lines in a piece: half a second of work, some ten thousand episodes."""


class Chunk(NamedTuple):
    """Whole lines of a file, and the number of the first."""

    file: str
    line: int
    lines: bytes


class RowGroup(NamedTuple):
    """A row group of a Parquet file, and the number of its first row."""

    file: str
    group: int
    line: int


Piece = Chunk | RowGroup | RawRecord
"""What a worker is given: lines, rows, or the place from which a file cannot be read."""


def list_pieces(files: Iterable[Path]) -> Iterator[Piece]:
    """Yield the pieces of files, in order."""
    for file in files:
        yield from _row_groups(file) if is_parquet(file) else _chunks(file, PIECE)


def raw_records(piece: Piece) -> Iterator[RawRecord]:
    """Yield the lines or rows of a piece."""
    if isinstance(piece, RawRecord):
        yield piece
    elif isinstance(piece, Chunk):
        for line, text in enumerate(piece.lines.split(b"\n"), piece.line):
            if text and not text.isspace():
                yield RawRecord(piece.file, line, text)
    else:
        reader, marked = parquet_module().ParquetFile(piece.file), is_marked(Path(piece.file))
        for line, record in enumerate(records_of(reader.read_row_group(piece.group), marked), piece.line):
            yield RawRecord(piece.file, line, record=record)


def _row_groups(file: Path) -> Iterator[Piece]:
    try:
        metadata, line = parquet_module().ParquetFile(file).metadata, 1
    except (OSError, arrow_module().ArrowException) as error:
        yield RawRecord(str(file), 1, damage=f"the file is not whole Parquet ({error}); use a whole copy")
        return
    for group in range(metadata.num_row_groups):
        yield RowGroup(str(file), group, line)
        line += metadata.row_group(group).num_rows


def _chunks(file: Path, size: int) -> Iterator[Chunk | RawRecord]:
    """Yield a file of JSON lines in pieces of about `size` bytes that end with a line; then its damage, if any."""
    line = 1
    try:
        with open_lines(file) as stream:
            while lines := stream.read(size):
                if not lines.endswith(b"\n"):
                    lines += stream.readline()
                yield Chunk(str(file), line, lines)
                line += lines.count(b"\n")
    except damages() as error:
        yield damaged(file, line, error)

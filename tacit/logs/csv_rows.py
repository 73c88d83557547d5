"""Rows of CSV files: text in any encoding, cells in quotes that hold delimiters and line breaks, found in one pass.

A row ends where its line does, unless a cell in quotes goes on; quotes within such a cell are doubled (RFC 4180). What
is wrong costs the row in which it stands: where quotes never end, or something follows them, reading goes on with
the next line. A row has at most as many characters as a line of logs has bytes, so memory is bounded.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from tacit.logs.files import MOST_LINE, RawRecord
from tacit.logs.lines import Chunk, read_chunks
from tacit.logs.record import Fault, LogError

DELIMITERS = (",", ";", "\t", "|")
"""What can stand between cells unless something else is said; of several the one that makes the most of the header."""
WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks of encodings whose letters have several bytes, the longer ones first: one begins like another."""
OPENING = re.compile(r' *"')
CLOSING = re.compile(r'[^"]*+(?:""[^"]*+)*+"')
"""What stands in quotes after the first of them, up to the one that ends it."""
SEPARATOR_LINE = re.compile(r"sep=(.)")
"""The line by which some spreadsheets say what stands between cells."""


class CsvRow(NamedTuple):
    """One row: the line that it begins in, its cells, its text, and what is wrong with it, if anything."""

    line: int
    cells: list[str]
    text: str
    fault: Fault | None = None


class CsvTable(NamedTuple):
    """An opened file: its header, what stands between cells, and its rows, what is wrong with the file among them."""

    header: list[str]
    delimiter: str
    rows: Iterator[CsvRow | RawRecord]


Line = tuple[int, str]


def open_table(file: Path, delimiter: str | None = None, encoding: str | None = None) -> CsvTable:
    """Return a CSV file opened for reading; one that has no header that can be read has no columns."""
    lines = _read_lines(file, encoding)
    first = next(lines, None)
    while isinstance(first, tuple) and not isinstance(first, RawRecord) and not first[1].strip():
        first = next(lines, None)
    if first is None or isinstance(first, RawRecord):
        return CsvTable([], ",", iter([] if first is None else [first]))
    if (told := SEPARATOR_LINE.fullmatch(first[1])) is not None:
        delimiter, rest = delimiter or told.group(1), lines
    else:
        delimiter, rest = delimiter or sniff_delimiter(first[1]), chain([first], lines)
    rows = scan_rows(rest, delimiter)
    header = next(rows, None)
    if header is None or isinstance(header, RawRecord):
        return CsvTable([], delimiter, iter([] if header is None else [header]))
    names = [cell.strip() for cell in header.cells]
    return CsvTable(names, delimiter, _of_width(rows, len(names)))


def sniff_delimiter(line: str) -> str:
    r"""Return what stands between the cells of a header: what makes the most cells of it.

    >>> sniff_delimiter('page;"shown, or not";comment'), sniff_delimiter("page\tshown")
    (';', '\t')
    """
    return max(DELIMITERS, key=lambda delimiter: _cells_of(line, delimiter))


def _cells_of(line: str, delimiter: str) -> int:
    row = _Cells(delimiter)
    row.take(line)
    return len(row.cells)


def scan_rows(lines: Iterable[Line | RawRecord], delimiter: str) -> Iterator[CsvRow | RawRecord]:
    r"""Yield the rows of numbered lines, empty ones left out; what is no line is passed on where it stands.

    >>> [row.cells for row in scan_rows([(1, 'a,"b'), (2, 'c ""d"" ",e')], ",")]
    [['a', 'b\nc "d" ', 'e']]
    >>> [(row.line, row.cells) for row in scan_rows([(1, 'a,"b'), (2, "c,d")], ",")]
    [(1, []), (2, ['c', 'd'])]
    """
    again: deque[Line | RawRecord] = deque()
    ahead, begun, size, cells = iter(lines), list[Line](), 0, _Cells(delimiter)
    while True:
        item = again.popleft() if again else next(ahead, None)
        if begun and (item is None or isinstance(item, RawRecord) or size > MOST_LINE):
            yield _bad_quotes(begun[0], "goes on to the end of what can be read as one row")
            again.extendleft(reversed([*begun[1:], *([] if item is None else [item])]))
            begun, size, cells = [], 0, _Cells(delimiter)
        elif item is None:
            return
        elif isinstance(item, RawRecord):
            yield item
        elif not begun and '"' not in item[1]:
            if item[1].strip():
                yield CsvRow(item[0], item[1].split(delimiter), item[1])
        else:
            begun.append(item)
            size += len(item[1])
            ended = cells.take(item[1])
            if ended is None:
                continue
            if ended:
                yield CsvRow(begun[0][0], cells.cells, "\n".join(text for _, text in begun))
            else:
                yield _bad_quotes(begun[0], f"is followed by more in line {item[0]:,}")
                again.extendleft(reversed(begun[1:]))
            begun, size, cells = [], 0, _Cells(delimiter)


class _Cells:
    """The cells of a row that has begun, and what stands so far in quotes that did not end."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter, self._quoted = delimiter, list[str]()
        self.cells: list[str] = []

    def take(self, text: str) -> bool | None:
        """Take a line; return whether the row ended well, None if it goes on."""
        at = 0
        if self._quoted:
            at = self._close(text, 0)
        while True:
            if at < 0:
                return None
            if at > 0 or self.cells:  # behind a cell
                if at == len(text):
                    return True
                if text[at] != self._delimiter:
                    return False
                at += 1
            opened = OPENING.match(text, at)
            at = self._close(text, opened.end()) if opened is not None else self._plain(text, at)
            if at == len(text):
                return True

    def _close(self, text: str, at: int) -> int:
        """Return where the quotes end that hold the text from `at` on, -1 if in another line."""
        found = CLOSING.match(text, at)
        if found is None:
            self._quoted.append(text[at:] + "\n")
            return -1
        self.cells.append("".join([*self._quoted, found.group()[:-1]]).replace('""', '"'))
        self._quoted = []
        return found.end()

    def _plain(self, text: str, at: int) -> int:
        cut = text.find(self._delimiter, at)
        cut = len(text) if cut < 0 else cut
        self.cells.append(text[at:cut])
        return cut


def _bad_quotes(first: Line, what: str) -> CsvRow:
    message = (
        f"a cell in quotes must end before a delimiter, got one that {what}; double the quotes within cells"
    )
    return CsvRow(first[0], [], first[1], Fault("bad-quotes", message))


def _of_width(rows: Iterable[CsvRow | RawRecord], width: int) -> Iterator[CsvRow | RawRecord]:
    """Yield rows, those as faults that have another number of cells than the header; rows of empty cells are none."""
    for row in rows:
        if isinstance(row, RawRecord) or row.fault is not None or len(row.cells) == width:
            yield row
        elif not any(map(str.strip, row.cells)):
            continue
        elif len(row.cells) > width and not any(map(str.strip, row.cells[width:])):
            yield row._replace(cells=row.cells[:width])
        else:
            message = (
                f"a row must have {width} cells as the header has, got {len(row.cells)}; quote the cells that hold the "
                "delimiter"
            )
            yield row._replace(fault=Fault("bad-row", message))


def _read_lines(file: Path, encoding: str | None) -> Iterator[Line | RawRecord]:
    """Yield the lines of a file, numbered, as text; bytes that are none become lone surrogates."""
    for chunk in read_chunks(file, recode=Recoder(encoding)):
        if isinstance(chunk, Chunk):
            text = chunk.lines.decode("utf-8", "surrogateescape")
            for number, line in enumerate(text.split("\n")[:-1], chunk.line):
                yield number, line.removesuffix("\r")
        else:
            yield chunk


class Recoder:
    """Turns the blocks of a file into UTF-8, from an encoding that is given or by its byte order mark.

    Bytes that mean nothing in an encoding of one byte a letter stay what they are, and are no UTF-8.

    >>> Recoder("cp1252")(b"caf\\xe9").decode(), Recoder(None)("né".encode("utf-16")).decode()
    ('café', 'né')
    """

    def __init__(self, encoding: str | None) -> None:
        self._encoding, self._begun = encoding, False
        self._decoder: codecs.IncrementalDecoder | None = None

    def __call__(self, block: bytes) -> bytes:
        """Return the next block in UTF-8, without a byte order mark."""
        if not self._begun and block:
            block = self._begin(block)
        if self._decoder is None:
            return block
        return self._decoder.decode(block).encode("utf-8", "surrogatepass")

    def _begin(self, block: bytes) -> bytes:
        self._begun = True
        wide = next((name for mark, name in WIDE_MARKS if block.startswith(mark)), None)
        name = check_encoding(self._encoding or wide or "utf-8")
        if name in ("utf-8", "utf-8-sig"):
            return block.removeprefix(codecs.BOM_UTF8)
        errors = "replace" if name.startswith(("utf-16", "utf-32")) else "surrogateescape"
        self._decoder = codecs.getincrementaldecoder(name)(errors)
        return block


def check_encoding(name: str) -> str:
    """Return the name by which an encoding is known; raise `LogError` if it is none."""
    try:
        return codecs.lookup(name).name
    except LookupError:
        raise LogError(
            f"an encoding must be one that Python knows, got {name!r}; say utf-8, cp1252 or utf-16"
        ) from None

"""Episodes of CSV files: rows put together, in bounded memory, into the records of the format.

Where a row is a step, rows of the same name are one episode, in their order, if no more than `WINDOW` others stand
between two of them. A name that comes again later ends the reading: what was taken for a whole episode was a part.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from tacit.logs.csv_columns import Columns, CsvSettings
from tacit.logs.csv_rows import CsvRow, open_table
from tacit.logs.files import RawRecord
from tacit.logs.record import Fault, LogError
from tacit.logs.repeats import ANOTHER, AT_ONCE, KnownNames, Signatures, digest

WINDOW = 20_000
"""Rows that may stand between two of the same episode: where many people came at once, rows by time are mixed."""
MOST_HELD = 64 << 20
"""Characters of the rows that wait for others of their episodes; beyond, those that waited longest are finished."""
_Named = tuple[str | int | None, RawRecord]
"""The name of the episode, None of what is wrong with the file, and its record."""


def read_csv(file: Path, settings: CsvSettings) -> Iterator[RawRecord]:
    """Yield the episodes of a CSV file as records, and what is wrong where it stands.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder) / "day.csv"
    ...     _ = place.write_text("episode,context,state,action,feedback\\na,new,home,ask,\\na,new,shop,tea,ah\\n")
    ...     [raw.record["steps"] for raw in read_csv(place, CsvSettings())]
    [[{'state': 'home', 'action': 'ask'}, {'state': 'shop', 'action': 'tea'}]]
    """
    table = open_table(file, settings.delimiter, settings.encoding)
    if not table.header:
        yield from (row for row in table.rows if isinstance(row, RawRecord))
        return
    columns = Columns(table.header, settings, table.delimiter, file.name)
    if columns.row_is_step:
        joined = _check_whole(_Joining(str(file), columns).read(table.rows), columns)
        yield from (raw._replace(number=number) for number, raw in enumerate(joined, 1))
        return
    for row in table.rows:
        yield row if isinstance(row, RawRecord) else _build(str(file), columns, [_checked(row)])


@dataclass
class _Waiting:
    """The rows of an episode so far, the number of the last of them among all rows, and after how many others came."""

    rows: list[CsvRow] = field(default_factory=list)
    last: int = -1
    breaks: list[int] = field(default_factory=list)

    def add(self, row: CsvRow, number: int) -> None:
        """Take one more row."""
        if self.rows and number != self.last + 1:
            self.breaks.append(len(self.rows))
        self.rows.append(row)
        self.last = number

    @property
    def is_twice(self) -> bool:
        """Return whether all rows came, and then, after others, the same again."""
        half, odd = divmod(len(self.rows), 2)
        texts = [row.text for row in self.rows]
        return not odd and half in self.breaks and texts[:half] == texts[half:]


class _Joining:
    """Puts rows together that are steps; who waits longest for another row is first in line."""

    def __init__(self, file: str, columns: Columns) -> None:
        self._file, self._columns = file, columns
        self._waiting: OrderedDict[str | int, _Waiting] = OrderedDict()
        self._held = 0
        self._previous: str | int | None = None
        self._lost: int | None = None  # the line of a row that is lost, until the next is there

    def read(self, rows: Iterator[CsvRow | RawRecord]) -> Iterator[_Named]:
        """Yield episodes when they are whole, and what is wrong with the file."""
        for number, row in enumerate(rows):
            if isinstance(row, RawRecord):
                self._lose(row.line)
                yield None, row
                continue
            row = _checked(row)
            name = self._name(row)
            if name is None:
                self._lose(row.line)
                yield None, _fault_of(self._file, [row], row.fault or _no_name(self._columns))
                continue
            self._take(name, row, number)
            while self._is_over(number):
                yield self._finish()
        while self._waiting:
            yield self._finish()

    def _name(self, row: CsvRow) -> str | int | None:
        place = self._columns.name_place
        assert place is not None
        return self._columns.name(row.cells) if place < len(row.cells) else None

    def _take(self, name: str | int, row: CsvRow, number: int) -> None:
        waiting = self._waiting.setdefault(name, _Waiting())
        if self._lost is not None:
            row, self._lost = _beside(row, self._lost), None
        waiting.add(row, number)
        self._previous = name
        self._held += len(row.text)
        self._waiting.move_to_end(name)

    def _is_over(self, number: int) -> bool:
        """Return whether the episode that waited longest is taken to be whole."""
        oldest = next(iter(self._waiting.values()), None)
        full = self._held > MOST_HELD and len(self._waiting) > 1
        return oldest is not None and (full or number - oldest.last > WINDOW)

    def _lose(self, line: int) -> None:
        """Take it that a row could not be read: the episodes before and after it may lack a step."""
        self._lost = line
        if self._previous is not None and self._previous in self._waiting:
            rows = self._waiting[self._previous].rows
            rows[-1] = _beside(rows[-1], line)

    def _finish(self) -> _Named:
        name, waiting = self._waiting.popitem(last=False)
        self._held -= sum(len(row.text) for row in waiting.rows)
        if waiting.is_twice:
            return name, _fault_of(self._file, waiting.rows, _twice(name))
        return name, _build(self._file, self._columns, waiting.rows)


def _check_whole(named: Iterator[_Named], columns: Columns) -> Iterator[RawRecord]:
    """Yield episodes; raise where one was begun before by other rows."""
    known = KnownNames()
    while some := list(islice(named, AT_ONCE)):
        met = [(name, raw) for name, raw in some if name is not None]
        names, texts = [repr(name).encode() for name, _ in met], [raw.text() for _, raw in met]
        verdicts = known.enter(Signatures(digest(names), digest(texts)))
        for at in np.flatnonzero(verdicts == ANOTHER)[:1].tolist():
            name, raw = met[at]
            raise LogError(
                f"the rows of an episode must stand together, with at most {WINDOW:,} others between two of them, got "
                f"{name!r} again in line {raw.line:,} of {raw.file!r}; sort the file by its column "
                f"{columns.holder('episode')!r}, or give every episode a name of its own"
            )
        yield from (raw for _, raw in some)


def _build(file: str, columns: Columns, rows: list[CsvRow]) -> RawRecord:
    """Return the record of an episode's rows, or what is wrong with them."""
    for row in rows:
        if row.fault is not None:
            return _fault_of(file, rows, row.fault, row.line)
    name = (
        columns.name(rows[0].cells) if columns.name_place is not None else f"{Path(file).name}:{rows[0].line}"
    )
    record: dict[str, Any] = {} if name is None else {"episode": name}
    for key in columns.common:
        value = _only(columns, key, rows)
        if isinstance(value, _Differing):
            return _fault_of(file, rows, value.fault, value.line)
        if value is not None:
            record[key] = value
    if (time := columns.value("time", rows[0].cells)) is not None:
        record["time"] = time
    record["steps"] = [step for row in rows for step in columns.steps(row.cells)]
    return RawRecord(file, rows[0].line, record=record)


@dataclass(frozen=True)
class _Differing:
    """What two rows of an episode say that must be one, and the line of the second."""

    fault: Fault
    line: int


def _only(columns: Columns, key: str, rows: list[CsvRow]) -> Any:
    """Return what the rows of an episode say of it, those that say something; two answers are none."""
    first, value = rows[0], columns.value(key, rows[0].cells)
    for row in rows[1:]:
        other = columns.value(key, row.cells)
        if value is None:
            first, value = row, other
        elif other is not None and other != value:
            message = (
                f"an episode has one {key}, got {_short(value)} in line {first.line:,} and {_short(other)} in line "
                f"{row.line:,} (column {columns.holder(key)!r}); keep one of them and leave the other cells empty"
            )
            return _Differing(Fault("differing-values", message), row.line)
    return value


def _checked(row: CsvRow) -> CsvRow:
    """Return a row, with a fault if it holds bytes that are no text."""
    if row.fault is not None or row.text.isascii():
        return row
    try:
        row.text.encode()
    except UnicodeEncodeError:
        message = (
            "a row must be UTF-8, got bytes that are not; say in which encoding it is with --encoding cp1252"
        )
        return row._replace(fault=Fault("not-utf8", message))
    return row


def _beside(row: CsvRow, line: int) -> CsvRow:
    """Return a row whose episode may lack one that could not be read."""
    message = (
        f"an episode must have all its rows, got one beside line {line:,}, which could not be read; mend it"
    )
    return row if row.fault is not None else row._replace(fault=Fault("torn-episode", message))


def _no_name(columns: Columns) -> Fault:
    message = (
        f"a row must name its episode, got an empty cell in column {columns.holder('episode')!r}; fill it in"
    )
    return Fault("no-episode", message)


def _twice(name: str | int) -> Fault:
    message = f"the rows of an episode must come once, got those of {name!r} twice; read each export once"
    return Fault("repeated-rows", message)


def _fault_of(file: str, rows: list[CsvRow], fault: Fault, line: int | None = None) -> RawRecord:
    text = "\n".join(row.text for row in rows).encode("utf-8", "surrogateescape")
    return RawRecord(file, rows[0].line if line is None else line, text, fault=fault)


def _short(value: Any, most: int = 40) -> str:
    text = repr(value)
    return text if len(text) <= most else text[:most] + " ..."

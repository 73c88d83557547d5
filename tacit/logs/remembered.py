"""What one pass over files found, kept for the next: a survey comes before a fit, and lines need no second reading.

Records are kept as far as they take little memory; beyond that nothing is, and the next pass reads the files anew. The
lines themselves are not kept: of the few that are set aside they are read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, cast

from tacit.logs.common_steps import CommonSteps
from tacit.logs.files import RawRecord
from tacit.logs.record import EpisodeRecord, Fault
from tacit.logs.repeats import LogEntry

MOST_BYTES = 192 << 20
"""Of memory that is spent on entries, by what they are taken to weigh, which of labels is twice what they do."""
PLAIN = frozenset((str, int, float, bool, type(None), CommonSteps))
"""Types of what a record holds that take about as much memory as they take in its line."""
ENTRY = 400
"""Bytes of an entry apart from what its line holds."""
OBJECTS = 30
"""Bytes in memory, at most, for one of a line that holds more than labels: lists of lists."""


class RememberedEntries:
    """The entries of a pass that was gone through to its end, if they weigh little.

    >>> from tacit.logs.record import Fault
    >>> remembered = RememberedEntries()
    >>> list(remembered.along([(RawRecord("a.jsonl", 1, b"{}"), Fault("no-episode", "..."))]))[0][0].line_text
    b'{}'
    >>> [(raw.place, found.rule) for raw, found in remembered.replay([RawRecord("a.jsonl", 1, b"{}")])]
    [(1, 'no-episode')]
    """

    def __init__(self) -> None:
        # In columns: a million small objects would be gone through by the garbage collector again and again.
        self._places: list[int | RawRecord] = []
        self._keys: list[tuple[str, ...] | Fault] = []  # of records, whose values stand in a row
        self._values: list[Any] = []
        self._known_keys: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._files: list[tuple[int, str]] = []  # from which entry on a file's stand
        self._bytes = 0
        self.complete = False

    def along(self, entries: Iterable[LogEntry]) -> Iterator[LogEntry]:
        """Yield the entries as they are, and keep them as they pass."""
        ahead = iter(entries)
        for entry in ahead:
            self._keep(*entry)
            yield entry
            if self._bytes > MOST_BYTES:
                for column in (self._places, self._keys, self._values, self._known_keys):
                    column.clear()
                yield from ahead
                return
        self.complete = True

    def _keep(self, raw: RawRecord, found: EpisodeRecord | Fault) -> None:
        self._bytes += weigh(raw, found)
        if not self._files or self._files[-1][1] != raw.file:
            self._files.append((len(self._places), raw.file))
        # What is wrong with a file stands beside its lines, and cannot be found again by a number.
        self._places.append(raw.line if raw.fault is None else raw)
        if isinstance(found, Fault):
            self._keys.append(found)
        else:
            keys = tuple(found)
            self._keys.append(self._known_keys.setdefault(keys, keys))
            self._values += found.values()

    def replay(self, lines: Iterable[RawRecord]) -> Iterator[LogEntry]:
        """Yield the entries again; `lines` are those of the files, of which some may be asked for."""
        read_again, values = Lines(lines).text_of, iter(self._values)
        for (begin, file), (end, _) in pairwise([*self._files, (len(self._places), "")]):
            for place, keys in zip(self._places[begin:end], self._keys[begin:end], strict=True):
                raw = place if isinstance(place, RawRecord) else RawRecord(file, place, again=read_again)
                yield raw, keys if isinstance(keys, Fault) else _record(keys, values)


def _record(keys: tuple[str, ...], values: Iterator[Any]) -> EpisodeRecord:
    return cast(
        EpisodeRecord, dict(zip(keys, values, strict=False))
    )  # keys end first, and take no value too many


class Lines:
    """Lines of files that are read again, in their order, when one of them is asked for."""

    def __init__(self, lines: Iterable[RawRecord]) -> None:
        self._ahead = iter(lines)

    def text_of(self, asked: RawRecord) -> bytes:
        """Return the text of a line after those that were asked for before; none if files are not what they were."""
        for raw in self._ahead:
            if (raw.line, raw.file) == (asked.line, asked.file) and raw.fault is None:
                return raw.text()
        return b""


def weigh(raw: RawRecord, found: EpisodeRecord | Fault) -> int:
    """Return about how many bytes an entry takes; more than there are where nobody knows."""
    if raw.record is not None:
        return MOST_BYTES + 1
    if isinstance(found, Fault):
        return ENTRY + len(found.message) + len(raw.line_text)
    size = len(raw.line_text)
    return ENTRY + (size if PLAIN.issuperset(map(type, found.values())) else OBJECTS * size)

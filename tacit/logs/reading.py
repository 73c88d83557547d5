"""Reading logs: files of any size or episodes in memory, as one stream of records, each with where it stands.

A logged line takes these forms and no others: the line or row (`RawRecord`), its record (`EpisodeRecord`, parsed and
checked), and what its reader makes of the record, for tables an `EncodedEpisode`, for text a `ReadText`; from there on
it is a tuple among `Tuples` or `TupleCounts`, a reaction, or a label. Episodes in memory become records once, on their
way in; only who asks for them (`read_logs`, conversions) gets `LoggedEpisode`s.
"""

from __future__ import annotations

import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from tacit.logs.common_steps import KnownSteps
from tacit.logs.csv_columns import CsvSettings
from tacit.logs.episode import LoggedEpisode, episode_of
from tacit.logs.files import LogPaths, RawRecord, find_logs, is_csv, known_endings, parse_json
from tacit.logs.pieces import Piece, iterate_raw, list_pieces
from tacit.logs.problems import Problems
from tacit.logs.record import EpisodeRecord, Fault, LogError, find_chance_fault, find_fault
from tacit.logs.remembered import RememberedEntries
from tacit.logs.repeats import LogEntry, set_repeats_aside


@dataclass(frozen=True)
class CsvLogs:
    """CSV files whose columns are not called as the format calls what they hold, or that need to be told otherwise.

    >>> CsvLogs("visits.csv", CsvSettings({"state": "page", "action": "shown"})).settings.named("state")
    ('page',)
    """

    paths: LogPaths
    settings: CsvSettings

    def find(self) -> list[Path]:
        """Return the files; raise `LogError` if they are not CSV."""
        files = find_logs(self.paths)
        for file in files:
            if not is_csv(file):
                raise LogError(
                    f"columns, delimiter and encoding are those of CSV files, got {file.name!r} with them; leave them "
                    f"out where logs end in {known_endings()}"
                )
        return files


Logs = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | CsvLogs | Iterable[LoggedEpisode]
"""Logs as a path, several paths, CSV files with their columns, or episodes."""
Progress = Callable[[int], None]
"""Called now and then with how many episodes were read since the last call."""

T = TypeVar("T")

REPORT_EVERY = 5_000
"""Episodes between two calls of `Progress`."""
IN_MEMORY = "episodes in memory"
"""What stands for the file of episodes that were not read from one; their lines are their places, from 1."""


def read_logs(
    paths: LogPaths | CsvLogs, strict: bool = False, problems: Problems | None = None
) -> Iterator[LoggedEpisode]:
    """Yield the episodes of files or directories, one at a time, in order; bad ones go to `problems`.

    Without `problems` the first bad episode raises `LogError` if `strict`, and is otherwise left out and counted
    in a warning at the end.

    >>> import tempfile
    >>> from tacit.logs.episode import LoggedStep
    >>> from tacit.logs.writing import LogWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with LogWriter(f"{folder}/logs.jsonl") as writer:
    ...         writer.write(LoggedEpisode(1, "new", (LoggedStep("start", "ask"),), "thanks"))
    ...     [episode.feedback for episode in read_logs(folder)]
    ['thanks']
    """
    own = problems if problems is not None else Problems(strict)
    source = LogSource(paths if isinstance(paths, CsvLogs) else find_logs(paths))
    for raw, found in source:
        if isinstance(found, Fault):
            own.reject(raw, found)
        else:
            yield episode_of(found, (raw.file, raw.line))
    if problems is None:
        own.warn()


class LogSource:
    """Logs that can be passed over again and again: files are read anew each time, episodes in memory are kept.

    After a pass by `remember` the next one need not read files that hold little: whoever looks twice reads once.
    `files` are those of files, None for episodes in memory.

    >>> source = LogSource([LoggedEpisode(1, "new", (), "thanks")])
    >>> [record["feedback"] for _, record in source], str(source)
    (['thanks'], 'episodes in memory')
    """

    def __init__(self, logs: Logs) -> None:
        self._csv = logs.settings if isinstance(logs, CsvLogs) else None
        if isinstance(logs, CsvLogs):
            logs = logs.find()
        given = [logs] if isinstance(logs, str | os.PathLike) else list(logs)
        self.files: list[Path] | None = None
        self._kept: list[LogEntry] = []
        self._remembered: RememberedEntries | None = None
        if given and all(isinstance(each, str | os.PathLike) for each in given):
            self.files, self._names = find_logs(given), [Path(each).name for each in given]  # type: ignore[arg-type]
        else:
            self._kept = [_entry_of(episode, place) for place, episode in enumerate(given, 1)]  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[LogEntry]:
        if self.files is None:
            return set_repeats_aside(self._kept)
        remembered, self._remembered = self._remembered, None
        lines = iterate_raw(self.files, self._csv)
        if remembered is not None and remembered.complete:
            return remembered.replay(lines)
        return set_repeats_aside(check_raws(lines))

    def remember(self) -> Iterator[LogEntry]:
        """Return what a pass gives, which is kept for the next pass if it goes to its end and the logs are small."""
        entries = iter(self)
        if self.files is None:
            return entries
        self._remembered = RememberedEntries()
        return self._remembered.along(entries)

    def pieces(self) -> Iterator[Piece]:
        """Yield the files in pieces that can be read apart; episodes in memory have none."""
        return list_pieces(self.files or (), self._csv)

    def __str__(self) -> str:
        return IN_MEMORY if self.files is None else ", ".join(self._names)


def tally(items: Iterable[T], progress: Progress | None) -> Iterator[T]:
    """Yield items, and tell of them in steps, of the last ones too."""
    if progress is None:
        yield from items
        return
    n = 0
    for n, item in enumerate(items, 1):
        yield item
        if n % REPORT_EVERY == 0:
            progress(REPORT_EVERY)
    if n % REPORT_EVERY:
        progress(n % REPORT_EVERY)


def check_raws(raws: Iterable[RawRecord]) -> Iterator[LogEntry]:
    """Yield lines or rows with their records, each checked."""
    known = KnownSteps()
    return ((raw, check_raw(raw, known)) for raw in raws)


def check_raw(raw: RawRecord, known: KnownSteps) -> EpisodeRecord | Fault:
    """Return the record of a line or row, or the first rule that it breaks; lines share steps that are `known`."""
    if raw.fault is not None:
        return raw.fault
    if raw.record is not None:
        fault = find_fault(raw.record)
        return fault if fault is not None else cast(EpisodeRecord, raw.record)
    try:
        record = parse_json(raw.line_text)
    except ValueError as error:
        if looks_like_utf16(raw.line_text):
            return Fault(
                "not-json", "a line must be in UTF-8, got what looks like UTF-16; convert the file to UTF-8"
            )
        return Fault("not-json", f"a line must be one JSON object, got {_abridged(raw.text())} ({error})")
    fault = find_fault(record, known.find_fault)
    return fault if fault is not None else cast(EpisodeRecord, record)


def looks_like_utf16(text: bytes) -> bool:
    """Return whether a line that is no JSON may be text in UTF-16: a byte order mark, or every other byte zero.

    >>> looks_like_utf16('{"episode": 1}'.encode("utf-16-le")), looks_like_utf16(b'{"episode": 1')
    (True, False)
    """
    even, odd = text[0:64:2], text[1:64:2]
    halves = (not any(even) and all(odd)) or (not any(odd) and all(even))
    return text.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or (len(text) > 3 and halves)


def _entry_of(episode: LoggedEpisode, place: int) -> LogEntry:
    """Return an episode of a program: its values are the program's own, its probabilities are checked."""
    record = episode.to_json()
    file, line = episode.source or (IN_MEMORY, place)
    raw = RawRecord(file, line, record=record)  # type: ignore[arg-type]
    for number, step in enumerate(episode.steps, 1):
        p = step.probability
        p = p.item() if isinstance(p, np.generic) else p
        if p is not None and (fault := find_chance_fault(number, p)) is not None:
            return raw, fault
    return raw, record


def _abridged(text: bytes, most: int = 60) -> str:
    shown = text[:most].decode("utf-8", "backslashreplace").rstrip("\r\n")
    return repr(shown + (" ..." if len(text) > most else ""))

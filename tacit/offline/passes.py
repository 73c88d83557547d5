"""The one pass over logs: what a reader makes of each episode, what is wrong set aside and told, progress reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from tacit.logs.problems import Problems
from tacit.logs.reading import Entry, LogSource, Progress, tally
from tacit.logs.record import EpisodeRecord, Fault

T = TypeVar("T")


def read_through(
    source: LogSource,
    read: Callable[[EpisodeRecord, int], T | Fault],
    problems: Problems | None = None,
    progress: Progress | None = None,
) -> Iterator[T]:
    """Yield what `read` makes of each episode (its record and line); one with a fault goes to `problems`.

    Without `problems` a warning at the end tells of them. Every episode, sound or not, is reported to `progress`.

    >>> from tacit.logs.episode import LoggedEpisode
    >>> told: list[int] = []
    >>> source = LogSource([LoggedEpisode(n, "new", (), "thanks") for n in (7, 8)])
    >>> list(read_through(source, lambda record, line: record["episode"], progress=told.append)), told
    ([7, 8], [2])
    """
    own = problems if problems is not None else Problems()
    yield from sift(tally(source, progress), read, own)
    if problems is None:
        own.warn()


def sift(
    entries: Iterable[Entry], read: Callable[[EpisodeRecord, int], T | Fault], problems: Problems
) -> Iterator[T]:
    """Yield what `read` makes of entries; those that break a rule, of the format or the reader's, go to `problems`."""
    for raw, found in entries:
        made = found if isinstance(found, Fault) else read(found, raw.line)
        if isinstance(made, Fault):
            problems.reject(raw, made)
        else:
            yield made

"""The one pass over logs: what a reader makes of each episode, what is wrong set aside and told, progress reported.

A pass is made here, line after line, or in pieces that an engine deals out. Either way an episode counts once: pieces
come back with the signatures of their episodes, and one that repeats an earlier one is gone over again, here, without
what it repeats. So the result does not depend on who did the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Generic, TypeVar

from tacit.engines.dealing import deal
from tacit.engines.task import Report, Work
from tacit.logs.pieces import Piece, raw_records
from tacit.logs.problems import Problems, nothing_usable
from tacit.logs.reading import LogSource, Progress, check_raws, tally
from tacit.logs.record import EpisodeRecord, Fault
from tacit.logs.repeats import KnownNames, LogEntry, Signatures, mark_repeats, sign_along

T = TypeVar("T")
R = TypeVar("R")
LookAhead = Callable[[Sequence[EpisodeRecord]], None]
"""Takes a look at several episodes before each is read."""

AHEAD = 2000
"""Episodes that are looked at together: enough that their texts make full batches."""


def read_through(
    source: LogSource,
    read: Callable[[EpisodeRecord, int], T | Fault],
    problems: Problems | None = None,
    progress: Progress | None = None,
    ahead: LookAhead | None = None,
) -> Iterator[T]:
    """Yield what `read` makes of each episode (its record and place); one with a fault goes to `problems`.

    Without `problems` a warning at the end tells of them. `ahead` takes a look at several episodes before each is read.
    Every episode, sound or not, is reported to `progress`. Logs of which nothing can be used raise `LogError`.

    >>> from tacit.logs.episode import LoggedEpisode
    >>> told: list[int] = []
    >>> source = LogSource([LoggedEpisode(n, "new", (), "thanks") for n in (7, 8)])
    >>> list(read_through(source, lambda record, line: record["episode"], progress=told.append)), told
    ([7, 8], [2])
    """
    own = problems if problems is not None else Problems()
    made = sift(tally(source, progress), read, own, ahead)
    first = list(_first_of(made))
    if not first:
        raise nothing_usable(own)
    yield from chain(first, made)
    if problems is None:
        own.warn()


def sift(
    entries: Iterable[LogEntry],
    read: Callable[[EpisodeRecord, int], T | Fault],
    problems: Problems,
    ahead: LookAhead | None = None,
) -> Iterator[T]:
    """Yield what `read` makes of entries; those that break a rule, of the format or the reader's, go to `problems`."""
    for raw, found in entries if ahead is None else look_ahead(entries, ahead):
        made = found if isinstance(found, Fault) else read(found, raw.place)
        if isinstance(made, Fault):
            problems.reject(raw, made)
        else:
            yield made


def look_ahead(entries: Iterable[LogEntry], ahead: LookAhead) -> Iterator[LogEntry]:
    """Yield entries, after those that come together were looked at."""
    waiting = iter(entries)
    while batch := list(islice(waiting, AHEAD)):
        ahead([found for _, found in batch if not isinstance(found, Fault)])
        yield from batch


Pass = Callable[[Iterable[LogEntry]], R]
"""What is made of the lines or rows of a piece."""


class PieceWork(Generic[R]):
    """Makes, in a worker, what goes over pieces and signs their episodes."""

    def __init__(self, make_pass: Callable[[], Pass[R]]) -> None:
        self._make_pass = make_pass

    def __call__(self) -> Work[Piece, tuple[R, Signatures]]:
        """Return the work on one piece."""
        return partial(go_over, self._make_pass())


def go_over(work: Pass[R], piece: Piece, report: Report) -> tuple[R, Signatures]:
    """Return what is made of a piece, and the signatures of its episodes."""
    signed: list[Signatures] = []
    made = work(sign_along(check_raws(raw_records(piece)), signed))
    return made, Signatures.join(signed)


def deal_pieces(
    pieces: Iterable[Piece], make_pass: Callable[[], Pass[R]], engine: str, jobs: int | None = None
) -> Iterator[R]:
    """Yield what an engine makes of each piece, in order, as if every episode came once."""
    known, here = KnownNames(), None
    for done in deal(pieces, PieceWork(make_pass), engine=engine, jobs=jobs):
        made, met = done.result
        verdicts = known.enter(met)
        if verdicts.any():
            here = here if here is not None else make_pass()
            made = here(mark_repeats(check_raws(raw_records(done.task)), verdicts))
        yield made


def _first_of(items: Iterator[T]) -> Iterator[T]:
    for item in items:
        yield item
        return

"""Labels: rows for episodes in memory, or files of any size, dealt out in pieces.

Whatever the number of processes or the engine, each piece goes through the same function, so the output is the same to
the last byte. Memory is bounded by the pieces under way. The file of labels takes its name when it is whole.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from tacit.base.files import check_distinct
from tacit.engines.dealing import check_engine
from tacit.logs.files import is_parquet
from tacit.logs.label_files import LabelWriter, check_label_file, encode_labels
from tacit.logs.labels import Decoded, LabelledRow, label_row
from tacit.logs.problems import KeptProblems, Problem, Problems, nothing_usable
from tacit.logs.reading import LogSource, Progress
from tacit.logs.record import EpisodeRecord, Fault, LogError
from tacit.logs.repeats import LogEntry
from tacit.offline.passes import LookAhead, Pass, deal_pieces, read_through, sift

E = TypeVar("E")

BATCH = 500
"""Ends decoded at once: few enough to stay in the processor's cache."""
FEW = 16 << 20
"""Bytes of logs up to which one process is faster than starting several."""


class Meanings(Protocol[E]):
    """What labels: it reads how an episode ended, and decodes several ends at once."""

    def read(self, record: EpisodeRecord) -> E | Fault:
        """Return how an episode ended, or the rule that it breaks."""

    def decode(self, ends: Sequence[E]) -> Sequence[Decoded]:
        """Return what each end means."""

    @property
    def ahead(self) -> LookAhead | None:
        """Return what looks at several episodes before each is read, None if nothing has to."""

    def to_tree(self) -> dict[str, Any]:
        """Return arrays and plain values from which a worker rebuilds it."""

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Meanings[E]:
        """Return what `to_tree` described."""


@dataclass(frozen=True)
class LabelSummary:
    """How many rows were written and how many episodes set aside."""

    rows: int
    rejected: int


class Labelled(NamedTuple):
    """What a worker gives back: rows as bytes, how many, and what was wrong where."""

    rows: bytes
    n: int
    faults: list[tuple[Problem, bytes]]


def label_episodes(
    meanings: Meanings[Any], source: LogSource, problems: Problems | None, progress: Progress | None
) -> Iterator[LabelledRow]:
    """Yield a row for each episode; those that do not fit the model go to `problems`, or are told of at the end."""
    ends = read_through(source, partial(_named_end, meanings), problems, progress, meanings.ahead)
    yield from (label_row(*each) for each in decode_ends(meanings, ends))


def write_labels(
    meanings: Meanings[Any],
    source: LogSource,
    out: str | os.PathLike[str],
    problems: Problems | None = None,
    progress: Progress | None = None,
    processes: int | None = None,
    engine: str = "local",
) -> LabelSummary:
    """Write a row for each episode to `out`, JSON lines or Parquet by its ending; return how many.

    Without `problems` the first episode that does not fit the model raises `LogError`; so do logs of which nothing
    can be labelled, and `out` stays as it was.
    """
    out = Path(out)
    check_label_file(out)
    check_engine_reads(source, engine)
    own = problems if problems is not None else Problems(strict=True)
    check_distinct((out, own.side), source.files or ())
    before, n = own.total, 0
    with LabelWriter(out) as writer:
        for labelled in _label_pieces(meanings, source, is_parquet(out), processes, engine):
            writer.write(labelled.rows)
            for problem, raw in labelled.faults:
                own.add(problem, raw)
            n += labelled.n
            if progress is not None:
                progress(labelled.n + len(labelled.faults))
        if not n:
            raise nothing_usable(own)
    return LabelSummary(n, own.total - before)


class Labeller:
    """Makes what labels pieces, in a worker: with its own copy of the meanings."""

    def __init__(self, meanings: Meanings[Any], as_arrow: bool) -> None:
        self._restore: Callable[[Mapping[str, Any]], Meanings[Any]] = type(meanings).from_tree
        self._tree, self._as_arrow = meanings.to_tree(), as_arrow

    def __call__(self) -> Pass[Labelled]:
        """Return what labels the lines or rows of a piece."""
        return partial(label_entries, self._restore(self._tree), self._as_arrow)


def label_entries(meanings: Meanings[Any], as_arrow: bool, entries: Iterable[LogEntry]) -> Labelled:
    """Return the rows of some lines or rows and the faults among them, in their order."""
    problems = KeptProblems()
    with uncollected():
        ends = sift(entries, partial(_named_end, meanings), problems, meanings.ahead)
        labels = list(decode_ends(meanings, ends))
        return Labelled(encode_labels(labels, as_arrow), len(labels), problems.kept)


def decode_ends(
    meanings: Meanings[E], ends: Iterator[tuple[str | int, E]]
) -> Iterator[tuple[str | int, Decoded]]:
    """Yield what the ends of episodes mean, each with the name of its episode."""
    while batch := list(islice(ends, BATCH)):
        names, found = zip(*batch, strict=True)
        yield from zip(names, meanings.decode(found), strict=True)


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector away: records make no cycles, and looking for them takes as long as reading."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def check_engine_reads(source: LogSource, engine: str) -> None:
    """Raise unless the engine is there and can read the logs."""
    check_engine(engine)
    if engine == "ray" and not all(map(is_parquet, source.files or [Path()])):
        raise LogError(
            "the engine ray reads Parquet, whose row groups it deals out; write the logs as .parquet"
        )


def _named_end(meanings: Meanings[E], record: EpisodeRecord, line: int) -> tuple[str | int, E] | Fault:
    end = meanings.read(record)
    return end if isinstance(end, Fault) else (record["episode"], end)


def _label_pieces(
    meanings: Meanings[Any], source: LogSource, as_arrow: bool, processes: int | None, engine: str
) -> Iterator[Labelled]:
    if source.files is None:
        yield label_entries(meanings, as_arrow, source)
        return
    few = sum(file.stat().st_size for file in source.files) <= FEW
    here = engine == "local" and (few if processes is None else processes == 1)
    make_pass = partial(partial, label_entries, meanings, as_arrow) if here else Labeller(meanings, as_arrow)
    yield from deal_pieces(source.pieces(), make_pass, engine, 0 if here else processes)

"""The pass over logs that gathers tuples: of finite data counts, of vectors a sample, so that memory is bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.decoding.reading import FiniteReading, Reading, fit_reading
from tacit.decoding.tuples import Reservoir, TupleCounts, TupleRow, Tuples, counted_shape, is_finite
from tacit.logs.episodes import LogError, LoggedEpisode, Problem, Problems
from tacit.logs.files import dump_json
from tacit.logs.survey import LogReader, ReadEpisode
from tacit.offline.reward_model import Progress
from tacit.offline.tables.tuples import (
    FLUSH,
    MOST_TUPLES,
    UNIFORM_LEVEL,
    UNKNOWN_PROBABILITY,
    Selection,
    uniformity_p_value,
)
from tacit.problem.layout import Layout

HELD_BACK = 5
"""The tuple of every fifth line is held back to validate."""
MOST_ANCHORS = 10_000
"""Known outcomes that are kept: far more than it takes to settle an orientation."""
REPORT_EVERY = 5_000
"""Episodes between two calls of `Progress`."""


class NothingToLearnError(LogError):
    """Logs from which nothing can be learned, however many there are."""


@dataclass
class SplitCounts:
    """Weighted counts of tuples, every fifth held back."""

    fitted: TupleCounts
    held: TupleCounts

    @staticmethod
    def empty(reading: Reading) -> SplitCounts:
        """Return counts of no tuples in a reading's groups and values."""
        shape = counted_shape(reading.counted)
        return SplitCounts(TupleCounts.empty(shape), TupleCounts.empty(shape))

    def add(self, reading: Reading, tuples: Tuples) -> None:
        """Count tuples."""
        if not len(tuples):
            return
        groups, values = reading.read(tuples.contexts, tuples.states, tuples.feedback)  # type: ignore[arg-type]
        held = tuples.positions % HELD_BACK == 0
        for part, chosen in ((self.fitted, ~held), (self.held, held)):
            part.add(
                tuples.states[chosen],
                groups[chosen],
                values[chosen],
                tuples.actions[chosen],
                tuples.weights[chosen],
            )

    def merge(self, other: SplitCounts) -> None:
        """Take in the counts of other tuples."""
        self.fitted, self.held = self.fitted + other.fitted, self.held + other.held

    @property
    def total(self) -> TupleCounts:
        """Return the counts of all tuples."""
        return self.fitted + self.held


@dataclass
class Gathered:
    """What one pass over the logs leaves: tuples whose last action was random, and those of which that is unknown."""

    layout: Layout
    selection: Selection
    known: Reservoir[TupleRow]
    unknown: Reservoir[TupleRow]
    counted: dict[str, SplitCounts]
    visits: FloatArray  # (S_H,)
    actions: dict[str, FloatArray]  # each (S_H, X, K); X is 1 for vectors
    episodes: int = 0
    anchors: list[tuple[Any, int, Any, int]] = field(default_factory=list)

    def add(self, episode: ReadEpisode) -> None:
        """Take one episode."""
        self.episodes += 1
        self.visits[episode.states[-1]] += 1
        if episode.reward in (0, 1) and len(self.anchors) < MOST_ANCHORS:
            self.anchors.append(
                (episode.context, episode.states[-1], episode.feedback, int(episode.reward or 0))
            )
        weight = self.selection.weight(episode)
        if weight == 0:
            return
        name = "unknown" if weight is None else "known"
        x = episode.context if isinstance(episode.context, int) and is_finite(self.layout) else 0
        self.actions[name][episode.states[-1], x, episode.actions[-1]] += 1
        columns = self.unknown if weight is None else self.known
        end = (episode.context, episode.states[-1], episode.actions[-1], episode.feedback)
        columns.add((*end, 1.0 if weight is None else weight, episode.position))
        if columns.most is None and len(columns) >= FLUSH:
            self.flush()

    def merge(self, other: Gathered) -> None:
        """Take in what a pass over other episodes of the same logs left; finite data alone, of which counts add up."""
        self.flush()
        other.flush()
        self.episodes += other.episodes
        self.visits = self.visits + other.visits
        self.selection.left_out += other.selection.left_out
        self.anchors = (self.anchors + other.anchors)[:MOST_ANCHORS]
        for name, counts in self.counted.items():
            counts.merge(other.counted[name])
            self.actions[name] = self.actions[name] + other.actions[name]

    def flush(self) -> None:
        """Count the tuples of finite data and forget them."""
        if is_finite(self.layout):
            reading = FiniteReading(self.layout)
            self.counted["known"].add(reading, Tuples.from_rows(self.known.take()))
            self.counted["unknown"].add(reading, Tuples.from_rows(self.unknown.take()))

    def accept_unknown(self) -> float | None:
        """Take the tuples of unknown probability in if their actions look uniform; return the test's p-value if so."""
        n = int(self.actions["unknown"].sum())
        if not n:
            return None
        p_value = uniformity_p_value(self.layout, self.actions["unknown"])
        if p_value < UNIFORM_LEVEL:
            self.selection.left_out[UNKNOWN_PROBABILITY] += n
            return None
        self.actions["known"] = self.actions["known"] + self.actions["unknown"]
        self.flush()
        if is_finite(self.layout):
            self.counted["known"].merge(self.counted["unknown"])
        self.known.rows += self.unknown.rows
        return p_value

    def count(self, seed: int) -> tuple[Reading, SplitCounts]:
        """Return the reading, fitted if data are vectors, and the counts of its tuples."""
        if is_finite(self.layout):
            self.flush()
            return FiniteReading(self.layout), self.counted["known"]
        reading, counted = fit_reading(self.layout, Tuples.from_rows(self.known.take()), seed)
        counts = SplitCounts.empty(reading)
        counts.add(reading, counted)
        return reading, counts


def gather(
    episodes: Iterable[LoggedEpisode],
    layout: Layout,
    assume_uniform: bool = False,
    problems: Problems | None = None,
    progress: Progress | None = None,
) -> Gathered:
    """Return the tuples of the episodes; one that the layout cannot encode goes to `problems`."""
    finite = is_finite(layout)
    most = None if finite else MOST_TUPLES
    counted = {}
    if finite:
        counted = {name: SplitCounts.empty(FiniteReading(layout)) for name in ("known", "unknown")}
    S_H, X = int(layout.n_states[-1]), counted_shape(layout)[1] if finite else 1
    actions = {name: np.zeros((S_H, X, layout.max_actions)) for name in ("known", "unknown")}
    selection = Selection(layout, assume_uniform)
    gathered = Gathered(layout, selection, Reservoir(most), Reservoir(most), counted, np.zeros(S_H), actions)
    for episode in read_episodes(episodes, LogReader(layout), problems, progress):
        gathered.add(episode)
    return gathered


def read_episodes(
    episodes: Iterable[LoggedEpisode],
    reader: LogReader,
    problems: Problems | None,
    progress: Progress | None = None,
) -> Iterator[ReadEpisode]:
    """Yield episodes in the layout's indices; those it cannot encode go to `problems`, or are told of at the end."""
    n, own = 0, problems if problems is not None else Problems()
    for n, episode in enumerate(episodes, 1):
        read = reader.read(episode)
        if isinstance(read, ReadEpisode):
            yield read
        else:
            own.add(Problem.of(read, episode), dump_json(episode.to_json()))
        if progress is not None and n % REPORT_EVERY == 0:
            progress(REPORT_EVERY)
    if progress is not None:
        progress(n % REPORT_EVERY)
    if problems is None:
        own.warn()


def check_learnable(gathered: Gathered) -> None:
    """Raise unless some last state was left by two actions at random."""
    tried = gathered.actions["known"].sum(axis=1)  # (S_H, K)
    if not tried.any():
        raise NothingToLearnError(
            f"a model needs episodes whose last action was random, got none among {gathered.episodes:,} "
            f"({_left_out(gathered)}); log the probability of each action, or say that they were uniform"
        )
    if (tried > 0).sum(axis=1).max() < 2:
        raise NothingToLearnError(
            f"feedback can only be understood where several actions were tried, got one action in each last state of "
            f"{int(tried.sum()):,} episodes: there is nothing to learn from; log episodes that end with other actions"
        )


def _left_out(gathered: Gathered) -> str:
    return ", ".join(f"{why}: {n:,}" for why, n in gathered.selection.left_out.items()) or "none was read"

"""The pass over logs that gathers tuples: of few labels counts, of all else a sample, so that memory is bounded.

Counts add up, so that pieces of the logs can be gathered apart, by whatever engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.counts import SeenCounts, TupleCounts, flat_cells
from tacit.decoding.reading import FiniteReading, Reading, understand
from tacit.decoding.tuples import (
    Reservoir,
    TupleRow,
    Tuples,
    counted_shape,
    is_finite,
)
from tacit.learning.early_endings import find_passing_among
from tacit.learning.generalising import is_counted
from tacit.logs.encoding import EncodedEpisode
from tacit.logs.labels import ABANDONED, SILENT
from tacit.logs.pieces import Piece
from tacit.logs.problems import KeptProblems, Problem, Problems, nothing_usable
from tacit.logs.reading import LogSource, Progress
from tacit.logs.record import LogError
from tacit.logs.repeats import LogEntry
from tacit.offline.passes import deal_pieces, read_through, sift
from tacit.offline.propensities import (
    Propensities,
    TakenAction,
    Thinned,
    estimate_propensities,
    weigh_counts,
)
from tacit.offline.tables.anchors import MOST_ANCHORS, KnownOutcome, known_outcome
from tacit.offline.tables.reader import ahead_of, reader_of
from tacit.offline.teaching import UNIFORM_LEVEL, NothingToLearnError, Teaching, uniformity_p_value
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded, Finite

HELD_BACK = 5
"""The tuple of every fifth line is held back to validate."""
FLUSH = 50_000
"""Tuples kept as rows before they are counted."""
MOST_TUPLES = 200_000
"""Tuples kept of logs that are not counted: a uniform sample of all, so that memory is bounded."""
MOST_TOLD_APART = 20_000_000
"""Labels of contexts times (ending, action, word) up to which many labels are read by what they have in common, for
which arrays of these are made; beyond, each is counted by itself."""


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
    """What one pass over the logs leaves: the tuples that teach, and what was met on the way.

    `counted` holds, of few labels, the tuples that are no longer kept as rows; `actions`, of all else, how often each
    was taken, by its cell in (S_H, X, 1, K), X being 1 for vectors: both by whether their probability is known.
    """

    layout: Layout
    teaching: Teaching[TupleRow]
    counted: dict[str, SplitCounts]
    visits: FloatArray  # (S_H,)
    actions: dict[str, Counter[int]]
    taken: FloatArray  # (S_H, K), where episodes can end early; without rows elsewhere
    over: FloatArray  # the same, of those that ended
    order: Thinned = field(default_factory=Thinned)  # actions of unknown probability
    anchors: list[KnownOutcome] = field(default_factory=list)

    @staticmethod
    def empty(layout: Layout, assume_uniform: bool) -> Gathered:
        """Return what a pass begins with."""
        counted, names = counts_labels(layout), ("known", "unknown")
        most = None if counted else MOST_TUPLES
        return Gathered(
            layout,
            Teaching(Reservoir(most), Reservoir(most), assume_uniform),
            {name: SplitCounts.empty(FiniteReading(layout)) for name in names} if counted else {},
            np.zeros(layout.endings.size),
            {} if counted else {name: Counter() for name in names},
            *np.zeros((2, *(layout.endings.mask.shape if layout.ends_early else (0, 0)))),
        )

    def add(self, episode: EncodedEpisode) -> None:
        """Take one episode; of one without feedback there is nothing to learn here but where it ended, if it did."""
        if episode.abandoned:
            self.teaching.leave_out(ABANDONED, episode.position)
            return
        s, a = episode.ending
        self.visits[s] += 1
        if self.layout.ends_early:
            self._count_passages(episode)
        if episode.feedback is None:
            self.teaching.leave_out(SILENT, episode.position)
            return
        if len(self.anchors) < MOST_ANCHORS and (known := known_outcome(episode)) is not None:
            self.anchors.append(known)
        K = len(self.layout.endings.actions[s])
        admitted = self.teaching.admit(episode.probabilities[-1], K, episode.position)
        if admitted is None:
            return
        kept, weight = admitted
        kept.add((episode.context, s, a, episode.feedback, weight, episode.position))
        if kept is self.teaching.unknown:
            self.order.add(TakenAction(s, self._group(episode.context), a))
        if self.actions:
            name = "known" if kept is self.teaching.known else "unknown"
            self.actions[name][self._cell(episode.context, s, a)] += 1
        if kept.most is None and len(kept) >= FLUSH:
            self.flush()

    def _group(self, context: Encoded) -> int:
        """Return what the policy of the logs may depend on: the label of a context, 0 of a vector."""
        return int(context) if isinstance(self.layout.contexts, Finite) else 0

    def _cell(self, context: Encoded, s: int, a: int) -> int:
        """Return where an action is counted in (S_H, X, 1, K)."""
        _, X, _, K = self._tried_shape
        return (s * X + self._group(context)) * K + a

    @cached_property
    def _tried_shape(self) -> tuple[int, int, int, int]:
        contexts = self.layout.contexts
        X = contexts.room if isinstance(contexts, Finite) else 1
        return self.layout.endings.size, X, 1, self.layout.max_actions

    def _count_passages(self, episode: EncodedEpisode) -> None:
        """Count how often each action was taken where an episode could have ended, and how often it did."""
        for h, (s, a) in enumerate(zip(episode.states, episode.actions, strict=True)):
            ending = self.layout.endings.index[h, s]
            if ending >= 0:
                self.taken[ending, a] += 1
        self.over[episode.ending] += 1

    def find_passing(self) -> IntArray:
        """Return the flat indices of the actions (S_H, K) that hardly ever ended an episode."""
        return np.flatnonzero(find_passing_among(self.taken, self.over))

    def merge(self, other: Gathered) -> None:
        """Take in what a pass over other episodes of the same logs left; finite data alone, of which counts add up."""
        self.flush()
        other.flush()
        ours, theirs = self.teaching, other.teaching
        ours.episodes += theirs.episodes
        ours.left_out += theirs.left_out
        ours.first_lines = theirs.first_lines | ours.first_lines
        ours.known.seen += theirs.known.seen
        ours.unknown.seen += theirs.unknown.seen
        self.visits, self.taken, self.over = (
            self.visits + other.visits,
            self.taken + other.taken,
            self.over + other.over,
        )
        self.anchors = (self.anchors + other.anchors)[:MOST_ANCHORS]
        self.order.merge(other.order)
        for name, counts in self.counted.items():
            counts.merge(other.counted[name])

    def flush(self) -> None:
        """Count the tuples of finite data and forget them."""
        if self.counted:
            reading = FiniteReading(self.layout)
            self.counted["known"].add(reading, Tuples.from_rows(self.teaching.known.take()))
            self.counted["unknown"].add(reading, Tuples.from_rows(self.teaching.unknown.take()))

    def tried(self, name: str) -> SeenCounts:
        """Return how often each action was taken in each place, (S_H, X, 1, K), X being 1 for vectors."""
        if self.actions:
            return self._seen(self.actions[name])
        waiting = Tuples.from_rows((self.teaching.known if name == "known" else self.teaching.unknown).rows)
        counted = self.counted[name].total.n.over_values()
        groups = waiting.contexts.astype(np.int64)
        cells = flat_cells(counted.shape, waiting.states, groups, np.zeros_like(groups), waiting.actions)
        return counted.plus(cells, np.ones(len(waiting)))

    def accept_unknown(self) -> float | Propensities | None:
        """Take the tuples of unknown probability in: uniform, if they look so, or as likely as they were taken.

        Return the p-value of uniformity, or the estimate, None if there is none to take in.
        """
        unknown = self.tried("unknown")
        if not unknown.places:
            return None
        p_value = ends_p_value(self.layout, unknown)
        if p_value < UNIFORM_LEVEL:
            return self._weigh_unknown(unknown)
        accepted = self.teaching.accept_unknown(p_value)
        if self.counted:
            self.flush()
            self.counted["known"].merge(self.counted["unknown"])
        else:
            self.actions["known"] += self.actions["unknown"]
        return accepted

    def _weigh_unknown(self, tried: SeenCounts) -> Propensities | None:
        """Take in, by their estimated probabilities, the tuples that have one; return the estimate if any has."""
        split = self._split_unknown()
        found = estimate_propensities(tried, split, self.order.rows, self.layout.endings.n_actions)
        self.teaching.accept_weighed(found.forced, found.scarce)
        if self.counted:
            counts = self.counted["unknown"]
            weighed = (weigh_counts(part, found.weights) for part in (counts.fitted, counts.held))
            self.counted["known"].merge(SplitCounts(*weighed))
        else:
            weights = dict(zip(found.weights.cells.tolist(), found.weights.numbers.tolist(), strict=True))
            for x, s, a, y, _, position in self.teaching.unknown.take():
                if (weight := weights.get(self._cell(x, s, a))) is not None:
                    self.teaching.known.rows.append((x, s, a, y, weight, position))
            taken = self.actions["unknown"]
            self.actions["known"] += Counter({cell: taken[cell] for cell in weights})
        return found if found.tuples else None

    def _split_unknown(self) -> tuple[SeenCounts, SeenCounts]:
        """Return how often actions of unknown probability were taken, in tuples to fit and in those held back."""
        if self.counted:
            self.flush()
            counts = self.counted["unknown"]
            return counts.fitted.n.over_values(), counts.held.n.over_values()
        parts: tuple[Counter[int], Counter[int]] = Counter(), Counter()
        for x, s, a, _, _, position in self.teaching.unknown.rows:
            parts[position % HELD_BACK == 0][self._cell(x, s, a)] += 1
        return self._seen(parts[0]), self._seen(parts[1])

    def _seen(self, taken: Counter[int]) -> SeenCounts:
        cells = np.array(sorted(taken), dtype=np.int64)
        return SeenCounts(
            self._tried_shape, cells, np.array([taken[c] for c in cells.tolist()], dtype=np.float64)
        )

    def count(self, seed: int, c: float = 0.0) -> tuple[Reading, SplitCounts]:
        """Return the reading, fitted if labels are not counted, and the counts of its tuples.

        A place where nothing is told is worth c.
        """
        if self.counted:
            self.flush()
            return FiniteReading(self.layout), self.counted["known"]
        tuples = Tuples.from_rows(self.teaching.known.take())
        reading, counted = understand(reader_of(self.layout).seen, tuples, c, seed)
        counts = SplitCounts.empty(reading)
        counts.add(reading, counted)
        return reading, counts


def counts_labels(layout: Layout) -> bool:
    """Return whether contexts and feedback are counted as they are: few labels, or too many to be told apart."""
    if is_counted(layout) or not is_finite(layout):
        return is_counted(layout)
    S, X, V, K = counted_shape(layout)
    return S * X * V * K > MOST_TOLD_APART


def gather(
    source: LogSource,
    layout: Layout,
    assume_uniform: bool = False,
    problems: Problems | None = None,
    progress: Progress | None = None,
) -> Gathered:
    """Return the tuples of the logs; an episode that the layout cannot encode goes to `problems`."""
    gathered, reader = Gathered.empty(layout, assume_uniform), reader_of(layout)
    for episode in read_through(source, reader.read, problems, progress, ahead_of(reader)):
        gathered.add(episode)
    return gathered


def gather_pieces(
    pieces: Iterable[Piece],
    layout: Layout,
    assume_uniform: bool,
    engine: str,
    problems: Problems | None = None,
    progress: Progress | None = None,
) -> Gathered:
    """Return the tuples of pieces of logs that an engine deals out; of finite data alone."""
    if not counts_labels(layout):
        raise LogError(
            f"the engine {engine} counts few labels, got contexts {layout.contexts!r} and feedback "
            f"{layout.feedback!r}"[:300]
            + "; leave the engine out"
        )
    own, gathered = problems if problems is not None else Problems(), Gathered.empty(layout, assume_uniform)
    for part, kept in deal_pieces(pieces, partial(Gatherer, layout, assume_uniform), engine):
        gathered.merge(part)
        for problem, raw in kept:
            own.add(problem, raw)
        if progress is not None:
            progress(part.teaching.episodes + len(kept))
    if not gathered.teaching.episodes:
        raise nothing_usable(own)
    if problems is None:
        own.warn()
    return gathered


class Gatherer:
    """Gathers the tuples of pieces, in a worker."""

    def __init__(self, layout: Layout, assume_uniform: bool) -> None:
        self._reader, self._assume_uniform = reader_of(layout), assume_uniform

    def __call__(self, entries: Iterable[LogEntry]) -> tuple[Gathered, list[tuple[Problem, bytes]]]:
        """Return the tuples of the lines or rows of a piece, and what was wrong with them."""
        problems, gathered = KeptProblems(), Gathered.empty(self._reader.layout, self._assume_uniform)
        for episode in sift(entries, self._reader.read, problems):
            gathered.add(episode)
        gathered.flush()
        return gathered, problems.kept


def ends_p_value(layout: Layout, tried: SeenCounts) -> float:
    """Return the p-value of last actions being uniform in each ending and context, from counts (S_H, X, 1, K)."""
    n_actions = layout.endings.n_actions
    return uniformity_p_value((table[0, : n_actions[s]] for (s, _), table in tried.tables()), untested=0.0)


def check_learnable(gathered: Gathered, problems: Problems | None) -> None:
    """Raise unless some last state was left by two actions at random."""
    tried, teaching = gathered.tried("known").by_action(), gathered.teaching  # (S_H, K)
    read, refused = teaching.read(problems), teaching.why_refused(problems)
    if not tried.any():
        raise NothingToLearnError(
            f"a model needs episodes whose last action was random, got none among {read:,} ({refused}); log the "
            "probability of each action, or say that they were uniform"
        )
    if (tried > 0).sum(axis=1).max() < 2:
        raise NothingToLearnError(
            f"feedback can only be understood where several actions were tried, got one action in each last state of "
            f"{int(tried.sum()):,} of {read:,} episodes ({refused}): there is nothing to learn from; log "
            "episodes that end with other actions"
        )

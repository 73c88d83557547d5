"""What feedback means, for labels and vectors: a table over (last state, context group, feedback value, action).

The table stands behind a `Reading`, which turns contexts and feedback into groups and values. The counts of tuples say
what each place, a last state in a context group, is (`tacit.decoding.judgement`), and what its feedback decodes to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.decoding.confidence import Doubt, weigh_doubt
from tacit.decoding.counts import SeenCounts
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    UNKNOWN,
    Judgement,
    Judgements,
    decode_all,
    judge_all,
)
from tacit.decoding.reading import FiniteReading, Reading, reading_from_state
from tacit.decoding.tuples import counted_shape
from tacit.decoding.word_types import fit_types
from tacit.learning.places import Places
from tacit.learning.settings import Settings
from tacit.logs.encoding import LogReader, broken_off, mixed_horizon
from tacit.logs.labels import (
    ABANDONED,
    DECIMALS,
    DECODED,
    LOWER_BOUND,
    SILENT,
    UNCERTAIN,
    UNSEEN_ACTION,
    UNSEEN_CONTEXT,
    UNSEEN_FEEDBACK,
    UNSEEN_STATE,
    Decoded,
)
from tacit.logs.record import EpisodeRecord, Fault
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded


class EpisodeEnd(NamedTuple):
    """How an episode ended, encoded; `key` is the same before it was, by which it is known again, None for vectors."""

    context: Encoded
    state: int
    feedback: Encoded
    action: int
    key: tuple[Any, ...] | None


@dataclass(frozen=True, eq=False)
class TableMeanings:
    """Counts of tuples, what they say of each place, and what feedback means there.

    `counts` are effective tuples of the reading's groups and values; `oriented` (S_H, G) says where anchors settled the
    orientation, `flipped` where they turned it round.
    """

    layout: Layout
    reading: Reading
    counts: SeenCounts
    c: float
    oriented: BoolArray
    flipped: BoolArray
    passing: IntArray
    """Flat indices of the actions (S_H, K) that hardly ever end an episode where it could have ended."""

    @cached_property
    def settings(self) -> Settings:
        """Return the settings with which places are judged."""
        return Settings(DecoderSettings(c=self.c))

    @cached_property
    def judgements(self) -> Judgements:
        """Return what the tuples say of every place that has some."""
        layout, settings = self.reading.counted, self.settings.judgement
        if layout.ends_early:
            passing = np.zeros(layout.endings.mask.size, dtype=np.bool_)
            passing[self.passing] = True
            by_action = passing.reshape(layout.endings.mask.shape)
            places = Places(layout, self.c, settings)
            places.take(self.counts, by_action)
            found = places.judgements
        else:
            found = judge_all(layout, self.counts, self.c, settings)
        return {at: flip(j) if self.flipped[at] else j for at, j in found.items()}

    def meaning(self, ending: int, group: int) -> FloatArray:
        """Return what each value means in one place whatever the action, (V,); c if homogeneous, NaN if unknown."""
        judgement = self.judgements.get((ending, group))
        if judgement is not None and (judgement.kind == HETEROGENEOUS or judgement.phi.any()):
            return judgement.phi
        known = judgement is not None and judgement.kind != UNKNOWN
        return np.full(self.counts.shape[2], self.c if known else np.nan)

    def read(self, record: EpisodeRecord) -> EpisodeEnd | Decoded | Fault:
        """Return how an episode ended, what it means if that is known at once, or the rule that the episode breaks."""
        steps = record["steps"]
        last = steps[-1]
        if record.get("abandoned"):
            return Decoded.nothing(ABANDONED)
        key = (record["context"], last["state"], record.get("feedback"), last["action"], len(steps))
        try:
            known = self._known.get(key)
        except TypeError:  # vectors have no hash
            return self._encode(*key, None)
        return known if known is not None else self._encode(*key, key)

    def decode(self, ends: Sequence[EpisodeEnd | Decoded]) -> list[Decoded]:
        """Return what each end means."""
        waiting = [end for end in ends if isinstance(end, EpisodeEnd)]
        if not waiting:
            return list(ends)  # type: ignore[arg-type]
        contexts, states, feedback, _, _ = zip(*waiting, strict=True)
        groups, values = self.reading.read(contexts, np.array(states), feedback)
        cells = [
            self._cell(end.state, int(x), int(y), end.action)
            for end, x, y in zip(waiting, groups, values, strict=True)
        ]
        if isinstance(self.reading, FiniteReading):  # there are only so many ends
            known = zip(waiting, cells, strict=True)
            self._known.update((end.key, cell) for end, cell in known if end.key is not None)
        found = iter(cells)
        return [next(found) if isinstance(end, EpisodeEnd) else end for end in ends]

    def to_tree(self) -> dict[str, Any]:
        """Return arrays and plain values that `from_tree` reads."""
        return {
            "layout": self.layout.to_json(),
            "reading": self.reading.to_state(),
            "counts": self.counts.to_state(),
            "c": self.c,
            "oriented": self.oriented,
            "flipped": self.flipped,
            "passing": self.passing,
        }

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> TableMeanings:
        """Return the meanings that `to_tree` described."""
        saved = Saved.of(tree)
        layout = Layout.from_json(saved.part("layout"))
        reading = reading_from_state(layout, saved.part("reading"))
        places = counted_shape(reading.counted)[:2]
        counts = SeenCounts.from_state(reading.counted, saved.part("counts"))
        oriented, flipped = saved.flags("oriented", places), saved.flags("flipped", places)
        saved.check((oriented | ~flipped).all(), "flipped", "false where nothing oriented it")
        passing = saved.indices("passing", layout.endings.mask.size)
        return cls(layout, reading, counts, saved.number("c", 0, 1), oriented, flipped, passing)

    @cached_property
    def _reader(self) -> LogReader:
        return LogReader(self.layout)

    @cached_property
    def _known(self) -> dict[Any, Decoded]:
        """Return a memory of ends that were decoded."""
        return {}

    def _encode(
        self, context: Any, state: Any, feedback: Any, action: Any, steps: int, key: tuple[Any, ...] | None
    ) -> EpisodeEnd | Decoded | Fault:
        reader = self._reader
        if steps > reader.steps or (steps < reader.steps and not self.layout.ends_early):
            return mixed_horizon(steps, reader.steps)
        s = reader.state_index(steps - 1, state)
        if s is None:
            return Decoded.nothing(UNSEEN_STATE)
        ending = reader.ending(steps, s)
        if ending < 0:
            return broken_off(steps, reader.steps, state)
        found = reader.locate(steps - 1, state, action)
        if isinstance(found, Fault):
            return Decoded.nothing(UNSEEN_ACTION)
        try:
            x = reader.encode_context(context)
        except ValueError:
            return Decoded.nothing(UNSEEN_CONTEXT)
        try:
            y = reader.encode_feedback(feedback)
        except ValueError:
            return Decoded.nothing(UNSEEN_FEEDBACK)
        return Decoded.nothing(SILENT) if y is None else EpisodeEnd(x, ending, y, found[1], key)

    @cached_property
    def _cells(self) -> dict[tuple[int, int, int, int], Decoded]:
        """Return a memory of (last state, group, value, action) that were decoded."""
        return {}

    @cached_property
    def _doubts(self) -> dict[tuple[int, int], tuple[Doubt, BoolArray]]:
        """Return a memory of the doubt in each place, and of which values were seen there."""
        return {}

    @cached_property
    def _met(self) -> frozenset[int]:
        """Return the last states that have tuples."""
        return frozenset(s for s, _ in self.judgements)

    def _cell(self, s: int, x: int, y: int, a: int) -> Decoded:
        found = self._cells.get((s, x, y, a))
        if found is None:
            found = self._cells[s, x, y, a] = self._decode(s, x, y, a)
        return found

    def _decode(self, s: int, x: int, y: int, a: int) -> Decoded:
        judgement = self.judgements.get((s, x))
        if judgement is None:
            return Decoded.nothing(UNSEEN_CONTEXT if s in self._met else UNSEEN_STATE)
        if judgement.kind == UNKNOWN:
            return Decoded.nothing(UNCERTAIN)
        if (s, x) not in self._doubts:
            table = self.counts.table(s, x)[:, : len(judgement.tuples)]
            own = judgement.kind == HETEROGENEOUS or judgement.phi.any()
            phi = judgement.phi if own else fit_types(table).positions
            doubt = weigh_doubt(table, phi, bool(self.oriented[s, x]))
            self._doubts[s, x] = doubt, table.sum(axis=1) > 0
        doubt, seen = self._doubts[s, x]
        return _decode_cell(judgement, doubt, y, a, bool(seen[y]), self.c)


def flip(judgement: Judgement) -> Judgement:
    """Return a judgement the other way round: f and phi become 1 - f and 1 - phi."""
    if judgement.kind != HETEROGENEOUS:
        return judgement
    f, phi = 1 - judgement.f, 1 - judgement.phi
    rewards = decode_all(f, phi, judgement.tuples)
    # Pr[y | a] is what the counts say; f_a = sum_y Pr[y | a] phi(y) when feedback decodes to phi itself.
    return replace(judgement, f=f, phi=phi, rewards=rewards, expected=f)


def _decode_cell(judgement: Judgement, doubt: Doubt, y: int, a: int, seen: bool, c: float) -> Decoded:
    if judgement.kind == HOMOGENEOUS and not judgement.phi.any():
        return Decoded.homogeneous(c, round(1 - doubt.heterogeneous, DECIMALS))
    if not seen:
        return Decoded(None, 0.0, HETEROGENEOUS, UNSEEN_FEEDBACK)
    reward = float(judgement.rewards[y, a])
    rewarded = float(doubt.rewarded(judgement.phi)[y])
    differs = doubt.heterogeneous if judgement.kind == HETEROGENEOUS else 1 - doubt.heterogeneous
    sure = differs * (rewarded if reward >= 0.5 else 1 - rewarded)
    withheld = judgement.phi[y] == 1 and reward < 0.5
    reason = UNCERTAIN if not judgement.settled else LOWER_BOUND if withheld else DECODED
    return Decoded(round(reward, DECIMALS), round(sure, DECIMALS), judgement.kind, reason)

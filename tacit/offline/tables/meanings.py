"""What feedback means, for labels and vectors: a table over (last state, context group, feedback value, action).

The table stands behind a `Reading`, which turns contexts and feedback into groups and values. The counts of tuples say
what each place, a last state in a context group, is (`tacit.decoding.judgement`), and what its feedback decodes to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.decoding.common_meaning import AGREEMENT
from tacit.decoding.confidence import RULED_OUT, Scenarios, heterogeneous_chance, imagine
from tacit.decoding.counts import SeenCounts, restore_outcomes
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    LEVEL,
    UNKNOWN,
    Judgement,
    Judgements,
    posterior_reward,
    proportion_intervals,
)
from tacit.decoding.reading import FiniteReading, Reading, reading_from_state
from tacit.decoding.together import Judged, judge_together, leave_out_all, widen
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
from tacit.offline.passes import LookAhead
from tacit.offline.tables.reader import ahead_of, reader_of
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded

TOGETHER = 0.7
"""Of the interval of f in each place where all of them are at the same end at once: that is rarer than in one."""


class Certainty(NamedTuple):
    """How sure a place is: whether it is `heterogeneous`, Pr[r = 1 | y, a] with its interval (V, K), values met."""

    heterogeneous: float
    rewarded: FloatArray
    low: FloatArray
    high: FloatArray
    met: BoolArray  # (V,)


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

    `counts` are effective tuples of the reading's groups and values, `outcomes` (S_H, G, V, 2) how often each value
    went with a known outcome of 0 and of 1, which turn places as they do online.
    """

    layout: Layout
    reading: Reading
    counts: SeenCounts
    c: float
    outcomes: SeenCounts
    passing: IntArray
    """Flat indices of the actions (S_H, K) that hardly ever end an episode where it could have ended."""

    @cached_property
    def settings(self) -> Settings:
        """Return the settings with which places are judged."""
        return Settings(DecoderSettings(c=self.c))

    @cached_property
    def judged(self) -> Judged:
        """Return what the tuples say of every place that has some, before and after each was turned."""
        layout, settings = self.reading.counted, self.settings.judgement
        passing = np.zeros(layout.endings.mask.size, dtype=np.bool_)
        passing[self.passing] = True
        by_action = passing.reshape(layout.endings.mask.shape)
        left_out = leave_out_all(layout, self.counts, by_action, settings) if layout.ends_early else {}
        return judge_together(layout, self.counts, self.outcomes, self.c, settings, left_out)

    @property
    def judgements(self) -> Judgements:
        """Return what the tuples say of every place that has some."""
        return self.judged.judgements

    def meaning(self, ending: int, group: int) -> FloatArray:
        """Return Pr[r = 1 | y, a] of one place, (V, K); what it is worth if homogeneous, NaN if unknown."""
        judgement = self.judgements.get((ending, group))
        if judgement is not None and is_read(judgement):
            return meant_rewards(judgement, self.counts.shape[3])
        known = judgement is not None and judgement.kind != UNKNOWN
        return np.full(self.counts.shape[2:], plain_worth(judgement) if judgement and known else np.nan)

    def scenarios(self, ending: int, group: int) -> Scenarios:
        """Return what a heterogeneous place may be."""
        at, judged = (ending, group), self.judged
        found = judged.found[at]
        if at in judged.left_out:
            table = self.counts.table(*at)[:, : len(judged.left_out[at])]
            found = widen(found, table, judged.left_out[at])
        return imagine(found, judged.leanings.worlds(at, judged.beliefs))

    def reward_bounds(self, ending: int, group: int) -> tuple[FloatArray, FloatArray]:
        """Return between what a reward lies in expectation, (V, K) each, so that the means over feedback bound f."""
        meant, judgement = self.meaning(ending, group), self.judgements.get((ending, group))
        if judgement is None or judgement.kind == UNKNOWN:
            return np.zeros_like(meant), np.ones_like(meant)
        if judgement.kind == HOMOGENEOUS:
            least, most = self._told_interval(ending, group)
            most = max(most, self._most_unseen(ending, group, judgement))
            return np.minimum(meant, least), np.full_like(meant, most)
        f, (lowest, highest) = judgement.f, self.scenarios(ending, group).f_interval(TOGETHER)
        down = np.divide(np.minimum(lowest, f), f, out=np.zeros_like(f), where=f > 0)
        up = np.divide(1 - np.maximum(highest, f), 1 - f, out=np.zeros_like(f), where=f < 1)
        low, high, K = meant.copy(), meant.copy(), len(f)
        low[:, :K], high[:, :K] = meant[:, :K] * down, 1 - (1 - meant[:, :K]) * up
        return low, high

    def _told_interval(self, ending: int, group: int) -> tuple[float, float]:
        """Return between what known outcomes of a place leave its reward, (1, 0) where none is known."""
        known = self.outcomes.table(ending, group).sum(axis=0)  # of 0, of 1
        if not known.any():
            return 1.0, 0.0
        low, high = proportion_intervals(known[1:], known.sum(keepdims=True), LEVEL)
        return float(low[0]), float(high[0])

    def _most_unseen(self, ending: int, group: int, judgement: Judgement) -> float:
        """Return what an action may earn in a homogeneous place: its worth, or what tuples could not have shown."""
        table = self.counts.table(ending, group)[:, : len(judgement.tuples)]
        worth = plain_worth(judgement)
        return max(judgement.hope, worth) if heterogeneous_chance(table) > RULED_OUT else worth

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
            "outcomes": self.outcomes.to_state(),
            "passing": self.passing,
        }

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> TableMeanings:
        """Return the meanings that `to_tree` described."""
        saved = Saved.of(tree)
        layout = Layout.from_json(saved.part("layout"))
        reading = reading_from_state(reader_of(layout).seen, saved.part("reading"))
        counts = SeenCounts.from_state(reading.counted, saved.part("counts"))
        outcomes = restore_outcomes(counts.shape, saved.part("outcomes"))
        passing = saved.indices("passing", layout.endings.mask.size)
        return cls(layout, reading, counts, saved.number("c", 0, 1), outcomes, passing)

    @cached_property
    def reader(self) -> LogReader:
        """Return who encodes episodes in the layout."""
        return reader_of(self.layout)

    @property
    def ahead(self) -> LookAhead | None:
        """Return what has texts encoded together before each is read, None where there are none."""
        return ahead_of(self.reader)

    @cached_property
    def _known(self) -> dict[Any, Decoded]:
        """Return a memory of ends that were decoded."""
        return {}

    def _encode(
        self, context: Any, state: Any, feedback: Any, action: Any, steps: int, key: tuple[Any, ...] | None
    ) -> EpisodeEnd | Decoded | Fault:
        reader = self.reader
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
    def _certainties(self) -> dict[tuple[int, int], Certainty]:
        """Return a memory of how sure each place is."""
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
        if (s, x) not in self._certainties:
            self._certainties[s, x] = self._weigh(s, x, judgement)
        return _decode_cell(judgement, self._certainties[s, x], y, a)

    def _weigh(self, s: int, x: int, judgement: Judgement) -> Certainty:
        table = self.counts.table(s, x)[:, : len(judgement.tuples)]
        chance, met = heterogeneous_chance(table), table.sum(axis=1) > 0
        if judgement.kind == HOMOGENEOUS:
            nothing = np.empty((0, 0))
            return Certainty(chance, nothing, nothing, nothing, met)
        scenarios = self.scenarios(s, x)
        return Certainty(chance, scenarios.rewarded, *scenarios.reward_interval(), met)


def meant_rewards(judgement: Judgement, n_actions: int) -> FloatArray:
    """Return Pr[r = 1 | y, a] as a heterogeneous place was judged, (V, n_actions), 0 for actions that it lacks."""
    meant = posterior_reward(judgement.f, judgement.phi, judgement.tuples)
    return np.pad(meant, ((0, 0), (0, n_actions - meant.shape[1])))


def is_read(judgement: Judgement) -> bool:
    """Return whether feedback of a place means something: its own words tell, or those of its group do."""
    return judgement.kind == HETEROGENEOUS or bool(judgement.phi.any())


def plain_worth(judgement: Judgement) -> float:
    """Return what every action of a homogeneous place is worth: c, or what known outcomes there say."""
    return float(judgement.f[0])


def _decode_cell(judgement: Judgement, certainty: Certainty, y: int, a: int) -> Decoded:
    if not is_read(judgement):
        if not judgement.settled:  # nothing was found, where something could have hidden
            return Decoded.nothing(UNCERTAIN)
        worth = plain_worth(judgement)
        sure, hope = 1 - certainty.heterogeneous, max(judgement.hope, worth)
        return Decoded.homogeneous(round(worth, DECIMALS), round(sure, DECIMALS), round(hope, DECIMALS))
    if not certainty.met[y]:
        return Decoded(None, 0.0, judgement.kind, UNSEEN_FEEDBACK)
    reward = round(float(judgement.rewards[y, a]), DECIMALS)
    if judgement.kind == HOMOGENEOUS:  # read by what words mean elsewhere: as sure as those places agree
        return Decoded(reward, AGREEMENT, HOMOGENEOUS, DECODED, 0.0, 1.0)
    rewarded = float(certainty.rewarded[y, a])
    sure = certainty.heterogeneous * (rewarded if reward >= 0.5 else 1 - rewarded)
    withheld = rewarded >= 0.5 > reward
    reason = UNCERTAIN if not judgement.settled else LOWER_BOUND if withheld else DECODED
    low, high = (round(float(end[y, a]), DECIMALS) for end in (certainty.low, certainty.high))
    return Decoded(reward, round(sure, DECIMALS), HETEROGENEOUS, reason, low, high)

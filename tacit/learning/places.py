"""What is known of each place, an ending in a context: its tuples, what was judged of it, what planning needs of it.

A place is judged anew when its tuples have grown by a tenth, and when an outcome becomes known there. What one place
says of its orientation bears on all (`tacit.decoding.orientation`): when that changes, all of them are turned anew.
Where episodes end early, actions that hardly ever end one are left out (`tacit.learning.early_endings`), and endings
that cannot tell by themselves are read by what words mean elsewhere (`tacit.decoding.common_meaning`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray
from tacit.base.changes import Change, Changes, assign, commit, put, remove
from tacit.base.saved import Saved
from tacit.decoding.counts import PlaceIndex, RunningCounts, SeenCounts, restore_outcomes
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    UNKNOWN,
    Judgement,
    JudgementSettings,
    judge,
    tuples_wanted,
)
from tacit.decoding.orientation import Beliefs, Leanings
from tacit.decoding.power import is_faint, top_of
from tacit.decoding.together import (
    among_offered,
    judge_together,
    leave_out,
    leave_out_all,
    read_alike,
    telling_by,
    turn_by,
    widen,
    worth_by_outcomes,
)
from tacit.decoding.tuples import counted_shape
from tacit.decoding.word_types import Readings
from tacit.learning.early_endings import read_left_out, save_left_out
from tacit.learning.outlook import Outlook
from tacit.problem.layout import Layout

HALVED = 2
"""What counts are divided by when they are more than is to be remembered."""
GROWTH = 1.1
"""A place is judged anew when its tuples have grown by this factor: a judgement costs as much as ten episodes."""

FIRST_TABLES = np.array([[9.0, 0.0, 0.0], [0.0, 9.0, 5.0], [0.0, 0.0, 4.0]]), np.full((2, 2), 5.0)
"""Counts that take every turn of a judgement."""

TuplePlace = tuple[int, int, int, int]
"""Where a tuple is counted: ending, group, value, action."""


class Known(NamedTuple):
    """What a judgement of a place rests on: what was found, counts (Y, K), actions (K,) left out, outcomes (Y, 2)."""

    found: Judgement
    table: FloatArray
    left_out: BoolArray
    outcomes: FloatArray


class Places:
    """Counts and judgements of every (ending, context group) of a layout that can be counted.

    `settled`, `doubtful`, `best`, `hope` and `wanted`, the tuples that would settle a place or let it be judged anew,
    (S_H, G) are what planning asks of the judgements, `worth` (S_H, G, K) what each action is worth, decoded. Where
    tuples are more than `memory`, if there is one, half of them are forgotten.
    """

    def __init__(self, layout: Layout, c: float, settings: JudgementSettings, memory: int = 0) -> None:
        self._layout, self._c, self._settings, self._memory = layout, c, settings, memory
        shape = self._shape = counted_shape(layout)
        S, G, Y, K = shape
        self.counts = RunningCounts(shape)
        self.outcomes = RunningCounts((S, G, Y, 2))
        self.judgements: dict[PlaceIndex, Judgement] = {}
        self.beliefs = Beliefs()
        self.settled = np.zeros((S, G), dtype=np.bool_)
        self.doubtful = np.zeros((S, G), dtype=np.bool_)
        self.best = np.zeros((S, G))
        self.hope = np.ones((S, G))
        self.wanted = np.repeat(first_wants(layout, c, settings)[:, None], G, axis=1)
        self.worth = np.zeros((S, G, K))
        self._judged = RunningCounts(shape)  # the counts that each judgement rests on
        self._found: dict[PlaceIndex, Judgement] = {}  # judgements before they are turned
        self._left_out: dict[PlaceIndex, BoolArray] = {}  # actions (K,) that a judgement does not rest on
        self._due = np.ones((S, G))  # tuples at which a place is judged anew
        self._leanings = Leanings.none((S, G))
        for table in FIRST_TABLES:  # compiled code is loaded before the first episode, not during one
            judge(table, c, settings)

    def widened(self, layout: Layout) -> Places:
        """Return the same places in a layout with labels more; what is learned by them is learned by both.

        Where contexts have more room, arrays are new ones.
        """
        wider, G = copy(self), counted_shape(layout)[1]
        wider._layout, more = layout, G - self._shape[1]
        if more:
            shape = wider._shape = counted_shape(layout)
            wider.counts, wider._judged = self.counts.widened(shape), self._judged.widened(shape)
            wider.outcomes = self.outcomes.widened((*shape[:3], 2))
            for name in ("settled", "doubtful", "best"):
                setattr(wider, name, pad_groups(getattr(self, name), more))
            wider.hope, wider._due = pad_groups(self.hope, more, 1.0), pad_groups(self._due, more, 1.0)
            wanted = first_wants(layout, self._c, self._settings)
            wider.wanted = np.concatenate((self.wanted, np.repeat(wanted[:, None], more, axis=1)), axis=1)
            wider.worth = pad_groups(self.worth, more)
            wider._leanings = self._leanings.widened(more)
        return wider

    def learn(self, told: TuplePlace, outcome: int | None, passing: BoolArray | None = None) -> Changes:
        """Return what a tuple changes, and what its outcome does, if that is known.

        `passing` (K,), where an episode can go on, are the actions that hardly ever end one.
        """
        s, x, y, a = told
        changes: list[Change] = [*self.counts.learn(*told)]
        known = self.outcomes.table(s, x)
        if outcome is not None:
            changes += self.outcomes.learn(s, x, y, outcome)
            known[y, outcome] += 1.0
        tuples = self.counts.tuples(s, x) + 1
        if tuples < self._due[s, x] and outcome is None:
            return changes
        counts = self.counts.table(s, x)
        counts[y, a] += 1.0
        if 0 < self._memory < tuples:
            counts //= HALVED
            tuples = int(counts.sum())
            changes += self.counts.replace(s, x, counts)
        changes.append(put(self._due, (s, x), GROWTH * tuples + 1))
        changes += self._judged.replace(s, x, counts)
        return (*changes, *self._judge((s, x), counts, known, passing))

    def forget(self, places: Sequence[PlaceIndex]) -> Changes:
        """Return what makes some places such of which nothing is known, so that they are explored again."""
        leanings, wanted = self._leanings, first_wants(self._layout, self._c, self._settings)
        changes: list[Change] = []
        for at in places:
            leanings = leanings.replaced(at, None, 0.0, 0.0)
            for counts in (self.counts, self.outcomes, self._judged):
                changes += counts.forget(*at)
            for known in (self.judgements, self._found, self._left_out):
                changes.append(remove(known, at))
            changes += (put(array, at, False) for array in (self.settled, self.doubtful))
            changes += put(self._due, at, 1.0), put(self.best, at, 0.0), put(self.hope, at, 1.0)
            changes += put(self.worth, at, 0.0), put(self.wanted, at, wanted[at[0]])
        leanings, reread = self._read_again(leanings, {}, {}, places)
        beliefs = leanings.weigh()
        groups = beliefs.differing(self.beliefs, self._shape[1])
        if self._layout.ends_early:  # what words mean in common rested on the forgotten, too
            groups |= {at[1] for at in places}
        known_of = {at: self._known(at) for at in self._in(groups) if at not in places} | reread
        renewed = {at: self._renew(at, each, leanings, beliefs) for at, each in known_of.items()}
        if self._layout.ends_early:
            renewed |= self._read_alike(known_of, renewed, places)
        changes += (change for at, pair in renewed.items() for change in self._put(at, *pair))
        return (*changes, assign(self, "_leanings", leanings), assign(self, "beliefs", beliefs))

    def outlook(self, group: int) -> Outlook:
        """Return what is known of all endings in a context group."""
        return Outlook(
            self.worth[:, group],
            self.settled[:, group],
            self.doubtful[:, group],
            self.best[:, group],
            self._hopes(group),
            self.wanted[:, group],
            lambda: self._tuples_in(group),
        )

    def _hopes(self, group: int) -> FloatArray:
        """Return what each ending may be worth, (S_H,): where feedback is faint, on the scale of those found."""
        hope: FloatArray = self.hope[:, group]
        if group not in self.beliefs.overlapping or not is_faint(telling_by(self.beliefs)[0]):
            return hope
        here = (self.judgements[at] for at in self._found if at[1] == group)
        tops = [top_of(each.f) for each in here if each.kind == HETEROGENEOUS]
        return np.minimum(hope, max(tops, default=1.0))

    def _tuples_in(self, group: int) -> int:
        return sum(self.counts.tuples(s, group) for s in range(self._shape[0]))

    def decode(self, told: TuplePlace) -> tuple[float, tuple[float, float]] | None:
        """Return what a tuple's feedback decodes to, with bounds, or None if its place is not settled."""
        s, x, y, a = told
        if not self.settled[s, x]:
            return None
        judgement = self.judgements[s, x]
        return float(judgement.rewards[y, a]), judgement.reward_bounds(y, a)

    def to_state(self) -> dict[str, Any]:
        """Return the counts and what cannot be computed from them."""
        return {
            "counts": self.counts.seen().to_state(),
            "outcomes": self.outcomes.seen().to_state(),
            "judged": self._judged.seen().to_state(),
            "left_out": save_left_out(self._shape, self._left_out),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up saved counts: each place is judged again on what it was judged on."""
        saved = Saved.of(state)
        counts = SeenCounts.from_state(self._layout, saved.part("counts"), whole=True)
        judged = SeenCounts.from_state(self._layout, saved.part("judged"), whole=True)
        outcomes = restore_outcomes(self._shape, saved.part("outcomes"))
        saved.check(judged.is_within(counts), "judged", "no more than was counted")
        due = judging_due(judged)
        still = all(tuples < due[place] for place, tuples in zip(counts.places, counts.tuples, strict=True))
        saved.check(still, "judged", f"what was counted when it had last grown by {GROWTH}")
        self._left_out = read_left_out(self._layout, self._shape, saved)
        self._take(judged, outcomes)
        self.counts = RunningCounts(self._shape, counts)

    def take(
        self, counts: SeenCounts, outcomes: SeenCounts | None = None, passing: BoolArray | None = None
    ) -> None:
        """Take up counts and known outcomes of logs and judge every place on them; `passing` (S_H, K) pass on."""
        if passing is not None:
            self._left_out = leave_out_all(self._layout, counts, passing, self._settings)
        nothing = SeenCounts.empty((*self._shape[:3], 2))
        self._take(counts, nothing if outcomes is None else outcomes)

    def _take(self, counts: SeenCounts, outcomes: SeenCounts) -> None:
        self.outcomes = RunningCounts(outcomes.shape, outcomes)
        self.counts, self._judged = RunningCounts(self._shape, counts), RunningCounts(self._shape, counts)
        self._due = judging_due(counts)
        known = self._c, self._settings, self._left_out
        judged = judge_together(self._layout, counts, outcomes, *known)
        self._leanings, self.beliefs = judged.leanings, judged.beliefs
        for place, judgement in judged.judgements.items():
            commit(self._put(place, judged.found[place], judgement))

    def _judge(
        self, place: PlaceIndex, counts: FloatArray, known: FloatArray, passing: BoolArray | None
    ) -> Changes:
        """Return what a judgement of a place on counts (Y, K) and known outcomes (Y, 2) changes."""
        table = counts[:, : self._layout.endings.n_actions[place[0]]]
        left_out = np.zeros(table.shape[1], dtype=np.bool_)
        if passing is not None or self._layout.retired:
            out = self._layout.endings.retired[place[0], : table.shape[1]]
            out = out if passing is None else out | passing[: table.shape[1]]
            left_out = leave_out(table, out, self._settings)
        found = self._found_in(place, table[:, ~left_out], self.beliefs)
        leanings = self._leanings.replaced(place, *found.says(known))
        here = {place: Known(found, table, left_out, known)}
        leanings, reread = self._read_again(leanings, here, {place: known})
        here |= reread
        beliefs = leanings.weigh()
        changes: list[Change] = [assign(self, "_leanings", leanings), assign(self, "beliefs", beliefs)]
        if self._layout.ends_early or self._layout.retired:
            changes.append(put(self._left_out, place, left_out))
        differing = beliefs.differing(self.beliefs, self._shape[1])
        known_of = {other: self._known(other) for other in self._in(differing)} | here
        renewed = {at: self._renew(at, each, leanings, beliefs) for at, each in known_of.items()}
        if self._layout.ends_early:
            renewed |= self._read_alike(known_of, renewed)
        return (*changes, *(change for at, pair in renewed.items() for change in self._put(at, *pair)))

    def _found_in(
        self, place: PlaceIndex, table: FloatArray, beliefs: Beliefs, readings: Readings | None = None
    ) -> Judgement:
        """Return what a table of some actions says, before it is turned; `readings` are those of the same table."""
        between = place[1] in beliefs.between
        return judge(table, self._c, self._settings, telling_by(beliefs), between, readings)

    def _read_again(
        self,
        leanings: Leanings,
        here: dict[PlaceIndex, Known],
        outcomes: Mapping[PlaceIndex, FloatArray],
        gone: Sequence[PlaceIndex] = (),
    ) -> tuple[Leanings, dict[PlaceIndex, Known]]:
        """Return what all places say, and those read anew: of groups whose words now stand between, or no longer do.

        `here` are places judged this time, with known outcomes; those that are `gone` say nothing any more.
        """
        beliefs = leanings.weigh()
        moved = beliefs.between ^ self.beliefs.between
        if not moved:
            return leanings, {}
        known_of = {at: self._known(at) for at in self._found if at[1] in moved and at not in gone} | here
        reread = {
            at: each._replace(found=self._again(at, each, beliefs))
            for at, each in known_of.items()
            if each.found.kind == HETEROGENEOUS
        }
        said = {
            at: each.found.says(outcomes[at] if at in outcomes else self.outcomes.table(*at))
            for at, each in reread.items()
        }
        return leanings.with_all(said), reread

    def _again(self, place: PlaceIndex, known: Known, beliefs: Beliefs) -> Judgement:
        """Return what is known of a place as it is found where these beliefs hold."""
        return self._found_in(place, known.table[:, ~known.left_out], beliefs, known.found.readings)

    def _known(self, place: PlaceIndex) -> Known:
        """Return what is known of a place that was judged."""
        K = int(self._layout.endings.n_actions[place[0]])
        left_out = self._left_out.get(place, np.zeros(K, dtype=np.bool_))
        table, outcomes = self._judged.table(*place)[:, :K], self.outcomes.table(*place)
        return Known(self._found[place], table, left_out, outcomes)

    def _in(self, groups: Collection[int]) -> list[PlaceIndex]:
        """Return the places of some context groups that beliefs bear on: of the others nothing is known yet."""
        return [at for at, found in self._found.items() if at[1] in groups and found.kind != UNKNOWN]

    def _renew(
        self, place: PlaceIndex, known: Known, leanings: Leanings, beliefs: Beliefs
    ) -> tuple[Judgement, Judgement]:
        """Return the judgement of a place before it is turned, and as it is where these beliefs hold."""
        found = known.found
        if found.kind == HOMOGENEOUS and telling_by(beliefs) != telling_by(self.beliefs):
            found = self._again(place, known, beliefs)
        turned = turn_by(found, place, leanings, beliefs, self._settings)
        turned = worth_by_outcomes(turned, known.outcomes, self._c)
        return found, widen(turned, known.table, known.left_out)

    def _read_alike(
        self,
        known_of: Mapping[PlaceIndex, Known],
        renewed: Mapping[PlaceIndex, tuple[Judgement, Judgement]],
        gone: Sequence[PlaceIndex] = (),
    ) -> dict[PlaceIndex, tuple[Judgement, Judgement]]:
        """Return the homogeneous places of the groups of those that are renewed, as their words are read in common.

        Places that are `gone` say nothing any more.
        """
        read: dict[PlaceIndex, tuple[Judgement, Judgement]] = {}
        for group in sorted({at[1] for at in renewed}):
            places = sorted(at for at in {*self._found, *renewed} if at[1] == group and at not in gone)
            known = {at: known_of[at] if at in known_of else self._known(at) for at in places}
            tables = {at: each.table for at, each in known.items()}
            outcomes = sum((each.outcomes for each in known.values()), np.zeros((self._shape[2], 2)))
            pairs = {at: renewed.get(at) or (self._found[at], self.judgements[at]) for at in places}
            here = {at: by_itself(*pair) for at, pair in pairs.items()}
            alike = read_alike(here, tables, outcomes, self._c, self._settings)
            read |= {at: (pairs[at][0], judgement) for at, judgement in alike.items()}
        return read

    def _put(self, place: PlaceIndex, found: Judgement, judgement: Judgement) -> Changes:
        """Return a judgement written down, before and after it is turned, as planning and decoding need it."""
        judgement = among_offered(judgement, self._layout.endings.retired[place[0]])
        # Not settled, not judged: worth nothing to the planner, so that it is not drawn there (dev. 5).
        worth, tuples = np.zeros(self._shape[3]), float(judgement.tuples.sum())
        if judgement.settled or judgement.counts_now:
            worth[: len(judgement.expected)] = judgement.worth
        return (
            put(self._found, place, found),
            put(self.judgements, place, judgement),
            put(self.settled, place, judgement.settled),
            put(self.doubtful, place, judgement.waits > 0),
            put(self.best, place, judgement.best),
            put(self.hope, place, judgement.hope),
            put(self.wanted, place, max(tuples_wanted(judgement, self._settings), (GROWTH - 1) * tuples)),
            put(self.worth, place, worth),
        )


def by_itself(found: Judgement, judgement: Judgement) -> Judgement:
    """Return the judgement of a place with what is hoped of it by its own tuples, however it was read in common."""
    if judgement.kind != HOMOGENEOUS or found.hope == judgement.hope:
        return judgement
    known = 0.0 if judgement.phi.any() else float(judgement.expected.max())
    return replace(judgement, hope=max(found.hope, known))


def pad_groups(array: Any, more: int, value: float = 0.0) -> Any:
    """Return an array (S_H, G, ...) with so many context groups more, of the same value."""
    widths = [(0, 0)] * array.ndim
    widths[1] = (0, more)
    return np.pad(array, widths, constant_values=value)


def first_wants(layout: Layout, c: float, settings: JudgementSettings) -> FloatArray:
    """Return how many tuples would settle each ending of which there are none, (S_H,)."""
    untold = {
        int(K): tuples_wanted(judge(np.zeros((1, K)), c, settings), settings)
        for K in layout.endings.n_actions
    }
    return np.array([untold[int(K)] for K in layout.endings.n_actions])


def judging_due(judged: SeenCounts) -> FloatArray:
    """Return at how many tuples each place is judged anew, (S_H, G), by what it was judged on."""
    due: FloatArray = np.ones(judged.shape[:2])
    for place, tuples in zip(judged.places, judged.tuples, strict=True):
        due[place] = GROWTH * tuples + 1
    return due

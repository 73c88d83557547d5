"""What is known of each place, an ending in a context: its tuples, what was judged of it, what planning needs of it.

A place is judged anew when its tuples have grown by a tenth, and when an outcome becomes known there. What one place
says of its orientation bears on all (`tacit.decoding.orientation`): when that changes, all of them are turned anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.changes import Change, Changes, assign, commit, put
from tacit.base.saved import Saved
from tacit.decoding.counts import PlaceIndex, RunningCounts, SeenCounts
from tacit.decoding.judgement import (
    HOMOGENEOUS,
    Judgement,
    JudgementSettings,
    judge,
    judge_together,
    overlap_of,
    turn_by,
)
from tacit.decoding.orientation import Beliefs, Leanings
from tacit.decoding.tuples import counted_shape
from tacit.problem.layout import Layout

GROWTH = 1.1
"""A place is judged anew when its tuples have grown by this factor: a judgement costs as much as ten episodes."""

FIRST_TABLE = np.array([[9.0, 0.0, 0.0], [0.0, 9.0, 5.0], [0.0, 0.0, 4.0]])
"""Counts that take every turn of a judgement."""

TuplePlace = tuple[int, int, int, int]
"""Where a tuple is counted: ending, group, value, action."""


class Places:
    """Counts and judgements of every (ending, context group) of a layout that can be counted.

    `settled`, `best` and `hope` (S_H, G) are what planning asks of the judgements, `worth` (S_H, G, K) what each action
    is worth, decoded.
    """

    def __init__(self, layout: Layout, c: float, settings: JudgementSettings) -> None:
        self._layout, self._c, self._settings = layout, c, settings
        shape = self._shape = counted_shape(layout)
        S, G, Y, K = shape
        self.counts = RunningCounts(shape)
        self.outcomes = RunningCounts((S, G, Y, 2))
        self.judgements: dict[PlaceIndex, Judgement] = {}
        self.beliefs = Beliefs()
        self.settled = np.zeros((S, G), dtype=np.bool_)
        self.best = np.zeros((S, G))
        self.hope = np.ones((S, G))
        self.worth = np.zeros((S, G, K))
        self._judged = RunningCounts(shape)  # the counts that each judgement rests on
        self._found: dict[PlaceIndex, Judgement] = {}  # judgements before they are turned
        self._due = np.ones((S, G))  # tuples at which a place is judged anew
        self._leanings = Leanings.none((S, G))
        judge(FIRST_TABLE, c, settings)  # compiled code is loaded before the first episode, not during one

    def learn(self, told: TuplePlace, outcome: int | None) -> Changes:
        """Return what a tuple changes, and what its outcome does, if that is known."""
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
        changes.append(put(self._due, (s, x), GROWTH * tuples + 1))
        changes += self._judged.replace(s, x, counts)
        return (*changes, *self._judge((s, x), counts, known))

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
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up saved counts: each place is judged again on what it was judged on."""
        saved = Saved.of(state)
        counts = SeenCounts.from_state(self._layout, saved.part("counts"), whole=True)
        judged = SeenCounts.from_state(self._layout, saved.part("judged"), whole=True)
        outcomes = read_outcomes(self._shape, saved.part("outcomes"))
        saved.check(judged.is_within(counts), "judged", "no more than was counted")
        due = judging_due(judged)
        still = all(tuples < due[place] for place, tuples in zip(counts.places, counts.tuples, strict=True))
        saved.check(still, "judged", f"what was counted when it had last grown by {GROWTH}")
        self.take(judged, outcomes)
        self.counts = RunningCounts(self._shape, counts)

    def take(self, counts: SeenCounts, outcomes: SeenCounts | None = None) -> None:
        """Take up counts and known outcomes, those of logs or saved ones, and judge every place on them."""
        if outcomes is not None:
            self.outcomes = RunningCounts(outcomes.shape, outcomes)
        self.counts, self._judged = RunningCounts(self._shape, counts), RunningCounts(self._shape, counts)
        self._due = judging_due(counts)
        judged = judge_together(self._layout, counts, self.outcomes.seen(), self._c, self._settings)
        self._leanings, self.beliefs = judged.leanings, judged.beliefs
        for place, judgement in judged.judgements.items():
            commit(self._put(place, judged.found[place], judgement))

    def _judge(self, place: PlaceIndex, counts: FloatArray, known: FloatArray) -> Changes:
        """Return what a judgement of a place on counts (Y, K) and known outcomes (Y, 2) changes."""
        counts = counts[:, : int(self._layout.endings.n_actions[place[0]])]
        found = judge(counts, self._c, self._settings, overlap_of(self.beliefs, place[1]))
        leanings = self._leanings.replaced(place, *found.says(known))
        beliefs = leanings.weigh()
        changes: list[Change] = [assign(self, "_leanings", leanings)]
        if beliefs != self.beliefs:
            changes.append(assign(self, "beliefs", beliefs))
            differing = beliefs.differing(self.beliefs, self._shape[1])
            for other, judgement in self._found.items():
                if other != place and other[1] in differing:
                    table = self._judged.table(*other)[:, : len(judgement.tuples)]
                    changes += self._turn(other, judgement, table, leanings, beliefs)
        return (*changes, *self._turn(place, found, counts, leanings, beliefs))

    def _turn(
        self, place: PlaceIndex, found: Judgement, counts: FloatArray, leanings: Leanings, beliefs: Beliefs
    ) -> Changes:
        """Return what was found of a place on counts (Y, K), written down as it is where these beliefs hold."""
        overlap = overlap_of(beliefs, place[1])
        if found.kind == HOMOGENEOUS and overlap != overlap_of(self.beliefs, place[1]):
            found = judge(counts, self._c, self._settings, overlap)
        return self._put(place, found, turn_by(found, place, leanings, beliefs, self._settings))

    def _put(self, place: PlaceIndex, found: Judgement, judgement: Judgement) -> Changes:
        """Return a judgement written down, before and after it is turned, as planning and decoding need it."""
        # Not settled, not judged: worth nothing to the planner, so that it is not drawn there (dev. 5).
        worth = np.zeros(self._shape[3])
        if judgement.settled:
            worth[: len(judgement.expected)] = judgement.expected
        return (
            put(self._found, place, found),
            put(self.judgements, place, judgement),
            put(self.settled, place, judgement.settled),
            put(self.best, place, judgement.best),
            put(self.hope, place, judgement.hope),
            put(self.worth, place, worth),
        )


def judging_due(judged: SeenCounts) -> FloatArray:
    """Return at how many tuples each place is judged anew, (S_H, G), by what it was judged on."""
    due: FloatArray = np.ones(judged.shape[:2])
    for place, tuples in zip(judged.places, judged.tuples, strict=True):
        due[place] = GROWTH * tuples + 1
    return due


def read_outcomes(shape: tuple[int, int, int, int], saved: Saved) -> SeenCounts:
    """Return the saved known outcomes of each (s, x, y)."""
    S, G, Y, _ = shape
    cells = saved.indices("cells", S * G * Y * 2)
    numbers = saved.floats("numbers", cells.shape, 1)
    saved.check(not (numbers % 1).any(), "numbers", "whole")
    return SeenCounts((S, G, Y, 2), cells, numbers)

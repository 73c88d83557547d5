"""Endings that stand in several layers are one place, for as long as what is said in them is alike.

A cell of a lake is the same cell at every turn: who falls in there says the same at the third turn as at the ninth, and
what is heard in all of them is judged together, as far as it agrees (`tacit.planning.recurring.find_apart`, on what is
said after each action). In the last layer every episode ends, whatever the action led to, so that what ends there is
something else.

A place is known by the first of its endings; the tuples of each ending are kept, so that one which turns out to be
another can be taken out, with all that was heard in it. What a place is worth differs a little from turn to turn, for
people grow impatient: an ending is worth what its own words say, held to its place by `PRIOR` tuples, and a little more
as long as an earlier turn was hardly tried.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.changes import Change, Changes, assign, put
from tacit.base.saved import Saved
from tacit.decoding.common_meaning import ERRORS
from tacit.decoding.counts import (
    PlaceIndex,
    RunningCounts,
    SeenCounts,
    flat_cells,
    restore_outcomes,
)
from tacit.decoding.judgement import HOMOGENEOUS, UNKNOWN, Judgements, smoothed_variance
from tacit.decoding.tuples import counted_shape
from tacit.learning.early_endings import sum_by
from tacit.learning.outlook import Outlook
from tacit.learning.places import TuplePlace
from tacit.planning.recurring import find_apart
from tacit.problem.layout import Layout

FIRST_LOOK, LOOK_GROWTH = 8, 1.25
"""What is said is compared when a label has so many tuples, and when they have grown by this factor."""
PRIOR = 20.0
"""Tuples by which an action of an ending is held to be worth what it is in all endings of its place."""
HURRY = 0.1
"""Of what an action is worth in an earlier layer than its place was mostly heard in: the most of its standard error
that is added. Without it what is known of the turn that is played lies above what all turns have in common, and no
earlier one is ever tried."""


class Regrouped(NamedTuple):
    """What is counted in each place after endings were grouped anew, and which places hold others than before."""

    places: IntArray  # (S_H, G)
    counts: SeenCounts
    outcomes: SeenCounts
    changed: list[PlaceIndex]


class RecurringEndings:
    """Which endings are one place in each context group, `places` (S_H, G), and what was heard in each of them.

    Where no label stands in several layers each ending is its own place, and nothing is kept.
    """

    def __init__(self, layout: Layout) -> None:
        shape = self._shape = counted_shape(layout)
        self._families = find_families(layout)
        self._layers = layout.endings.layers.astype(np.float64)
        self._family = {int(s): family for family in self._families for s in family}
        self.places = np.repeat(np.arange(shape[0])[:, None], shape[1], axis=1)
        for family in self._families:
            self.places[family] = family[0]
        self.heard: IntArray = np.zeros(shape if self._families else (0, *shape[1:]), dtype=np.int64)
        self.outcomes = RunningCounts((*shape[:3], 2))

    @property
    def recur(self) -> bool:
        """Return whether any label stands in several layers."""
        return bool(self._families)

    def place_of(self, told: TuplePlace) -> TuplePlace:
        """Return a tuple of an ending as one of the place that it is."""
        s, x, y, a = told
        return int(self.places[s, x]), x, y, a

    def learn(self, told: TuplePlace, outcome: int | None) -> Changes:
        """Return what is kept of a tuple, and of its outcome, if that is known."""
        if not self._families:
            return ()
        s, x, y, _ = told
        known = () if outcome is None else self.outcomes.learn(s, x, y, outcome)
        return (put(self.heard, told, self.heard[told] + 1), *known)

    def compare(self, told: TuplePlace, outcome: int | None) -> Regrouped | None:
        """Return how endings are grouped after a tuple, if that is not as before; they are compared now and then."""
        s, x, y, a = told
        family = self._family.get(s)
        if family is None or not is_due(int(self.heard[family, x].sum()) + 1):
            return None
        tables = self.heard[family, x]  # (m, V, K)
        tables[int(np.flatnonzero(family == s)[0]), y, a] += 1
        places = self.places.copy()
        places[family, x] = group_alike(family, tables)
        if (places == self.places).all():
            return None
        heard, outcomes = self.seen(), self.outcomes.seen()
        heard = heard.plus(flat_cells(self._shape, *map(np.atleast_1d, told)), np.ones(1))
        if outcome is not None:
            cell = flat_cells(outcomes.shape, *map(np.atleast_1d, (s, x, y, outcome)))
            outcomes = outcomes.plus(cell, np.ones(1))
        return self._regroup(places, heard, outcomes)

    def take(self, heard: SeenCounts, outcomes: SeenCounts) -> Regrouped:
        """Return how endings are grouped in which this was heard, once that is taken up."""
        places = self.places.copy()
        for family in self._families:
            for x in range(self._shape[1]):
                tables = np.stack([heard.table(int(each), x) for each in family]).astype(np.int64)
                places[family, x] = group_alike(family, tables)
        grouped = self._regroup(places, heard, outcomes)
        if self._families:
            self._keep(heard, outcomes)
            self.places = places
        return grouped

    def seen(self) -> SeenCounts:
        """Return what was heard in each ending."""
        return (
            SeenCounts.of_dense(self.heard.astype(np.float64))
            if self._families
            else SeenCounts.empty(self._shape)
        )

    def look(self, outlook: Outlook, judgements: Judgements, group: int, passing: BoolArray) -> Outlook:
        """Return the outlook on all endings in a group, by that on places and by what was heard in each of them.

        Where a place is read by what words mean elsewhere, its words are known: an action may be worth what was heard
        after it, and little more. `passing` (S_H, K) hardly ever end an episode, and are not looked for.
        """
        tables, places = self.heard[:, group], self._read_as(judgements, group)
        meanings, alike = np.zeros(tables.shape[:2]), np.zeros(len(places), dtype=np.bool_)
        for s in np.unique(places).tolist():
            if (s, group) in judgements:
                judgement = judgements[s, group]
                meanings[places == s] = judgement.phi
                alike[places == s] = judgement.kind == HOMOGENEOUS and bool(judgement.phi.any())
        tuples, good = tables.sum(axis=1).astype(np.float64), np.einsum("sv,svk->sk", meanings, tables)
        all_tuples, all_good = (sum_by(places, each)[places] for each in (tuples, good))
        shares = all_good / np.maximum(all_tuples, 1.0)
        own = (good + PRIOR * shares) / (tuples + PRIOR)
        error = np.sqrt(smoothed_variance(own, tuples + PRIOR))
        own += np.where(self._earlier(places, tuples)[:, None], np.minimum(error, HURRY * own), 0.0)
        outlook = outlook.seen_at(self.places[:, group])
        hopes = np.minimum(
            shares + ERRORS * np.sqrt(smoothed_variance(shares, np.maximum(all_tuples, 1.0))), 1.0
        )
        judged = np.where(outlook.worth > 0.0, np.clip(outlook.worth + own - shares, 0.0, 1.0), 0.0)
        return outlook._replace(
            worth=np.where(alike[:, None], own, judged),
            settled=outlook.settled | alike,
            hope=np.where(alike, hopes.max(axis=1, where=~passing, initial=0.0), outlook.hope),
            hopes=np.where(alike[:, None], hopes, outlook.hope[:, None]),
        )

    def _earlier(self, places: IntArray, tuples: FloatArray) -> BoolArray:
        """Return which endings stand in an earlier layer than their place was mostly heard in, (S_H,)."""
        heard = tuples.sum(axis=1)
        total, layers = (sum_by(places, each)[places] for each in (heard, heard * self._layers))
        return np.asarray(self._layers * total < layers)

    def _read_as(self, judgements: Judgements, group: int) -> IntArray:
        """Return the place by which each ending is read, (S_H,): its own, or that of its label while it is unknown."""
        places: IntArray = self.places[:, group].copy()
        for family in self._families:
            main = int(np.bincount(places[family]).argmax())
            for s in family[places[family] != main].tolist():
                if (s, group) not in judgements or judgements[s, group].kind == UNKNOWN:
                    places[s] = main
        return places

    def forget(self, places: Collection[PlaceIndex]) -> Changes:
        """Return what lets nothing be kept of the endings of some places."""
        if not self._families:
            return ()
        changes: list[Change] = []
        for first, x in places:
            for s in np.flatnonzero(self.places[:, x] == first).tolist():
                changes += put(self.heard, (s, x), 0), *self.outcomes.forget(s, x)
        return changes

    def adopt(self, grouped: Regrouped) -> Change:
        """Return what lets endings be grouped so from now on."""
        return assign(self, "places", grouped.places)

    def widened(self, layout: Layout) -> RecurringEndings:
        """Return the same in a layout with labels more; what is learned by it is learned by both."""
        wider = RecurringEndings(layout)
        wider.places[:, : self._shape[1]] = self.places
        if wider._shape == self._shape:
            wider.heard = self.heard
        elif self._families:
            wider.heard[:, : self._shape[1]] = self.heard
        wider.outcomes = self.outcomes.widened((*wider._shape[:3], 2))
        return wider

    def to_state(self) -> dict[str, Any]:
        """Return what `restore` reads."""
        return {
            "places": self.places.copy(),
            "heard": self.seen().to_state(),
            "outcomes": self.outcomes.seen().to_state(),
        }

    def restore(self, layout: Layout, saved: Saved) -> None:
        """Take up what `to_state` returned, if it fits the layout."""
        places = saved.wholes("places", self._shape[:2])
        saved.check(
            self._could_be(places), "places", "the first of the endings with the same label that are alike"
        )
        heard = SeenCounts.from_state(layout, saved.part("heard"), whole=True)
        saved.check(
            self.recur or not len(heard.cells), "heard", "empty where no label stands in several layers"
        )
        self._keep(heard, restore_outcomes(self._shape, saved.part("outcomes")))
        self.places = places

    def _keep(self, heard: SeenCounts, outcomes: SeenCounts) -> None:
        self.heard[...] = 0
        self.heard.ravel()[heard.cells] = heard.numbers
        self.outcomes = RunningCounts(outcomes.shape, outcomes)

    def _could_be(self, places: IntArray) -> bool:
        """Return whether each ending is its own place, or that of an earlier one of its family that is its own."""
        own = np.arange(self._shape[0])[:, None]
        alone = ~np.isin(own, [s for family in self._families for s in family])
        inside = all(np.isin(places[family], family).all() for family in self._families)
        return inside and bool(
            (places <= own).all()
            and (places == own)[alone[:, 0]].all()
            and (np.take_along_axis(places, places, axis=0) == places).all()
        )

    def _regroup(self, places: IntArray, heard: SeenCounts, outcomes: SeenCounts) -> Regrouped:
        moved = places != self.places
        x = np.nonzero(moved)[1]
        touched = {*zip(places[moved].tolist(), x.tolist(), strict=True)}
        touched |= {*zip(self.places[moved].tolist(), x.tolist(), strict=True)}
        return Regrouped(places, pool_endings(heard, places), pool_endings(outcomes, places), sorted(touched))


def find_families(layout: Layout) -> list[IntArray]:
    """Return the endings before the last layer that have a label and its actions in common, two or more each."""
    endings, families = layout.endings, dict[Any, list[int]]()
    for s in range(endings.early):
        families.setdefault((int(endings.siblings[s]), endings.actions[s]), []).append(s)
    return [np.array(family) for family in families.values() if len(family) > 1]


def group_alike(family: IntArray, tables: IntArray) -> IntArray:
    """Return the place of each ending of a family, (m,), by what was heard in them, tables (m, V, K).

    >>> family, talk = np.array([4, 7, 9]), np.array([[40, 3], [0, 30]])
    >>> group_alike(family, np.stack([talk, talk, talk])), group_alike(family, np.stack([talk[::-1], talk, talk]))
    (array([4, 4, 4]), array([4, 7, 7]))
    """
    apart = find_apart(np.ascontiguousarray(tables.transpose(0, 2, 1)))
    return np.where(apart, family, family[int(np.argmin(apart))])


def pool_endings(counts: SeenCounts, places: IntArray) -> SeenCounts:
    """Return counts of endings (S_H, G, ...) as those of the places that they are."""
    s, x, y, a = np.unravel_index(counts.cells, counts.shape)
    cells = flat_cells(counts.shape, places[s, x], x, y, a)
    return SeenCounts.empty(counts.shape).plus(cells, counts.numbers)


def is_due(tuples: int) -> bool:
    """Return whether so many tuples have grown by `LOOK_GROWTH` since what is said was last compared.

    >>> [n for n in range(1, 40) if is_due(n)]
    [8, 10, 12, 15, 19, 23, 29, 36]
    """
    before, now = (int(np.log(max(n, 1)) / np.log(LOOK_GROWTH)) for n in (tuples - 1, tuples))
    return tuples >= FIRST_LOOK and now > before

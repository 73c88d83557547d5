"""Counts of tuples, held by what was seen: memory follows the tuples, never the (S_H, G, V, K) cells there could be.

`SeenCounts` is the form in which everything reads counts: place by place (an ending in a context group), each as a
table (V, K). `TupleCounts` adds up weighted tuples of logs, many at a time; `RunningCounts` those of an agent, one at a
time. Groups and values are what a reading makes of contexts and feedback (`tacit.decoding.reading`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.changes import Changes, commit, put, remove
from tacit.base.saved import LARGEST_COUNT, Saved
from tacit.decoding.tuples import Tuples, counted_shape
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite

CountShape = tuple[int, int, int, int]
"""(S_H, G, V, K): endings, context groups, feedback values (the last is silence), actions."""
PlaceIndex = tuple[int, int]
"""An ending and a context group."""
MOST_CELLS = 2**62
"""Cells that flat indices of 64 bits can tell apart."""
SUMMED_WHOLE = 1 << 20
"""Cells up to which a sum runs over all of them, seen or not: in the order in which whole arrays are added up."""


@dataclass(frozen=True, eq=False)
class SeenCounts:
    """Positive numbers of some (ending, group, value, action) and 0 for all others.

    `cells` (m,) are flat indices into the shape (S_H, G, V, K), ascending, and `numbers` (m,) what each holds.

    >>> counts = SeenCounts.of_dense(np.array([[[[2.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]]]))
    >>> counts.places, counts.total, len(counts.cells)
    ([(0, 0)], 3.0, 2)
    >>> counts.table(0, 0)
    array([[2., 0.],
           [0., 1.]])
    """

    shape: CountShape
    cells: IntArray
    numbers: FloatArray

    @staticmethod
    def empty(shape: CountShape) -> SeenCounts:
        """Return the counts of nothing."""
        if math.prod(shape) > MOST_CELLS:
            raise ValueError(
                f"counts need fewer than {MOST_CELLS:,} cells (last states x contexts x feedback x actions), got the "
                f"shape {shape}; bin states, contexts or feedback"
            )
        return SeenCounts(shape, np.empty(0, dtype=np.int64), np.empty(0))

    @staticmethod
    def of_dense(counts: FloatArray) -> SeenCounts:
        """Return an array (S_H, G, V, K) of numbers from 0 on, by what is not 0."""
        S, G, V, K = counts.shape
        cells = np.flatnonzero(counts)
        return SeenCounts((S, G, V, K), cells, counts.ravel()[cells].astype(np.float64))

    def plus(self, cells: IntArray, amounts: FloatArray) -> SeenCounts:
        """Return the counts with amounts (n,) added to cells (n,), in their order."""
        merged = np.union1d(self.cells, cells)
        numbers = np.zeros(len(merged))
        numbers[np.searchsorted(merged, self.cells)] = self.numbers
        np.add.at(numbers, np.searchsorted(merged, cells), amounts)
        return SeenCounts(self.shape, merged, numbers)

    def __add__(self, other: SeenCounts) -> SeenCounts:
        return self.plus(other.cells, other.numbers)

    @cached_property
    def places(self) -> list[PlaceIndex]:
        """Return the places that have tuples, in order."""
        flat, G = self._starts[0], self.shape[1]
        return list(zip((flat // G).tolist(), (flat % G).tolist(), strict=True))

    @cached_property
    def tuples(self) -> FloatArray:
        """Return the sum of each of the places, (places,)."""
        return np.add.reduceat(self.numbers, self._starts[1]) if len(self.cells) else np.empty(0)

    @property
    def total(self) -> float:
        """Return the sum of all numbers; of few cells in the order of whole arrays, so that rounding is its own.

        Words are added up before silence, so that where nobody was silent it is as if nobody could have been.
        """
        S, G, V, K = self.shape
        if S * G * max(V - 1, 1) * K > SUMMED_WHOLE:
            return float(self.numbers.sum())
        whole = np.zeros(math.prod(self.shape))
        whole[self.cells] = self.numbers
        words, silence = np.split(whole.reshape(self.shape), [V - 1], axis=2)
        return float(words.ravel().sum() + silence.ravel().sum())

    @cached_property
    def spoken(self) -> int:
        """Return how many values can have been met: V, or one less where nobody was silent."""
        V, K = self.shape[2:]
        return V if (self.cells // K % V == V - 1).any() else V - 1

    def table(self, ending: int, group: int) -> FloatArray:
        """Return the numbers of one place, (V, K), as a new array."""
        V, K = self.shape[2:]
        first = (ending * self.shape[1] + group) * V * K
        low, high = np.searchsorted(self.cells, (first, first + V * K))
        return self._table(first, int(low), int(high))

    def tables(self) -> Iterator[tuple[PlaceIndex, FloatArray]]:
        """Yield every place that has tuples, in order, with its numbers (V, K)."""
        flat, starts = self._starts
        size = self.shape[2] * self.shape[3]
        ends = np.append(starts, len(self.cells))[1:]
        for place, at, low, high in zip(
            self.places, flat.tolist(), starts.tolist(), ends.tolist(), strict=True
        ):
            yield place, self._table(at * size, low, high)

    def over_values(self) -> SeenCounts:
        """Return the sums over feedback values, of the shape (S_H, G, 1, K)."""
        S, G, V, K = self.shape
        place, action = self.cells // (V * K), self.cells % K
        return SeenCounts.empty((S, G, 1, K)).plus(place * K + action, self.numbers)

    def by_ending(self) -> FloatArray:
        """Return the sum of each ending, (S_H,)."""
        S, G, V, K = self.shape
        sums: FloatArray = np.zeros(S)
        np.add.at(sums, self.cells // (G * V * K), self.numbers)
        return sums

    def by_action(self) -> FloatArray:
        """Return the sum of each ending's actions, (S_H, K)."""
        S, G, V, K = self.shape
        sums: FloatArray = np.zeros((S, K))
        np.add.at(sums, (self.cells // (G * V * K), self.cells % K), self.numbers)
        return sums

    def rounded(self) -> SeenCounts:
        """Return the numbers rounded to whole ones."""
        numbers = np.rint(self.numbers)
        kept = numbers > 0
        return SeenCounts(self.shape, self.cells[kept], numbers[kept])

    def to_state(self) -> dict[str, Any]:
        """Return the arrays that `from_state` reads."""
        return {"cells": self.cells, "numbers": self.numbers}

    @staticmethod
    def from_state(layout: Layout, state: Mapping[str, Any], whole: bool = False) -> SeenCounts:
        """Return the counts that `to_state` described, over a layout's contexts and feedback; `whole` if need be."""
        saved, shape = Saved.of(state), counted_shape(layout)
        _, G, V, K = shape
        cells = saved.indices("cells", math.prod(shape))
        numbers = saved.floats("numbers", cells.shape, 0, LARGEST_COUNT)
        possible = (
            (numbers > 0).all() and numbers.sum() <= LARGEST_COUNT and not (whole and (numbers % 1).any())
        )
        saved.check(possible, "numbers", f"positive{', whole' * whole}, and at most {LARGEST_COUNT} together")
        known = layout.endings.known[cells // (G * V * K), cells % K]
        saved.check(known.all(), "cells", "of actions that their states have")
        saved.check(is_met(layout, cells // (V * K) % G, cells // K % V).all(), "cells", "of known labels")
        return SeenCounts(shape, cells, numbers)

    def is_within(self, other: SeenCounts) -> bool:
        """Return whether no number is larger than that of the same cell of others."""
        at = np.searchsorted(other.cells, self.cells)
        known = at < len(other.cells)
        if not known.all() or not np.array_equal(other.cells[at], self.cells):
            return False
        return bool((self.numbers <= other.numbers[at]).all())

    @cached_property
    def _starts(self) -> tuple[IntArray, IntArray]:
        """Return the flat index of each place that has tuples, and where its cells begin."""
        flat, starts = np.unique(self.cells // (self.shape[2] * self.shape[3]), return_index=True)
        return flat, starts

    def _table(self, first: int, low: int, high: int) -> FloatArray:
        V, K = self.shape[2:]
        table = np.zeros(V * K)
        table[self.cells[low:high] - first] = self.numbers[low:high]
        return table.reshape(V, K)


@dataclass(eq=False)
class TupleCounts:
    """Sums over tuples of each (ending, group, value, action): how many, of their weights; of squares without value."""

    n: SeenCounts  # (S_H, G, V, K)
    weight: SeenCounts  # (S_H, G, V, K)
    square: SeenCounts  # (S_H, G, 1, K)

    @staticmethod
    def empty(shape: CountShape) -> TupleCounts:
        """Return sums of no tuples."""
        S, G, _, K = shape
        return TupleCounts(SeenCounts.empty(shape), SeenCounts.empty(shape), SeenCounts.empty((S, G, 1, K)))

    def add(
        self, endings: IntArray, groups: IntArray, values: IntArray, actions: IntArray, weights: FloatArray
    ) -> None:
        """Add many tuples, given by their indices."""
        cells = flat_cells(self.n.shape, endings, groups, values, actions)
        self.n, self.weight = self.n.plus(cells, np.ones(len(cells))), self.weight.plus(cells, weights)
        ends = flat_cells(self.square.shape, endings, groups, np.zeros_like(values), actions)
        self.square = self.square.plus(ends, weights**2)

    def __add__(self, other: TupleCounts) -> TupleCounts:
        return TupleCounts(self.n + other.n, self.weight + other.weight, self.square + other.square)

    @property
    def effective_size(self) -> float:
        """Return (sum w)^2 / sum w^2 over all tuples."""
        total = self.square.total
        return self.weight.total**2 / total if total > 0 else 0.0

    def effective(self) -> SeenCounts:
        """Return counts in effective tuples: each action's shares by weight, its number by its weights.

        Where the weight of an action is the same for all its tuples, these are the plain counts.

        >>> counts = TupleCounts.empty((1, 1, 2, 1))
        >>> zero = np.zeros(3, dtype=np.int64)
        >>> counts.add(zero, zero, np.array([0, 1, 1]), zero, np.array([2.0, 2.0, 2.0]))
        >>> counts.effective().table(0, 0).ravel()
        array([1., 2.])
        """
        _, _, V, K = self.weight.shape
        cells = self.weight.cells
        by_action = self.weight.over_values()
        size = by_action.numbers**2 / self.square.numbers  # both of the same (ending, group, action)
        at = np.searchsorted(by_action.cells, cells // (V * K) * K + cells % K)
        shares = self.weight.numbers / by_action.numbers[at]
        numbers = np.round(shares * size[at], 9)  # sums of equal weights are whole
        kept = numbers > 0
        return SeenCounts(self.weight.shape, cells[kept], numbers[kept])


class RunningCounts:
    """Tuples of uniform actions, counted one at a time.

    >>> counts = RunningCounts((1, 1, 2, 2))
    >>> commit(counts.learn(0, 0, 1, 0))
    >>> commit(counts.learn(0, 0, 1, 1))
    >>> counts.tuples(0, 0), counts.seen().total
    (2, 2.0)
    """

    def __init__(self, shape: CountShape, seen: SeenCounts | None = None) -> None:
        self.shape = shape
        self._tables: dict[PlaceIndex, dict[int, float]] = {}  # by place, then by value and action
        self._tuples: dict[PlaceIndex, int] = {}
        for place, table in seen.tables() if seen is not None else ():
            commit(self.replace(*place, table))

    def learn(self, ending: int, group: int, value: int, action: int) -> Changes:
        """Return what one tuple more changes."""
        place, cell = (ending, group), value * self.shape[3] + action
        more = put(self._tuples, place, self._tuples.get(place, 0) + 1)
        table = self._tables.get(place)
        if table is None:
            return put(self._tables, place, {cell: 1.0}), more
        return put(table, cell, table.get(cell, 0.0) + 1.0), more

    def replace(self, ending: int, group: int, table: FloatArray) -> Changes:
        """Return what lets a place have the tuples of a table (V, K), and no others."""
        flat = table.ravel()
        cells = np.flatnonzero(flat)
        held = dict(zip(cells.tolist(), flat[cells].tolist(), strict=True))
        return put(self._tables, (ending, group), held), put(self._tuples, (ending, group), int(flat.sum()))

    def forget(self, ending: int, group: int) -> Changes:
        """Return what lets a place have no tuples."""
        return remove(self._tables, (ending, group)), remove(self._tuples, (ending, group))

    def widened(self, shape: CountShape) -> RunningCounts:
        """Return the same tuples among more context groups; what is learned by it is learned by both."""
        wider = copy(self)
        wider.shape = shape
        return wider

    def tuples(self, ending: int, group: int) -> int:
        """Return how many tuples a place has."""
        return self._tuples.get((ending, group), 0)

    def table(self, ending: int, group: int) -> FloatArray:
        """Return the tuples of one place, (V, K), as a new array."""
        flat, held = np.zeros(self.shape[2] * self.shape[3]), self._tables.get((ending, group), {})
        flat[list(held)] = list(held.values())
        return flat.reshape(self.shape[2:])

    def seen(self) -> SeenCounts:
        """Return all of them."""
        _, G, V, K = self.shape
        cells = [(s * G + x) * V * K + cell for (s, x), held in self._tables.items() for cell in held]
        numbers = [number for held in self._tables.values() for number in held.values()]
        order = np.argsort(np.array(cells, dtype=np.int64))
        return SeenCounts(
            self.shape, np.array(cells, dtype=np.int64)[order], np.array(numbers, dtype=np.float64)[order]
        )


def restore_outcomes(shape: tuple[int, int, int, int], saved: Saved) -> SeenCounts:
    """Return the saved known outcomes of each (s, x, y)."""
    S, G, Y, _ = shape
    cells = saved.indices("cells", S * G * Y * 2)
    numbers = saved.floats("numbers", cells.shape, 1)
    saved.check(not (numbers % 1).any(), "numbers", "whole")
    return SeenCounts((S, G, Y, 2), cells, numbers)


def flat_cells(
    shape: CountShape, endings: IntArray, groups: IntArray, values: IntArray, actions: IntArray
) -> IntArray:
    """Return the flat index of each (ending, group, value, action)."""
    _, G, V, K = shape
    return np.asarray(((endings * G + groups) * V + values) * K + actions)


def is_met(layout: Layout, groups: IntArray, values: IntArray) -> BoolArray:
    """Return which tuples are of labels that contexts and feedback have; there may be room for more."""
    V = counted_shape(layout)[2]
    contexts, feedback = layout.contexts, layout.feedback
    assert isinstance(contexts, Finite)
    assert isinstance(feedback, Finite)
    return np.asarray((groups < contexts.size) & ((values < feedback.size) | (values == V - 1)))


def without_unmet_silence(tables: FloatArray) -> FloatArray:
    """Return tables (..., V, K) without their last row where nobody was silent: sums and draws are those of words."""
    return tables if tables[..., -1, :].any() else tables[..., :-1, :]


def count_tuples(layout: Layout, tuples: Tuples) -> SeenCounts:
    """Return how many tuples each (s, x, y, a) has."""
    shape = counted_shape(layout)
    contexts, feedback = tuples.contexts.astype(np.int64), tuples.feedback.astype(np.int64)
    cells = flat_cells(shape, tuples.states, contexts, feedback, tuples.actions)
    return SeenCounts.empty(shape).plus(cells, np.ones(len(cells)))

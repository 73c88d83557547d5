"""What Tacit's own recipe needs where episodes can end before the last layer.

Such a state is a place to pass and a place to end. An action that was taken there often and hardly ever ended the
episode has no tuples, and none are waited for: the place is judged by the others, and what little was heard after such
an action is read as it is after them. A place of which that holds for all actions is none to explore.

A label that stands in several layers is one place before the last (`tacit.learning.recurring_endings`); how much there
is to hope for in those of its endings that are not settled, those say that are.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.decoding.counts import CountShape, PlaceIndex
from tacit.problem.layout import Layout

OFTEN = 12
"""Times that an action must have been taken before it can be said that it hardly ever ends an episode."""
HARDLY = 0.1
"""Of these times: the share that ended is below. What is not known then is worth at most as much."""
SIBLINGS, SURPRISE = 2, 0.1
"""A state that stands in several layers is hardly another in each: once so many are settled, the others are worth up to
so much more than the best of them."""


def find_passing(layout: Layout, counts: IntArray) -> BoolArray:
    """Return which actions of each ending were taken often and hardly ever ended an episode, (S_H, K).

    `counts` (H-1, S, K, S) are transitions. No action of the last layer is among them.
    """
    endings = layout.endings
    n = endings.early
    passing: BoolArray = np.zeros(endings.mask.shape, dtype=np.bool_)
    if n:
        layers = endings.layers[:n]
        rows = counts[layers, endings.states[:n]]  # (n, K, S)
        taken = rows.sum(axis=2)
        over = rows[np.arange(n), :, endings.ended[layers + 1]]
        passing[:n] = find_passing_among(taken, over)
    return passing


def find_passing_among(taken: FloatArray | IntArray, over: FloatArray | IntArray) -> BoolArray:
    """Return which actions, of those `taken` and `over` so often, were taken often and hardly ever ended an episode."""
    return np.asarray((taken >= OFTEN) & (over < HARDLY * taken))


def bound_by_siblings(labels: IntArray, settled: BoolArray, best: FloatArray) -> FloatArray:
    """Return what each ending can be worth, (S_H,), by those settled ones that have its label in other layers.

    `labels` (S_H,) numbers the labels, `best` (S_H,) is what the settled ones are worth. Up to 1 where fewer than
    `SIBLINGS` are settled; otherwise little more than the best of them.
    """
    n = int(labels.max()) + 1
    largest = np.zeros(n)
    np.maximum.at(largest, labels[settled], best[settled])
    known = np.bincount(labels[settled], minlength=n) >= SIBLINGS
    bounds: FloatArray = np.where(known, np.minimum(largest + SURPRISE, 1.0), 1.0)[labels]
    return bounds


def sum_by(places: IntArray, values: FloatArray) -> FloatArray:
    """Return values (S_H, ...) added up where the place (S_H,) is the same, each sum where that place stands."""
    total = np.zeros_like(values)
    np.add.at(total, places, values)
    return total


def save_left_out(shape: CountShape, left_out: Mapping[PlaceIndex, BoolArray]) -> IntArray:
    """Return flat indices of the actions that judgements do not rest on, (ending, group, action)."""
    _, G, _, K = shape
    cells = [(s * G + x) * K + a for (s, x), out in left_out.items() for a in np.flatnonzero(out).tolist()]
    return np.array(sorted(cells), dtype=np.int64)


def read_left_out(layout: Layout, shape: CountShape, saved: Saved) -> dict[PlaceIndex, BoolArray]:
    """Return what `save_left_out` described, under the name "left_out"."""
    S, G, _, K = shape
    n_actions, left_out = layout.endings.n_actions, dict[PlaceIndex, BoolArray]()
    for cell in saved.indices("left_out", S * G * K).tolist():
        s, x, a = cell // (G * K), cell // K % G, cell % K
        possible = a < n_actions[s] and (s < layout.endings.early or layout.endings.retired[s, a])
        saved.check(possible, "left_out", "of actions of early endings, or retired ones")
        left_out.setdefault((s, x), np.zeros(int(n_actions[s]), dtype=np.bool_))[a] = True
    return left_out

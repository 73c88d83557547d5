"""What Tacit's own recipe needs where episodes can end before the last layer.

Such a state is a place to pass and a place to end. An action that was taken there often and hardly ever ended the
episode has no tuples, and none are waited for: the place is judged by the others, and what little was heard after such
an action is read as it is after them. A place of which that holds for all actions is none to explore.

A label that stands in several layers is a state of its own in each, and judged as one; but how much there is to hope
for in those that are not settled, those say that are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.decoding.common_meaning import find_common_meaning, read_by
from tacit.decoding.counts import CountShape, PlaceIndex, SeenCounts
from tacit.decoding.judgement import Judgement, JudgementSettings, judge
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


def judge_endings(
    counts: FloatArray, passing: BoolArray, c: float, settings: JudgementSettings
) -> tuple[Judgement, BoolArray]:
    """Return what counts (Y, K) say of a place, and which of its `passing` actions (K,) were left out of it.

    Those are left out that have too few tuples. Without any other action the place is judged by all, which says that
    it is not known.
    """
    left_out = passing & (counts.sum(axis=0) < settings.least_each)
    if left_out.all() or not left_out.any():
        return judge(counts, c, settings), np.zeros_like(left_out)
    return widen(judge(counts[:, ~left_out], c, settings), counts, left_out), left_out


def widen(judgement: Judgement, counts: FloatArray, left_out: BoolArray) -> Judgement:
    """Return a judgement of some actions as one of all (K,): the others are worth what their own few tuples mean."""
    K, tuples = len(left_out), counts.sum(axis=0)
    share = judgement.phi @ counts / np.maximum(tuples, 1)  # (K,)
    f, expected = share, share.copy()
    rewards = np.repeat(judgement.phi[:, None], K, axis=1)
    f[~left_out], expected[~left_out] = judgement.f, judgement.expected
    rewards[:, ~left_out] = judgement.rewards
    return replace(judgement, tuples=tuples, f=f, expected=expected, rewards=rewards)


def find_passing_among(taken: FloatArray | IntArray, over: FloatArray | IntArray) -> BoolArray:
    """Return which actions, of those `taken` and `over` so often, were taken often and hardly ever ended an episode."""
    return np.asarray((taken >= OFTEN) & (over < HARDLY * taken))


def judge_by_common_meaning(
    layout: Layout, counts: SeenCounts, passing: BoolArray, c: float, settings: JudgementSettings
) -> dict[PlaceIndex, Judgement]:
    """Return the judgement of every (ending, group) that has tuples, without actions (S_H, K) that pass on.

    Homogeneous ones are read by the common meaning of their group, if it has one.
    """
    tables = {(s, x): table[:, : layout.endings.n_actions[s]] for (s, x), table in counts.tables()}
    found = {
        (s, x): judge_endings(table, passing[s, : table.shape[1]], c, settings)[0]
        for (s, x), table in tables.items()
    }
    for group in sorted({x for _, x in found}):
        here = [place for place in found if place[1] == group]
        phi = find_common_meaning(((found[place], tables[place]) for place in here), settings)
        for place in here:
            found[place] = read_by(phi, found[place], tables[place], c)
    return found


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


def save_early(
    shape: CountShape,
    left_out: Mapping[PlaceIndex, BoolArray],
    common: Mapping[int, FloatArray | None],
) -> dict[str, Any]:
    """Return arrays of what judgements depend on beside their counts: who was left out, and what words mean."""
    _, G, V, K = shape
    cells = [(s * G + x) * K + a for (s, x), out in left_out.items() for a in np.flatnonzero(out).tolist()]
    groups = sorted(x for x, phi in common.items() if phi is not None)
    meanings = [common[x] for x in groups]
    return {
        "left_out": np.array(sorted(cells), dtype=np.int64),
        "groups": np.array(groups, dtype=np.int64),
        "meanings": np.array(meanings, dtype=np.float64).reshape(-1, V),
    }


def read_early(
    layout: Layout, shape: CountShape, saved: Saved
) -> tuple[dict[PlaceIndex, BoolArray], dict[int, FloatArray | None]]:
    """Return what `save_early` described."""
    S, G, V, K = shape
    cells = saved.indices("left_out", S * G * K)
    n_actions, left_out = layout.endings.n_actions, dict[PlaceIndex, BoolArray]()
    for cell in cells.tolist():
        s, x, a = cell // (G * K), cell // K % G, cell % K
        saved.check(s < layout.endings.early and a < n_actions[s], "left_out", "of actions of early endings")
        left_out.setdefault((s, x), np.zeros(int(n_actions[s]), dtype=np.bool_))[a] = True
    groups = saved.indices("groups", G)
    meanings = saved.floats("meanings", (len(groups), V), 0, 1)
    saved.check(not (meanings % 1).any(), "meanings", "0 or 1")
    return left_out, dict(zip(groups.tolist(), meanings, strict=True))

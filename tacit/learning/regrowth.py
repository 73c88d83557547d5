"""What was learned in one layout, as it is in another that has grown out of it (`tacit.problem.growth`).

Indices of labels stay; arrays grow, and silence and the state of episodes that have ended move to their new end.
`regrow_state` does so with what the fast recipe saves, from which its places are judged again: what is new in them has
no tuples, and is unknown. `regrow_plan` does so with the plan of an episode that is under way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.decoding.counts import CountShape, SeenCounts
from tacit.decoding.judgement import JudgementSettings
from tacit.decoding.together import leave_out
from tacit.decoding.tuples import counted_shape
from tacit.learning.recurring_endings import RecurringEndings
from tacit.learning.stage import PolicyPlan
from tacit.learning.vigilance import DYNAMICS, TYPES, WORDS
from tacit.planning.transition import transitions_shape
from tacit.problem.layout import Layout
from tacit.trust.watches import MOST_VALUES


def regrow_state(
    state: Mapping[str, Any], old: Layout, new: Layout, settings: JudgementSettings
) -> dict[str, Any]:
    """Return what the fast recipe saved in a layout as what it would save in one that has grown out of it."""
    (S, G, V, K), (wider_S, wider_G, wider_V, wider_K) = counted_shape(old), counted_shape(new)
    endings, places = map_endings(old, new), state["places"]
    shapes = {
        "counts": ((S, G, V, K), (wider_S, wider_G, wider_V, wider_K)),
        "judged": ((S, G, V, K), (wider_S, wider_G, wider_V, wider_K)),
        "outcomes": ((S, G, V, 2), (wider_S, wider_G, wider_V, 2)),
    }
    counted = {name: _counts(places[name], endings, *pair) for name, pair in shapes.items()}
    out = np.zeros((wider_S, wider_G, wider_K), dtype=np.bool_)
    out.ravel()[_cells(places["left_out"], endings, (S, G, 1, K), (wider_S, wider_G, 1, wider_K))] = True
    if old.retired or new.retired:
        out = _leave_out_retired(out, counted["judged"], old, new, settings)
    more = (0, wider_G - G)
    return {
        **state,
        "places": {**counted, "left_out": np.flatnonzero(out)},
        "endings": _endings(state["endings"], endings, old, new),
        "dynamics": _dynamics(state["dynamics"], old, new),
        "duals": np.pad(_by_state(state["duals"], old, new), (more, (0, 0), (0, 0))),
        "has_dual": np.pad(state["has_dual"], more),
        "vigilance": _vigilance(state["vigilance"], old, new),
    }


def regrow_plan(plan: PolicyPlan, taken: int, old: Layout, new: Layout) -> PolicyPlan:
    """Return the plan of an episode that has taken so many steps, in a layout that has grown since it was made.

    A state that is new since has uniform actions; an action that is new is not taken, nor, from now on, one that is
    retired, whose chance the others of its state share.
    """
    actions = ((0, 0), (0, 0), (0, new.max_actions - old.max_actions))
    by_action = np.moveaxis(np.pad(plan.policy, actions), 2, 0)  # (K, H, S)
    policy = np.moveaxis(_by_state(by_action, old, new), 0, 2).copy()
    rest = np.where(new.mask, policy, 0.0)[taken:]
    totals = rest.sum(axis=2, keepdims=True)
    played = np.where(totals > 0, rest / np.where(totals > 0, totals, 1.0), new.uniform_policy[taken:])
    gone = (policy[taken:] != rest).any(axis=2, keepdims=True) | (totals <= 0)
    policy[taken:] = np.where(gone, played, policy[taken:])
    unseen = ~policy[:taken].any(axis=2)  # in layers that are behind, for a plan is one of all states
    policy[:taken][unseen] = new.uniform_policy[:taken][unseen]
    dual = None if plan.dual is None else _by_state(plan.dual, old, new)
    return plan._replace(policy=policy, dual=dual)


def map_endings(old: Layout, new: Layout) -> IntArray:
    """Return which ending of the new layout each of the old one is, (S_H,)."""
    index: IntArray = new.endings.index[old.endings.layers, old.endings.states]
    return index


def map_states(old: Layout, new: Layout, h: int) -> IntArray:
    """Return which state of a layer each of the old layout is, (S_h,): itself, or that of episodes that have ended.

    >>> from tacit.problem.growth import with_state
    >>> old = Layout.regular([1, 2], n_actions=2, n_contexts=1, n_feedback=2, ends="anywhere")
    >>> map_states(old, with_state(old, 1, "more", (0, 1)), 1)
    array([0, 1, 3])
    """
    states = np.arange(old.n_states[h])
    if old.ended[h] >= 0:
        states[-1] = new.ended[h]
    return states


def _cells(cells: IntArray, endings: IntArray, old: CountShape, new: CountShape) -> IntArray:
    """Return flat indices of (ending, group, value, action) in another shape; the last value stays the last."""
    s, x, y, a = np.unravel_index(cells, old)
    moved = np.where(y == old[2] - 1, new[2] - 1, y)
    return np.asarray(np.ravel_multi_index((endings[s], x, moved, a), new), dtype=np.int64)


def _counts(saved: Mapping[str, Any], endings: IntArray, old: CountShape, new: CountShape) -> dict[str, Any]:
    cells = _cells(saved["cells"], endings, old, new)
    order = np.argsort(cells)
    return {"cells": cells[order], "numbers": saved["numbers"][order]}


def _endings(saved: Mapping[str, Any], endings: IntArray, old: Layout, new: Layout) -> dict[str, Any]:
    """Return what was heard in each ending, which are grouped by their labels alone until they are compared anew."""
    shapes = counted_shape(old), counted_shape(new)
    return {
        "places": RecurringEndings(new).places,
        "heard": _counts(saved["heard"], endings, *shapes),
        "outcomes": _counts(saved["outcomes"], endings, *((*shape[:3], 2) for shape in shapes)),
    }


def _leave_out_retired(
    out: BoolArray, judged: Mapping[str, Any], old: Layout, new: Layout, settings: JudgementSettings
) -> BoolArray:
    """Return the actions (S_H, G, K) that places are judged without, those that are retired and have few tuples too.

    What was left out because it was retired, and is offered again, is left out no more.
    """
    before, n_actions = np.zeros_like(new.endings.retired), new.endings.n_actions
    before[map_endings(old, new), : old.max_actions] = old.endings.retired
    passing, left_out = out & ~before[:, None] | new.endings.retired[:, None], np.zeros_like(out)
    for (s, x), table in SeenCounts(counted_shape(new), judged["cells"], judged["numbers"]).tables():
        K = n_actions[s]
        left_out[s, x, :K] = leave_out(table[:, :K], passing[s, x, :K], settings)
    return left_out


def _by_state(values: FloatArray, old: Layout, new: Layout) -> FloatArray:
    """Return values (..., H, S) of states; 0 where there was none."""
    grown = np.zeros((*values.shape[:-1], new.max_states), dtype=values.dtype)
    for h in range(new.horizon):
        grown[..., h, map_states(old, new, h)] = values[..., h, : old.n_states[h]]
    return grown


def _dynamics(saved: Mapping[str, Any], old: Layout, new: Layout) -> dict[str, Any]:
    shape = transitions_shape(new)
    counts, forgotten = np.zeros(shape, dtype=np.int64), np.zeros(shape[::3], dtype=np.int64)
    for h in range(new.horizon - 1):
        here, after = map_states(old, new, h), map_states(old, new, h + 1)
        rows = saved["counts"][h, : len(here), :, : len(after)]
        counts[h][np.ix_(here, np.arange(old.max_actions), after)] = rows
        forgotten[h, after] = saved["forgotten"][h, : len(after)]
    return {"counts": counts, "forgotten": forgotten}


def _vigilance(saved: Mapping[str, Any], old: Layout, new: Layout) -> dict[str, Any]:
    endings, (V, wider) = map_endings(old, new), (counted_shape(old)[2], counted_shape(new)[2])
    types = np.ones((len(saved["types"]), wider), dtype=np.bool_)  # as those of words that were not heard
    types[:, : V - 1], types[:, -1] = saved["types"][:, : V - 1], saved["types"][:, -1]
    watches = {kind: _of_endings(saved["watches"][kind], endings) for kind in (WORDS, TYPES)}
    watches[DYNAMICS] = _part(saved["watches"][DYNAMICS], *_still_watched(saved, old, new))
    K = new.max_actions - old.max_actions
    return {
        "watches": {kind: _with_actions(each, K) for kind, each in watches.items()},
        "places": _moved(saved["places"], endings),
        "types": types,
        "noticed": [_alarm(alarm, endings, old, new) for alarm in saved["noticed"]],
    }


def _moved(places: IntArray, endings: IntArray) -> IntArray:
    return np.column_stack((endings[places[:, 0]], places[:, 1]))


def _of_endings(watches: Mapping[str, Any], endings: IntArray) -> dict[str, Any]:
    return {**watches, "places": _moved(watches["places"], endings)}


def _still_watched(saved: Mapping[str, Any], old: Layout, new: Layout) -> tuple[BoolArray, int]:
    """Return which watches over dynamics go on, and over how many values; the others begin anew.

    Where a layer has a state more, what came before it were draws of another kind.
    """
    m, values = (min(layout.max_states, MOST_VALUES) for layout in (old, new))
    grown = new.n_states > old.n_states  # (H,)
    layers = saved["watches"][DYNAMICS]["places"][:, 0]
    return (~grown[layers + 1] if m == values else np.zeros(len(layers), dtype=np.bool_)), values


def _part(watches: Mapping[str, Any], kept: BoolArray, values: int) -> dict[str, Any]:
    """Return some of the watches, all of them over so many values."""
    rows = watches["rows"]
    counts = watches["counts"][np.repeat(kept, rows + 1)]
    return {
        "begun": watches["begun"],
        **{name: watches[name][kept] for name in ("places", "numbers", "rows")},
        **{name: watches[name][np.repeat(kept, rows)] for name in ("times", "scores")},
        "counts": counts if kept.any() else np.zeros((0, counts.shape[1], values), dtype=counts.dtype),
    }


def _with_actions(watches: Mapping[str, Any], more: int) -> dict[str, Any]:
    scores: NDArray[np.float64] = np.pad(watches["scores"], ((0, 0), (0, more)))
    return {**watches, "counts": np.pad(watches["counts"], ((0, 0), (0, more), (0, 0))), "scores": scores}


def _alarm(alarm: Mapping[str, Any], endings: IntArray, old: Layout, new: Layout) -> dict[str, Any]:
    (first, second), value = alarm["place"], alarm["value"]
    if alarm["kind"] == DYNAMICS:
        told_apart = old.max_states <= MOST_VALUES
        return {**alarm, "value": int(map_states(old, new, first + 1)[value]) if told_apart else value}
    if alarm["kind"] == WORDS and value == counted_shape(old)[2] - 1:
        value = counted_shape(new)[2] - 1
    return {**alarm, "place": [int(endings[first]), second], "value": value}

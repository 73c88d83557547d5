"""The estimated dynamics of Algorithm 4, line 5: Laplace-smoothed counts, with Theorem B.1's log-loss bound.

    P(s' | s, a) = (N(s, a, s') + 1) / (N(s, a) + |S_{h+1}|)

Arrays are padded to (H-1, S, K, S), axes (h, s, a, s'), and 0 where a state or an action does not exist. Where episodes
can end early, |S_{h+1}| counts the state of those that have ended, which only states in which an episode can end, and
itself, lead to. States that stand in several layers are counted together while they are alike
(`tacit.planning.recurring`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.changes import Changes, put
from tacit.base.jit import kernel
from tacit.base.saved import Saved
from tacit.planning.recurring import Recurring, find_recurring, pool_action
from tacit.problem.layout import Layout
from tacit.problem.passages import existing_transitions, reachable_states
from tacit.problem.spaces import Encoded

INT64 = np.dtype(np.int64)


class TransitionEstimate(Protocol):
    """What planning asks of a model of the dynamics."""

    def learn(self, context: Encoded, states: Sequence[int], actions: Sequence[int]) -> Changes:
        """Return what one path changes; until then everything stays as it is."""

    def estimate(self, context: Encoded) -> FloatArray:
        """Return the estimated transitions for a context, (H-1, S, K, S)."""

    def counts(self, context: Encoded) -> IntArray:
        """Return N(s, a, s') that the estimate for a context rests on, (H-1, S, K, S)."""

    def to_state(self) -> dict[str, Any]:
        """Return copies of the arrays that resume the estimate bit for bit."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `to_state` returned."""


def transitions_shape(layout: Layout) -> tuple[int, int, int, int]:
    """Return (H-1, S, K, S), the shape of arrays over transitions."""
    return layout.horizon - 1, layout.max_states, layout.max_actions, layout.max_states


NO_STEPS = np.empty(0, dtype=np.int64)


class TransitionCounts:
    """Counts of (s, a, s') and their smoothed estimate, kept up to date one row at a time; contexts play no part.

    >>> from tacit.base.changes import commit
    >>> counts = TransitionCounts(Layout.regular([1, 2], n_actions=1, n_contexts=1, n_feedback=2))
    >>> commit(counts.learn(0, states=[0, 1], actions=[0, 0]))
    >>> counts.estimate(0)[0, 0, 0].round(3), counts.visits[0, 0]
    (array([0.333, 0.667]), array([1]))
    """

    def __init__(self, layout: Layout) -> None:
        self._n_states, self._n_actions = layout.n_states, layout.n_actions
        self._exists = _existing_transitions(layout)  # (H-1, S, K, S)
        self._n_next = np.array([reachable_states(layout, h) for h in range(layout.horizon - 1)]).reshape(
            -1, layout.max_states
        )  # (H-1, S)
        self._counts = np.zeros(self._exists.shape, dtype=np.int64)
        self._recurring = find_recurring(layout)
        self._pooled = self._counts if self._recurring is None else self._counts.copy()
        self._forgotten = np.zeros(self._exists.shape[::3], dtype=np.int64)  # (H-1, S), by where they led
        self._estimate = _smoothed(self._counts, self._exists)
        self._shown = self._estimate.view()
        self._shown.flags.writeable = False
        _write_path(
            self, (NO_STEPS, NO_STEPS), NO_STEPS
        )  # compiled code is loaded now, not during an episode

    def counts(self, context: Encoded) -> IntArray:
        """Return N(s, a, s'), the same for every context, (H-1, S, K, S): a live view, not to be written to.

        That of a state which stands in several layers is of all of them that are alike.
        """
        return self._pooled

    @property
    def visits(self) -> IntArray:
        """Return N(s, a), (H-1, S, K)."""
        visits: IntArray = self._counts.sum(axis=-1)
        return visits

    def learn(self, context: Encoded, states: Sequence[int], actions: Sequence[int]) -> Changes:
        """Return the counts after one path, given as indices in each layer from the first on.

        A path may break off: with n states (n at most H) and n or n-1 actions, n-1 transitions are counted. One that
        ended early has the next layer's state of those that have as its last. A path with an index that does not exist
        is refused whole.
        """
        path = _indices(states, "states"), _indices(actions, "actions")
        n_known, horizon = len(path[0]), len(self._n_states)
        if n_known > horizon or len(path[1]) not in (n_known, max(n_known - 1, 0)):
            raise ValueError(
                f"a path has at most {horizon} states and as many actions or one fewer, got {n_known} states "
                f"and {len(path[1])} actions; give one path at a time, from the start state on"
            )
        after = np.empty(max(n_known - 1, 0), dtype=np.int64)
        wrong = _counts_after(self._counts, *path, self._n_states, self._n_actions, self._n_next, after)
        if wrong >= 0:
            raise ValueError(
                f"a path must consist of states and actions of the layout, got states {path[0].tolist()} and "
                f"actions {path[1].tolist()}, wrong at position {wrong}; give indices within each layer"
            )
        return ((_write_path, self, path, after),)

    def forget(
        self, states: Sequence[int], actions: Sequence[int], kept: Mapping[tuple[int, int], int]
    ) -> Changes:
        """Return what leaves, of where actions of some (layer, state) led, a part, and the transitions of a path.

        `kept` says what counts are divided by, 0 where nothing is left; a state that stands in several layers is
        forgotten in all. The path was just seen.
        """
        rows: dict[tuple[int, int], IntArray] = {}
        for at, divisor in kept.items():
            for each in self._alike(*at):
                fewer = self._counts[each] // divisor if divisor else np.zeros_like(self._counts[each])
                rows[each] = np.minimum(rows.get(each, fewer), fewer)
        forgotten = self._forgotten.copy()
        for (h, s), row in rows.items():
            forgotten[h] += (self._counts[h, s] - row).sum(axis=0)
        for h, following in enumerate(states[1:]):
            if (h, states[h]) in rows:
                rows[h, states[h]][actions[h], following] += 1
        written = (put(self._counts, at, row) for at, row in rows.items())
        return (*written, put(self._forgotten, ..., forgotten), (_renew, self, None, None))

    def _alike(self, layer: int, state: int) -> list[tuple[int, int]]:
        """Return a state in all layers in which it stands."""
        known = self._recurring
        if known is None or known.family[layer, state] < 0:
            return [(layer, state)]
        low, high = known.starts[known.family[layer, state] :][:2]
        return [(int(h), int(s)) for h, s in known.members[low:high]]

    def add_paths(self, states: IntArray, actions: IntArray) -> None:
        """Count the transitions of many whole paths, states and actions (n, H), all of them or none.

        >>> counts = TransitionCounts(Layout.regular([1, 2], n_actions=1, n_contexts=1, n_feedback=2))
        >>> counts.add_paths(np.array([[0, 1], [0, 1]]), np.zeros((2, 2), dtype=np.int64))
        >>> counts.visits[0, 0]
        array([2])
        """
        H = len(self._n_states)
        if states.ndim != 2 or states.shape != actions.shape or states.shape[1] != H:
            raise ValueError(
                f"paths must be states and actions of shape (n, {H}), got {states.shape} and {actions.shape}; learn "
                "from paths that end early one by one"
            )
        known = (states >= 0) & (states < self._n_states)
        offered = self._n_actions[np.arange(H), np.where(known, states, 0)]
        wrong = np.argwhere(~known | (actions < 0) | (actions >= offered))
        if len(wrong):
            n, h = wrong[0]
            raise ValueError(
                f"paths must consist of states and actions of the layout, got state {states[n, h]} and action "
                f"{actions[n, h]} at position {h} of path {n}; give indices within each layer"
            )
        for h in range(H - 1):
            np.add.at(self._counts[h], (states[:, h], actions[:, h], states[:, h + 1]), 1)
        _renew(self)

    def estimate(self, context: Encoded) -> FloatArray:
        """Return the estimate, the same for every context, (H-1, S, K, S).

        It is a read-only view of memory that changes and `restore` write to: copy it to keep it.
        """
        return self._shown

    def to_state(self) -> dict[str, Any]:
        """Return the counts, and how many were forgotten; the estimate follows from them."""
        return {"counts": self._counts.copy(), "forgotten": self._forgotten.copy()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up saved counts, if paths could have left them: nobody leaves a state more often than it was reached."""
        saved = Saved.of(state)
        counts = saved.wholes("counts", self._exists.shape)
        saved.check(not counts[~self._exists].any(), "counts", "zero where the layout has nothing")
        forgotten = saved.wholes("forgotten", self._forgotten.shape)
        reached, left = (counts.sum(axis=(1, 2)) + forgotten)[:-1], counts.sum(axis=(2, 3))[1:]
        saved.check((reached >= left).all(), "counts", "those of paths")
        self._forgotten[...] = forgotten
        self._counts[...] = counts
        _renew(self)


def estimate_layer(
    layout: Layout, h: int, states: IntArray, actions: IntArray
) -> tuple[FloatArray, IntArray]:
    """Return line 5 for one layer alone from many whole paths (n, H): P (S_h, K, S) and N(s, a) (S_h, K).

    What is estimated is as large as the layer, where `TransitionCounts` pads every layer to the largest.

    >>> layout = Layout.regular([1, 2], n_actions=1, n_contexts=1, n_feedback=2)
    >>> estimate_layer(layout, 0, np.array([[0, 1], [0, 1]]), np.zeros((2, 2), dtype=np.int64))[0]
    array([[[0.25, 0.75]]])
    """
    exists = existing_transitions(layout, h)[: layout.n_states[h]]
    counts = np.zeros(exists.shape, dtype=np.int64)
    np.add.at(counts, (states[:, h], actions[:, h], states[:, h + 1]), 1)
    return _smoothed(counts, exists), counts.sum(axis=-1)


def log_loss_regret_bound(n_states: int, n_actions: int, episodes: int, horizon: int) -> float:
    """Return S² K log(TH + S): the most that the smoothed counts lose against the truth (Theorem B.1, dev. 25).

        Σ_t Σ_h -log P_t(s_{t,h+1} | s_{t,h}, a_{t,h})  -  Σ_t Σ_h -log P(s_{t,h+1} | s_{t,h}, a_{t,h})

    S = `n_states` counts the states of all layers.

    >>> round(log_loss_regret_bound(n_states=5, n_actions=5, episodes=40_000, horizon=3), 1)
    1461.9
    """
    if min(n_states, n_actions, horizon) < 1 or episodes < 0:
        raise ValueError(
            "the bound needs at least one state, action and layer and no negative number of episodes, got "
            f"{n_states}, {n_actions}, {horizon} and {episodes}; correct the sizes"
        )
    return float(n_states**2 * n_actions * np.log(episodes * horizon + n_states))


def extend_to_ended(layout: Layout, states: Sequence[int]) -> list[int]:
    """Return the states of a path that ended, with where it went if that was before the last layer.

    >>> layout = Layout.regular([1, 2], n_actions=1, n_contexts=1, n_feedback=2, ends="anywhere")
    >>> extend_to_ended(layout, [0]), extend_to_ended(layout, [0, 1])
    ([0, 2], [0, 1])
    """
    n = len(states)
    return list(states) if n == layout.horizon else [*states, int(layout.ended[n])]


def _existing_transitions(layout: Layout) -> BoolArray:
    """Return where (h, s, a, s') is in the layout, (H-1, S, K, S)."""
    return np.array(
        [existing_transitions(layout, h) for h in range(layout.horizon - 1)], dtype=np.bool_
    ).reshape(transitions_shape(layout))


def _smoothed(counts: IntArray, exists: BoolArray) -> FloatArray:
    """Return the estimate of line 5 in all entries."""
    totals = (counts + exists).sum(axis=-1, keepdims=True)  # N(s, a) + |S_{h+1}|, 0 in the padding
    estimate: FloatArray = (counts + exists) / np.maximum(totals, 1)
    return estimate


def _indices(values: Sequence[int], what: str) -> IntArray:
    array = np.array(values)  # a copy: changes may be made later, and the caller's lists grow
    if array.ndim == 1 and array.dtype == INT64:
        return array
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(f"{what} must be a sequence of integer indices, got {values!r}; encode labels first")
    return array.astype(np.int64, copy=False)


def _renew(target: TransitionCounts, _key: None = None, _value: None = None) -> None:
    """Work out all that follows from the counts."""
    known = target._recurring
    if known is not None:
        target._pooled[...] = target._counts
        for u, first in enumerate(known.members[known.starts[:-1]]):
            for a in range(target._n_actions[first[0], first[1]]):
                pool_action(target._counts, target._n_next, known, u, a, target._pooled)
    target._estimate[...] = _smoothed(target._pooled, target._exists)


def _write_path(target: TransitionCounts, path: tuple[IntArray, IntArray], after: IntArray) -> None:
    known = target._recurring
    if known is None:
        _write_counts(target._counts, target._estimate, *path, after, target._n_next)
    else:
        derived = target._pooled, target._estimate
        _write_recurring(target._counts, *derived, *path, after, target._n_next, known)


@kernel
def _counts_after(
    counts: IntArray,
    states: IntArray,
    actions: IntArray,
    n_states: IntArray,
    n_actions: IntArray,
    n_next: IntArray,
    after: IntArray,
) -> int:
    """Return the first layer in which the path leaves the layout, or -1; write each transition's count into `after`."""
    for h in range(len(states)):
        s = states[h]
        if s < 0 or s >= n_states[h]:
            return h
        if h < len(actions) and (actions[h] < 0 or actions[h] >= n_actions[h, s]):
            return h
        if h > 0:
            if s >= n_next[h - 1, states[h - 1]]:
                return h
            after[h - 1] = counts[h - 1, states[h - 1], actions[h - 1], s] + 1
    return -1


@kernel
def _write_counts(
    counts: IntArray,
    estimate: FloatArray,
    states: IntArray,
    actions: IntArray,
    after: IntArray,
    n_next: IntArray,
) -> None:
    """Write the counts of a path's transitions in place and renew the estimate of the rows it touched."""
    for h in range(len(after)):
        n = n_next[h, states[h]]
        row = counts[h, states[h], actions[h]]
        row[states[h + 1]] = after[h]
        _smooth_row(row, estimate[h, states[h], actions[h]], n)


@kernel
def _write_recurring(
    counts: IntArray,
    pooled: IntArray,
    estimate: FloatArray,
    states: IntArray,
    actions: IntArray,
    after: IntArray,
    n_next: IntArray,
    known: Recurring,
) -> None:
    """Write the counts of a path's transitions in place, and renew what follows from them in all layers."""
    for h in range(len(after)):
        counts[h, states[h], actions[h], states[h + 1]] = after[h]
    for h in range(len(after)):
        s, a = states[h], actions[h]
        u = known.family[h, s]
        if u < 0:
            pooled[h, s, a] = counts[h, s, a]
            _smooth_row(pooled[h, s, a], estimate[h, s, a], n_next[h, s])
            continue
        pool_action(counts, n_next, known, u, a, pooled)
        for i in range(known.starts[u], known.starts[u + 1]):
            g, z = known.members[i]
            _smooth_row(pooled[g, z, a], estimate[g, z, a], n_next[g, z])


@kernel
def _smooth_row(row: IntArray, estimate: FloatArray, n: int) -> None:
    """Write line 5 for one (s, a) with n next states."""
    total = row[:n].sum() + n
    for z in range(n):
        estimate[z] = (row[z] + 1) / total

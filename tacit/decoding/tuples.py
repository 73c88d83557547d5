"""Tuples (context, ending, action, feedback): all that is ever known of what feedback means.

One home for learning online and from logs. An ending is a state in which an episode ends (`Layout.endings`). A tuple
whose action was drawn with probability p among K weighs w = 1/(K p), which makes weighted tuples those of uniform
actions (Lemma 3.3); where every action was uniform all weigh 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.changes import Changes, commit, extend, put
from tacit.base.saved import Saved
from tacit.problem.layout import Layout
from tacit.problem.records import Space, dimension_of
from tacit.problem.spaces import Encoded, Finite

LEAST_WEIGHT = 1e-9
"""Of a saved tuple: no state has more actions than one in this."""

Row = TypeVar("Row")
TupleRow = tuple[Encoded, int, int, Encoded, float, int]
"""Context, ending, action, feedback, weight and position of one episode."""


@dataclass(frozen=True, eq=False)
class Tuples:
    """Context, ending, action and feedback of n episodes (Algorithm 3), with the weight of each and its position.

    States are indices of endings. Contexts and feedback are (n,) indices or (n, d) vectors. Weights are 1 and positions
    0, 1, ... unless they are given.

    >>> tuples = Tuples(np.array([0, 1]), np.array([0, 0]), np.array([2, 0]), np.array([1, 1]))
    >>> len(tuples), len(tuples.of_state(1)), tuples.weights
    (2, 0, array([1., 1.]))
    """

    contexts: IntArray | FloatArray
    states: IntArray
    actions: IntArray
    feedback: IntArray | FloatArray
    weights: FloatArray = None  # type: ignore[assignment]
    positions: IntArray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.weights is None:
            object.__setattr__(self, "weights", np.ones(len(self.states)))
        if self.positions is None:
            object.__setattr__(self, "positions", np.arange(len(self.states)))
        lengths = [len(column) for column in vars(self).values()]
        if len(set(lengths)) > 1 or self.states.ndim != 1 or self.actions.ndim != 1:
            raise ValueError(
                "tuples need one context, state, action and feedback for each episode, "
                f"got arrays of lengths {lengths[:4]}; drop the episodes that are incomplete"
            )

    def __len__(self) -> int:
        return len(self.states)

    def part(self, chosen: IntArray | BoolArray | slice) -> Tuples:
        """Return some of the tuples, by index or mask."""
        return Tuples(*(column[chosen] for column in vars(self).values()))

    def of_state(self, state: int) -> Tuples:
        """Return the tuples of one ending: D_s."""
        return self.part(self.states == state)

    @staticmethod
    def from_rows(rows: Sequence[TupleRow]) -> Tuples:
        """Return rows as arrays; empty ones where there are none."""
        columns = zip(*rows, strict=True) if rows else ((),) * 6
        contexts, states, actions, feedback, weights, positions = map(np.array, columns)
        ends = states.astype(np.int64), actions.astype(np.int64)
        return Tuples(contexts, *ends, feedback, weights.astype(np.float64), positions.astype(np.int64))

    def to_rows(self) -> list[TupleRow]:
        """Return the rows that `from_rows` takes."""
        columns = (
            map(_plain, self.contexts),
            map(int, self.states),
            map(int, self.actions),
            map(_plain, self.feedback),
            map(float, self.weights),
            map(int, self.positions),
        )
        return list(zip(*columns, strict=True))


@dataclass
class Reservoir(Generic[Row]):
    """Rows as they come in; with `most`, a uniform sample of all that came (reservoir sampling).

    >>> kept = Reservoir(most=2)
    >>> for row in "abc":
    ...     kept.add(row)
    >>> kept.seen, len(kept)
    (3, 2)
    """

    most: int | None = None
    generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(17), repr=False)
    seen: int = 0
    rows: list[Row] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Take one row."""
        self.seen += 1
        place = len(self.rows)
        if self.most is not None and place == self.most:
            place = int(self.generator.integers(self.seen))
            if place >= self.most:
                return
        self.rows[place : place + 1] = [row]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self) -> list[Row]:
        """Return the rows and forget them."""
        rows, self.rows = self.rows, []
        return rows


class TupleStore:
    """Tuples as they come in, and how many each ending has (`found`, (S_H,))."""

    def __init__(self, layout: Layout, rows: Sequence[TupleRow] = ()) -> None:
        self.rows: list[TupleRow] = []
        self._columns = Tuples.from_rows(())  # of the first rows: those that were asked for before
        self.found = np.zeros(layout.endings.size, dtype=np.int64)
        for row in rows:
            commit(self.learn(*row[:5]))

    def learn(
        self, context: Encoded, ending: int, action: int, feedback: Encoded, weight: float = 1.0
    ) -> Changes:
        """Return what one tuple more changes; it weighs 1 if its action was uniform."""
        row = (context, ending, action, feedback, weight, len(self.rows))
        return extend(self.rows, [row]), put(self.found, ending, self.found[ending] + 1)

    def tuples(self) -> Tuples:
        """Return all tuples as arrays; only rows that came since the last time are gone through."""
        known = self._columns
        more = Tuples.from_rows(self.rows[len(known) :])
        if not len(known):
            self._columns = more
        elif len(more):
            columns = zip(vars(known).values(), vars(more).values(), strict=True)
            self._columns = Tuples(*map(np.concatenate, columns))
        return self._columns

    def to_state(self) -> dict[str, Any]:
        """Return the columns that tell tuples apart."""
        columns = vars(self.tuples())
        return {name: columns[name] for name in ("contexts", "states", "actions", "feedback", "weights")}

    @staticmethod
    def from_state(layout: Layout, state: Mapping[str, Any]) -> TupleStore:
        """Return the store that `to_state` described."""
        saved = Saved.of(state)
        states, actions = (saved.wholes(name, (None,)) for name in ("states", "actions"))
        weights = saved.floats("weights", states.shape, LEAST_WEIGHT)
        tuples = Tuples(saved["contexts"], states, actions, saved["feedback"], weights)
        if not len(tuples):
            return TupleStore(layout)
        check_tuples(layout, tuples)
        return TupleStore(layout, tuples.to_rows())


def counted_shape(layout: Layout) -> tuple[int, int, int, int]:
    """Return (S_H, X, Y + 1, K), the shape of counts over finite contexts and feedback; silence is the last value.

    X and Y are what open contexts and feedback have room for.
    """
    check_finite(layout, "counting")
    assert isinstance(layout.contexts, Finite)
    assert isinstance(layout.feedback, Finite)
    return layout.endings.size, layout.contexts.room, layout.feedback.room + 1, layout.max_actions


def balanced_weights(layout: Layout, tuples: Tuples) -> FloatArray:
    """Return a weight for each tuple, (n,), that gives every action of a state the same total (dev. 7).

    Actions were uniform, but a sample holds some a little more often than others; the weights n / (K n_a),
    taken within each context where contexts are finite, remove that part of the noise. An action that a group
    lacks leaves the others as they are.

    >>> layout = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    >>> balanced_weights(layout, Tuples(*np.array([[0] * 4, [0] * 4, [0, 0, 0, 1], [0] * 4]))).round(3)
    array([0.667, 0.667, 0.667, 2.   ])
    """
    groups = tuples.states[:, None]
    if isinstance(layout.contexts, Finite):
        groups = np.column_stack((tuples.states, tuples.contexts))
    _, owner = np.unique(groups, axis=0, return_inverse=True)
    counts = np.zeros((owner.max() + 1, layout.max_actions))
    np.add.at(counts, (owner, tuples.actions), 1)
    share = counts.sum(axis=1) / (counts > 0).sum(axis=1)  # n / K of each group
    return np.asarray(share[owner] / counts[owner, tuples.actions])


def fitted_states(layout: Layout, tuples: Tuples) -> BoolArray:
    """Return which last-layer states have tuples, (S_H,)."""
    return np.bincount(tuples.states, minlength=layout.endings.size) > 0


def is_finite(layout: Layout) -> bool:
    """Return whether contexts and feedback are both finite."""
    return isinstance(layout.contexts, Finite) and isinstance(layout.feedback, Finite)


def check_finite(layout: Layout, method: str) -> None:
    """Raise ValueError unless contexts and feedback are finite."""
    for what, space in (("contexts", layout.contexts), ("feedback", layout.feedback)):
        if not isinstance(space, Finite):
            raise ValueError(
                f"{method} needs finite {what}, got vectors of {dimension_of(space)}; use method 'neural'"
            )


def check_tuples(layout: Layout, tuples: Tuples) -> None:
    """Raise ValueError unless there are tuples and all of them fit the layout."""
    if not len(tuples):
        raise ValueError("a posterior needs at least one tuple, got none; collect tuples first")
    _check_range("state", tuples.states, layout.endings.size)
    _check_range("action", tuples.actions, layout.endings.n_actions[tuples.states])
    _check_space("contexts", tuples.contexts, layout.contexts)
    _check_space("feedback", tuples.feedback, layout.feedback, more=1)  # silence


def _check_range(what: str, values: IntArray | FloatArray, size: int | IntArray) -> None:
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
        raise ValueError(
            f"{what} must be a line of integer indices, got shape {values.shape} of {values.dtype}"
        )
    wrong = np.flatnonzero((values < 0) | (values >= size))
    if len(wrong):
        most = int(np.broadcast_to(size, values.shape)[wrong[0]]) - 1
        raise ValueError(
            f"{what} of tuple {wrong[0]} must be an index from 0 to {most}, got {values[wrong[0]]}; "
            "encode the tuples with the layout"
        )


def _check_space(what: str, values: IntArray | FloatArray, space: Space, more: int = 0) -> None:
    if isinstance(space, Finite):
        _check_range(what, values, space.size + more)
    elif values.shape[1:] != (dimension_of(space),) or not np.all(np.isfinite(values)):
        raise ValueError(
            f"{what} must be rows of {dimension_of(space)} finite numbers, got shape {values.shape} with "
            f"{np.count_nonzero(~np.isfinite(values))} entries that are NaN (as silence is) or infinite; remove those "
            "tuples"
        )


def _plain(value: Any) -> Encoded:
    return value if isinstance(value, np.ndarray) else int(value)

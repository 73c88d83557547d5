"""What an agent is told of the problem: layers, their states, each state's actions, contexts, feedback.

Section 2 of the paper: S = S_1 + ... + S_H with a single start state, transitions only from layer h to
h+1, and (its footnote) action sets that may differ from state to state.

Inside Tacit everything is an index. Layers have different sizes, so arrays over (h, s, a) are padded to
(horizon, max states, max actions); `Layout.mask` is True where a pair (s, a) exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

Label = str | int
Encoded = int | FloatArray
"""A context or a feedback as the algorithms see it: an index of a finite set, or a vector."""


@dataclass(frozen=True)
class Finite:
    """A finite set of labels (strings, integers or booleans), encoded as 0 .. n-1.

    >>> Finite(("yes", "no")).encode("no", "feedback")
    1
    """

    labels: tuple[Label, ...]
    _index: dict[Label, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        check_labels(self.labels)
        index = {label: i for i, label in enumerate(self.labels)}
        if not self.labels or len(index) != len(self.labels):
            raise ValueError(
                f"a finite set needs at least one label and no label twice, got {self.labels!r}; "
                "give each value once"
            )
        object.__setattr__(self, "_index", index)

    @property
    def size(self) -> int:
        """Return the number of labels."""
        return len(self.labels)

    def encode(self, value: Any, what: str) -> int:
        """Return the index of `value`, or raise an error that names `what` was unknown."""
        try:
            return self._index[value]
        except (KeyError, TypeError):
            raise ValueError(
                f"{what} must be one of {_abridged(self.labels)}, got {value!r}; "
                "add it to the layout or map it to a known value"
            ) from None

    def decode(self, index: Encoded) -> Label:
        """Return the label of an index."""
        return self.labels[int(index)]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON description that `space_from_json` reads."""
        return {"kind": "finite", "labels": list(self.labels)}


@dataclass(frozen=True)
class Vectors:
    """Vectors of a fixed dimension with finite entries; with `fields`, also objects with those fields.

    A vector of dimension 1 may be a plain number.

    >>> Vectors(2).encode([1, 2], "context")
    array([1., 2.])
    >>> Vectors(2, ("age", "visits")).encode({"visits": 3, "age": 41}, "context")
    array([41.,  3.])
    """

    dimension: int
    fields: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.dimension < 1:
            raise ValueError(f"vectors need a dimension of at least 1, got {self.dimension}")
        if self.fields is not None and len(self.fields) != self.dimension:
            raise ValueError(f"vectors of {self.dimension} need as many fields, got {self.fields!r}")

    def encode(self, value: Any, what: str) -> FloatArray:
        """Return `value` as a new float64 vector, or raise if its shape or an entry is wrong."""
        if self.fields is not None and isinstance(value, Mapping):
            value = [value[name] for name in self.fields] if set(value) == set(self.fields) else None
        elif self.dimension == 1 and isinstance(value, int | float):
            value = [value]
        try:
            vector = np.array(value)
        except ValueError:  # rows of different lengths
            vector = np.empty(0)
        vector = vector.astype(np.float64) if vector.dtype.kind in "iuf" else np.empty(0)
        if vector.shape != (self.dimension,) or not np.all(np.isfinite(vector)):
            raise ValueError(
                f"{what} must be a vector of {self.dimension} finite numbers, got {value!r}; "
                "check its length and remove NaN and infinity"
            )
        return vector

    def decode(self, vector: Encoded) -> list[float]:
        """Return the vector as a list of numbers."""
        return [float(v) for v in np.asarray(vector)]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON description that `space_from_json` reads."""
        described = {"kind": "vectors", "dimension": self.dimension}
        return described if self.fields is None else described | {"fields": list(self.fields)}


Space = Finite | Vectors


def space_from_json(data: Mapping[str, Any]) -> Space:
    """Return the space that `to_json` described."""
    if data["kind"] == "finite":
        return Finite(tuple(data["labels"]))
    return Vectors(int(data["dimension"]), tuple(data["fields"]) if "fields" in data else None)


@dataclass(frozen=True)
class Layout:
    """The known shape of a layered contextual MDP.

    `states[h]` are the labels of layer h (0-based; all distinct, one in the first layer), `actions[h][s]`
    the labels of the actions that state s of layer h offers, `names` optional words for the states.

    >>> layout = Layout.regular([1, 2], n_actions=3, n_contexts=2, n_feedback=2)
    >>> layout.horizon, layout.n_states.tolist(), layout.mask.shape
    (2, [1, 2], (2, 2, 3))
    >>> layout.locate(2)
    (1, 1)
    """

    states: tuple[tuple[Label, ...], ...]
    actions: tuple[tuple[tuple[Label, ...], ...], ...]
    contexts: Space
    feedback: Space
    names: tuple[tuple[str, ...], ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", tuple(map(tuple, self.states)))
        object.__setattr__(self, "actions", tuple(tuple(map(tuple, layer)) for layer in self.actions))
        check_layout(self)

    @staticmethod
    def regular(
        n_states: Sequence[int],
        n_actions: int,
        n_contexts: int,
        n_feedback: int,
        names: tuple[tuple[str, ...], ...] | None = None,
    ) -> Layout:
        """Return a layout of integer labels in which every state offers the same actions."""
        actions = tuple((tuple(range(n_actions)),) * n for n in n_states)
        contexts, feedback = Finite(tuple(range(n_contexts))), Finite(tuple(range(n_feedback)))
        return Layout(consecutive_states(n_states), actions, contexts, feedback, names)

    @cached_property
    def horizon(self) -> int:
        """Return H, the number of layers and of actions in an episode."""
        return len(self.states)

    @cached_property
    def n_states(self) -> IntArray:
        """Return the number of states of each layer, (H,)."""
        return np.array([len(layer) for layer in self.states], dtype=np.int64)

    @cached_property
    def max_states(self) -> int:
        """Return the size of the largest layer: the padded state axis."""
        return int(self.n_states.max())

    @cached_property
    def max_actions(self) -> int:
        """Return K, the largest number of actions of any state: the padded action axis."""
        return max(len(labels) for layer in self.actions for labels in layer)

    @cached_property
    def n_actions(self) -> IntArray:
        """Return the number of actions of each state, (H, S); 0 where there is no state."""
        counts = np.zeros((self.horizon, self.max_states), dtype=np.int64)
        for h, layer in enumerate(self.actions):
            counts[h, : len(layer)] = [len(labels) for labels in layer]
        return counts

    @cached_property
    def mask(self) -> BoolArray:
        """Return which (h, s, a) exist, (H, S, K)."""
        return np.arange(self.max_actions)[None, None, :] < self.n_actions[:, :, None]

    @cached_property
    def uniform_policy(self) -> FloatArray:
        """Return the policy that is uniform over each state's actions, (H, S, K), zero in the padding."""
        return self.mask / np.maximum(self.n_actions, 1)[:, :, None]

    @cached_property
    def _position(self) -> dict[Label, tuple[int, int]]:
        return {label: (h, s) for h, layer in enumerate(self.states) for s, label in enumerate(layer)}

    def locate(self, state: Any) -> tuple[int, int]:
        """Return (layer, index in the layer) of a state label; layers count from 0."""
        try:
            return self._position[state]
        except (KeyError, TypeError):
            known = tuple(label for layer in self.states for label in layer)
            raise ValueError(
                f"state must be one of {_abridged(known)}, got {state!r}; "
                "every state the environment can show must be in the layout"
            ) from None

    def name(self, layer: int, state: int) -> str:
        """Return the words for a state: its name if it has one, otherwise its label."""
        return self.names[layer][state] if self.names else str(self.states[layer][state])

    def to_json(self) -> dict[str, Any]:
        """Return a JSON description that `Layout.from_json` reads."""
        return {
            "states": [list(layer) for layer in self.states],
            "actions": [[list(labels) for labels in layer] for layer in self.actions],
            "contexts": self.contexts.to_json(),
            "feedback": self.feedback.to_json(),
            "names": [list(layer) for layer in self.names] if self.names else None,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Layout:
        """Return the layout that `to_json` described."""
        names = data["names"]
        return Layout(
            states=tuple(tuple(layer) for layer in data["states"]),
            actions=tuple(tuple(tuple(labels) for labels in layer) for layer in data["actions"]),
            contexts=space_from_json(data["contexts"]),
            feedback=space_from_json(data["feedback"]),
            names=tuple(tuple(layer) for layer in names) if names else None,
        )


def consecutive_states(n_states: Sequence[int]) -> tuple[tuple[Label, ...], ...]:
    """Return state labels 0, 1, 2, ... counted through the layers.

    >>> consecutive_states([1, 2])
    ((0,), (1, 2))
    """
    starts = np.concatenate([[0], np.cumsum(n_states)])
    return tuple(tuple(range(starts[h], starts[h + 1])) for h in range(len(n_states)))


def check_layout(layout: Layout) -> None:
    """Raise ValueError unless the layers, labels and actions fit together."""
    states = layout.states
    if not states or len(states[0]) != 1 or any(not layer for layer in states):
        raise ValueError(
            "a layout needs one start state in its first layer and at least one state in every other, "
            f"got layers of sizes {[len(layer) for layer in states]}; "
            "add a start state that leads to the others"
        )
    labels = [label for layer in states for label in layer]
    check_labels(labels)
    if len(set(labels)) != len(labels):
        twice = sorted({str(label) for label in labels if labels.count(label) > 1})
        raise ValueError(
            f"state labels must be distinct over all layers, these occur twice: {twice}; "
            "make the layer part of the label"
        )
    if [len(layer) for layer in layout.actions] != [len(layer) for layer in states]:
        raise ValueError("actions must list one tuple of labels for every state of every layer")
    for h, layer in enumerate(layout.actions):
        for s, offered in enumerate(layer):
            check_labels(offered)
            if not offered or len(set(offered)) != len(offered):
                raise ValueError(
                    f"state {states[h][s]!r} must offer at least one action and none twice, got {offered!r}"
                )
    if layout.names and [len(n) for n in layout.names] != [len(layer) for layer in states]:
        raise ValueError("names must have the same shape as states; leave them out to use the labels")


def check_labels(labels: Sequence[Label]) -> None:
    """Raise ValueError unless every label is a string, an integer or a boolean, which a file can hold."""
    for label in labels:
        if not isinstance(label, str | int):
            raise ValueError(
                f"labels must be strings, integers or booleans, got {label!r}; turn it into a string"
            )


def _abridged(labels: Sequence[Label], most: int = 12) -> str:
    shown = ", ".join(repr(label) for label in labels[:most])
    return shown + (f", ... ({len(labels)} in all)" if len(labels) > most else "")

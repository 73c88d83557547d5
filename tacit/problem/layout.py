"""What an agent is told of the problem: layers, their states, each state's actions, contexts, feedback.

Section 2 of the paper: S = S_1 + ... + S_H with a single start state, transitions only from layer h to
h+1, and (its footnote) action sets that may differ from state to state.

Inside Tacit everything is an index. Layers have different sizes, so arrays over (h, s, a) are padded to
(horizon, max states, max actions); `Layout.mask` is True where a pair (s, a) exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.base.validation import check_choice
from tacit.problem.spaces import (
    Finite,
    Label,
    Space,
    abridge_labels,
    check_labels,
    saved_labels,
    space_from_json,
)

MOST_PLACES = 1 << 24
"""Of (layer, state, action), padded; where transitions are counted, memory ends long before."""
COUNTS, MISSING = SILENCES = ("counts", "missing")
"""What silence may be taken for; see `tacit.problem.silence`."""


@dataclass(frozen=True)
class Layout:
    """The known shape of a layered contextual MDP.

    `states[h]` are the labels of layer h (0-based; all distinct, one in the first layer), `actions[h][s]`
    the labels of the actions that state s of layer h offers, `names` optional words for the states. `silence`
    says what it means that a person was there and said nothing: it "counts" like any feedback, or it is
    "missing" at random.

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
    silence: str = COUNTS

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
    def endings(self) -> Endings:
        """Return the states in which an episode ends, and with them where feedback is judged."""
        return Endings(self)

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
                f"state must be one of {abridge_labels(known)}, got {state!r}; "
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
            "silence": self.silence,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Layout:
        """Return the layout that `to_json` described."""
        saved = Saved.of(data)
        states, actions = saved.entries("states"), saved.entries("actions")
        offered = [actions.entries(h) for h in actions]
        layout = Layout(
            states=tuple(saved_labels(states, h) for h in states),
            actions=tuple(tuple(saved_labels(layer, s) for s in layer) for layer in offered),
            contexts=space_from_json(saved.part("contexts")),
            feedback=space_from_json(saved.part("feedback")),
            names=_read_names(saved.entries("names")) if saved.has("names") else None,
            silence=saved.choice("silence", SILENCES) if "silence" in saved else COUNTS,
        )
        saved.refuse_unread()
        return layout


@dataclass(frozen=True, eq=False)
class Endings:
    """The states in which an episode ends and feedback is given: those of the last layer, S_H of them.

    `labels`, `names` and `actions` are theirs; arrays over endings have the axis (S_H, ...).

    >>> endings = Layout.regular([1, 2], n_actions=3, n_contexts=2, n_feedback=2).endings
    >>> endings.size, endings.n_actions.tolist(), endings.name(1), endings.find(2)
    (2, [3, 3], '2', 1)
    """

    layout: Layout

    @cached_property
    def size(self) -> int:
        """Return S_H, how many there are."""
        return len(self.labels)

    @property
    def labels(self) -> tuple[Label, ...]:
        """Return their labels."""
        return self.layout.states[-1]

    @property
    def actions(self) -> tuple[tuple[Label, ...], ...]:
        """Return the labels of the actions that each offers."""
        return self.layout.actions[-1]

    @cached_property
    def n_actions(self) -> IntArray:
        """Return how many actions each offers, (S_H,)."""
        return self.layout.n_actions[-1, : self.size]

    @cached_property
    def mask(self) -> BoolArray:
        """Return which (s, a) exist, (S_H, K)."""
        return self.layout.mask[-1, : self.size]

    @cached_property
    def uniform(self) -> FloatArray:
        """Return the uniform probabilities of each one's actions, (S_H, K), zero in the padding."""
        return self.layout.uniform_policy[-1, : self.size]

    def name(self, ending: int) -> str:
        """Return the words for one."""
        return self.layout.name(self.layout.horizon - 1, ending)

    def find(self, state: Any) -> int:
        """Return the index of the ending with that label, or raise."""
        layer, s = self.layout.locate(state)
        if layer != self.layout.horizon - 1:
            raise ValueError(
                f"an episode ends in the last layer, got {state!r} of layer {layer + 1} of {self.layout.horizon}; "
                "give the last state of the episode"
            )
        return s

    def spread(self, rewards: FloatArray) -> FloatArray:
        """Return rewards (S_H, K) as rewards of all layers, (H, S, K): zero wherever an episode does not end."""
        whole = np.zeros(self.layout.mask.shape)
        whole[-1, : self.size] = rewards
        return whole


def _read_names(saved: Saved) -> tuple[tuple[str, ...], ...]:
    return tuple(saved.texts(layer) for layer in saved)


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
    check_labels([name for layer in layout.names or () for name in layer])
    check_choice("silence", layout.silence, SILENCES)
    if layout.horizon * max(map(len, states)) * layout.max_actions > MOST_PLACES:
        raise ValueError(
            f"a layout has at most {MOST_PLACES} places, layers x states x actions of the largest, got "
            f"{layout.horizon} x {max(map(len, states))} x {layout.max_actions}; group states or actions"
        )

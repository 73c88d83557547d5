"""What an agent is told of the problem: layers, their states, each state's actions, contexts, feedback.

Section 2 of the paper: S = S_1 + ... + S_H with a single start state, transitions only from layer h to
h+1, and (its footnote) action sets that may differ from state to state.

Inside Tacit everything is an index. Layers have different sizes, so arrays over (h, s, a) are padded to
(horizon, max states, max actions); `Layout.mask` is True where a pair (s, a) exists.

Where an episode can end before the last layer, the arrays of each layer after that have one state more, the last: an
episode that has ended is there, with one action that leads on to the next layer's. It has no label, and nobody asks
what to do in it; with it every episode has H steps, for all who plan.
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
from tacit.problem.endings import Endings
from tacit.problem.records import Space, space_from_json
from tacit.problem.spaces import Finite, Label, abridge_labels, check_labels, saved_labels

MOST_PLACES = 1 << 24
"""Of (layer, state, action), padded; where transitions are counted, memory ends long before."""
COUNTS, MISSING = SILENCES = ("counts", "missing")
"""What silence may be taken for; see `tacit.problem.silence`."""
ANYWHERE = "anywhere"
"""Of `Layout.ends`: an episode can end in every state."""

Retired = tuple[int, int, int]
"""Layer, state and action of one that is offered no more."""
Ends = str | tuple[tuple[Label, ...], ...]
"""Where an episode can end: "anywhere", or the labels of some states of each layer."""


@dataclass(frozen=True)
class Layout:
    """The known shape of a layered contextual MDP.

    `states[h]` are the labels of layer h (0-based; distinct in a layer, one in the first), `actions[h][s]` the labels
    of the actions that state s of layer h offers, `names` optional words for the states. A label that stands in several
    layers is a state of its own in each.

    An episode ends in the last layer; with `ends`, labels layer by layer or "anywhere", in those states, too. `silence`
    says what it means that a person was there and said nothing: it "counts" like any feedback, or it is "missing" at
    random. An `open` layout takes in states and actions while an agent runs (`tacit.problem.growth`). `retired` are
    actions that are offered no more, as (layer, state, action), indices from 0; what is known of them stays.

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
    ends: Ends | None = None
    silence: str = COUNTS
    open: bool = False
    retired: tuple[Retired, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", tuple(map(tuple, self.states)))
        object.__setattr__(self, "actions", tuple(tuple(map(tuple, layer)) for layer in self.actions))
        object.__setattr__(self, "retired", tuple(sorted({(h, s, a) for h, s, a in self.retired})))
        if self.ends is not None and not isinstance(self.ends, str):
            object.__setattr__(self, "ends", tuple(map(tuple, self.ends)))
        check_layout(self)

    @staticmethod
    def regular(
        n_states: Sequence[int],
        n_actions: int,
        n_contexts: int,
        n_feedback: int,
        names: tuple[tuple[str, ...], ...] | None = None,
        ends: Ends | None = None,
    ) -> Layout:
        """Return a layout of integer labels in which every state offers the same actions."""
        actions = tuple((tuple(range(n_actions)),) * n for n in n_states)
        contexts, feedback = Finite(tuple(range(n_contexts))), Finite(tuple(range(n_feedback)))
        return Layout(consecutive_states(n_states), actions, contexts, feedback, names, ends)

    @cached_property
    def horizon(self) -> int:
        """Return H, the number of layers and of actions in an episode that does not end before."""
        return len(self.states)

    @cached_property
    def can_end(self) -> tuple[tuple[bool, ...], ...]:
        """Return in which states of each layer an episode can end; in the last layer it does in all."""
        last, ends = self.horizon - 1, self.ends
        if ends is None or isinstance(ends, str):
            return tuple((ends is not None or h == last,) * len(layer) for h, layer in enumerate(self.states))
        listed = [set(labels) for labels in ends]
        return tuple(tuple(h == last or s in listed[h] for s in layer) for h, layer in enumerate(self.states))

    @cached_property
    def ended(self) -> IntArray:
        """Return in each layer the index of the state of episodes that have ended, (H,); -1 before the first can."""
        over = np.cumsum([0, *(any(layer) for layer in self.can_end[:-1])]) > 0
        return np.where(over, [len(layer) for layer in self.states], -1)

    @cached_property
    def ends_early(self) -> bool:
        """Return whether an episode can end before the last layer."""
        return bool(self.ended[-1] >= 0)

    @cached_property
    def n_states(self) -> IntArray:
        """Return the number of states of each layer, (H,), that of episodes that have ended among them."""
        return np.array([len(layer) for layer in self.states], dtype=np.int64) + (self.ended >= 0)

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
        """Return the number of actions of each state, retired or not, (H, S); 0 where there is no state."""
        counts = np.zeros((self.horizon, self.max_states), dtype=np.int64)
        for h, layer in enumerate(self.actions):
            counts[h, : len(layer)] = [len(labels) for labels in layer]
        counts[self.ended >= 0, self.ended[self.ended >= 0]] = 1
        return counts

    @cached_property
    def exists(self) -> BoolArray:
        """Return which (h, s, a) there are, retired or not, (H, S, K)."""
        return np.arange(self.max_actions)[None, None, :] < self.n_actions[:, :, None]

    @cached_property
    def mask(self) -> BoolArray:
        """Return which (h, s, a) are offered, (H, S, K)."""
        if not self.retired:
            return self.exists
        mask = self.exists.copy()
        mask[tuple(np.array(self.retired).T)] = False
        return mask

    @cached_property
    def uniform_policy(self) -> FloatArray:
        """Return the policy that is uniform over the actions that each state offers, (H, S, K), zero elsewhere."""
        return np.asarray(self.mask / np.maximum(self.mask.sum(axis=2, keepdims=True), 1))

    @cached_property
    def endings(self) -> Endings:
        """Return the states in which an episode can end, and with them where feedback is judged."""
        pairs = [(h, s) for h, layer in enumerate(self.can_end) for s, ends in enumerate(layer) if ends]
        layers, states = np.array(pairs).T
        number = {label: n for n, label in enumerate(self._layers)}
        return Endings(
            layers,
            states,
            self.ended,
            np.array([number[self.states[h][s]] for h, s in pairs]),
            tuple(self.key(h, s) for h, s in pairs),
            tuple(self.name(h, s) for h, s in pairs),
            tuple(self.actions[h][s] for h, s in pairs),
            self.mask,
            self.uniform_policy[layers, states],
        )

    @cached_property
    def _index(self) -> tuple[dict[Label, int], ...]:
        return tuple({label: s for s, label in enumerate(layer)} for layer in self.states)

    @cached_property
    def _layers(self) -> dict[Label, tuple[int, ...]]:
        """Return the layers in which each label stands."""
        layers: dict[Label, tuple[int, ...]] = {}
        for h, layer in enumerate(self.states):
            for label in layer:
                layers[label] = (*layers.get(label, ()), h)
        return layers

    def find(self, state: Any, layer: int) -> int | None:
        """Return the index of a state label in a layer, None if it does not stand there."""
        try:
            return self._index[layer].get(state)
        except TypeError:  # no label at all
            return None

    def locate(self, state: Any, layer: int | None = None) -> tuple[int, int]:
        """Return (layer, index in the layer) of a state label; layers count from 0.

        A label that stands in several layers is looked up in the `layer` that is given.
        """
        layers = self.layers_of(state)
        if layer is None and len(layers) > 1:
            raise ValueError(
                f"a state is located by its label where that stands in one layer, {state!r} stands in "
                f"{len(layers)}; say in which `layer`, counted from 0"
            )
        if layer is not None and layer not in layers:
            raise ValueError(
                f"layer {layer + 1} has the states {abridge_labels(self.states[layer])}, got {state!r} of layer "
                f"{layers[0] + 1}; add it to that layer of the layout, or give the layer that it is of"
            )
        h = layers[0] if layer is None else layer
        return h, self._index[h][state]

    def layers_of(self, state: Any) -> tuple[int, ...]:
        """Return the layers in which a state label stands, in order; at least one, or raise ValueError."""
        try:
            return self._layers[state]
        except (KeyError, TypeError):
            raise ValueError(
                f"state must be one of {abridge_labels(tuple(self._layers))}, got {state!r}; "
                "every state must be in the layout, or come with its actions in an open one: Layout(..., open=True)"
            ) from None

    def name(self, layer: int, state: int) -> str:
        """Return the words for a state: its name if it has one, otherwise its label; with the step, if it has several.

        >>> lake = Layout((("shore",), ("shore", "ice")), ((("go",),), (("go",),) * 2), Finite((0,)), Finite((0, 1)))
        >>> lake.name(1, 0), lake.name(1, 1)
        ('shore (step 2)', 'ice')
        """
        label = self.states[layer][state]
        words = self.names[layer][state] if self.names else str(label)
        return words if len(self._layers[label]) == 1 else f"{words} (step {layer + 1})"

    def key(self, layer: int, state: int) -> Label:
        """Return a state's label, with the step in words where it stands in several layers."""
        label = self.states[layer][state]
        return label if len(self._layers[label]) == 1 else f"{label} (step {layer + 1})"

    def to_json(self) -> dict[str, Any]:
        """Return a JSON description that `Layout.from_json` reads."""
        described: dict[str, Any] = {
            "states": [list(layer) for layer in self.states],
            "actions": [[list(labels) for labels in layer] for layer in self.actions],
            "contexts": self.contexts.to_json(),
            "feedback": self.feedback.to_json(),
            "names": [list(layer) for layer in self.names] if self.names else None,
            "ends": self.ends
            if self.ends is None or isinstance(self.ends, str)
            else list(map(list, self.ends)),
            "silence": self.silence,
        }
        more = {"open": self.open, "retired": list(map(list, self.retired))}
        return described | {name: value for name, value in more.items() if value}

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
            ends=_read_ends(saved) if saved.has("ends") else None,
            silence=saved.choice("silence", SILENCES) if "silence" in saved else COUNTS,
            open="open" in saved and saved.flag("open"),
            retired=_read_retired(saved) if "retired" in saved else (),
        )
        saved.refuse_unread()
        return layout


def _read_names(saved: Saved) -> tuple[tuple[str, ...], ...]:
    return tuple(saved.texts(layer) for layer in saved)


def _read_ends(saved: Saved) -> Ends:
    if isinstance(saved["ends"], str):
        return saved.choice("ends", (ANYWHERE,))
    entries = saved.entries("ends")
    return tuple(saved_labels(entries, h) for h in entries)


def _read_retired(saved: Saved) -> tuple[Retired, ...]:
    entries = saved.entries("retired")
    rows = [entries.entries(i) for i in entries]
    return tuple((row.whole("0"), row.whole("1"), row.whole("2")) for row in rows)


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
    for h, layer in enumerate(states):
        check_labels(layer)
        if len(set(layer)) != len(layer):
            twice = sorted({str(label) for label in layer if layer.count(label) > 1})
            raise ValueError(
                f"state labels must be distinct in a layer, these stand twice in layer {h + 1}: {twice}; "
                "give each state a label of its own"
            )
    check_ends(layout)
    if [len(layer) for layer in layout.actions] != [len(layer) for layer in states]:
        raise ValueError("actions must list one tuple of labels for every state of every layer")
    for h, menus in enumerate(layout.actions):
        for s, offered in enumerate(menus):
            check_labels(offered)
            if not offered or len(set(offered)) != len(offered):
                raise ValueError(
                    f"state {states[h][s]!r} must offer at least one action and none twice, got {offered!r}"
                )
    if layout.names and [len(n) for n in layout.names] != [len(layer) for layer in states]:
        raise ValueError("names must have the same shape as states; leave them out to use the labels")
    check_labels([name for layer in layout.names or () for name in layer])
    check_choice("silence", layout.silence, SILENCES)
    check_spaces(layout)
    if layout.horizon * layout.max_states * layout.max_actions > MOST_PLACES:
        raise ValueError(
            f"a layout has at most {MOST_PLACES} places, layers x states x actions of the largest, got "
            f"{layout.horizon} x {layout.max_states} x {layout.max_actions}; group states or actions"
        )
    check_retired(layout)


def check_spaces(layout: Layout) -> None:
    """Raise ValueError unless contexts and feedback are spaces; a plain list is none."""
    for what, space in (("contexts", layout.contexts), ("feedback", layout.feedback)):
        if not isinstance(space, Space):
            raise ValueError(
                f"{what} must be tacit.Finite(labels), tacit.Vectors(dimension), tacit.Text() or tacit.Record(fields), "
                f"got {space!r}; for a list of labels write {what}=tacit.Finite(labels)"
            )


def check_retired(layout: Layout) -> None:
    """Raise ValueError unless retired actions are some of a state's, and leave it at least one."""
    shape = layout.exists.shape
    for one in layout.retired:
        if any(not 0 <= i < n for i, n in zip(one, shape, strict=True)) or not layout.exists[one]:
            raise ValueError(f"retired must be (layer, state, action), indices of the layout, got {one}")
    if (layout.exists.any(axis=2) & ~layout.mask.any(axis=2)).any():
        raise ValueError("a state must offer at least one action, all of one are retired; leave one of them")


def check_ends(layout: Layout) -> None:
    """Raise ValueError unless `ends` names states of each layer, and every state has words of its own."""
    ends, states = layout.ends, layout.states
    if (isinstance(ends, str) and ends != ANYWHERE) or (isinstance(ends, tuple) and len(ends) != len(states)):
        raise ValueError(
            f"ends must be {ANYWHERE!r} or list, for each of the {len(states)} layers, the states in which an episode "
            f"can end, got {ends!r}; give an empty list for a layer in which none can"
        )
    for h, listed in enumerate(ends if isinstance(ends, tuple) else ()):
        check_labels(listed)
        unknown = [label for label in listed if layout.find(label, h) is None]
        if unknown:
            raise ValueError(
                f"ends must name states of the layer, got {unknown[0]!r} in layer {h + 1}, which has "
                f"{abridge_labels(states[h])}; correct the label, or move it to its layer"
            )
    keys = [layout.key(h, s) for h, layer in enumerate(states) for s in range(len(layer))]
    if len(set(keys)) != len(keys):
        twice = sorted({str(key) for key in keys if keys.count(key) > 1})
        raise ValueError(
            f"states that stand in several layers are told apart by their step, which makes these the words of two "
            f"states: {twice}; rename one of them"
        )

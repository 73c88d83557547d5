"""The states in which an episode can end: where feedback is given, and where it is judged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.problem.spaces import Label, abridge_labels

T = TypeVar("T", np.float64, np.bool_)


@dataclass(frozen=True, eq=False)
class Endings:
    """The states in which an episode can end: those of the last layer, and before it those that a layout names.

    They are pairs (`layers`, `states`), layer by layer, S_H of them; arrays over endings have the axis (S_H, ...).
    `labels`, `names` and `actions` are theirs, labels and names with the step in words where a label stands in several
    layers, and `siblings` (S_H,) numbers their labels without it; `uniform` (S_H, K) are the uniform probabilities of
    their actions, zero in the padding. `ended` (H,) and
    `existing` (H, S, K) are the layout's: where episodes are that have ended, and which (h, s, a) there are.

    >>> from tacit.problem.layout import Layout
    >>> endings = Layout.regular([1, 2], n_actions=3, n_contexts=2, n_feedback=2).endings
    >>> endings.size, endings.n_actions.tolist(), endings.name(1), endings.find(2)
    (2, [3, 3], '2', 1)
    >>> early = Layout.regular([1, 2], n_actions=3, n_contexts=2, n_feedback=2, ends="anywhere").endings
    >>> early.layers.tolist(), early.states.tolist()
    ([0, 1, 1], [0, 0, 1])
    """

    layers: IntArray
    states: IntArray
    ended: IntArray
    siblings: IntArray
    labels: tuple[Label, ...]
    names: tuple[str, ...]
    actions: tuple[tuple[Label, ...], ...]
    existing: BoolArray
    uniform: FloatArray

    @cached_property
    def size(self) -> int:
        """Return S_H, how many there are."""
        return len(self.layers)

    @cached_property
    def early(self) -> int:
        """Return how many of them, the first, stand before the last layer."""
        return int((self.layers < len(self.ended) - 1).sum())

    @cached_property
    def index(self) -> IntArray:
        """Return the number of each state's ending, (H, S), -1 where an episode cannot end."""
        numbers = np.full(self.existing.shape[:2], -1)
        numbers[self.layers, self.states] = np.arange(self.size)
        return numbers

    @cached_property
    def n_actions(self) -> IntArray:
        """Return how many actions each offers, (S_H,)."""
        return np.array([len(labels) for labels in self.actions], dtype=np.int64)

    @cached_property
    def mask(self) -> BoolArray:
        """Return which (s, a) exist, (S_H, K)."""
        return self.existing[self.layers, self.states]

    def name(self, ending: int) -> str:
        """Return the words for one."""
        return self.names[ending]

    def find(self, state: Any) -> int:
        """Return the index of the ending with that label, or raise; see `labels` for those of several layers."""
        try:
            return self._known[state]
        except (KeyError, TypeError):
            raise ValueError(
                f"an episode ends in one of {abridge_labels(self.labels)}, got {state!r}; give the last state of the "
                "episode, with its step if it stands in several layers"
            ) from None

    def chances(self, transitions: FloatArray) -> FloatArray:
        """Return how likely an episode ends after each action of each, (S_H, K), by transitions (H-1, S, K, S)."""
        chances = self.mask.astype(np.float64)
        layers = self.layers[: self.early]
        chances[: self.early] = transitions[layers, self.states[: self.early], :, self.ended[layers + 1]]
        return chances

    def spread(self, rewards: FloatArray, transitions: FloatArray) -> FloatArray:
        """Return rewards (S_H, K) of episodes that end as expected rewards of every (h, s, a), (H, S, K).

        r_h(s, a) = Pr[ended | s, a] r(s, a), by transitions (H-1, S, K, S); zero wherever an episode cannot end.
        """
        return self.place(rewards if self.early == 0 else rewards * self.chances(transitions))

    def place(self, values: NDArray[T]) -> NDArray[T]:
        """Return values of each ending (S_H, ...) where its state stands, (H, S, ...); zero elsewhere."""
        whole: NDArray[T] = np.zeros((*self.existing.shape[:2], *values.shape[1:]), dtype=values.dtype)
        whole[self.layers, self.states] = values
        return whole

    @cached_property
    def _known(self) -> dict[Label, int]:
        return {label: ending for ending, label in enumerate(self.labels)}

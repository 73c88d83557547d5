"""Readings: what turns contexts and feedback into a few groups and values, so that tuples can be counted.

Few labels are their own groups and values. What cannot be counted one by one is read by what was understood of it
(`tacit.decoding.understanding`): a context is the action that is its best, a feedback whether it is like a reward. That
is fitted on one part of the tuples and counted on the other, so that what was learned by heart does not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from tacit.base.arrays import IntArray
from tacit.base.saved import Saved
from tacit.decoding.tuples import Tuples, is_finite
from tacit.decoding.understanding import Understanding
from tacit.decoding.word_sharpening import understand_sharply
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded

FITTED_SHARE = 0.7
"""Of the tuples that an understanding is fitted on; the others are counted."""


class Reading(Protocol):
    """What a model asks of whoever reads contexts and feedback."""

    @property
    def name(self) -> str:
        """Return the name that a saved model knows it by."""

    @property
    def counted(self) -> Layout:
        """Return the layout whose contexts are the groups and whose feedback are the values."""

    def read(
        self, contexts: Sequence[Encoded], states: IntArray, feedback: Sequence[Encoded]
    ) -> tuple[IntArray, IntArray]:
        """Return the group and the value of each episode that ended in `states`, both (n,)."""

    def read_one(self, context: Encoded, ending: int, feedback: Encoded) -> tuple[int, int]:
        """Return the group and the value of one episode."""

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values from which `reading_from_state` rebuilds it."""


@dataclass(frozen=True, eq=False)
class FiniteReading:
    """Finite contexts and feedback, each its own group and value."""

    layout: Layout
    name: str = "finite"

    @property
    def counted(self) -> Layout:
        """Return the layout itself."""
        return self.layout

    def read(
        self, contexts: Sequence[Encoded], states: IntArray, feedback: Sequence[Encoded]
    ) -> tuple[IntArray, IntArray]:
        """Return the indices as they are."""
        return np.asarray(contexts, dtype=np.int64), np.asarray(feedback, dtype=np.int64)

    def read_one(self, context: Encoded, ending: int, feedback: Encoded) -> tuple[int, int]:
        """Return the context and the feedback as they are."""
        return int(context), int(feedback)

    def to_state(self) -> dict[str, Any]:
        """Return the name alone."""
        return {"name": self.name}


def reading_from_state(layout: Layout, state: Mapping[str, Any]) -> Reading:
    """Return the reading that `to_state` described, of a layout as stages see it."""
    saved = Saved.of(state)
    if saved.choice("name", (FiniteReading.name, Understanding.name)) == FiniteReading.name:
        saved.check(is_finite(layout), "name", "'understanding' where contexts or feedback are vectors")
        return FiniteReading(layout)
    return Understanding.from_state(layout, saved)


def understand(layout: Layout, tuples: Tuples, c: float, seed: int) -> tuple[Understanding, Tuples]:
    """Return what one part of the tuples tells, and the other part, on which that is to be counted."""
    generator = np.random.default_rng([seed, 5])
    order = generator.permutation(len(tuples))
    cut = int(FITTED_SHARE * len(tuples))
    fitted = thin_to_uniform(tuples.part(np.sort(order[:cut])), generator)
    return understand_sharply(layout, fitted, c), tuples.part(np.sort(order[cut:]))


def thin_to_uniform(tuples: Tuples, generator: np.random.Generator) -> Tuples:
    """Return the tuples, of which those weigh 1 that pass for tuples of uniform actions.

    A fit goes by all tuples, but chooses among several ways by those of uniform actions, and logs may have hardly any.
    So one of weight w = 1/(K p) passes with chance min(1, w): an action that was taken more often than a uniform one is
    thinned to its share, and a rarer one is kept as it is. What is left is not uniform where some action was rare,
    and need not be: what words mean is fitted given the action, which that leaves as it is.

    >>> tuples = Tuples(*np.zeros((4, 1000), dtype=int), weights=np.full(1000, 0.5))
    >>> round(float((thin_to_uniform(tuples, np.random.default_rng(0)).weights == 1).mean()), 1)
    0.5
    """
    passes = generator.random(len(tuples)) < tuples.weights
    return replace(tuples, weights=np.where(passes, 1.0, tuples.weights))

"""Readings: what turns contexts and feedback into a few groups and values, so that tuples can be counted.

Finite contexts and feedback are their own groups and values. Vectors are read by the networks of the neural posterior:
a feedback is what phi makes of it, rounded, and a context is the action that f takes to be its best (a finite context
stays itself). The networks are fitted on one part of the tuples and counted on the other, so that what they have
learned by heart does not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from tacit.base.arrays import IntArray
from tacit.base.saved import Saved
from tacit.decoding.inverse_kinematics import fit_posterior
from tacit.decoding.networks import NeuralPosterior
from tacit.decoding.posterior import Posterior, PosteriorSettings
from tacit.decoding.tuples import Tuples, counted_shape, is_finite
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded, Finite

FITTED_SHARE = 0.7
"""Of the tuples that networks are fitted on; the others are counted."""


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


@dataclass(frozen=True, eq=False)
class NeuralReading:
    """Vectors, read by networks for f and phi; see the module."""

    layout: Layout
    posterior: Posterior
    name: str = "neural"

    @cached_property
    def counted(self) -> Layout:
        """Return the layout with a group for each action that can be best, or each context, and two values."""
        contexts = self.layout.contexts
        groups = tuple(f"best action {a + 1}" for a in range(self.layout.max_actions))
        values = Finite(("like no reward", "like a reward"))
        kept = contexts if isinstance(contexts, Finite) else Finite(groups)
        return replace(self.layout, contexts=kept, feedback=values)

    def read(
        self, contexts: Sequence[Encoded], states: IntArray, feedback: Sequence[Encoded]
    ) -> tuple[IntArray, IntArray]:
        """Return what the networks of each state make of its contexts and feedback; 0 for a state without.

        Silence that the networks never met stays silence.
        """
        assert isinstance(self.posterior, NeuralPosterior)
        x, y = np.asarray(contexts), np.asarray(feedback)
        unmet = ~self.posterior.feedback.knows(y)
        if unmet.any():
            y = np.where(unmet, 0, y)
        groups, values = np.zeros((2, len(states)), dtype=np.int64)
        for s in np.unique(states):
            if self.posterior.states[s]:
                here = states == s
                f, phi = self.posterior.rewards_of_many(x[here], y[here], int(s))
                groups[here], values[here] = f.argmax(axis=1), phi > 0.5
        values[unmet] = counted_shape(self.counted)[2] - 1
        return (x.astype(np.int64) if isinstance(self.layout.contexts, Finite) else groups), values

    def read_one(self, context: Encoded, ending: int, feedback: Encoded) -> tuple[int, int]:
        """Return what the networks make of one episode."""
        groups, values = self.read([context], np.array([ending]), [feedback])
        return int(groups[0]), int(values[0])

    def to_state(self) -> dict[str, Any]:
        """Return the posterior's arrays."""
        return {"name": self.name, "posterior": self.posterior.to_state()}


def reading_from_state(layout: Layout, state: Mapping[str, Any]) -> Reading:
    """Return the reading that `to_state` described."""
    saved = Saved.of(state)
    if saved.choice("name", (FiniteReading.name, NeuralReading.name)) == FiniteReading.name:
        saved.check(is_finite(layout), "name", "'neural' where contexts or feedback are vectors")
        return FiniteReading(layout)
    return NeuralReading(layout, NeuralPosterior.from_state(layout, saved.part("posterior")))


def fit_reading(layout: Layout, tuples: Tuples, seed: int) -> tuple[NeuralReading, Tuples]:
    """Return networks fitted on one part of the tuples, and the other part, on which they are to be counted.

    Networks know no weights: tuples are drawn anew in proportion to theirs, if they differ.
    """
    generator = np.random.default_rng([seed, 5])
    order = generator.permutation(len(tuples))
    cut = int(FITTED_SHARE * len(tuples))
    fitted, counted = tuples.part(order[:cut]), tuples.part(order[cut:])
    if np.ptp(fitted.weights) > 0:
        fitted = fitted.part(generator.choice(cut, cut, p=fitted.weights / fitted.weights.sum()))
    posterior = fit_posterior(layout, fitted, PosteriorSettings("neural", seed=seed))
    return NeuralReading(layout, posterior), counted

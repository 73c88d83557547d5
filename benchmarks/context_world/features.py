"""The same people with other features: on no common scale, constant ones, duplicates, or most of them irrelevant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import tacit
from context_world.problem import Array, Problem

DIMENSION = 10
"""Features that matter."""
IRRELEVANT = 50

Spoil = Callable[[np.random.Generator, Array], Array]
"""Returns people (n, d) as they are shown; the generator is for what changes from person to person."""


def spoil_features(
    generator: np.random.Generator, problem: Problem, how: str, regresses_on_shown: bool
) -> Problem:
    """Return a problem whose people are shown with other features, in an order of their own."""
    spoil = SPOILED[how](generator)
    people = problem.people
    dimension = spoil(generator, people.draw(generator, 2)).shape[1]
    order = generator.permutation(dimension)
    shown = replace(
        people,
        space=tacit.Vectors(dimension),
        show=lambda generator, x: spoil(generator, x)[:, order],
    )
    return replace(problem, people=shown, regresses_on_shown=regresses_on_shown)


def _unscaled(generator: np.random.Generator) -> Spoil:
    scales = 10 ** generator.uniform(-3, 4, DIMENSION)
    shifts = scales * generator.normal(0, 10, DIMENSION)
    return lambda generator, x: x * scales + shifts


def _constant(generator: np.random.Generator) -> Spoil:
    values = np.array([0.0, 1.0, -1e6, *generator.normal(0, 10, 2)])
    return lambda generator, x: np.concatenate([x, np.tile(values, (len(x), 1))], axis=1)


def _duplicate(generator: np.random.Generator) -> Spoil:
    scales = np.concatenate([np.ones(DIMENSION // 2), generator.uniform(-3, 3, DIMENSION - DIMENSION // 2)])
    return lambda generator, x: np.concatenate([x, x * scales], axis=1)


def _irrelevant(generator: np.random.Generator) -> Spoil:
    scales = generator.uniform(0.5, 2, IRRELEVANT)
    return lambda generator, x: np.concatenate(
        [x, generator.standard_normal((len(x), IRRELEVANT)) * scales], axis=1
    )


SPOILED: dict[str, Callable[[np.random.Generator], Spoil]] = {
    "unscaled": _unscaled,
    "constant": _constant,
    "duplicate": _duplicate,
    "irrelevant": _irrelevant,
}
"""What may be the matter with features, by name."""

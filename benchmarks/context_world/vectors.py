"""Families whose contexts are vectors: groups, linear, xor, and sectors of an oblique plane with rings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from real_world.drawing import draw_contexts

import tacit
from context_world.drawing import ACTIONS, DrawVoice, draw_dynamics, draw_tastes, draw_words, indicators
from context_world.problem import Array, People, Problem, draw_worthwhile
from tacit.base.arrays import FloatArray

APART = 5.0
"""The least distance of two clouds' centres, in standard deviations of a cloud."""
SLOPE, HURDLE = 2.5, 2.0
"""Of the logit of pleasing: how it varies over people, and how far below zero it is in the mean."""
FLIP_SLOPE = 6.0
"""Of the logit of speaking the other way round: steep, a tenth of people are somewhere between."""
SECTORS, OBLIQUE_DIMENSION = 5, 8
NETWORK = 150
"""Random units that a learner of no certain class regresses on."""


def draw_groups(
    generator: np.random.Generator,
    groups: int,
    sizes: tuple[int, ...],
    dimension: int | None = None,
    draw_voice: DrawVoice = draw_words,
) -> Problem:
    """Return a problem of clouds of people in 5 to 10 dimensions, each with its own best action and meaning of words.

    The kind of a person is the nearest centre's, which is nearly always the centre of the cloud.
    """
    d = dimension or int(generator.integers(5, 11))

    def draw(generator: np.random.Generator) -> Problem:
        centres, spread = draw_centres(generator, groups, d), generator.uniform(0.5, 1.0, (groups, d))
        shares, tastes = draw_contexts(generator, groups), draw_tastes(generator, groups, sizes)

        def come(generator: np.random.Generator, n: int) -> FloatArray:
            kinds = generator.choice(groups, n, p=shares)
            return centres[kinds] + spread[kinds] * generator.standard_normal((n, d))

        def kinds_of(people: Array) -> Array:
            return np.asarray(((people[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1))

        def meet(people: Array) -> FloatArray:
            return indicators(kinds_of(people), groups)

        people = People(tacit.Vectors(d), come, lambda x: tastes[kinds_of(x)], meet, meet)
        return Problem(sizes, draw_dynamics(generator, sizes), people, draw_voice(generator, groups, sizes))

    return draw_worthwhile(draw, generator)


def draw_centres(generator: np.random.Generator, groups: int, dimension: int) -> FloatArray:
    """Return centres (groups, d), none of them nearer to another than `APART`."""
    while True:
        centres = generator.standard_normal((groups, dimension)) * generator.uniform(1.5, 4.0)
        distances = np.linalg.norm(centres[:, None] - centres, axis=2) + 1e9 * np.eye(groups)
        if distances.min() >= APART:
            return centres


def draw_linear(
    generator: np.random.Generator,
    dimension: int,
    sizes: tuple[int, ...],
    draw_voice: DrawVoice = draw_words,
) -> Problem:
    """Return a problem in which chances of pleasing are logistic in the features.

    In two of three, what words mean depends on them, too: the logit of speaking the other way round is linear.
    """

    def draw(generator: np.random.Generator) -> Problem:
        pleasing = draw_logistic(generator, dimension, sizes)
        slope = FLIP_SLOPE if generator.random() < 2 / 3 else 0.0
        flip, offset = unit_vector(generator, dimension) * slope, slope * generator.uniform(-0.5, 0.5)

        def speak(x: Array) -> FloatArray:
            turned = logistic(x @ flip + offset) if slope else np.zeros(len(x))
            return np.stack([1 - turned, turned], axis=1)

        people = People(tacit.Vectors(dimension), _normal(dimension), pleasing, speak, lambda x: x)
        return Problem(sizes, draw_dynamics(generator, sizes), people, draw_voice(generator, 2, sizes))

    return draw_worthwhile(draw, generator)


def draw_xor(
    generator: np.random.Generator, sizes: tuple[int, ...], draw_voice: DrawVoice = draw_words
) -> Problem:
    """Return a problem in which the sign of the product of two features of 4 to 8 turns the meaning of words.

    In every second one it also decides what pleases; in the others that is logistic in the features.
    """
    d, by_sign = int(generator.integers(4, 9)), bool(generator.random() < 0.5)

    def draw(generator: np.random.Generator) -> Problem:
        i, j = generator.choice(d, 2, replace=False)
        tastes, linear = draw_tastes(generator, 2, sizes), draw_logistic(generator, d, sizes)

        def sign(x: Array) -> Array:
            return np.asarray(x[:, i] * x[:, j] > 0).astype(int)

        people = People(
            tacit.Vectors(d),
            _normal(d),
            (lambda x: tastes[sign(x)]) if by_sign else linear,
            lambda x: indicators(sign(x), 2),
            signs_of_products if by_sign else (lambda x: x),
        )
        return Problem(sizes, draw_dynamics(generator, sizes), people, draw_voice(generator, 2, sizes))

    return draw_worthwhile(draw, generator)


def draw_oblique(generator: np.random.Generator, sizes: tuple[int, ...]) -> Problem:
    """Return a problem in which, in an oblique plane of 8 dimensions, the angle decides what pleases.

    Whoever is within a ring there means the opposite of those who are not. A learner of no certain class that sees the
    reward regresses on random units of a network.
    """
    d = OBLIQUE_DIMENSION

    def draw(generator: np.random.Generator) -> Problem:
        plane, turn = np.linalg.qr(generator.standard_normal((d, 2)))[0], generator.uniform(0, 2 * np.pi)
        tastes, units = draw_tastes(generator, SECTORS, sizes), generator.standard_normal((d + 1, NETWORK))

        def sector(x: Array) -> Array:
            angle = (np.arctan2(x @ plane[:, 1], x @ plane[:, 0]) + turn) % (2 * np.pi)
            return np.asarray(np.minimum(angle * SECTORS / (2 * np.pi), SECTORS - 1).astype(int))

        def ring(x: Array) -> Array:
            return np.asarray(((x @ plane) ** 2).sum(axis=1) < 2 * np.log(2)).astype(int)  # the median

        def network(x: Array) -> FloatArray:
            return np.concatenate([x, np.maximum(x @ units[:-1] + units[-1], 0)], axis=1)

        people = People(
            tacit.Vectors(d),
            _normal(d),
            lambda x: tastes[sector(x)],
            lambda x: indicators(ring(x), 2),
            network,
        )
        return Problem(sizes, draw_dynamics(generator, sizes), people, draw_words(generator, 2, sizes))

    return draw_worthwhile(draw, generator)


def draw_logistic(
    generator: np.random.Generator, dimension: int, sizes: tuple[int, ...]
) -> Callable[[Array], FloatArray]:
    """Return what pleases (n, S, K) at the last turn: f = logistic(w(s, a) x + b(s, a)); where no state is, nothing."""
    weights = generator.standard_normal((dimension, sizes[-1], ACTIONS))
    weights *= SLOPE / np.linalg.norm(weights, axis=0)
    offsets = -HURDLE + 0.4 * generator.standard_normal((sizes[-1], ACTIONS))

    def pleasing(x: Array) -> FloatArray:
        f = np.zeros((len(x), max(sizes), ACTIONS))
        f[:, : sizes[-1]] = logistic(np.tensordot(x, weights, 1) + offsets)
        return f

    return pleasing


def signs_of_products(x: Array) -> FloatArray:
    """Return the signs of the products of any two features.

    >>> signs_of_products(np.array([[2.0, -3.0, -1.0]]))
    array([[-1., -1.,  1.]])
    """
    i, j = np.triu_indices(x.shape[1], 1)
    return np.asarray(np.sign(x[:, i] * x[:, j]))


def logistic(logits: FloatArray) -> FloatArray:
    """Return the chance of a logit.

    >>> logistic(np.array([0.0, 800.0, -800.0]))
    array([0.5, 1. , 0. ])
    """
    return np.asarray(0.5 + 0.5 * np.tanh(logits / 2))


def unit_vector(generator: np.random.Generator, dimension: int) -> FloatArray:
    vector = generator.standard_normal(dimension)
    return np.asarray(vector / np.linalg.norm(vector))


def _normal(dimension: int) -> Callable[[np.random.Generator, int], FloatArray]:
    return lambda generator, n: generator.standard_normal((n, dimension))

"""What every family draws from: turns, what pleases kinds of people, and in how many ways they speak."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from real_world.drawing import Shape, draw_pleasing, draw_transitions, draw_voices, few_words

from context_world.problem import Array, Points, Words
from tacit.base.arrays import FloatArray

DrawVoice = Callable[[np.random.Generator, int, tuple[int, ...]], Words | Points]
"""Draws how people speak in so many ways, where turns have these sizes."""

ACTIONS = 5
ONE, THREE = (1,), (1, 3, 3)
"""Sizes of problems of one turn and of three."""


def draw_dynamics(generator: np.random.Generator, sizes: tuple[int, ...]) -> FloatArray:
    """Return where actions lead, (H - 1, S, K, S)."""
    return draw_transitions(generator, Shape(sizes, ACTIONS, 1))[:-1]


def draw_tastes(generator: np.random.Generator, kinds: int, sizes: tuple[int, ...]) -> FloatArray:
    """Return what pleases each kind at the last turn, (Z, S, K): their best actions differ as long as there are some.

    Each kind has a best state of its own choice, too; of the others some are nearly as good and some are mediocre.
    """
    tastes = np.zeros((kinds, max(sizes), ACTIONS))
    for s in range(sizes[-1]):
        wanted = np.concatenate([generator.permutation(ACTIONS) for _ in range(-(-kinds // ACTIONS))])
        for z in range(kinds):
            f = draw_pleasing(generator, ACTIONS, generator.uniform(0.45, 0.9))
            best = int(f.argmax())
            f[[best, wanted[z]]] = f[[wanted[z], best]]
            tastes[z, s] = f
    for z in range(kinds):
        s = int(generator.integers(sizes[-1]))
        tastes[z, s] *= generator.uniform(0.85, 1.0) / tastes[z, s].max()
    return tastes


def draw_words(generator: np.random.Generator, ways: int, sizes: tuple[int, ...]) -> Words:
    """Return two to six words in several ways of speaking; the second is the first with its meaning turned round."""
    return Words(draw_voices(generator, ways, 1, max(sizes), few_words(generator))[:, 0])


def draw_points(generator: np.random.Generator, ways: int, sizes: tuple[int, ...]) -> Points:
    """Return two points three to five standard deviations of the noise apart; every second way they are swapped."""
    dimension, distance = int(generator.integers(2, 7)), generator.uniform(3, 5)
    middle, apart = generator.standard_normal((2, dimension)) * [[3.0], [1.0]]
    step = apart / np.linalg.norm(apart) * distance / 2
    pair = np.array([middle - step, middle + step])  # (2, D)
    by_way = np.array([pair[:: 1 if z % 2 == 0 else -1] for z in range(ways)])
    return Points(np.repeat(by_way[:, None], max(sizes), axis=1))


def indicators(kinds: Array, n: int) -> FloatArray:
    """Return which of n kinds each is, (people, n)."""
    return np.eye(n)[kinds]

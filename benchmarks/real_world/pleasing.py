"""Most actions please: the few that do not are the minority, and feedback alone cannot tell which way round it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from real_world.drawing import LEAST_WORTH, draw_shape, draw_simple, few_words
from real_world.problem import Problem, worth_learning
from tacit.base.arrays import FloatArray


def draw_pleased(generator: np.random.Generator, outcomes: int) -> Problem:
    """Return a problem in which most actions please wherever any does, with known outcomes of so many episodes.

    At most two contexts and two last states where anybody is pleased: a handful of outcomes for each.
    """
    while True:
        shape = draw_shape(generator, turns=(2, 3), states=(2, 3), contexts=(1, 2))
        shape = replace(shape, plain=shape.sizes[-1] - min(2, shape.sizes[-1] - shape.plain))
        problem = draw_simple(generator, shape, few_words(generator))
        world = problem.worlds[0]
        rewards = np.zeros_like(world.rewards)
        for x in range(shape.contexts):
            for s in range(shape.sizes[-1] - shape.plain):
                rewards[x, -1, s] = most_please(generator, shape.actions)
        changed = replace(world, rewards=rewards)
        if worth_learning(changed) >= LEAST_WORTH:
            return replace(problem, worlds=(changed,), outcomes=outcomes)


def most_please(generator: np.random.Generator, actions: int) -> FloatArray:
    """Return f (K,) with a sum between 0.6 and 0.9 of K: a few fail, the others please, one of them best."""
    while True:
        failing = int(generator.integers(1, (actions + 1) // 2))
        f = np.concatenate(
            [
                generator.uniform(0.9, 1.0, 1),
                generator.uniform(0.6, 0.85, actions - failing - 1),
                generator.uniform(0.0, 0.25, failing),
            ]
        )
        if 0.6 <= f.mean() <= 0.9:
            return f[generator.permutation(actions)]

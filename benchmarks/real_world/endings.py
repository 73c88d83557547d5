"""Endings at any turn: the frozen lake, a help desk that answers or asks on, and people who may leave at any time."""

from __future__ import annotations

import numpy as np
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

from real_world.drawing import (
    LEAST_WORTH,
    Shape,
    consecutive_labels,
    draw_contexts,
    draw_pleasing,
    draw_shape,
    draw_transitions,
    draw_voices,
    everybody_speaks,
    few_words,
    split_words,
)
from real_world.problem import Problem, World, worth_learning
from tacit.base.arrays import FloatArray

START = 0


def draw_lake(generator: np.random.Generator, slips: bool) -> Problem:
    """Return Gymnasium's FrozenLake 4x4 with a limit of 10 to 20 turns, and people who say how they found it.

    Whoever comes to the goal is pleased, less with every turn that it took; whoever falls in or runs out of turns
    hardly ever is. A cell has the same label at every turn. With `slips` one step in twenty to one in five goes aside.
    """
    lake = FrozenLakeEnv(
        is_slippery=slips, success_rate=float(generator.uniform(0.8, 0.95)) if slips else 1.0
    )
    goal, fallen, late = generator.uniform(0.85, 1.0), *generator.uniform(0.0, 0.08, 2)
    turns, contexts = int(generator.integers(10, 21)), int(generator.integers(1, 4))
    impatience = generator.uniform(0.01, 0.03)
    tiles = np.asarray(lake.desc).ravel()
    cells = [START, *(s for s in range(16) if tiles[s] == b"F")]
    place = {cell: index for index, cell in enumerate(cells)}
    n, K = len(cells), 4
    transitions, rewards = np.zeros((turns, n, K, n)), np.zeros((turns, n, K))
    for h, s, a in np.ndindex(turns, n, K):
        over = pleased = 0.0
        for chance, cell, found, ended in lake.P[cells[s]][a]:
            if ended or h == turns - 1:
                over += chance
                pleased += chance * (goal - impatience * h if found else fallen if ended else late)
            else:
                transitions[h, s, a, place[cell]] += chance
        rewards[h, s, a] = pleased / over if over else 0.0
    words = int(generator.integers(2, 5))
    pairs = [split_words(generator, words), split_words(generator, words)]
    voices = np.array([pairs[0], pairs[0][::-1], pairs[1]][:contexts])[:, None, None]
    world = World(
        draw_contexts(generator, contexts),
        transitions,
        np.repeat(rewards[None], contexts, axis=0),
        everybody_speaks(np.broadcast_to(voices, (contexts, turns, n, 2, words)).copy()),
    )
    return Problem(((START,), *[tuple(cells)] * (turns - 1)), (world,))


def draw_desk(generator: np.random.Generator) -> Problem:
    """Return a desk that asks on or answers, at 3 to 6 turns: answers end it, and are best at one turn of them.

    Each state has one or two questions and at least three answers, of which one is right for a context; at a question
    up to one in ten people leaves, not pleased.
    """
    while True:
        shape = draw_shape(generator, turns=(3, 6), states=(2, 4), actions=(4, 5))
        H, S, K = len(shape.sizes), shape.widest, shape.actions
        going = draw_transitions(generator, shape)
        rewards = np.zeros((shape.contexts, H, S, K))
        ripe, decline = (
            int(generator.integers(1, H)),
            generator.uniform(0.1, 0.3),
        )  # asked enough; too much or little
        for h, s in np.ndindex(H, S):
            order = generator.permutation(K)
            questions = order[: generator.integers(1, K - 2)]
            answers = np.setdiff1d(order, questions)
            going[h, s, answers] = 0.0
            going[h, s, questions] *= 1 - generator.uniform(0, 0.1)
            for x in range(shape.contexts):
                best = max(0.95 - decline * abs(h - ripe), 0.1) * generator.uniform(0.6, 1.0)
                rewards[x, h, s, answers] = draw_pleasing(generator, len(answers), best)
        problem = _problem(generator, shape, going, rewards)
        if worth_learning(problem.worlds[0]) >= LEAST_WORTH:
            return problem


def draw_walk(generator: np.random.Generator) -> Problem:
    """Return a problem in which people leave after any action with a chance of its own, pleased or not."""
    while True:
        shape = draw_shape(generator, turns=(3, 5), states=(2, 4))
        H, S, K = len(shape.sizes), shape.widest, shape.actions
        going = draw_transitions(generator, shape) * (1 - generator.uniform(0.02, 0.5, (H, S, K, 1)))
        rewards = np.zeros((shape.contexts, H, S, K))
        for h, s in np.ndindex(H, S):
            if generator.random() < 0.75:  # elsewhere nobody is pleased
                quality = generator.uniform(0.3, 1.0)
                for x in range(shape.contexts):
                    rewards[x, h, s] = draw_pleasing(generator, K, quality * generator.uniform(0.85, 1.0))
        problem = _problem(generator, shape, going, rewards)
        if worth_learning(problem.worlds[0]) >= LEAST_WORTH:
            return problem


def _problem(
    generator: np.random.Generator, shape: Shape, transitions: FloatArray, rewards: FloatArray
) -> Problem:
    voices = draw_voices(generator, shape.contexts, len(shape.sizes), shape.widest, few_words(generator))
    world = World(draw_contexts(generator, shape.contexts), transitions, rewards, everybody_speaks(voices))
    return Problem(consecutive_labels(shape.sizes), (world,))

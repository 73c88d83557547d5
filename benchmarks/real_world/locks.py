"""Locks: one action at each turn leads on, and only whoever finds all of them comes where it is good."""

from __future__ import annotations

import numpy as np

from real_world.drawing import (
    consecutive_labels,
    draw_contexts,
    draw_pleasing,
    draw_voices,
    everybody_speaks,
    few_words,
)
from real_world.problem import Problem, World, solve_world
from tacit.base.arrays import FloatArray

PATH = 0
"""The state of each turn that the right actions lead to."""


def draw_lock(generator: np.random.Generator, consolation: bool, slips: bool) -> Problem:
    """Return a lock of 4 to 10 turns with 5 to 20 actions.

    Beside the path stand one to three states in which nobody is pleased, and with `consolation` one that many wrong
    actions lead to and where some are. With `slips` one action in fifty to one in ten is another than was chosen.
    """
    turns, actions = int(generator.integers(4, 11)), int(generator.integers(5, 21))
    contexts, dead = int(generator.integers(1, 5)), int(generator.integers(1, 4))
    aside = 1 if consolation else 0
    states = 1 + aside + dead
    slip = float(generator.uniform(0.02, 0.1)) if slips else 0.0
    transitions = _doors(generator, turns, states, actions, aside, slip)
    pair = few_words(generator)
    world = World(
        draw_contexts(generator, contexts),
        transitions,
        _rewards(generator, transitions, contexts, aside),
        everybody_speaks(draw_voices(generator, contexts, turns, states, pair)),
    )
    return Problem(consecutive_labels((1, *[states] * (turns - 1))), (world,))


def _doors(
    generator: np.random.Generator, turns: int, states: int, actions: int, aside: int, slip: float
) -> FloatArray:
    """Return transitions (H, S, K, S): on the path one right action a turn, elsewhere all stay aside or dead."""
    chosen = np.zeros((turns - 1, states, actions, states))
    easy = generator.uniform(0.3, 0.8)  # of the wrong actions lead to the consolation, if there is one
    for h in range(turns - 1):
        for a in range(actions):
            lost = (
                aside if aside and generator.random() < easy else int(generator.integers(1 + aside, states))
            )
            chosen[h, PATH, a, lost] = 1.0
        chosen[h, PATH, generator.integers(actions)] = np.eye(states)[PATH]
        chosen[h, 1 : 1 + aside, :, 1 : 1 + aside] = 1.0
        for s in range(1 + aside, states):
            chosen[h, s, np.arange(actions), generator.integers(1 + aside, states, actions)] = 1.0
    transitions = np.zeros((turns, states, actions, states))
    transitions[:-1] = (1 - slip) * chosen + slip * chosen.mean(axis=2, keepdims=True)
    return transitions


def _rewards(
    generator: np.random.Generator, transitions: FloatArray, contexts: int, aside: int
) -> FloatArray:
    """Return rewards (X, H, S, K) in which the consolation is worth a fifth to half of the lock."""
    rewards = np.zeros((contexts, *transitions.shape[:3]))
    for x in range(contexts):
        rewards[x, -1, PATH] = draw_pleasing(generator, transitions.shape[2], generator.uniform(0.8, 1.0))
    if aside:
        world = World(np.ones(contexts) / contexts, transitions, rewards, np.empty(0))
        for x, worth in enumerate(solve_world(world)[0]):
            best = worth * generator.uniform(0.2, 0.5)
            rewards[x, -1, aside] = draw_pleasing(generator, transitions.shape[2], best)
    return rewards

"""Silence: who reacts depends on how it went, most say nothing, or nobody speaks in one of the last states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from real_world.drawing import LEAST_WORTH, DrawPair, draw_shape, draw_simple, split_words
from real_world.problem import Problem, worth_learning
from tacit.base.arrays import FloatArray

RESTLESS = 0.05
"""The largest chance at each turn that an episode breaks off."""


def draw_silence(generator: np.random.Generator, kind: str) -> Problem:
    """Return a problem with silence of a kind: `happy`, `mostly`, `angry`, `majority` or `mute`."""
    if kind == "mute":
        return _mute(generator)
    reacts = _reacting(generator, kind)
    problem = draw_simple(generator, draw_shape(generator), _words(generator, kind), reacts)
    return replace(problem, breaks=float(generator.uniform(0, RESTLESS)) if generator.random() < 0.5 else 0.0)


def _reacting(generator: np.random.Generator, kind: str) -> FloatArray:
    """Return the shares of those not pleased and of those pleased who say anything, (2,)."""
    if kind == "happy":
        return np.array([0.0, generator.uniform(0.5, 1.0)])
    if kind == "mostly":
        return np.array([generator.uniform(0.02, 0.10), 0.9])
    if kind == "angry":
        return np.array([0.9, generator.uniform(0.02, 0.10)])
    least = generator.uniform(0.1, 0.3)
    return generator.permutation([least, min(least * generator.uniform(1, 2.5), 0.45)])


def _words(generator: np.random.Generator, kind: str) -> DrawPair:
    """Return how a pair is drawn; who is happy may have one word, said by nobody else."""
    words = int(generator.integers(1 if kind == "happy" else 2, 6))
    if words == 1:
        return lambda generator: np.ones((2, 1))
    return lambda generator: split_words(generator, words)


def _mute(generator: np.random.Generator) -> Problem:
    """Return a problem in which nobody reacts in one last state, where few are pleased whatever is done."""
    while True:
        reacts = np.ones(2) if generator.random() < 0.5 else generator.uniform(0.6, 1.0, 2)
        shape = draw_shape(generator, states=(3, 6))
        problem = draw_simple(generator, shape, _words(generator, "mute"), reacts)
        world = problem.worlds[0]
        s = int(generator.integers(shape.sizes[-1]))
        rewards, voices = world.rewards.copy(), world.voices.copy()
        rewards[:, -1, s] = generator.uniform(0, 0.15)
        voices[:, -1, s] = 0.0
        voices[:, -1, s, :, -1] = 1.0
        muted = replace(world, rewards=rewards, voices=voices)
        if worth_learning(muted) >= LEAST_WORTH:
            return replace(problem, worlds=(muted,))

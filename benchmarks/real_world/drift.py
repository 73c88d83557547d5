"""Drift halfway: what actions earn, what words mean or where actions lead is another from then on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from real_world.drawing import draw_shape, draw_simple, few_words
from real_world.problem import Problem, World, solve_world, value_of, worth_learning
from tacit.base.arrays import FloatArray

LEAST_COST = 0.2
"""What a change costs whoever does not notice it, at least."""
OFTEN = 0.7
"""The chance that a place, a context or a state takes part in a change."""
TRIES = 50
"""Changes drawn for a problem before another problem is."""


def draw_drift(generator: np.random.Generator, kind: str) -> Problem:
    """Return a problem that changes halfway in what it `earns`, in `words` or in `dynamics`; `none`: not at all."""
    while True:
        problem = draw_simple(generator, draw_shape(generator), few_words(generator))
        before = problem.worlds[0]
        if kind == "none":
            return problem
        for _ in range(TRIES):
            after = CHANGES[kind](generator, before)
            if cost_of_change(before, after) >= LEAST_COST and worth_learning(after) >= LEAST_COST:
                return replace(problem, worlds=(before, after))


def draw_restless(generator: np.random.Generator, changes: int = 20) -> Problem:
    """Return a problem that never stays what it is: what actions earn changes again and again."""
    problem = draw_drift(generator, "none")
    worlds = [problem.worlds[0]]
    while len(worlds) < changes:
        worlds.append(_other_earnings(generator, worlds[-1]))
    return replace(problem, worlds=tuple(worlds))


def cost_of_change(before: World, after: World) -> float:
    """Return what whoever goes on as before earns less than could be earned after a change, over all contexts.

    Whoever takes words for what they meant goes on to learn from them: their policy is the best one for that.
    """
    believed = replace(after, rewards=_misread(before, after)) if _other_meaning(before, after) else before
    policies, best = solve_world(believed)[1], solve_world(after)[0]
    earned = [
        value_of(after.transitions, f, policy) for f, policy in zip(after.rewards, policies, strict=True)
    ]
    return float((best - np.array(earned)) @ after.contexts)


def _other_meaning(before: World, after: World) -> bool:
    return not np.array_equal(before.voices, after.voices)


def _misread(before: World, after: World) -> FloatArray:
    """Return the rewards (X, H, S, K) that the new words say in the old meaning."""
    meant = before.voices[..., 1, :] > before.voices[..., 0, :]  # (X, H, S, Y + 1)
    read = (after.voices * meant[..., None, :]).sum(axis=-1)  # (X, H, S, 2)
    f = after.rewards
    return np.asarray(f * read[..., 1, None] + (1 - f) * read[..., 0, None])


def _other_earnings(generator: np.random.Generator, world: World) -> World:
    """Return the world with the rewards of most places dealt anew among their actions."""
    rewards = world.rewards.copy()
    X, H, S, K = rewards.shape
    for x, h, s in np.ndindex(X, H, S):
        if generator.random() < OFTEN:
            rewards[x, h, s] = np.roll(rewards[x, h, s], generator.integers(1, K))
    return replace(world, rewards=rewards)


def _other_words(generator: np.random.Generator, world: World) -> World:
    """Return the world with people in most contexts who now mean the opposite."""
    voices = world.voices.copy()
    for x in range(len(voices)):
        if generator.random() < OFTEN:
            voices[x] = voices[x, :, :, ::-1].copy()
    return replace(world, voices=voices)


def _other_dynamics(generator: np.random.Generator, world: World) -> World:
    """Return the world with actions of most states that now lead where others of them led."""
    transitions = world.transitions.copy()
    H, S, K, _ = transitions.shape
    for h, s in np.ndindex(H, S):
        if generator.random() < OFTEN:
            transitions[h, s] = np.roll(transitions[h, s], generator.integers(1, K), axis=0)
    return replace(world, transitions=transitions)


CHANGES: dict[str, Callable[[np.random.Generator, World], World]] = {
    "earns": _other_earnings,
    "words": _other_words,
    "dynamics": _other_dynamics,
}

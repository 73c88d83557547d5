"""Sick problems, of which nobody should be told that it works, and how each is drawn from a healthy one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from real_world.drawing import (
    LEAST_WORTH,
    draw_shape,
    draw_simple,
    draw_voices,
    few_words,
    split_words,
    with_silence,
    word_frequencies,
)
from real_world.drift import draw_restless
from real_world.pleasing import draw_pleased
from real_world.problem import Problem, worth_learning
from tacit.base.arrays import FloatArray
from tacit.envs.unhealthy import tilt

DrawProblem = Callable[[np.random.Generator], Problem]

WORST_SIGMA = 0.85
"""Sigma of every place in which it is too small."""


def draw_noise(generator: np.random.Generator) -> Problem:
    """Return a problem whose words say nothing of how it went; a person has their own words, or a state."""
    problem = _healthy(generator)
    return _with_voices(problem, np.repeat(problem.worlds[0].voices.mean(axis=3, keepdims=True), 2, axis=3))


def draw_shuffled(generator: np.random.Generator) -> Problem:
    """Return a problem whose feedback belongs to the episode before."""
    return replace(_healthy(generator), misjoined=True)


def draw_acting(generator: np.random.Generator) -> Problem:
    """Return a problem in which people answer to the action itself, whether it pleases them or not.

    Of 6 to 10 words each action has its own, which 40 to 90 % say; the others speak of the outcome. In half of the
    problems the outcome still decides among an action's words.
    """
    words, strength = int(generator.integers(6, 11)), float(generator.uniform(0.4, 0.9))
    shape = replace(draw_shape(generator, actions=(4, 5)), plain=0)
    problem = draw_simple(generator, shape, lambda generator: _half_words(generator, words))
    voices, K = problem.worlds[0].voices, shape.actions
    by_action = np.stack([tilt(part, K, strength) for part in np.moveaxis(voices, 1, 0)], axis=1)
    if generator.random() < 0.5:
        own = np.eye(words + 1)[generator.permutation(words)[np.arange(K) % words]]  # (K, Y + 1)
        by_action = (1 - strength) * voices[..., None, :] + strength * own
    return replace(problem, worlds=(replace(problem.worlds[0], voices_by_action=by_action),))


def draw_small_sigma(generator: np.random.Generator) -> Problem:
    """Return a problem in which pleasing actions are the minority and the best of them hardly stands out."""
    while True:
        problem = draw_simple(generator, replace(draw_shape(generator), plain=0), few_words(generator))
        world = problem.worlds[0]
        rewards = np.zeros_like(world.rewards)
        for place in np.ndindex(rewards.shape[0], rewards.shape[2]):
            rewards[place[0], -1, place[1]] = _small_sigma(generator, problem.n_actions)
        if worth_learning(replace(world, rewards=rewards)) >= LEAST_WORTH / 2:
            return replace(problem, worlds=(replace(world, rewards=rewards),))


def draw_hidden(generator: np.random.Generator) -> Problem:
    """Return a problem in which one person in two hundred to one in a thousand says anything, whatever happened."""
    shape = draw_shape(generator)
    return draw_simple(generator, shape, few_words(generator), np.full(2, generator.uniform(0.001, 0.005)))


def draw_mute(generator: np.random.Generator) -> Problem:
    """Return a problem in which nobody ever says anything."""
    return draw_simple(generator, draw_shape(generator), few_words(generator), np.zeros(2))


def draw_constant(generator: np.random.Generator) -> Problem:
    """Return a problem in which everybody says the same word, of several that they could."""
    problem = _healthy(generator)
    voices = np.zeros_like(problem.worlds[0].voices)
    voices[..., generator.integers(problem.n_words)] = 1.0
    return _with_voices(problem, voices)


def draw_rare(generator: np.random.Generator) -> Problem:
    """Return a problem of 400 contexts, each with its own words: too few episodes for any of them."""
    contexts = 400
    shape = replace(draw_shape(generator), contexts=contexts)
    pair = few_words(generator)
    problem = draw_simple(generator, shape, pair)
    voices = [draw_voices(generator, 1, len(shape.sizes), shape.widest, pair)[0] for _ in range(contexts)]
    return _with_voices(problem, with_silence(np.array(voices), np.ones(2)))


SICK: dict[str, DrawProblem] = {
    "noise": draw_noise,
    "shuffled": draw_shuffled,
    "acting": draw_acting,
    "sigma": draw_small_sigma,
    "pleased": lambda generator: draw_pleased(generator, 0),
    "hidden": draw_hidden,
    "mute": draw_mute,
    "constant": draw_constant,
    "rare": draw_rare,
    "restless": draw_restless,
}
"""Sick problems by name; those of healthy ones with too few episodes, or none, are drawn as healthy ones."""


def _healthy(generator: np.random.Generator) -> Problem:
    return draw_simple(generator, draw_shape(generator), few_words(generator))


def _with_voices(problem: Problem, voices: FloatArray) -> Problem:
    return replace(problem, worlds=(replace(problem.worlds[0], voices=voices),))


def _half_words(generator: np.random.Generator, words: int) -> FloatArray:
    """Return a pair (2, Y) that shares no word and splits them evenly, so that each side has several."""
    order, half = generator.permutation(words), words // 2
    pair = split_words(generator, words) * 0
    pair[1, order[:half]] = word_frequencies(generator, half)
    pair[0, order[half:]] = word_frequencies(generator, words - half)
    return pair


def _small_sigma(generator: np.random.Generator, actions: int) -> FloatArray:
    """Return f (K,) with sum f < 0.48 K and sigma = max f (K - M) / M between 0.5 and 0.85."""
    while True:
        f = generator.uniform(0.05, 0.8, actions)
        sigma = f.max() * (actions - f.sum()) / f.sum()
        if f.sum() < 0.48 * actions and 0.5 < sigma < WORST_SIGMA and np.ptp(f) > 0.2:
            return f

"""Many words, and words that both the pleased and the others use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from real_world.drawing import (
    LEAST_WORTH,
    DrawPair,
    draw_shape,
    draw_simple,
    everybody_speaks,
    split_words,
    word_frequencies,
)
from real_world.problem import Problem, worth_learning
from tacit.base.arrays import FloatArray

WAYS = ("slip", "crossed", "polite", "grumpy", "shared", "gradual", "random")
"""How words come to be used by both."""
FOR_TWO = WAYS[:4]
"""The ways that two words leave."""
HALVINGS = 60


def draw_many_words(generator: np.random.Generator, words: int) -> Problem:
    """Return a problem of many words: in half of them a good state has all, and the mediocre ones two each."""
    while True:
        problem = draw_simple(
            generator, draw_shape(generator), lambda generator: split_words(generator, words, even=True)
        )
        if generator.random() < 0.5:
            return problem
        beside = _two_words_in_the_mediocre(generator, problem)
        if worth_learning(beside.worlds[0]) >= LEAST_WORTH:
            return beside


def draw_overlap(generator: np.random.Generator, words: int, overlap: float) -> Problem:
    """Return a problem in which the pleased and the others share `overlap` of what they say, in one of `WAYS`."""
    ways = FOR_TWO if words == 2 else WAYS
    way = ways[generator.integers(len(ways))]
    return draw_simple(generator, draw_shape(generator), overlapping(words, overlap, way))


def overlapping(words: int, overlap: float, way: str) -> DrawPair:
    """Return how pairs (g0, g1) of profiles are drawn with sum_y min(g0(y), g1(y)) = overlap.

    Those that are `crossed` share twice that: each says with chance `overlap` what the other would.
    """

    def draw(generator: np.random.Generator) -> FloatArray:
        if way == "gradual":
            return _gradual(generator, words, overlap)
        if way == "random":
            return _blended(generator.dirichlet(np.full(words, 0.3), 2), overlap, generator)
        return _mixed(generator, words, overlap, way)

    return draw


def shared_mass(pair: FloatArray) -> float:
    """Return sum_y min(g0(y), g1(y)) of a pair (2, Y).

    >>> shared_mass(np.array([[0.8, 0.2], [0.2, 0.8]]))
    0.4
    """
    return float(np.minimum(pair[0], pair[1]).sum())


def _mixed(generator: np.random.Generator, words: int, overlap: float, way: str) -> FloatArray:
    """Return profiles of disjoint words, of which some say the others' words, or words that are common to all."""
    if way == "shared":
        common = int(generator.integers(1, max(words - 2, 1) // 2 + 1))
        pair = np.zeros((2, words))
        order = generator.permutation(words)
        pair[:, order[common:]] = (1 - overlap) * split_words(generator, words - common)
        pair[:, order[:common]] += overlap * word_frequencies(generator, common)
        return pair
    pair = split_words(generator, words)
    # How many of those not pleased and of those pleased talk like the other.
    strays = {
        "slip": (overlap / 2, overlap / 2),
        "crossed": (overlap, overlap),
        "polite": (overlap, 0.0),
        "grumpy": (0.0, overlap),
    }
    stray = np.array(strays[way])[:, None]
    return (1 - stray) * pair + stray * pair[::-1]


def _gradual(generator: np.random.Generator, words: int, overlap: float) -> FloatArray:
    """Return profiles on a scale, as stars are: exp(-b y) and exp(b y) times what both say, b as overlap needs it."""
    scale, common = np.linspace(-1, 1, words), generator.dirichlet(np.full(words, 5.0))
    order = generator.permutation(words)

    def pair_at(slope: float) -> FloatArray:
        pair = common * np.exp(np.outer([-slope, slope], scale))
        return np.asarray(pair / pair.sum(axis=1, keepdims=True))

    low, high = 0.0, 200.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if shared_mass(pair_at(middle)) > overlap else (low, middle)
    return pair_at(high)[:, order]


def _blended(pair: FloatArray, overlap: float, generator: np.random.Generator) -> FloatArray:
    """Return two random profiles moved towards each other until they share enough."""
    while shared_mass(pair) > overlap:
        pair = generator.dirichlet(np.full(pair.shape[1], 0.1), 2)
    low, high, mean = 0.0, 1.0, pair.mean(axis=0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = shared_mass((1 - middle) * pair + middle * mean) >= overlap
        low, high = (low, middle) if enough else (middle, high)
    return np.asarray((1 - high) * pair + high * mean)


def _two_words_in_the_mediocre(generator: np.random.Generator, problem: Problem) -> Problem:
    """Return the problem with one good last state, and two words in each of the others, where fewer are pleased."""
    world = problem.worlds[0]
    rewards, voices = world.rewards.copy(), world.voices[..., :-1].copy()
    best = int(rewards[:, -1].max(axis=2).mean(axis=0).argmax())
    for s in range(len(problem.labels[-1])):
        if s != best:
            rewards[:, -1, s] *= generator.uniform(0.4, 0.7)
            pair = np.zeros((2, problem.n_words))
            pair[[0, 1], generator.permutation(problem.n_words)[:2]] = 1.0
            for x in range(problem.n_contexts):
                voices[x, -1, s] = pair[::-1] if x % 2 else pair
    changed = replace(world, rewards=rewards, voices=everybody_speaks(voices))
    return replace(problem, worlds=(changed,))

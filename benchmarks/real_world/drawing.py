"""What every family draws from: sizes, dynamics, who is pleased by what, and words in pairs of profiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from real_world.problem import Problem, World, worth_learning
from tacit.base.arrays import FloatArray
from tacit.problem.layout import consecutive_states

LEAST_WORTH = 0.15
"""Problems in which the optimum earns less above uniform play than this are drawn anew: shares of it would be noise."""
SIGMA = 1.3
"""The least sigma of a healthy place, as in the suite of random problems."""

DrawPair = Callable[[np.random.Generator], FloatArray]
"""Draws what is said by whoever is not pleased and by whoever is: (2, Y), or (2, Y + 1) with silence."""


@dataclass(frozen=True)
class Shape:
    """Sizes: states of each turn, actions, contexts, and how many of the last states please nobody."""

    sizes: tuple[int, ...]
    actions: int
    contexts: int
    plain: int = 0

    @property
    def widest(self) -> int:
        return max(self.sizes)


def draw_shape(
    generator: np.random.Generator,
    turns: tuple[int, int] = (2, 4),
    states: tuple[int, int] = (2, 6),
    contexts: tuple[int, int] = (1, 4),
    actions: tuple[int, int] = (3, 5),
) -> Shape:
    """Return sizes, each uniform between its ends; up to a third of the last states please nobody."""
    last = _between(generator, states)
    middle = [_between(generator, states) for _ in range(_between(generator, turns) - 2)]
    plain = int(generator.integers(0, last // 3 + 1))
    return Shape((1, *middle, last), _between(generator, actions), _between(generator, contexts), plain)


def draw_contexts(generator: np.random.Generator, contexts: int) -> FloatArray:
    """Return how often each comes: from nearly alike to one five times as often as another."""
    return generator.dirichlet(np.full(contexts, generator.uniform(3, 20)))


def draw_transitions(generator: np.random.Generator, shape: Shape) -> FloatArray:
    """Return transitions (H, S, K, S): rows between nearly certain and spread out, a last turn that ends."""
    H, S, K = len(shape.sizes), shape.widest, shape.actions
    transitions = np.zeros((H, S, K, S))
    spread = 10 ** generator.uniform(-1, 0)
    for h in range(H - 1):
        n = shape.sizes[h + 1]
        transitions[h, : shape.sizes[h], :, :n] = generator.dirichlet(
            np.full(n, spread), (shape.sizes[h], shape.actions)
        )
        transitions[h, shape.sizes[h] :, :, 0] = 1.0  # the padding, which nothing leads to
    return transitions


def draw_pleasing(generator: np.random.Generator, actions: int, best: float) -> FloatArray:
    """Return f (K,): one action pleases with chance `best`, the others together with up to half of that."""
    largest = best * actions / (best + SIGMA)  # sigma = best (K - M) / M >= 1.3 holds up to this M
    left = min(best * generator.uniform(0, 0.5), max(largest - best, 0.0))
    f = np.concatenate([[best], np.minimum(left * generator.dirichlet(np.ones(actions - 1)), 0.5 * best)])
    return f[generator.permutation(actions)]


def draw_rewards(generator: np.random.Generator, shape: Shape) -> FloatArray:
    """Return rewards (X, H, S, K) of the last turn: good and mediocre states, then those that please nobody."""
    H, n = len(shape.sizes), shape.sizes[-1]
    rewards = np.zeros((shape.contexts, H, shape.widest, shape.actions))
    quality = generator.uniform(0.35, 1.0, n)
    quality[generator.integers(n - shape.plain)] = generator.uniform(0.8, 1.0)
    for x in range(shape.contexts):
        for s in range(n - shape.plain):
            best = quality[s] * generator.uniform(0.85, 1.0)
            rewards[x, -1, s] = draw_pleasing(generator, shape.actions, best)
    return rewards


def split_words(generator: np.random.Generator, words: int, even: bool = False) -> FloatArray:
    """Return a pair (2, Y) that shares no word: a share of them is for the pleased, some common and some rare."""
    order = generator.permutation(words)
    happy = int(np.clip(round(words * generator.uniform(0.2, 0.8)), 1, words - 1))
    pair = np.zeros((2, words))
    pair[1, order[:happy]] = word_frequencies(generator, happy, even)
    pair[0, order[happy:]] = word_frequencies(generator, words - happy, even)
    return pair


def word_frequencies(generator: np.random.Generator, words: int, even: bool = False) -> FloatArray:
    """Return how often each of some words is said: Dirichlet, or a power of rank; `even`: none of them for most."""
    if generator.random() < 0.5:
        chances = 1 / np.arange(1, words + 1) ** (
            generator.uniform(0, 1) if even else generator.uniform(0.5, 1.5)
        )
    else:
        evenness = 10 ** (generator.uniform(0, 2) if even else generator.uniform(-0.5, 1))
        chances = generator.dirichlet(np.full(words, evenness)) + 0.02 / words
    return np.asarray(chances / chances.sum())


def draw_voices(
    generator: np.random.Generator, contexts: int, turns: int, states: int, draw_pair: DrawPair
) -> FloatArray:
    """Return voices (X, H, S, 2, Y): words mean the same everywhere or something else in each state, by chance.

    From two contexts on, people of the second mean the opposite of the first; of others half do, half have their way.
    """
    everywhere = generator.random() < 0.5
    n = 1 if everywhere else turns * states
    pairs = np.array([draw_pair(generator) for _ in range(n)])  # (n, 2, Y)
    voices = []
    for x in range(contexts):
        if x == 0:
            own = pairs
        elif x == 1 or generator.random() < 0.5:
            own = pairs[:, ::-1]
        else:
            own = np.array([draw_pair(generator) for _ in range(n)])
        voices.append(np.broadcast_to(own, (turns * states, *own.shape[1:])).reshape(turns, states, 2, -1))
    return np.array(voices)


def with_silence(voices: FloatArray, reacts: FloatArray) -> FloatArray:
    """Return voices with a last column for those who say nothing: `reacts` (2,) is the share of each that speaks.

    >>> with_silence(np.array([[[1.0, 0.0], [0.0, 1.0]]]), np.array([0.0, 1.0]))
    array([[[0., 0., 1.],
            [0., 1., 0.]]])
    """
    silent = np.broadcast_to((1 - reacts)[:, None], (*voices.shape[:-1], 1))
    return np.concatenate([voices * reacts[:, None], silent], axis=-1)


def everybody_speaks(voices: FloatArray) -> FloatArray:
    """Return voices with a last column of zeros."""
    return with_silence(voices, np.ones(2))


def draw_world(generator: np.random.Generator, shape: Shape, voices: FloatArray) -> World:
    """Return a world that is worth learning, with these voices."""
    while True:
        world = World(
            draw_contexts(generator, shape.contexts),
            draw_transitions(generator, shape),
            draw_rewards(generator, shape),
            voices,
        )
        if worth_learning(world) >= LEAST_WORTH:
            return world


def draw_simple(
    generator: np.random.Generator, shape: Shape, draw_pair: DrawPair, reacts: FloatArray | None = None
) -> Problem:
    """Return a problem of one world whose episodes all have as many turns."""
    spoken = draw_voices(generator, shape.contexts, len(shape.sizes), shape.widest, draw_pair)
    voices = everybody_speaks(spoken) if reacts is None else with_silence(spoken, reacts)
    return Problem(consecutive_labels(shape.sizes), (draw_world(generator, shape, voices),))


def few_words(generator: np.random.Generator) -> DrawPair:
    """Return how a pair of two to six words is drawn, their number drawn once."""
    words = int(generator.integers(2, 7))
    return lambda generator: split_words(generator, words)


def consecutive_labels(sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return labels that count the states through the turns."""
    return tuple(tuple(int(label) for label in layer) for layer in consecutive_states(sizes))


def _between(generator: np.random.Generator, ends: tuple[int, int]) -> int:
    return int(generator.integers(ends[0], ends[1] + 1))

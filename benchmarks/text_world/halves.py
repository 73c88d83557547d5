"""The two halves of every vocabulary: one to choose by, one that judges; no word list is shared between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")
CHOOSE, JUDGE = 1_000_000, 9_500_000
"""The first seeds of worlds to choose by, and of those that judge."""


def is_judging(seed: int) -> bool:
    """Return whether the world of a seed is one that judges.

    >>> is_judging(CHOOSE + 3), is_judging(JUDGE)
    (False, True)
    """
    return seed >= JUDGE


def half_of(words: Sequence[T], judging: bool) -> tuple[T, ...]:
    """Return every second of some words: those that judge, or the others.

    >>> half_of("abcde", False), half_of("abcde", True)
    (('a', 'c', 'e'), ('b', 'd'))
    """
    return tuple(words[int(judging) :: 2])


def draw_some(
    chance: np.random.Generator, words: Sequence[T], least: int, most: int | None = None
) -> list[T]:
    """Return between `least` and `most` of some words, all of them at most, each once, in a random order."""
    top = min(len(words), len(words) if most is None else most)
    count = int(chance.integers(min(least, top), top + 1))
    return draw_several(chance, words, count)


def draw_several(chance: np.random.Generator, words: Sequence[T], count: int) -> list[T]:
    """Return so many of some words, each once, in a random order."""
    return [words[int(n)] for n in chance.permutation(len(words))[:count]]


def draw_one(chance: np.random.Generator, words: Sequence[T]) -> T:
    """Return one of some words."""
    return words[int(chance.integers(len(words)))]

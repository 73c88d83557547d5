"""Families whose contexts are labels: many users of a few kinds, and contexts that have nothing in common."""

from __future__ import annotations

import numpy as np

import tacit
from context_world.drawing import DrawVoice, draw_dynamics, draw_tastes, draw_words, indicators
from context_world.problem import People, Problem, draw_worthwhile

ZIPF = 1.0
"""How often a user comes falls with this power of their rank."""
SHAPES = ((1,), (1, 2), (1, 3), (1, 3, 3))
"""Sizes of the turns, one of these for each problem."""


def draw_users(
    generator: np.random.Generator,
    users: int,
    kinds: int,
    zipf: bool,
    draw_voice: DrawVoice = draw_words,
) -> Problem:
    """Return a problem of users, each of one of some kinds; as many kinds as users have nothing in common.

    A kind has tastes and a way of speaking; what kind somebody is nobody is told. With `zipf`, some come often and
    most come rarely; otherwise all come as often.
    """
    sizes = SHAPES[generator.integers(len(SHAPES))]

    def draw(generator: np.random.Generator) -> Problem:
        own = np.arange(users) if kinds == users else generator.permutation(np.arange(users) % kinds)
        shares = generator.permutation(1 / np.arange(1, users + 1) ** (ZIPF if zipf else 0.0))
        shares /= shares.sum()
        tastes = draw_tastes(generator, kinds, sizes)
        people = People(
            tacit.Finite(tuple(f"user {n}" for n in range(users))),
            lambda generator, n: generator.choice(users, n, p=shares),
            lambda labels: tastes[own[labels]],
            lambda labels: indicators(own[labels], kinds),
            None,
        )
        return Problem(sizes, draw_dynamics(generator, sizes), people, draw_voice(generator, kinds, sizes))

    return draw_worthwhile(draw, generator)

"""The families of problems by name: how one is drawn, for how long it is played, and what it must show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from zlib import crc32

import numpy as np
from real_world.families import EPISODES

from context_world.drawing import ONE, THREE, draw_points
from context_world.features import DIMENSION, SPOILED, spoil_features
from context_world.labels import draw_users
from context_world.noise import say_nothing, say_who_they_are
from context_world.problem import Problem
from context_world.vectors import draw_groups, draw_linear, draw_oblique, draw_xor

DrawProblem = Callable[[np.random.Generator], Problem]
OF_CEILING = (0.95, 0.90)
"""What a learner that hears feedback must earn of what one of the same class earns that sees the reward: in the last
tenth, and over all episodes."""
TURNS = {"one": ONE, "three": THREE}


@dataclass(frozen=True)
class Family:
    """Problems of a kind.

    `ratios` are the least shares of the ceiling in the last tenth and over all episodes, `last` the least share of the
    way to the optimum, `loses` the most that the last tenth may lose against the family `like`, whose problems are the
    same but for what `alter` does; None where nothing is asked. `asks` is what is judged: the "share", or the verdict
    of "sick" problems, which must not be "works".
    """

    draw: DrawProblem
    ratios: tuple[float, float] | None = None
    last: float | None = None
    like: str | None = None
    loses: float | None = None
    alter: Callable[[np.random.Generator, Problem], Problem] | None = None
    episodes: int = EPISODES
    seeds: int = 10
    asks: str = "share"


def draw_problem(name: str, seed: int) -> Problem:
    """Return the problem of a family and seed: always the same one; of a family like another, that one altered."""
    family = FAMILIES[name]
    problem = family.draw(np.random.default_rng([seed, crc32((family.like or name).encode())]))
    if family.alter is None:
        return problem
    return family.alter(np.random.default_rng([seed, crc32(name.encode())]), problem)


def _vectors() -> dict[str, Family]:
    """Return the families whose contexts are vectors."""
    families: dict[str, Family] = {}
    for turns, sizes in TURNS.items():
        for groups in (2, 5):
            families[f"groups.{groups}.{turns}"] = Family(
                partial(draw_groups, groups=groups, sizes=sizes), OF_CEILING
            )
        for d in (5, 20):
            families[f"linear.{d}.{turns}"] = Family(
                partial(draw_linear, dimension=d, sizes=sizes), OF_CEILING
            )
        families[f"xor.{turns}"] = Family(partial(draw_xor, sizes=sizes), OF_CEILING)
        families[f"oblique.{turns}"] = Family(partial(draw_oblique, sizes=sizes))
        families[f"points.groups.{turns}"] = Family(
            partial(draw_groups, groups=2, sizes=sizes, draw_voice=draw_points)
        )
        families[f"points.linear.{turns}"] = Family(
            partial(draw_linear, dimension=5, sizes=sizes, draw_voice=draw_points)
        )
    return families


def _users() -> dict[str, Family]:
    """Return the families whose contexts are labels."""
    many = 100_000
    return {
        "users.1000": Family(partial(draw_users, users=1000, kinds=4, zipf=True), last=0.95, episodes=many),
        "users.50": Family(partial(draw_users, users=50, kinds=50, zipf=False), episodes=many),
        "users.200": Family(partial(draw_users, users=200, kinds=200, zipf=True), episodes=many),
        "users.halves": Family(partial(draw_users, users=200, kinds=2, zipf=False), episodes=many),
        "points.users": Family(partial(draw_users, users=50, kinds=4, zipf=False, draw_voice=draw_points)),
        "users.20": Family(partial(draw_users, users=20, kinds=20, zipf=False)),
    }


def _features() -> dict[str, Family]:
    """Return the families whose features are not as one would wish, each like one whose are."""
    families = {}
    for name, draw in (
        ("groups", partial(draw_groups, groups=5, sizes=ONE, dimension=DIMENSION)),
        ("linear", partial(draw_linear, dimension=DIMENSION, sizes=ONE)),
    ):
        plain = f"features.{name}.plain"
        families[plain] = Family(draw)
        for how in SPOILED:
            alter = partial(spoil_features, how=how, regresses_on_shown=name == "linear")
            families[f"features.{name}.{how}"] = Family(draw, like=plain, loses=0.02, alter=alter)
    return families


def _noise() -> dict[str, Family]:
    """Return the families whose feedback says nothing of the reward."""
    families = {
        "noise.groups": Family(partial(draw_groups, groups=2, sizes=THREE)),
        "noise.linear": Family(partial(draw_linear, dimension=5, sizes=ONE)),
        "noise.points": Family(partial(draw_linear, dimension=5, sizes=ONE, draw_voice=draw_points)),
        "noise.users": Family(partial(draw_users, users=200, kinds=4, zipf=True)),
        "noise.who": Family(partial(draw_groups, groups=5, sizes=ONE)),
    }
    return {
        name: replace(
            family,
            alter=say_who_they_are if name == "noise.who" else say_nothing,
            episodes=10_000,
            seeds=100,
            asks="sick",
        )
        for name, family in families.items()
    }


FAMILIES: dict[str, Family] = _vectors() | _users() | _features() | _noise()
"""All families by name; what stands before the first full stop names several at once."""

"""Draws these worlds, and how their people speak: in each world with one of two pools of remarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from text_world.halves import draw_one, draw_several
from text_world.remarks import Manners, Remarks, Voice
from text_world.stranger.rooms import draw_house
from text_world.stranger.wishes import WISHES
from text_world.stranger.words import read_manners, read_words
from text_world.visits import N_CANDIDATES, OneTurn, Wishes, World

POOLS = {
    "echo": "ab",
    "tools": "ab",
    "helpdesk": "bc",
    "style": "ac",
    "profile": "ac",
    "recommend": "bc",
    "three": "ac",
    "four": "ab",
}
"""The pools of remarks by world: a in whole sentences, b as in a chat, c about the matter."""
MATTERS = {"helpdesk": "fix", "style": "manner", "profile": "taste", "recommend": "taste", "three": "deal"}
"""What pool c is about."""
STRANGERS = tuple((world, pool) for world, pools in POOLS.items() for pool in pools)
"""Worlds with their pool. What is drawn follows from the place in this list."""
TURNS = {"three": 3, "four": 4}
OVERLAP = 0.1
"""The chance of a remark that says nothing, where sides overlap."""


@dataclass(frozen=True)
class Sides:
    """Remarks of both sides and no others: one draw for each."""

    pleased: tuple[str, ...]
    displeased: tuple[str, ...]

    def say(self, chance: np.random.Generator, pleased: bool, ironic: bool) -> str:
        """Return what a person says."""
        return draw_one(chance, self.pleased if pleased != ironic else self.displeased)


@dataclass(frozen=True)
class Counter:
    """The world of one turn: a wish is told over it and four candidates are offered, mixed."""

    wishes: Wishes
    manners: Manners | None = None
    horizon: int = 1
    uniform: float = 1 / N_CANDIDATES

    def draw_visit(self, chance: np.random.Generator) -> OneTurn:
        """Return somebody who comes."""
        ironic = self.manners is not None and bool(chance.random() < 0.5)
        described = self.manners.describe(chance, ironic) if self.manners is not None else ""
        request, profile, right, wrong = self.wishes.draw(chance)
        offer = draw_several(chance, (right, *wrong), N_CANDIDATES)
        return OneTurn(request, f"{profile} {described}".strip(), ironic, tuple(offer), offer.index(right))


def draw_stranger(world: str, pool: str, speakers: str, judging: bool, seed: int) -> tuple[World, Voice]:
    """Return a world with a pool of remarks, and how its people speak: the same ones for the same arguments."""
    chance = np.random.default_rng([STRANGERS.index((world, pool)), int(judging), seed])
    manners = read_manners(judging) if speakers == "opposite" else None
    voice = read_voice(MATTERS[world] if pool == "c" else pool, judging, speakers)
    if world in TURNS:
        return draw_house(chance, judging, TURNS[world], manners), voice
    return Counter(WISHES[world](chance, judging), manners), voice


def read_voice(pool: str, judging: bool, speakers: str) -> Voice:
    """Return who speaks: with remarks of both sides, and of neither where they overlap."""
    words = read_words("remarks", judging)
    pleased, displeased = (tuple(words["pools"][pool][side]) for side in ("pleased", "displeased"))
    if speakers == "overlap":
        return Remarks(pleased, displeased, tuple(words["neutral"]), OVERLAP)
    return Sides(pleased, displeased)

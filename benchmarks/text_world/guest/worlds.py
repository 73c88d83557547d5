"""Draws these worlds, and how their people speak."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from zlib import crc32

import numpy as np

from text_world.guest.early import TownHall
from text_world.guest.one_turn import Advised, Asking, Described
from text_world.guest.recommend import Reading
from text_world.guest.several_turns import Clinic, Shop, Travel
from text_world.guest.visits import People, Place
from text_world.guest.words import read_words
from text_world.halves import draw_one, draw_several

PEOPLE: dict[str, Callable[[np.random.Generator], People]] = {
    "tools": partial(Asking, name="tools", size=28),
    "helpdesk": partial(Asking, name="helpdesk", size=25),
    "style": Advised,
    "profile": Described,
    "recommend": Reading,
    "three.shop": Shop,
    "three.travel": Travel,
    "four.clinic": Clinic,
    "three.early": TownHall,
}
"""Who comes, by the name of a world."""
TURNS = {"three": 3, "four": 4}
"""How many turns there are at most; in the others there is one."""


@dataclass(frozen=True)
class Writer:
    """People who write alike, now and then without capital and full stop."""

    pleased: list[str]
    displeased: list[str]
    sloppy: float

    def say(self, chance: np.random.Generator, pleased: bool, ironic: bool) -> str:
        """Return what a person says."""
        text = draw_one(chance, self.pleased if pleased != ironic else self.displeased)
        if chance.random() >= self.sloppy:
            return text
        text = text.rstrip(".!")
        return text if re.match(r"I\b", text) else text[:1].lower() + text[1:]


def draw_guest(name: str, seed: int) -> tuple[Place, Writer]:
    """Return a world, and how its people speak: the same ones for the same seed, be it to choose by or to judge."""
    chance = np.random.default_rng([crc32(name.encode()), seed])
    people = PEOPLE[name](chance)
    return Place(people, TURNS.get(name.partition(".")[0], 1)), draw_writer(chance, name)


def draw_writer(chance: np.random.Generator, name: str) -> Writer:
    """Return who speaks in a world."""
    pool = read_words("remarks")[name]
    pleased, displeased = (draw_several(chance, pool[side], len(pool[side])) for side in "+-")
    return Writer(pleased, displeased, float(chance.uniform(0.05, 0.35)))

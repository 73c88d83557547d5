"""The families of worlds by name: how one is drawn, and what a learner must show in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from text_world.echoes import draw_echoes
from text_world.errands import draw_errands
from text_world.guest.worlds import PEOPLE, draw_guest
from text_world.halves import is_judging
from text_world.helpdesk import draw_helpdesk
from text_world.remarks import Voice, draw_voice, manners_of
from text_world.stranger.worlds import STRANGERS, draw_stranger
from text_world.styles import draw_manner
from text_world.suiting import draw_suiting
from text_world.titles import draw_taste
from text_world.tools import draw_tools
from text_world.visitor.worlds import WORLDS, draw_visitor
from text_world.visits import Catalogue, Wishes, World

LENGTHS = (300, 1_000, 3_000)
"""Episodes of the runs."""
WISHES: dict[str, Callable[[np.random.Generator, bool], Wishes]] = {
    "echo": draw_echoes,
    "tools": draw_tools,
    "helpdesk": draw_helpdesk,
    "style": draw_manner,
    "profile": draw_suiting,
    "recommend": draw_taste,
}
"""The worlds of one turn."""
TURNS = {"three": 3, "four": 4}
SPEAKERS = ("plain", "overlap", "opposite")
"""Everybody means what they say; one remark in ten may be anybody's; half of the people mean the opposite."""
NOISE = ("noise", "shuffled", "constant")
"""Feedback that tells nothing of the action."""
NOISY = ("echo", "tools", "style")
"""The worlds in which it is heard, one for each seed in turn."""


@dataclass(frozen=True)
class Family:
    """Worlds of a kind: `least` is what is asked of the ceiling's reward by number of episodes.

    A stranger's worlds have a `pool`, which is whose remarks are heard. Those of a `house` have no halves: seeds that
    judge and others share words, and everybody means what they say. Seeds 1 and 3 of the guest's were looked at while
    the learner was changed, and none of the visitor's.
    """

    world: str
    speakers: str
    least: dict[int, float]
    seeds: int = 5
    pool: str = ""
    house: str = ""

    @property
    def noise(self) -> bool:
        """Return whether nothing can be learned."""
        return self.speakers in NOISE


def _least(world: str) -> dict[int, float]:
    if world.partition(".")[0] in TURNS:
        return {1_000: 0.9, 3_000: 0.9}
    return {300: 0.80 if world == "recommend" else 0.85, 1_000: 0.95, 3_000: 0.95}


FAMILIES: dict[str, Family] = (
    {f"{w}.{s}": Family(w, s, _least(w)) for w in (*WISHES, *TURNS) for s in SPEAKERS}
    | {noise: Family("", noise, {}, seeds=20) for noise in NOISE}
    | {f"stranger.{w}.{p}.{s}": Family(w, s, _least(w), pool=p) for w, p in STRANGERS for s in SPEAKERS}
    | {f"guest.{w}": Family(w, "plain", _least(w), house="guest") for w in PEOPLE}
    | {f"visitor.{w}": Family(w, "plain", _least(w), house="visitor") for w in WORLDS}
)


HOUSES: dict[str, Callable[[str, int], tuple[World, Voice]]] = {"guest": draw_guest, "visitor": draw_visitor}
"""Worlds that somebody brought with them."""


def draw_world(name: str, seed: int) -> tuple[World, Voice]:
    """Return the world of a family and seed, and how its people speak: always the same ones."""
    family, judging = FAMILIES[name], is_judging(seed)
    if family.house:
        return HOUSES[family.house](family.world, seed)
    if family.pool:
        return draw_stranger(family.world, family.pool, family.speakers, judging, seed)
    chance = np.random.default_rng([seed, crc32(name.encode())])
    manners = manners_of(judging) if family.speakers == "opposite" else None
    kind = family.world or NOISY[seed % len(NOISY)]
    voice = draw_voice(chance, judging, family.speakers)
    if kind in TURNS:
        return draw_errands(chance, judging, TURNS[kind], manners), voice
    return Catalogue(WISHES[kind](chance, judging), manners), voice

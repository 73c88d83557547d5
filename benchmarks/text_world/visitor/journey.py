"""Worlds of several turns: each choice decides what can be reached, each answer tells what to choose next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from text_world.halves import draw_one, draw_several
from text_world.visitor.speech import Speech, jot
from text_world.visitor.words import Entry

ANSWERS = 0.6
"""How often somebody first says what they think of the choice just made."""


@dataclass(frozen=True)
class Level:
    """A turn: how many candidates are offered, and from a pool that is the same on every way, if it has one."""

    offered: int
    pool: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Journey:
    """A tree of what can be chosen, with turns in between that choose from a pool."""

    speech: Speech
    branches: tuple[Entry, ...]
    levels: tuple[Level, ...]
    agree: tuple[str, ...]
    doubt: tuple[str, ...]

    @property
    def horizon(self) -> int:
        """Return how many turns a visit has."""
        return len(self.levels)

    @property
    def uniform(self) -> float:
        """Return what uniform play earns: every turn must be right."""
        return 1 / prod(level.offered for level in self.levels)

    def draw_visit(self, chance: np.random.Generator) -> Walk:
        """Return somebody who comes, with a way through the tree in mind."""
        wish: list[Entry] = []
        open_now = self.branches
        for level in self.levels:
            wish.append(draw_one(chance, level.pool or open_now))
            open_now = open_now if level.pool else wish[-1].below
        return Walk(self, tuple(wish), np.random.default_rng(int(chance.integers(2**62))))


class Walk:
    """A visit of several turns."""

    profile = ""
    ironic = False

    def __init__(self, world: Journey, wish: tuple[Entry, ...], chance: np.random.Generator) -> None:
        self._world, self._wish, self._chance = world, wish, chance
        self._turn, self._right, self._open = 0, True, world.branches
        self._sloppy = world.speech.is_sloppy(chance)
        self.request = world.speech.around(chance, draw_one(chance, wish[0].told), self._sloppy)
        self.heard = self.request
        self._entries = self._draw_offer()

    @property
    def offer(self) -> tuple[str, ...]:
        """Return what can be chosen now."""
        return tuple(entry.answer for entry in self._entries)

    def rewards(self) -> tuple[int, ...]:
        """Return the reward of each choice on offer, if this is the last turn; before it, none has any."""
        last = self._turn == self._world.horizon - 1
        return tuple(int(last and self._right and entry is self._wish[-1]) for entry in self._entries)

    def step(self, choice: int) -> bool:
        """Make a choice; return whether the visit is over. Otherwise the person says what comes next."""
        chosen = self._entries[choice]
        fits = chosen is self._wish[self._turn]
        if self._turn == self._world.horizon - 1:
            return True
        self._right = self._right and fits
        if not self._world.levels[self._turn].pool:
            self._open = chosen.below
        self._turn += 1
        self._entries = self._draw_offer()
        self.heard = self._reply(self._world.agree if fits else self._world.doubt)
        return False

    def _draw_offer(self) -> tuple[Entry, ...]:
        level, right = self._world.levels[self._turn], self._wish[self._turn]
        on_offer: Sequence[Entry] = level.pool or self._open
        wrong = [entry for entry in on_offer if entry is not right]
        last = self._turn == self._world.horizon - 1
        if len(wrong) == len(on_offer) or (last and not self._right):
            return tuple(draw_several(self._chance, wrong, level.offered))
        offer = [right, *draw_several(self._chance, wrong, level.offered - 1)]
        return tuple(draw_several(self._chance, offer, level.offered))

    def _reply(self, opinions: tuple[str, ...]) -> str:
        told = draw_one(self._chance, self._wish[self._turn].told)
        if self._chance.random() < ANSWERS:
            told = f"{draw_one(self._chance, opinions)} {told}"
        return jot(told) if self._sloppy else told

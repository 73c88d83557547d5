"""Somebody who comes with a wish, and the worlds they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from text_world.halves import draw_one, draw_several
from text_world.remarks import Manners

N_CANDIDATES = 4
"""What a person of a one-turn world may be offered."""


class Visit(Protocol):
    """One conversation as it goes on: who came, what was said last, what is on offer, and in the end the reward."""

    @property
    def request(self) -> str: ...
    @property
    def profile(self) -> str: ...
    @property
    def ironic(self) -> bool: ...
    @property
    def heard(self) -> str: ...
    @property
    def offer(self) -> tuple[str, ...]: ...
    def step(self, choice: int) -> bool: ...
    def rewards(self) -> tuple[int, ...]: ...


def context_of(visit: Visit) -> dict[str, str]:
    """Return what is known before the first turn, as an agent is told it."""
    known = {"request": visit.request}
    return known | {"profile": visit.profile} if visit.profile else known


class World(Protocol):
    """People and what can be offered to them; `uniform` is what uniform play earns."""

    @property
    def horizon(self) -> int: ...
    @property
    def uniform(self) -> float: ...
    def draw_visit(self, chance: np.random.Generator) -> Visit: ...


@dataclass
class OneTurn:
    """A visit with one choice: `right` is what pleases."""

    request: str
    profile: str
    ironic: bool
    offer: tuple[str, ...]
    right: int

    @property
    def heard(self) -> str:
        """Return what was said last: the request."""
        return self.request

    def step(self, choice: int) -> bool:
        """Return that it is over."""
        return True

    def rewards(self) -> tuple[int, ...]:
        """Return the reward of each choice on offer, if this is the last turn."""
        return tuple(int(n == self.right) for n in range(len(self.offer)))


class Wishes(Protocol):
    """What the people of a one-turn world want: a wish, how it is said, and what answers it."""

    def draw(self, chance: np.random.Generator) -> tuple[str, str, str, tuple[str, ...]]: ...


@dataclass(frozen=True)
class Catalogue:
    """The world of one turn: four candidates out of a catalogue, one of them right.

    `wishes.draw` returns request, profile, the right candidate and all wrong ones that may stand beside it. With
    `manners`, half of the people mean the opposite of what they say, and their profile tells.
    """

    wishes: Wishes
    manners: Manners | None = None
    horizon: int = 1
    uniform: float = 1 / N_CANDIDATES

    def draw_visit(self, chance: np.random.Generator) -> OneTurn:
        """Return somebody who comes."""
        request, profile, right, wrong = self.wishes.draw(chance)
        ironic = self.manners is not None and bool(chance.random() < 0.5)
        if self.manners is not None:
            profile = f"{profile} {self.manners.describe(chance, ironic)}".strip()
        others = draw_several(chance, wrong, N_CANDIDATES - 1)
        offer = [right, *others]
        order = [int(n) for n in chance.permutation(N_CANDIDATES)]
        return OneTurn(request, profile, ironic, tuple(offer[n] for n in order), order.index(0))


@dataclass(frozen=True)
class Pairs:
    """Wishes that each have one answer: `told` are ways to tell of each wish, in the request or in the profile.

    `openings` stand before a request; where `by_profile`, a request is one of them alone.
    """

    told: tuple[tuple[str, ...], ...]
    answers: tuple[str, ...]
    openings: tuple[str, ...]
    by_profile: bool = False

    def draw(self, chance: np.random.Generator) -> tuple[str, str, str, tuple[str, ...]]:
        """Return request, profile, right answer, and the others."""
        n = int(chance.integers(len(self.answers)))
        opening, told = draw_one(chance, self.openings), draw_one(chance, self.told[n])
        others = self.answers[:n] + self.answers[n + 1 :]
        if self.by_profile:
            return opening, told, self.answers[n], others
        return f"{opening} {told}".strip(), "", self.answers[n], others

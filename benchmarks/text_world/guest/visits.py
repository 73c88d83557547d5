"""Conversations that go where choices lead, and what uniform play earns in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from text_world.halves import draw_several

COUNTED = 1_500
"""Visits by which uniform play is valued."""


class Card(NamedTuple):
    """A candidate: its text, whether it is right here, and what follows; nothing follows what ends the visit."""

    text: str
    good: bool = False
    then: Callable[[np.random.Generator], Turn] | None = None


class Turn(NamedTuple):
    """What is heard, and what may be said then."""

    heard: str
    cards: list[Card]


class Talk:
    """A visit of one turn or several, which may end before others do."""

    ironic = False

    def __init__(self, chance: np.random.Generator, request: str, profile: str, cards: list[Card]) -> None:
        self._chance = chance
        self.request, self.profile = request, profile
        self._over = False
        self._turn = self._mix(Turn(request, cards))

    @property
    def heard(self) -> str:
        """Return what was said last."""
        return self._turn.heard

    @property
    def offer(self) -> tuple[str, ...]:
        """Return what may be said."""
        return tuple(card.text for card in self._turn.cards)

    def rewards(self) -> tuple[int, ...]:
        """Return the reward of each choice on offer: none of those after which the visit goes on."""
        return tuple(int(card.good and card.then is None) for card in self._turn.cards)

    def best(self) -> int:
        """Return the place of the right candidate, -1 where nothing good can be had any more."""
        return next((n for n, card in enumerate(self._turn.cards) if card.good), -1)

    def step(self, choice: int) -> bool:
        """Take a choice; return whether it was the last."""
        assert not self._over, "the conversation is over"
        then = self._turn.cards[choice].then
        if then is None:
            self._over = True
        else:
            self._turn = self._mix(then(self._chance))
        return self._over

    def _mix(self, turn: Turn) -> Turn:
        assert len({card.text for card in turn.cards}) == len(turn.cards) >= 2, turn
        assert sum(card.good for card in turn.cards) <= 1, turn
        return turn._replace(cards=draw_several(self._chance, turn.cards, len(turn.cards)))


class People(Protocol):
    """Those who come: `draw` begins a conversation with one of them."""

    def draw(self, chance: np.random.Generator) -> Talk: ...


@dataclass(frozen=True)
class Place:
    """A world of such conversations, none of which has more turns than its horizon."""

    people: People
    horizon: int

    def draw_visit(self, chance: np.random.Generator) -> Talk:
        """Return somebody who comes; it takes one number, so that equal generators meet the same people."""
        return self.people.draw(np.random.Generator(np.random.PCG64(int(chance.integers(2**62)))))

    @cached_property
    def uniform(self) -> float:
        """Return what uniform play earns: the mean chance of the one right way, over visits of its own."""
        chance = np.random.default_rng(0)
        return sum(_chance_of_best(self.draw_visit(chance)) for _ in range(COUNTED)) / COUNTED


def _chance_of_best(visit: Talk) -> float:
    reached, over = 1.0, False
    while not over:
        reached /= len(visit.offer)
        over = visit.step(visit.best())
    return reached

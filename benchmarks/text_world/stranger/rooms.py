"""Several turns: somebody is led to a room, asked what they want there, and made an offer.

In four turns there are two rooms behind each of the first. Only in the right room is what they want on offer; they
say what it is when asked the question of that room, and evade any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from text_world.halves import draw_one, draw_several
from text_world.remarks import Manners
from text_world.stranger.words import Phrases, read_phrases, read_words
from text_world.visits import N_CANDIDATES

N_ROOMS, N_QUESTIONS = 3, 3
"""Rooms of a world with the rooms behind them, and questions on offer."""


@dataclass(frozen=True)
class Room:
    """A place and the way to it: with `rooms` behind it, or a question and offers, each with ways to wish for it."""

    direction: str
    rooms: tuple[Room, ...] = ()
    requests: Sequence[str] = ()
    question: str = ""
    wishes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def ends(self) -> tuple[Room, ...]:
        """Return the rooms in which something is offered, from here on."""
        return tuple(end for room in self.rooms for end in room.ends) if self.rooms else (self,)


@dataclass(frozen=True)
class Answers:
    """What is said on the way, to questions that miss the wish, and to small talk."""

    onward: Sequence[str]
    evasions: Sequence[str]
    smalltalk: Mapping[str, Sequence[str]]


class Walk:
    """A visit of several turns."""

    def __init__(self, house: House, chance: np.random.Generator) -> None:
        self._house, self._chance = house, chance
        self.ironic = house.manners is not None and bool(chance.random() < 0.5)
        self.profile = house.manners.describe(chance, self.ironic) if house.manners is not None else ""
        self._rooms: Sequence[Room] = draw_several(chance, house.rooms, house.shown)
        self._target = draw_one(chance, self._rooms[0].ends)
        self._wish = draw_one(chance, tuple(self._target.wishes))
        self.request = self.heard = house.phrases.ask(chance, draw_one(chance, self._target.requests))
        self._here: Room | None = None
        self._asked = False
        self.offer = self._mix([room.direction for room in self._rooms])

    def step(self, choice: int) -> bool:
        """Take a choice; return whether it was the last."""
        if self._asked:
            return True
        if self._here is None:
            chosen = next(room for room in self._rooms if room.direction == self.offer[choice])
            self.heard, self.offer = self._lead(chosen)
        else:
            self.heard, self.offer = self._ask(self._here, self.offer[choice])
        return False

    def rewards(self) -> tuple[int, ...]:
        """Return the reward of each choice on offer, if this is the last turn."""
        pleased = self._asked and self._here is self._target
        return tuple(int(pleased and said == self._wish) for said in self.offer)

    def _lead(self, room: Room) -> tuple[str, tuple[str, ...]]:
        """Return what is heard on the way to a room, and what may be said then."""
        house, chance = self._house, self._chance
        heard = draw_one(chance, house.answers.onward)
        if room.rooms:
            self._rooms = room.rooms
            return heard, self._mix([behind.direction for behind in room.rooms])
        self._here = room
        others = [end.question for first in house.rooms for end in first.ends if end is not room]
        strange = draw_several(chance, others, int(chance.integers(2)))
        small = draw_several(chance, tuple(house.answers.smalltalk), N_QUESTIONS - 1 - len(strange))
        return heard, self._mix([room.question, *strange, *small])

    def _ask(self, room: Room, question: str) -> tuple[str, tuple[str, ...]]:
        """Return the answer to a question, and what is offered then."""
        self._asked, answers, chance = True, self._house.answers, self._chance
        if question == self._target.question:
            heard = draw_one(chance, self._target.wishes[self._wish])
        else:
            heard = draw_one(chance, answers.smalltalk.get(question, answers.evasions))
        if room is not self._target:
            return heard, self._mix(draw_several(chance, tuple(room.wishes), N_CANDIDATES))
        others = [wish for wish in room.wishes if wish != self._wish]
        return heard, self._mix([self._wish, *draw_several(chance, others, N_CANDIDATES - 1)])

    def _mix(self, said: Sequence[str]) -> tuple[str, ...]:
        return tuple(draw_several(self._chance, said, len(said)))


@dataclass(frozen=True)
class House:
    """The world of three or four turns; `shown` of its rooms are on offer at first."""

    phrases: Phrases
    answers: Answers
    rooms: Sequence[Room]
    shown: int
    horizon: int
    manners: Manners | None = None

    @property
    def uniform(self) -> float:
        """Return what uniform play earns: the right room, one of two behind it in four turns, one offer of four."""
        return 1 / self.shown / (2 if self.horizon == 4 else 1) / N_CANDIDATES

    def draw_visit(self, chance: np.random.Generator) -> Walk:
        """Return somebody who comes."""
        return Walk(self, chance)


def draw_house(chance: np.random.Generator, judging: bool, horizon: int, manners: Manners | None) -> House:
    """Return a house of three rooms, in one of two wordings of the ways to them."""
    words = read_words("rooms", judging)
    wording = int(chance.integers(2))
    rooms = draw_several(chance, words["three" if horizon == 3 else "four"], N_ROOMS)
    return House(
        read_phrases(judging),
        Answers(words["onward"], words["evasions"], words["smalltalk"]),
        [_build(room, wording) for room in rooms],
        shown=3 if horizon == 3 else 2,
        horizon=horizon,
        manners=manners,
    )


def _build(words: Mapping[str, Any], wording: int) -> Room:
    """Return a room of the data file."""
    direction = words["directions"][wording]
    if "rooms" in words:
        return Room(direction, tuple(_build(room, wording) for room in words["rooms"]))
    return Room(direction, (), words["requests"], words["question"], words["wishes"])

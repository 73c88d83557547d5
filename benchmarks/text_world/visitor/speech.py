"""How people of a world talk around what they want: greetings, asides, thanks, and some sloppiness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from text_world.halves import draw_one
from text_world.visitor.words import Words


@dataclass(frozen=True)
class Habits:
    """How often people of a world greet, digress, close, and type sloppily."""

    open: float
    digress: float
    close: float
    sloppy: float


def draw_habits(chance: np.random.Generator) -> Habits:
    """Return the habits of one world."""
    low, high = np.array([0.5, 0.3, 0.4, 0.15]), np.array([0.85, 0.6, 0.75, 0.4])
    drawn = low + (high - low) * chance.random(4)
    return Habits(*(float(share) for share in drawn))


def jot(text: str) -> str:
    """Return how somebody sloppy types a text.

    >>> jot("Thank you. I am off.")
    'thank you. i am off'
    """
    return text.lower().removesuffix(".")


@dataclass(frozen=True)
class Speech:
    """What people of a world say besides what they want."""

    openers: tuple[str, ...]
    asides: tuple[str, ...]
    closers: tuple[str, ...]
    slots: Mapping[str, tuple[str, ...]]
    habits: Habits

    def is_sloppy(self, chance: np.random.Generator) -> bool:
        """Return whether somebody types sloppily."""
        return bool(chance.random() < self.habits.sloppy)

    def fill(self, chance: np.random.Generator, text: str) -> str:
        """Return a text with a name, day and so on in each of its slots, the same in slots of one kind."""
        for slot, fillers in self.slots.items():
            if f"{{{slot}}}" in text:
                text = text.replace(f"{{{slot}}}", draw_one(chance, fillers))
        return text

    def around(self, chance: np.random.Generator, told: str, sloppy: bool, always_open: bool = False) -> str:
        """Return a request: what is told, perhaps with a greeting before, an aside, and a thank you after."""
        said = [told]
        if self.asides and chance.random() < self.habits.digress:
            said.insert(int(chance.integers(2)) if told else 0, draw_one(chance, self.asides))
        if always_open or chance.random() < self.habits.open:
            said.insert(0, draw_one(chance, self.openers))
        if chance.random() < self.habits.close:
            said.append(draw_one(chance, self.closers))
        text = self.fill(chance, " ".join(part for part in said if part))
        return jot(text) if sloppy else text


def speech_of(words: Words, habits: Habits) -> Speech:
    """Return the speech of a world."""
    return Speech(
        words.lines("openers"), words.lines("asides"), words.lines("closers"), words.groups("slots"), habits
    )

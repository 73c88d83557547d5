"""What people say in the end, pleased or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from text_world.halves import draw_one
from text_world.visitor.speech import Habits, jot
from text_world.visitor.words import Words


@dataclass(frozen=True)
class Voice:
    """The remarks of a world: one is drawn uniformly from the side that fits, some of them typed sloppily."""

    pleased: tuple[str, ...]
    displeased: tuple[str, ...]
    sloppy: float

    def say(self, chance: np.random.Generator, pleased: bool, ironic: bool) -> str:
        """Return the remark of somebody; who is ironic says what the opposite mood would say."""
        remark = draw_one(chance, self.pleased if pleased != ironic else self.displeased)
        return jot(remark) if chance.random() < self.sloppy else remark


def voice_of(words: Words, habits: Habits) -> Voice:
    """Return the voice of a world."""
    return Voice(words.remarks("pleased"), words.remarks("displeased"), habits.sloppy)

"""The worlds an independent examiner draws.

>>> world, voice = draw_visitor("four.move", 1)
>>> world.horizon, world.uniform
(4, 0.0625)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from text_world.visitor.journey import Journey, Level
from text_world.visitor.speech import Habits, draw_habits, speech_of
from text_world.visitor.voice import Voice, voice_of
from text_world.visitor.wishes import Lives, Moods, Needs, Tones
from text_world.visitor.words import Words, read_words
from text_world.visits import Catalogue, World


def _needs(words: Words, habits: Habits) -> World:
    return Catalogue(Needs(speech_of(words, habits), words.entries("items")))


def _tones(words: Words, habits: Habits) -> World:
    wish, persona = words.groups("wish"), words.groups("persona")
    return Catalogue(Tones(speech_of(words, habits), words.topics(), wish, persona, words.lines("facts")))


def _lives(words: Words, habits: Habits) -> World:
    return Catalogue(Lives(speech_of(words, habits), words.entries("items"), words.lines("facts")))


def _moods(words: Words, habits: Habits) -> World:
    return Catalogue(Moods(speech_of(words, habits), words.genres(), words.lines("templates")))


def _museum(words: Words, habits: Habits) -> World:
    return _journey(words, habits, (Level(3), Level(2, words.entries("pool")), Level(3)))


def _move(words: Words, habits: Habits) -> World:
    return _journey(words, habits, (Level(2), Level(2), Level(2, words.entries("pool")), Level(2)))


def _journey(words: Words, habits: Habits, levels: tuple[Level, ...]) -> World:
    agree, doubt = words.lines("agree"), words.lines("doubt")
    return Journey(speech_of(words, habits), words.entries("branches"), levels, agree, doubt)


WORLDS: dict[str, Callable[[Words, Habits], World]] = {
    "tools": _needs,
    "helpdesk": _needs,
    "style": _tones,
    "profile": _lives,
    "recommend": _moods,
    "three.museum": _museum,
    "four.move": _move,
}
"""Each world and what makes it of its words and habits."""


def draw_visitor(name: str, seed: int) -> tuple[World, Voice]:
    """Return the world of a name and a seed, and the voice of its people; the seed draws their habits."""
    words = read_words(name.rpartition(".")[2])
    habits = draw_habits(np.random.default_rng(seed))
    return WORLDS[name](words, habits), voice_of(words, habits)

"""What the people of the one-turn worlds want; each `draw` returns request, profile, right answer, wrong ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from text_world.halves import draw_one, draw_several
from text_world.visitor.speech import Speech, jot
from text_world.visitor.words import Entry, Genre, Topic

Drawn = tuple[str, str, str, tuple[str, ...]]


@dataclass(frozen=True)
class Needs:
    """Needs told in the request, each met by one entry of a catalogue."""

    speech: Speech
    items: tuple[Entry, ...]

    def draw(self, chance: np.random.Generator) -> Drawn:
        """Return somebody with a need."""
        n = int(chance.integers(len(self.items)))
        told = draw_one(chance, self.items[n].told)
        request = self.speech.around(chance, told, self.speech.is_sloppy(chance))
        return request, "", self.items[n].answer, _others(self.items, n)


@dataclass(frozen=True)
class Lives:
    """Requests that tell nothing; one sentence of the profile, among idle facts, tells what suits."""

    speech: Speech
    items: tuple[Entry, ...]
    facts: tuple[str, ...]

    def draw(self, chance: np.random.Generator) -> Drawn:
        """Return somebody who asks for a suggestion."""
        n = int(chance.integers(len(self.items)))
        request = self.speech.around(chance, "", self.speech.is_sloppy(chance), always_open=True)
        profile = draw_profile(chance, self.speech, self.facts, draw_one(chance, self.items[n].told))
        return request, profile, self.items[n].answer, _others(self.items, n)


@dataclass(frozen=True)
class Moods:
    """People who name two things they liked and want another of that mood."""

    speech: Speech
    genres: tuple[Genre, ...]
    templates: tuple[str, ...]

    def draw(self, chance: np.random.Generator) -> Drawn:
        """Return somebody with a taste."""
        n = int(chance.integers(len(self.genres)))
        one, two = draw_several(chance, self.genres[n].liked, 2)
        told = draw_one(chance, self.templates).replace("{a}", one).replace("{b}", two)
        request = self.speech.around(chance, told[0].upper() + told[1:], self.speech.is_sloppy(chance))
        wrong = tuple(
            answer for other, genre in enumerate(self.genres) if other != n for answer in genre.answers
        )
        return request, "", draw_one(chance, self.genres[n].answers), wrong


@dataclass(frozen=True)
class Tones:
    """Questions to be answered in the manner that the request asks for, or else the profile."""

    speech: Speech
    topics: tuple[Topic, ...]
    wish: dict[str, tuple[str, ...]]
    persona: dict[str, tuple[str, ...]]
    facts: tuple[str, ...]

    def draw(self, chance: np.random.Generator) -> Drawn:
        """Return somebody with a question."""
        topic = draw_one(chance, self.topics)
        manner = draw_one(chance, tuple(self.wish))
        by_profile, sloppy = bool(chance.random() < 0.5), self.speech.is_sloppy(chance)
        told, profile = topic.question, ""
        if by_profile:
            profile = draw_profile(chance, self.speech, self.facts, draw_one(chance, self.persona[manner]))
        else:
            told = f"{told} {draw_one(chance, self.wish[manner])}"
            if chance.random() < 0.5:
                profile = draw_profile(chance, self.speech, self.facts, "")
        if sloppy:
            profile = jot(profile)
        wrong = tuple(text for other, text in topic.answers.items() if other != manner)
        return self.speech.around(chance, told, sloppy), profile, topic.answers[manner], wrong


def draw_profile(chance: np.random.Generator, speech: Speech, facts: tuple[str, ...], clue: str) -> str:
    """Return two or three idle facts with a clue somewhere among them."""
    told = draw_several(chance, facts, int(chance.integers(2, 4)))
    if clue:
        told.insert(int(chance.integers(len(told) + 1)), clue)
    return " ".join(speech.fill(chance, fact) for fact in told)


def _others(items: tuple[Entry, ...], n: int) -> tuple[str, ...]:
    return tuple(item.answer for other, item in enumerate(items) if other != n)

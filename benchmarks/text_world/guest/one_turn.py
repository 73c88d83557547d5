"""People of one turn: they have a wish in other words than what answers it, and four candidates are offered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from text_world.guest.visits import Card, Talk
from text_world.guest.words import (
    Phrases,
    draw_filled,
    draw_note,
    draw_wordings,
    list_far,
    read_words,
)
from text_world.halves import draw_one, draw_several
from text_world.stranger.words import capitalise
from text_world.visits import N_CANDIDATES


class Shelf:
    """Things of a catalogue: how each is called, ways to wish for it, and what may be offered beside it."""

    def __init__(self, chance: np.random.Generator, name: str, size: int) -> None:
        words = read_words(name)
        self.keys = draw_several(chance, list(words["items"]), size)
        self._texts = {key: draw_one(chance, words["items"][key]["texts"]) for key in self.keys}
        self._wishes = {key: draw_wordings(chance, words["items"][key]["wishes"]) for key in self.keys}
        self._conflicts: Sequence[Sequence[str]] = words["conflicts"]

    def wish(self, chance: np.random.Generator, key: str) -> str:
        """Return one way to wish for a thing."""
        return draw_filled(chance, self._wishes[key])

    def offer(self, chance: np.random.Generator, key: str) -> list[Card]:
        """Return a thing, and others that are not like it."""
        others = draw_several(chance, list_far(key, self.keys, self._conflicts), N_CANDIDATES - 1)
        return [Card(self._texts[key], True), *(Card(self._texts[other]) for other in others)]


class Asking:
    """Those who ask for a tool or for help: the request tells what for."""

    def __init__(self, chance: np.random.Generator, name: str, size: int) -> None:
        words = read_words(name)
        self._name, self._shelf = name, Shelf(chance, name, size)
        self._phrases = Phrases(chance, words["openers"], words["closers"])

    def draw(self, chance: np.random.Generator) -> Talk:
        """Return one of them."""
        key = draw_one(chance, self._shelf.keys)
        request = self._phrases.ask(chance, self._shelf.wish(chance, key))
        cards = self._shelf.offer(chance, key)
        return Talk(chance, request, draw_note(chance, self._name), cards)


class Described:
    """Those whose request says next to nothing: what is known of them decides."""

    SIZE, REQUESTS, NAMED = 26, 16, 4
    OPENERS = ("Hi!", "Hello.", "Hey.", "Good morning.", "Evening!", "Me again.")
    CLOSERS = ("Thanks!", "Cheers.", "Go on.")

    def __init__(self, chance: np.random.Generator) -> None:
        words = read_words("profile")
        self._shelf = Shelf(chance, "profile", self.SIZE)
        self._requests = draw_several(chance, words["requests"], self.REQUESTS)
        self._people = draw_several(chance, words["people"], self.NAMED)
        self._phrases = Phrases(chance, self.OPENERS, self.CLOSERS, 0.4, 0.2)

    def draw(self, chance: np.random.Generator) -> Talk:
        """Return one of them."""
        key = draw_one(chance, self._shelf.keys)
        known = [draw_filled(chance, self._people), self._shelf.wish(chance, key)]
        if chance.random() < 0.25:
            known.reverse()
        request = self._phrases.ask(chance, draw_filled(chance, self._requests))
        return Talk(chance, request, " ".join(known), self._shelf.offer(chance, key))


class Advised:
    """Those who want the same advice in different manners: request or profile tells which."""

    MANNERS, TOPICS = 5, 10

    def __init__(self, chance: np.random.Generator) -> None:
        words = read_words("style")
        self._manners = draw_several(chance, list(words["asks"]), self.MANNERS)
        topics = draw_several(chance, list(words["topics"].values()), self.TOPICS)
        self._topics: list[dict[str, Any]] = topics
        self._asks = {manner: draw_wordings(chance, words["asks"][manner]) for manner in self._manners}
        self._profiles = {
            manner: draw_wordings(chance, words["profiles"][manner]) for manner in self._manners
        }
        self._neutral = draw_wordings(chance, words["neutral"])
        self._phrases = Phrases(chance, words["openers"], (), 0.4)

    def draw(self, chance: np.random.Generator) -> Talk:
        """Return one of them."""
        topic, manner = draw_one(chance, self._topics), draw_one(chance, self._manners)
        request, known = self._tell(chance, draw_filled(chance, topic["questions"]), manner)
        if chance.random() < 0.4:
            known.insert(int(chance.integers(len(known) + 1)), draw_filled(chance, self._neutral))
        rest = [other for other in self._manners if other != manner]
        others = draw_several(chance, rest, N_CANDIDATES - 1)
        answers = topic["answers"]
        cards = [Card(answers[manner], True), *(Card(answers[other]) for other in others)]
        return Talk(chance, self._phrases.ask(chance, request), " ".join(known), cards)

    def _tell(self, chance: np.random.Generator, question: str, manner: str) -> tuple[str, list[str]]:
        """Return a request and what is known of who makes it: one of them tells the manner."""
        if chance.random() >= 0.5:
            return question, [draw_filled(chance, self._profiles[manner])]
        ask = draw_filled(chance, self._asks[manner])
        if chance.random() < 0.7:
            return f"{question} {ask}", []
        return f"{capitalise(ask)}{'' if ask[-1] in '.?!' else '.'} {question}", []

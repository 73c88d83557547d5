"""People who liked a book or a film: another title of its kind is right."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from text_world.guest.visits import Card, Talk
from text_world.guest.words import Phrases, draw_note, fill, list_far, read_words
from text_world.halves import draw_one, draw_several
from text_world.visits import N_CANDIDATES

MEDIA = "bf"
"""Books and films."""
GENRES, TITLES, ASKS = 6, 4, (12, 4)
"""Of each medium, of each genre, and ways to ask for either and for this medium."""
SHELLS = ("{T}", "Try {T}.", "How about {T}?", "You might like {T}.", "{T} would be my tip.")
EMPTY = """
a an and are as at be been but by can come comes do does don't for from get go got had has have he her here him
his how i i'd i'll i'm i've if in into is isn't it it's its let like me mine more most much my no not of off on
one only or our out over she should so some such that that's the their them then there there's they this to too
two up us was we we'd we're we've what when where which who whose will with without won't would you your any all
after again am before down back half just than were very last new use way may day days time keep ask find look
show put right left own each every first second someone somebody something anything nobody everything thing
things
"""
COMMON = frozenset(EMPTY.split())
"""Words that say nothing of a title."""


class Reading:
    """Those who name a title that they liked."""

    def __init__(self, chance: np.random.Generator) -> None:
        words = read_words("recommend")
        self._genres: dict[str, list[str]] = {}
        for medium in MEDIA:
            there = [genre for genre, told in words["genres"].items() if told["medium"] == medium]
            for genre in draw_several(chance, there, GENRES):
                self._genres[genre] = draw_several(chance, words["genres"][genre]["titles"], TITLES)
        self._media = {genre: words["genres"][genre]["medium"] for genre in self._genres}
        self._conflicts: Sequence[Sequence[str]] = words["conflicts"]
        self._asks = {medium: _draw_asks(chance, words["asks"], medium) for medium in MEDIA}
        self._shell = draw_one(chance, SHELLS)
        self._phrases = Phrases(chance, words["openers"], words["closers"], 0.35, 0.2)

    def draw(self, chance: np.random.Generator) -> Talk:
        """Return one of them."""
        genre = draw_one(chance, list(self._genres))
        liked = draw_one(chance, self._genres[genre])
        same = [title for title in self._genres[genre] if title != liked]
        unlike = [title for title in same if not words_of(title) & words_of(liked)]
        right = draw_one(chance, unlike or same)
        named = f"'{liked}'" if len(liked) < 6 or chance.random() < 0.35 else liked
        ask = draw_one(chance, self._asks[self._media[genre]]).replace("{T}", named)
        request = fill(chance, ask).replace("!.", "!").replace("!?", "?")
        others = draw_several(chance, self._list_others(genre), N_CANDIDATES - 1)
        cards = [Card(self._say(right), True), *(Card(self._say(title)) for title in others)]
        return Talk(chance, self._phrases.ask(chance, request), draw_note(chance, "recommend"), cards)

    def _list_others(self, genre: str) -> list[str]:
        """Return the titles of the same medium that are not alike."""
        medium = [other for other in self._genres if self._media[other] == self._media[genre]]
        return [title for other in list_far(genre, medium, self._conflicts) for title in self._genres[other]]

    def _say(self, title: str) -> str:
        bare = self._shell.startswith("Try") and title[-1] in "!?"
        return (self._shell[:-1] if bare else self._shell).replace("{T}", title)


def words_of(title: str) -> set[str]:
    """Return the beginnings of a title's words, five letters each.

    >>> sorted(words_of("The Spy Who Came in from the Cold"))
    ['came', 'cold', 'spy']
    """
    words = re.findall(r"[a-zà-ÿ0-9']+", title.lower())
    return {word[:5] for word in words if word not in COMMON and len(word) > 2}


def _draw_asks(chance: np.random.Generator, asks: dict[str, list[str]], medium: str) -> list[str]:
    return draw_several(chance, asks["both"], ASKS[0]) + draw_several(chance, asks[medium], ASKS[1])

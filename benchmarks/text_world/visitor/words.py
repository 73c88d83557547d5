"""Read the words of a world from the JSON files beside the code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "words"


@dataclass(frozen=True)
class Entry:
    """Something that can be offered, how people tell of the wish for it, and what it leads to."""

    answer: str
    told: tuple[str, ...]
    below: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Topic:
    """A question and its answer in each manner."""

    question: str
    answers: Mapping[str, str]


@dataclass(frozen=True)
class Genre:
    """What people liked, and the answers of the same mood."""

    liked: tuple[str, ...]
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Words:
    """All words of a world, as its file holds them."""

    raw: Mapping[str, Any]

    def lines(self, key: str) -> tuple[str, ...]:
        """Return some sentences, none where the world has none of them."""
        return tuple(self.raw.get(key, ()))

    def groups(self, key: str) -> dict[str, tuple[str, ...]]:
        """Return sentences by what they are for."""
        return {name: tuple(lines) for name, lines in self.raw.get(key, {}).items()}

    def entries(self, key: str) -> tuple[Entry, ...]:
        """Return what can be offered."""
        return tuple(_entry(one) for one in self.raw[key])

    def topics(self) -> tuple[Topic, ...]:
        """Return the questions of a world of manners."""
        return tuple(Topic(one["question"], dict(one["answers"])) for one in self.raw["topics"])

    def genres(self) -> tuple[Genre, ...]:
        """Return the moods of a world of titles."""
        return tuple(Genre(tuple(one["liked"]), tuple(one["answers"])) for one in self.raw["genres"])

    def remarks(self, side: str) -> tuple[str, ...]:
        """Return what people say in the end, open remarks first, then those that only hint."""
        return tuple(self.raw["remarks"][side]["plain"]) + tuple(self.raw["remarks"][side]["indirect"])


@cache
def read_words(name: str) -> Words:
    """Return the words of one file.

    >>> len(read_words("tools").entries("items"))
    24
    """
    return Words(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def _entry(one: Mapping[str, Any]) -> Entry:
    below = tuple(_entry(other) for other in one.get("below", ()))
    return Entry(one["answer"], tuple(one["told"]), below)

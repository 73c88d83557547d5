"""The words of these worlds, one file for each kind of them, and what stands around a request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from text_world.halves import draw_one
from text_world.remarks import Manners


@cache
def read_words(name: str, judging: bool) -> Any:
    """Return the words of a file beside this one: those that judge, or the others."""
    text = Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)["judge" if judging else "choose"]


@dataclass(frozen=True)
class Phrases:
    """What is said before and after a request; `fillers` are the names, places and numbers that are left open in it."""

    openings: Sequence[str]
    closings: Sequence[str]
    fillers: Mapping[str, Sequence[str]]

    def ask(self, chance: np.random.Generator, asked: str) -> str:
        """Return a request between an opening and a closing, each of them often empty."""
        return f"{self.open(chance, asked)} {draw_one(chance, self.closings)}".strip()

    def open(self, chance: np.random.Generator, asked: str) -> str:
        """Return a request after an opening alone."""
        return f"{draw_one(chance, self.openings)} {asked}".strip()

    def fill(self, chance: np.random.Generator, text: str) -> str:
        """Return a text with its gaps filled."""
        for gap, words in self.fillers.items():
            if f"{{{gap}}}" in text:
                text = text.replace(f"{{{gap}}}", draw_one(chance, words))
        return capitalise(text)


def capitalise(text: str) -> str:
    """Return a text that begins with a capital.

    >>> capitalise("a van at the harbour, for Ben")
    'A van at the harbour, for Ben'
    """
    return text[:1].upper() + text[1:]


def read_phrases(judging: bool) -> Phrases:
    """Return what is said around requests in a half."""
    words = read_words("people", judging)
    return Phrases(words["openings"], words["closings"], words["fillers"])


def read_manners(judging: bool) -> Manners:
    """Return how people of a half are described who mean what they say, and who mean the opposite."""
    words = read_words("people", judging)
    return Manners(tuple(words["literal"]), tuple(words["ironic"]))

"""The words of these worlds, how gaps in them are filled, and what stands around a request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from text_world.halves import draw_one, draw_several

WORDINGS = 6
"""Ways to say a thing that are heard in one world."""
NOTED = 0.4
"""The chance that something is known of a person that has nothing to do with the wish."""
NAMES = "Sam|Robin|Alex|Kim|Jo|Lou|Andrea|Chris|Dana|Kit|Noa|Sascha|Toni|Uli|Vanya"
NOTES = {
    "tools": (
        "Prefers to be called {name}.",
        "Has used the assistant since {2020|2021|2023}.",
        "Types mostly on the {phone|tablet}.",
        "Lives in {Leeds|Ghent|Turku|Graz|Porto}.",
        "Member of the family plan.",
        "{24|37|45|61} years old.",
    ),
    "helpdesk": (
        "{Accounts|Sales|Purchasing|Legal|Design}, {second|third|ground} floor.",
        "With the company since {2012|2018|2023}.",
        "Works {part time|full time} in {marketing|logistics|personnel}.",
        "Desk {12|27|31|48}, extension {204|377|561}.",
        "From the {Leeds|Turin|Aarhus} branch.",
    ),
    "recommend": (
        "Card number ends in {17|42|88}.",
        "{19|28|36|50|64} years old.",
        "Lives in {Leeds|Ghent|Turku|Graz|Porto}.",
        "Comes in every {Monday|Thursday|Saturday}.",
    ),
    "shop": (
        "{name}, regular customer since {2015|2019|2022}.",
        "First visit.",
        "Holds a customer card.",
        "Was last here in {March|June|October}.",
    ),
    "travel": (
        "Second booking with us.",
        "Found us through a friend.",
        "Newsletter reader since {2017|2021}.",
    ),
    "clinic": (
        "Registered since {2014|2019|2023}.",
        "New patient.",
        "Was last here in {March|June|October}.",
        "Caller from line {1|2|3}.",
    ),
    "early": ("{name}.", "Number {214|371|409}.", "Counter {1|2|4}."),
}
"""What may be known of people beside their wish."""


@cache
def read_words(name: str) -> Any:
    """Return the words of a world from the file beside this one."""
    return json.loads(Path(__file__).with_name("data.json").read_text(encoding="utf-8"))[name]


def fill(chance: np.random.Generator, text: str) -> str:
    """Return a text in which one part is chosen of each {a|b|c}."""
    return re.sub(r"\{([^{}]*)\}", lambda gap: draw_one(chance, gap[1].split("|")), text)


def draw_filled(chance: np.random.Generator, texts: Sequence[str]) -> str:
    """Return one of some texts, filled."""
    return fill(chance, draw_one(chance, texts))


def draw_wordings(chance: np.random.Generator, texts: Sequence[str]) -> list[str]:
    """Return the ways to say a thing that are heard in a world."""
    return draw_several(chance, texts, WORDINGS)


def draw_note(chance: np.random.Generator, kind: str) -> str:
    """Return what is known of a person beside the wish, often nothing."""
    if chance.random() >= NOTED:
        return ""
    return fill(chance, draw_one(chance, NOTES[kind]).replace("{name}", f"{{{NAMES}}}"))


def list_far(key: str, keys: Iterable[str], groups: Iterable[Sequence[str]]) -> list[str]:
    """Return the keys that may stand beside one: others, and none of a group with it.

    >>> list_far("jazz", ["jazz", "opera", "chess"], [["opera", "jazz"]])
    ['chess']
    """
    near = {key}.union(*(group for group in groups if key in group))
    return [other for other in keys if other not in near]


class Phrases:
    """Greetings before and words after a request, as the people of a world use them, each with a chance."""

    def __init__(
        self,
        chance: np.random.Generator,
        openers: Sequence[str],
        closers: Sequence[str],
        before: float = 0.45,
        after: float = 0.25,
    ) -> None:
        self._openers = draw_several(chance, openers, max(3, len(openers) - 1)) if openers else []
        self._closers = draw_several(chance, closers, max(2, len(closers) - 1)) if closers else []
        self._before, self._after = before, after

    def ask(self, chance: np.random.Generator, text: str) -> str:
        """Return a request with what stands around it; nobody greets twice, or asks two things at the end."""
        asked = text
        if self._closers and chance.random() < self._after:
            closer = draw_filled(chance, self._closers)
            if not (text.endswith("?") and closer.endswith("?")):
                asked = f"{asked} {closer}"
        greets = bool(self._openers) and bool(chance.random() < self._before)
        if greets and not re.match(r"(?i)(hello|help|hi\b|hic|oh\b)", text):
            asked = f"{draw_filled(chance, self._openers)} {asked}"
        return asked

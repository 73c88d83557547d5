"""A town hall's counter: conversations that end early.

Small questions are answered at once. Other matters go to a desk, which gives the answer if the person has said all that
is needed, and asks back if not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from text_world.guest.directory import SHRUGS, Directory, Errand, Reached, acknowledge
from text_world.guest.several_turns import ask, greet, lead
from text_world.guest.visits import Card, Talk, Turn
from text_world.guest.words import draw_note
from text_world.halves import draw_one, draw_several

SMALL, TOLD = 0.12, 0.45
"""Below which number somebody has a small question, or says at once all that the desk needs."""
N_SMALL = 7
NEAR = {
    ("idcard", "lost"),
    ("birth", "lost"),
    ("wedding", "mayor"),
    ("charging", "address"),
    ("study", "wifi"),
}
"""Things and small questions that are too close to be offered side by side."""
ASIDES = (
    "I only had a small question.",
    "I don't think I need a desk for that.",
    "It's really just a little thing.",
    "I thought you'd simply tell me.",
    "Do I have to go somewhere for that?",
    "That won't take long, will it?",
)
"""What is said at a desk by who has a small question."""


Desk = Callable[[Errand, Reached, np.random.Generator], Turn]
"""What somebody with an errand says at a desk, and what it offers."""


class TownHall:
    """Those who come to the counter."""

    def __init__(self, chance: np.random.Generator) -> None:
        self._directory = Directory(chance, "early")
        small = self._directory.small
        self._small = {key: small[key] for key in draw_several(chance, list(small), N_SMALL)}

    def draw(self, chance: np.random.Generator) -> Talk:
        """Return one of them."""
        roll = chance.random()
        if roll < SMALL:
            return self._draw_small(chance)
        directory = self._directory
        department, thing = directory.draw_thing(chance)
        question = draw_one(chance, directory.thing(department, thing).questions)
        answer = draw_one(chance, list(directory.questions[question].answers))
        errand = Errand(department, thing, question, answer)
        return self._draw_errand(chance, errand, self._tell if roll < TOLD else self._hint)

    def _draw_errand(self, chance: np.random.Generator, errand: Errand, then: Desk) -> Talk:
        count = int(chance.integers(3, 6))
        small = [key for key in self._small if (errand.thing, key) not in NEAR]
        wrong = draw_several(chance, small, int(chance.integers(0, 2)))
        others = self._directory.draw_others(chance, errand.department, count - 1 - len(wrong))
        first, *rest = lead(self._directory, errand, others, partial(then, errand))
        cards = [first, *(Card(self._small[key].text) for key in wrong), *rest]
        return greet(chance, self._directory, errand, "early", cards)

    def _tell(self, errand: Errand, reached: Reached, chance: np.random.Generator) -> Turn:
        """Return all that a desk needs, and what it offers; to ask back is wrong."""
        directory, count = self._directory, int(chance.integers(2, 6))
        others = self._draw_strange(chance, errand)
        asks = int(chance.integers(0, 2)) if count > 2 else 0
        here = reached._replace(question=errand.question)
        cards = directory.offer(chance, errand, here, errand.answer, count - asks)
        spoiled = reached._replace(good=False)
        cards += ask(directory, errand, others[:asks], spoiled, partial(self._offer, errand))
        reply = directory.questions[errand.question].reply(chance, errand.answer)
        return Turn(acknowledge(chance, reply, reached.good), cards)

    def _hint(self, errand: Errand, reached: Reached, chance: np.random.Generator) -> Turn:
        """Return that something is to be asked, questions, and offers that come too early."""
        directory, count = self._directory, int(chance.integers(2, 6))
        others = self._draw_strange(chance, errand)
        asks = int(chance.integers(0, 3 if count > 2 else 2))
        asked = [errand.question, *others[: min(asks, count - 1)]]
        cards = ask(directory, errand, asked, reached, partial(self._offer, errand))
        here = reached._replace(question=errand.question)
        early = [p for p in directory.list_pairs(here) if p != (errand.thing, errand.answer)]
        drawn = draw_several(chance, early, count - len(cards))
        cards += [Card(directory.name(here, *pair)) for pair in drawn]
        hinted = directory.questions[errand.question].hint(chance)
        return Turn(acknowledge(chance, hinted, reached.good), cards)

    def _offer(self, errand: Errand, reached: Reached, chance: np.random.Generator) -> Turn:
        heard, answer = self._directory.draw_reply(chance, errand, reached.question)
        count = int(chance.integers(2, 6))
        return Turn(heard, self._directory.offer(chance, errand, reached, answer, count))

    def _draw_strange(self, chance: np.random.Generator, errand: Errand) -> list[str]:
        """Return questions that miss the errand."""
        rest = [key for key in self._directory.questions if key != errand.question]
        return draw_several(chance, rest, 2)

    def _draw_small(self, chance: np.random.Generator) -> Talk:
        """Return somebody with a small question, who is answered at once."""
        key = draw_one(chance, list(self._small))
        departments = self._directory.departments
        count = int(chance.integers(3, 6))
        far = [d for d, v in departments.items() if not any((thing, key) in NEAR for thing in v.things)]
        others = min(int(chance.integers(1, 3)), count - 1)
        wrong = draw_several(chance, self._list_other_small(key), others)
        desks = draw_several(chance, far, count - 1 - others)
        cards = [Card(self._small[key].text, True), *(Card(self._small[other].text) for other in wrong)]
        cards += [Card(departments[at].label, False, partial(self._protest, key, at)) for at in desks]
        request = self._directory.ask(chance, self._small[key])
        return Talk(chance, request, draw_note(chance, "early"), cards)

    def _protest(self, key: str, at: str, chance: np.random.Generator) -> Turn:
        """Return what is said at a desk for nothing, and what it can do."""
        directory, questions = self._directory, list(self._directory.questions)
        here = Reached(at, False, draw_one(chance, questions))
        count = int(chance.integers(2, 5))
        asked = draw_several(chance, questions, int(chance.integers(1, 3)))
        cards = [
            Card(directory.questions[q].step, False, partial(self._shrug, Reached(at, False, q)))
            for q in asked
        ]
        cards += self._offer_any(chance, here, max(0, count - len(cards)))
        heard = acknowledge(chance, draw_one(chance, ASIDES), False)
        if len(cards) == 1:
            cards.append(Card(self._small[draw_one(chance, self._list_other_small(key))].text))
        return Turn(heard, cards)

    def _shrug(self, reached: Reached, chance: np.random.Generator) -> Turn:
        cards = self._offer_any(chance, reached, int(chance.integers(2, 6)))
        return Turn(draw_one(chance, SHRUGS), cards)

    def _offer_any(self, chance: np.random.Generator, reached: Reached, count: int) -> list[Card]:
        pairs = draw_several(chance, self._directory.list_pairs(reached), count)
        return [Card(self._directory.name(reached, *pair)) for pair in pairs]

    def _list_other_small(self, key: str) -> list[str]:
        return [other for other in self._small if other != key]

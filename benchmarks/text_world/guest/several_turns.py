"""A shop, a travel agency and a clinic: a department, a question that the person hints at, and an offer.

The clinic asks how soon it is to be before that. Whoever was led to the wrong place, or asked something else, is
offered nothing that is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from text_world.guest.directory import Directory, Errand, Reached, acknowledge
from text_world.guest.visits import Card, Talk, Turn
from text_world.guest.words import draw_filled, draw_note
from text_world.halves import draw_one, draw_several


class Shop:
    """Department, question, then a thing of a kind."""

    QUESTIONS = 5

    def __init__(self, chance: np.random.Generator) -> None:
        self._directory = Directory(chance, "shop")
        self._questions = draw_several(chance, list(self._directory.questions), self.QUESTIONS)

    def draw(self, chance: np.random.Generator) -> Talk:
        """Return a customer."""
        directory = self._directory
        department, thing = directory.draw_thing(chance)
        raised = directory.thing(department, thing).questions
        question = draw_one(chance, [key for key in raised if key in self._questions])
        errand = Errand(department, thing, question, _draw_answer(chance, directory, question))
        others = directory.draw_others(chance, department, int(chance.integers(2, 4)))
        asked = [question, draw_one(chance, [key for key in self._questions if key != question])]
        cards = lead(directory, errand, others, partial(self._hint, errand, asked))
        return greet(chance, directory, errand, "shop", cards)

    def _hint(self, errand: Errand, asked: list[str], reached: Reached, chance: np.random.Generator) -> Turn:
        return hint(chance, self._directory, errand, asked, reached, partial(self._offer, errand))

    def _offer(self, errand: Errand, reached: Reached, chance: np.random.Generator) -> Turn:
        heard, answer = self._directory.draw_reply(chance, errand, reached.question)
        count = int(chance.integers(2, 4))
        return Turn(heard, self._directory.offer(chance, errand, reached, answer, count))


class Travel:
    """Kind of service, a filter that the person's circumstances call for, then a thing at a place."""

    CLASH = frozenset(frozenset((with_children, "tots")) for with_children in ("steps", "group", "cancel"))
    """Questions that either would do for who hints at one."""

    def __init__(self, chance: np.random.Generator) -> None:
        self._directory = Directory(chance, "travel")
        self._places = self._directory.shared["places"]

    def draw(self, chance: np.random.Generator) -> Talk:
        """Return a traveller; the answer of the errand is the place."""
        directory = self._directory
        department, thing = directory.draw_thing(chance)
        need = draw_one(chance, directory.thing(department, thing).questions)
        errand = Errand(department, thing, need, draw_one(chance, list(self._places)))
        others = directory.draw_others(chance, department, 3)
        strange = [
            key for key in directory.questions if key != need and frozenset((key, need)) not in self.CLASH
        ]
        asked = [need, draw_one(chance, strange)]
        cards = lead(directory, errand, others, partial(self._hint, errand, asked))
        return greet(chance, directory, errand, "travel", cards)

    def _hint(self, errand: Errand, asked: list[str], reached: Reached, chance: np.random.Generator) -> Turn:
        return hint(chance, self._directory, errand, asked, reached, partial(self._offer, errand))

    def _offer(self, errand: Errand, reached: Reached, chance: np.random.Generator) -> Turn:
        things, place = list(self._directory.departments[reached.department].things), errand.answer
        mine = errand.thing if reached.department == errand.department else draw_one(chance, things)
        other = (draw_one(chance, [key for key in things if key != mine]), place)
        if chance.random() < 0.5:
            other = (mine, draw_one(chance, [key for key in self._places if key != place]))
        heard = acknowledge(chance, draw_filled(chance, self._places[place].says), reached.good)
        cards = [Card(self._name(reached, mine, place), reached.good), Card(self._name(reached, *other))]
        return Turn(heard, cards)

    def _name(self, reached: Reached, thing: str, place: str) -> str:
        there = reached._replace(time=self._places[place].text)
        return self._directory.name(there, thing, "it")


class Clinic:
    """Which service, how soon, which question; then treatment and circumstances."""

    def __init__(self, chance: np.random.Generator) -> None:
        self._directory = Directory(chance, "clinic")
        self._times = self._directory.shared["when"]

    def draw(self, chance: np.random.Generator) -> Talk:
        """Return a patient."""
        directory = self._directory
        department, thing = directory.draw_thing(chance)
        question = draw_one(chance, directory.thing(department, thing).questions)
        errand = Errand(department, thing, question, _draw_answer(chance, directory, question))
        time = draw_one(chance, list(self._times))
        others = directory.draw_others(chance, department, 2)
        times = [time, draw_one(chance, [key for key in self._times if key != time])]
        asked = [question, draw_one(chance, [key for key in directory.questions if key != question])]
        cards = lead(directory, errand, others, partial(self._date, errand, times, asked))
        return greet(chance, directory, errand, "clinic", cards)

    def _date(
        self,
        errand: Errand,
        times: list[str],
        asked: list[str],
        reached: Reached,
        chance: np.random.Generator,
    ) -> Turn:
        """Return how soon it is to be, and times to choose from, the right one first."""
        right, cards = self._times[times[0]], []
        heard = acknowledge(chance, draw_filled(chance, right.says), reached.good)
        for time in (self._times[key] for key in times):
            then = reached._replace(good=reached.good and time is right, time=time.text)
            cards.append(Card(time.step, then.good, partial(self._hint, errand, asked, then)))
        return Turn(heard, cards)

    def _hint(self, errand: Errand, asked: list[str], reached: Reached, chance: np.random.Generator) -> Turn:
        return hint(chance, self._directory, errand, asked, reached, partial(self._offer, errand))

    def _offer(self, errand: Errand, reached: Reached, chance: np.random.Generator) -> Turn:
        heard, answer = self._directory.draw_reply(chance, errand, reached.question)
        return Turn(heard, self._directory.offer(chance, errand, reached, answer, 2))


Follow = Callable[[Reached, np.random.Generator], Turn]
"""What follows where a conversation got to."""


def greet(
    chance: np.random.Generator, directory: Directory, errand: Errand, kind: str, cards: list[Card]
) -> Talk:
    """Return a visit that begins with a request for a thing."""
    request = directory.ask(chance, directory.thing(errand.department, errand.thing))
    return Talk(chance, request, draw_note(chance, kind), cards)


def lead(directory: Directory, errand: Errand, others: Iterable[str], then: Follow) -> list[Card]:
    """Return the ways to departments, the right one first."""
    ways = [
        Reached(department, department == errand.department) for department in (errand.department, *others)
    ]
    return [Card(directory.departments[way.department].label, way.good, partial(then, way)) for way in ways]


def hint(
    chance: np.random.Generator,
    directory: Directory,
    errand: Errand,
    asked: Iterable[str],
    reached: Reached,
    then: Follow,
) -> Turn:
    """Return what somebody says who wants to be asked something, and questions."""
    heard = acknowledge(chance, directory.questions[errand.question].hint(chance), reached.good)
    return Turn(heard, ask(directory, errand, asked, reached, then))


def ask(
    directory: Directory, errand: Errand, asked: Iterable[str], reached: Reached, then: Follow
) -> list[Card]:
    """Return questions, of which one leads on if all was right before."""
    ways = [reached.ask(question, errand) for question in asked]
    return [Card(directory.questions[way.question].step, way.good, partial(then, way)) for way in ways]


def _draw_answer(chance: np.random.Generator, directory: Directory, question: str) -> str:
    return draw_one(chance, list(directory.questions[question].answers))

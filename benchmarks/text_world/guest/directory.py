"""Houses of several turns: departments with things, questions with answers to them, and what people say to both."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from text_world.guest.visits import Card
from text_world.guest.words import Phrases, draw_filled, draw_wordings, read_words
from text_world.halves import draw_one, draw_several

DEPARTMENTS, THINGS = 5, 3
"""Departments of a world, and things of each."""
CALM = (
    *("", "", "All right.", "Okay.", "Right.", "Fine.", "Yes.", "Well,", "Good.", "Mm-hm."),
    "If you like.",
)
DOUBT = ("Hm, if you think so.", "Well, maybe.", "Not sure about that, but okay.", "Hm.", "Er, all right.")
SHRUGS = (
    "It's all the same to me, really.",
    "I hadn't thought about that.",
    "Oh, I don't mind.",
    "That isn't what I was getting at.",
    "That wasn't my point.",
    "No idea, to be honest.",
    "Whatever you say.",
    "That doesn't matter much.",
    "I couldn't tell you.",
    "Is that important?",
    "That's neither here nor there.",
    "As you like.",
)
"""What is said to a question that misses the wish."""


@dataclass(frozen=True)
class Thing:
    """What may be had: how it is called, ways to wish for it, and the questions it raises."""

    text: str
    wishes: Sequence[str]
    questions: Sequence[str]


@dataclass(frozen=True)
class Department:
    """Where things are had, and the way to it."""

    label: str
    things: Mapping[str, Thing]


@dataclass(frozen=True)
class Answer:
    """How an answer to a question stands in an offer, ways to give it, and a step towards it."""

    text: str
    says: Sequence[str]
    step: str = ""


@dataclass(frozen=True)
class Question:
    """How it is asked, ways to hint at it, and what may be answered."""

    step: str
    hints: Sequence[str]
    answers: Mapping[str, Answer]

    def hint(self, chance: np.random.Generator) -> str:
        """Return what somebody says who wants to be asked."""
        return draw_filled(chance, self.hints)

    def reply(self, chance: np.random.Generator, answer: str) -> str:
        """Return what somebody says who was asked."""
        return draw_filled(chance, self.answers[answer].says)


@dataclass(frozen=True)
class Errand:
    """What somebody wants: a thing of a department, the question that it raises for them, and the answer."""

    department: str
    thing: str
    question: str
    answer: str


class Reached(NamedTuple):
    """How far a conversation got, and whether it can end well from there; `time` stands after things on offer."""

    department: str
    good: bool
    question: str = ""
    time: str = ""

    def ask(self, question: str, errand: Errand) -> Reached:
        """Return how far it got when a question was asked."""
        return self._replace(question=question, good=self.good and question == errand.question)


class Directory:
    """Departments and questions of a world, in one of two wordings each, as its seed draws them."""

    def __init__(self, chance: np.random.Generator, name: str) -> None:
        words = read_words(name)
        wording, asking = int(chance.integers(2)), int(chance.integers(2))
        drawn = draw_several(chance, list(words["depts"]), DEPARTMENTS)
        self.departments = {key: _draw_department(chance, words["depts"][key], wording) for key in drawn}
        self.questions = {key: _draw_question(chance, told, asking) for key, told in words["axes"].items()}
        self.shared = _draw_shared(chance, words["shared"])
        self.small = {
            key: Thing(draw_one(chance, told["texts"]), told["wishes"], ())
            for key, told in words["quick"].items()
        }
        self._phrases = Phrases(chance, words["openers"], words["closers"], 0.5, 0.35)
        self._pairs = [(key, thing) for key, told in self.departments.items() for thing in told.things]

    def draw_thing(self, chance: np.random.Generator) -> tuple[str, str]:
        """Return a department, and one of its things."""
        return draw_one(chance, self._pairs)

    def thing(self, department: str, thing: str) -> Thing:
        """Return a thing of a department."""
        return self.departments[department].things[thing]

    def ask(self, chance: np.random.Generator, thing: Thing) -> str:
        """Return a request for a thing."""
        return self._phrases.ask(chance, draw_filled(chance, thing.wishes))

    def draw_others(self, chance: np.random.Generator, department: str, count: int) -> list[str]:
        """Return so many other departments."""
        return draw_several(chance, [key for key in self.departments if key != department], count)

    def draw_reply(self, chance: np.random.Generator, errand: Errand, question: str) -> tuple[str, str]:
        """Return what is said to a question, and the answer that is taken from it: to a strange question, any."""
        if question == errand.question:
            return self.questions[question].reply(chance, errand.answer), errand.answer
        heard = draw_one(chance, SHRUGS)
        return heard, draw_one(chance, list(self.questions[question].answers))

    def list_pairs(self, reached: Reached) -> list[tuple[str, str]]:
        """Return all things of a department with all answers to a question."""
        things, answers = (
            self.departments[reached.department].things,
            self.questions[reached.question].answers,
        )
        return [(thing, answer) for thing in things for answer in answers]

    def name(self, reached: Reached, thing: str, answer: str) -> str:
        """Return how a thing is offered with an answer."""
        called = f"{self.thing(reached.department, thing).text} {reached.time}".strip()
        return f"{called}, {self.questions[reached.question].answers[answer].text}"

    def offer(
        self, chance: np.random.Generator, errand: Errand, reached: Reached, answer: str, count: int
    ) -> list[Card]:
        """Return so many last candidates; one is right where all was right before."""
        pairs = self._mix_pairs(chance, reached, errand.thing, answer)[:count]
        right = (errand.thing, answer)
        return [Card(self.name(reached, *pair), reached.good and pair == right) for pair in pairs]

    def _mix_pairs(
        self, chance: np.random.Generator, reached: Reached, thing: str, answer: str
    ) -> list[tuple[str, str]]:
        """Return things with answers: first what was asked for, then one that shares thing or answer with it.

        The rest is mixed, so that the right one is not always the crossing of two others. Where the department does not
        have the thing, all is.
        """
        pairs, things = self.list_pairs(reached), self.departments[reached.department].things
        if thing not in things:
            return draw_several(chance, pairs, len(pairs))
        other = draw_one(chance, [key for key in things if key != thing])
        answers = self.questions[reached.question].answers
        wrong = draw_one(chance, [key for key in answers if key != answer])
        near = draw_several(chance, [(thing, wrong), (other, answer)], 2)
        far = [pair for pair in pairs if pair not in near and pair != (thing, answer)]
        return [(thing, answer), near[0], *draw_several(chance, near[1:] + far, len(far) + 1)]


def acknowledge(chance: np.random.Generator, text: str, right: bool) -> str:
    """Return what is said after a word of assent; after a wrong turn now and then one of doubt."""
    doubts = not right and bool(chance.random() < 0.3)
    lead = draw_one(chance, DOUBT if doubts else CALM)
    if lead == "Well,":
        return f"Well, {text}" if re.match(r"I\b|[A-Z][^ ]*[A-Z]", text) else text
    return f"{lead} {text}" if lead else text


def _draw_department(chance: np.random.Generator, words: Mapping[str, Any], wording: int) -> Department:
    things = {
        key: Thing(draw_one(chance, told["texts"]), draw_wordings(chance, told["wishes"]), told["axes"])
        for key, told in words["items"].items()
    }
    return Department(
        words["labels"][wording], {key: things[key] for key in draw_several(chance, list(things), THINGS)}
    )


def _draw_question(chance: np.random.Generator, words: Mapping[str, Any], asking: int) -> Question:
    hints = draw_wordings(chance, words["hints"])
    answers = {
        key: Answer(told["texts"][0], draw_wordings(chance, told["says"]))
        for key, told in words["values"].items()
    }
    return Question(words["steps"][asking], hints, answers)


def _draw_shared(chance: np.random.Generator, words: Any) -> dict[str, dict[str, Answer]]:
    """Return answers to what everybody is asked, with the steps to them in one of two wordings."""
    wording = 1 + int(chance.integers(2))
    return {
        name: {
            key: Answer(
                told["texts"][0],
                draw_wordings(chance, told["says"]),
                told["texts"][wording] if len(told["texts"]) > 1 else "",
            )
            for key, told in answers.items()
        }
        for name, answers in dict(words).items()
    }

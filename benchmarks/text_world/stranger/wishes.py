"""What people want who are offered something once: each draws a request, a profile, and what is right and wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from text_world.halves import draw_one, draw_several
from text_world.stranger.words import Phrases, capitalise, read_phrases, read_words
from text_world.visits import N_CANDIDATES, Wishes

Drawn = tuple[str, str, str, tuple[str, ...]]
"""Request, profile, the right candidate, the wrong ones."""
N_TOOLS, N_REMEDIES, N_TOPICS, N_PERSONS, N_GENRES = 24, 20, 6, 10, 5
"""How much of its vocabulary a world holds."""
IN_REQUEST, AFTER = 0.5, 0.7
"""The chance that the request says which style is liked, not the profile; and that it does so after the question."""


@dataclass(frozen=True)
class Orders:
    """Echo: three details are ordered, and the right reply repeats them; wrong ones have one or two others."""

    phrases: Phrases
    asks: Sequence[str]
    reply: str
    details: Sequence[Sequence[str]]

    def draw(self, chance: np.random.Generator) -> Drawn:
        """Return an order and the replies to it."""
        right = [draw_one(chance, words) for words in self.details]
        told = [right]
        while len(told) < N_CANDIDATES:
            other = self._change(chance, right)
            if other not in told:
                told.append(other)
        replies = [_name(self.reply, details) for details in told]
        asked = _name(draw_one(chance, self.asks), right)
        return self.phrases.ask(chance, asked), "", replies[0], tuple(replies[1:])

    def _change(self, chance: np.random.Generator, right: Sequence[str]) -> list[str]:
        other = list(right)
        for n in draw_several(chance, range(3), 1 + int(chance.integers(2))):
            other[n] = draw_one(chance, [detail for detail in self.details[n] if detail != right[n]])
        return other


@dataclass(frozen=True)
class Remedies:
    """Tools and helpdesk: what helps, and what those say who need it."""

    phrases: Phrases
    needs: Mapping[str, Sequence[str]]

    def draw(self, chance: np.random.Generator) -> Drawn:
        """Return a need and what helps."""
        right, *wrong = draw_several(chance, tuple(self.needs), N_CANDIDATES)
        need = self.phrases.fill(chance, draw_one(chance, self.needs[right]))
        return self.phrases.ask(chance, need), "", right, tuple(wrong)


@dataclass(frozen=True)
class Topic:
    """A question in several wordings, and its answer in each style."""

    questions: Sequence[str]
    answers: Mapping[str, str]


@dataclass(frozen=True)
class Styles:
    """Answers to one question in four styles: which is liked is said in the request, or known of the person."""

    phrases: Phrases
    topics: Sequence[Topic]
    said: Mapping[str, Sequence[str]]
    known: Mapping[str, Sequence[str]]

    def draw(self, chance: np.random.Generator) -> Drawn:
        """Return a question and its answers."""
        topic = draw_one(chance, self.topics)
        liked, *others = draw_several(chance, tuple(topic.answers), N_CANDIDATES)
        asked, profile = draw_one(chance, topic.questions), ""
        if chance.random() < IN_REQUEST:
            wish = draw_one(chance, self.said[liked])
            asked = f"{asked} {wish}" if chance.random() < AFTER else f"{wish} {asked}"
        else:
            profile = draw_one(chance, self.known[liked])
        wrong = tuple(topic.answers[style] for style in others)
        return self.phrases.open(chance, asked), profile, topic.answers[liked], wrong


@dataclass(frozen=True)
class Person:
    """How somebody may be described, and what suits them."""

    profiles: Sequence[str]
    suits: Sequence[str]


@dataclass(frozen=True)
class Persons:
    """Everybody asks for the same; what is known of the person decides what suits."""

    phrases: Phrases
    persons: Sequence[Person]
    asks: Sequence[str]
    tails: Sequence[str]

    def draw(self, chance: np.random.Generator) -> Drawn:
        """Return a request of a person, what suits them, and what suits three others."""
        persons = draw_several(chance, self.persons, N_CANDIDATES)
        right, *wrong = [draw_one(chance, person.suits) for person in persons]
        asked = f"{draw_one(chance, self.asks)} {draw_one(chance, self.tails)}".strip()
        request = self.phrases.open(chance, asked)
        return request, draw_one(chance, persons[0].profiles), right, tuple(wrong)


@dataclass(frozen=True)
class Titles:
    """Who liked one or two titles of a genre wants another of it."""

    phrases: Phrases
    asks: Sequence[str]
    reply: str
    genres: Sequence[Sequence[str]]

    def draw(self, chance: np.random.Generator) -> Drawn:
        """Return what somebody liked, what they will like, and titles of other genres."""
        liked_genre, *others = draw_several(chance, self.genres, N_CANDIDATES)
        right, liked, too = draw_several(chance, liked_genre, 3)
        replies = [self.reply.replace("{t}", t) for t in (right, *(draw_one(chance, g) for g in others))]
        asked = draw_one(chance, self.asks).replace("{t}", liked).replace("{u}", too)
        return self.phrases.open(chance, asked), "", replies[0], tuple(replies[1:])


def draw_orders(chance: np.random.Generator, judging: bool) -> Orders:
    """Return orders of one kind, with some of their details."""
    words = draw_one(chance, read_words("echo", judging))
    reply = draw_one(chance, words["replies"])
    sizes = zip(words["details"], (4, 4, 3), strict=True)
    details = [draw_several(chance, several, count) for several, count in sizes]
    return Orders(read_phrases(judging), words["asks"], reply, details)


def draw_tools(chance: np.random.Generator, judging: bool) -> Remedies:
    """Return tools and what each is for."""
    words = read_words("tools", judging)
    form, tools = draw_one(chance, words["forms"]), words["tools"]
    names = draw_several(chance, tuple(tools), N_TOOLS)
    offers = {form.format(snake=name, plain=name.replace("_", " ")): tools[name] for name in names}
    return Remedies(read_phrases(judging), offers)


def draw_remedies(chance: np.random.Generator, judging: bool) -> Remedies:
    """Return remedies and the complaints that each ends."""
    words = read_words("helpdesk", judging)
    remedies = draw_several(chance, tuple(words), N_REMEDIES)
    return Remedies(read_phrases(judging), {remedy: words[remedy] for remedy in remedies})


def draw_styles(chance: np.random.Generator, judging: bool) -> Styles:
    """Return questions with their answers in each style, and who likes which."""
    words = read_words("style", judging)
    topics = [Topic(**topic) for topic in draw_several(chance, words["topics"], N_TOPICS)]
    said, known = (
        {style: wish[where] for style, wish in words["wishes"].items()} for where in ("request", "profile")
    )
    return Styles(read_phrases(judging), topics, said, known)


def draw_persons(chance: np.random.Generator, judging: bool) -> Persons:
    """Return persons and what suits them."""
    words = read_words("profile", judging)
    persons = [Person(**person) for person in draw_several(chance, words["persons"], N_PERSONS)]
    return Persons(read_phrases(judging), persons, words["asks"], words["tails"])


def draw_titles(chance: np.random.Generator, judging: bool) -> Titles:
    """Return titles of one art by genre."""
    words = draw_one(chance, read_words("recommend", judging))
    reply, genres = draw_one(chance, words["replies"]), words["genres"]
    some = [genres[genre] for genre in draw_several(chance, tuple(genres), N_GENRES)]
    return Titles(read_phrases(judging), words["asks"], reply, some)


def _name(text: str, details: Sequence[str]) -> str:
    return capitalise(text.format(**dict(zip("abc", details, strict=True))))


WISHES: dict[str, Callable[[np.random.Generator, bool], Wishes]] = {
    "echo": draw_orders,
    "tools": draw_tools,
    "helpdesk": draw_remedies,
    "style": draw_styles,
    "profile": draw_persons,
    "recommend": draw_titles,
}
"""The worlds of one turn."""

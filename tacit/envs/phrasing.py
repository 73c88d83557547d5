"""How bookings are talked about: a task becomes questions, the user's answers and bookings (appendix C.2).

The wordings are ours; those of a domain stand in `restaurants.py` and `cinemas.py`, this file puts them together.
Everything is drawn from the `Random` that is passed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from tacit.envs import cinemas, restaurants
from tacit.envs.corpora import NUMBERS, BookingTask
from tacit.envs.grammar import Grammar, Part, draw_wording, take_part

DOMAINS = {"restaurant": restaurants, "movie": cinemas}
"""The wordings of each domain."""

SPOKEN = 0.1
"""How often a number or a time is answered as people say it ("a couple of tickets"), not as bookings write it."""

LEADS = Grammar(
    "",
    "[Happy|Glad] to help! ",
    "[Of course|Sure thing|Certainly]. ",
    "[Right away|At your service]! ",
    "",
    "[Let me look into that|I will see to that]. ",
    "[Thanks|Thank you] for [your message|writing]. ",
    "[Leave it to me|I am on it now]. ",
)
"""How the assistant begins any question, useful or not."""

ASKING = Grammar(
    "[Could|Can|Would] you tell me {nouns}[, please|]?",
    "[To book this|Before I book], I [still need|have to know] {nouns}.",
    "[Let me ask|I have to ask]: {which}?",
    "[I only need|All I need now is] {nouns}[, then I can book|].",
    "[Could|Can] you [tell me|let me know] {which}?",
    "[To find the right thing|To make no mistake], may I ask {which}?",
    "[May|Might] I have {nouns}[, please|]?",
    "[I would like to know|What I do not know yet is] {which}.",
    "[What|And what] should I [put down|note|write down] for {nouns}?",
    "[Please|Do] [tell me|say] {which}[, and I will see to it|].",
    "[You have not told me|I am still missing] {nouns}. [Could you add that|Can you fill me in]?",
    "[Mind telling me|Would you say] {which}?",
    "[Just tell me|Simply say] {nouns}[, and we are ready|].",
    "[I need some details|A few details are missing]: {which}?",
    "[What about|How about] {nouns}?",
    "[Kindly specify|Please fill in] {nouns}.",
)
"""How the informative question asks for what the request leaves out."""

CONFIRMING = Grammar(
    "[Could|Can|Would] you [confirm|repeat] {nouns}[, please|]?",
    "[Just to be sure|To be on the safe side]: [could|would] you [go over|confirm] {nouns} once more?",
    "[I want to get this right|Let me get this right]: please [say|repeat] {nouns}.",
    "[To avoid a mistake|So that nothing goes wrong], may I [double-check|verify] {nouns}?",
    "[May|Could] I [check|confirm] {nouns} with you[ again|]?",
    "[Let us|Let me] [go through|run through] {nouns} again: what [was it|did you say]?",
    "[Please|Do] [tell me again|say again] {which}.",
    "[Was I right about|Did I catch] {nouns}? Please say it again.",
)
"""How it asks when the request gives everything: it only confirms."""

OPENERS = Grammar(
    "",
    "[Sure|Of course|Yes|Right]: ",
    "[Let me see|OK|Well], ",
    "[Gladly|Certainly]: ",
    "[Oh, sorry|Good point]: ",
    "",
    "[Let's say|I would say] ",
    "[Here you go|All right]: ",
)
"""How the user begins an answer that lists details."""

CLOSERS = Grammar(
    "", "[, please|, if possible]", "[, thanks|, thank you]", "[, that is all|, that's it]", "", "", "", ""
)
"""How the user ends it."""


class Useless(NamedTuple):
    """A useless question and the user's answer to it, which gives no detail away."""

    question: str
    answer: str


def write_question(task: BookingTask, random: Random, part: Part) -> str:
    """Return the informative question: it asks for everything that the request leaves out."""
    domain = DOMAINS[task.domain]
    slots = random.sample(task.asked, len(task.asked))
    nouns = join([domain.NOUNS[slot].draw(random, part) for slot in slots])
    which = join([domain.WHICH[slot].draw(random, part) for slot in slots])
    asking = CONFIRMING if task.confirms else ASKING
    return LEADS.draw(random, part) + asking.draw(random, part).format(nouns=nouns, which=which)


def write_answer(task: BookingTask, random: Random, part: Part) -> str:
    """Return the user's answer to the informative question: every detail that it asks for."""
    domain = DOMAINS[task.domain]
    slots = random.sample(task.asked, len(task.asked))
    said = {slot: speak(slot, task.slots[slot], random) for slot in slots}
    if random.random() < 0.5:
        pieces = [domain.PIECES[slot].draw(random, part).format(said[slot]) for slot in slots]
        return finish(OPENERS.draw(random, part) + join(pieces) + CLOSERS.draw(random, part) + ".")
    return " ".join(finish(domain.CLAUSES[slot].draw(random, part).format(said[slot])) for slot in slots)


def write_useless(domain: str, random: Random, part: Part, count: int = 2) -> tuple[Useless, ...]:
    """Return useless questions on different topics, each with the user's answer.

    >>> write_useless("movie", Random(0), "seen", 1)[0].question
    'Do you follow film awards?'
    """
    topics = random.sample(take_part(DOMAINS[domain].TOPICS, part), count)
    return tuple(
        Useless(LEADS.draw(random, part) + draw_wording(question, random), draw_wording(answer, random))
        for question, answer in topics
    )


def write_bookings(
    domain: str, slots: Sequence[Mapping[str, str]], random: Random, part: Part
) -> tuple[str, ...]:
    """Return a booking for each of the `slots`, all in the same words, so that only the details differ."""
    template = DOMAINS[domain].BOOKINGS.draw(random, part)
    return tuple(finish(template.format(**_details(each))) for each in slots)


def join(pieces: Sequence[str]) -> str:
    """Return the pieces as a list in prose.

    >>> join(["the day"]), join(["the day", "the time", "the film"])
    ('the day', 'the day, the time and the film')
    """
    return " and ".join(filter(None, (", ".join(pieces[:-1]), pieces[-1])))


def finish(text: str) -> str:
    """Return a sentence with its articles right and a capital at the beginning.

    >>> finish("a(n) Italian place or a(n) French restaurant.")
    'An Italian place or a French restaurant.'
    """
    text = re.sub(r"\b(a)\(n\) (?=[aeiou])", r"\1n ", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(a)\(n\) ", r"\1 ", text, flags=re.IGNORECASE)
    return text[0].upper() + text[1:]


_DIGITS = {word: digit for digit, word in NUMBERS.items()}
_SMALL = {"and", "at", "for", "in", "of", "on", "or", "the", "till", "to", "with"}
_LETTERS = {"amc": "AMC", "xd": "XD"}
_BARE_DATES = {"today", "tonight", "tomorrow"}


def say(slot: str, value: str) -> str:
    """Return a value as it stands in a sentence, numbers in words.

    >>> say("theatre", "the stanford theater"), say("date", "next monday"), say("tickets", "2")
    ('the Stanford Theater', 'next Monday', 'two tickets')
    """
    if slot == "tickets":
        return f"{NUMBERS.get(value, value)} {'ticket' if value == '1' else 'tickets'}"
    if slot == "date":
        return say_day(value) if value in _BARE_DATES or " " in value else f"on {say_day(value)}"
    if slot in ("price", "time", "party"):
        return NUMBERS.get(value, value)
    words = [_LETTERS.get(word, word if word in _SMALL else _capital(word)) for word in value.split()]
    if slot == "theatre":  # within a sentence its article is small
        return " ".join(words)
    return " ".join([_capital(words[0]), *words[1:-1], *map(_capital, words[1:][-1:])])


def say_day(value: str) -> str:
    """Return a date without a preposition."""
    return " ".join(
        word if word in _BARE_DATES or word in ("next", "this") else _capital(word) for word in value.split()
    )


def speak(slot: str, value: str, random: Random) -> str:
    """Return a value as the user says it in an answer: as `say` does, or now and then as people speak."""
    spoken = _spoken(slot, value)
    if spoken and random.random() < SPOKEN:
        return random.choice(spoken)
    return say(slot, value)


def mentions(text: str, slot: str, value: str) -> bool:
    """Return whether a text says a value, in any of the forms that bookings and users use.

    >>> mentions("A couple of tickets, please.", "tickets", "2"), mentions("Two.", "tickets", "3")
    (True, False)
    """
    forms = {value, say(slot, value), *_spoken(slot, value)}
    if slot == "tickets":
        forms.add(NUMBERS.get(value, value))
    if slot == "date":
        forms.add(say_day(value))
    if slot == "time":
        forms.add(value.replace(":", "."))  # as in the requests of Sim-M
    pattern = "|".join(re.escape(form) for form in forms)
    return re.search(rf"(?<!\w)(?:{pattern})(?!\w|[:.]\d)", text, re.IGNORECASE) is not None


def _spoken(slot: str, value: str) -> list[str]:
    """Return other ways to say a number or a time that a careful reader cannot mistake."""
    if slot == "party":
        return [_DIGITS.get(value, value)]
    if slot == "tickets":
        pairs = {"1": ["a single ticket"], "2": ["a couple of tickets", "a pair of tickets"]}
        return [f"{value} {'ticket' if value == '1' else 'tickets'}", *pairs.get(value, [])]
    if slot == "time":
        return [value.replace(":00", "")] if ":00" in value else []
    return []


def _details(slots: Mapping[str, str]) -> dict[str, str]:
    details = {slot: say(slot, value) for slot, value in slots.items()}
    if "date" in slots:
        details["day"] = say_day(slots["date"])
    return details


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

"""The two corpora of section 5.2 as booking tasks: Dialog bAbI task 1 (restaurants) and Sim-M (movie tickets).

What a task keeps of a dialogue is the user's first request and the values that the user wanted. Every one of the
3,768 dialogues gives a task. Choices made where the corpora leave room, counted by `read_corpora`:

1. A request that gives every detail (594 of bAbI, 4 of Sim-M): the informative question confirms them all.
2. A detail that the dialogue never settles, or that the user does not care about (64 of Sim-M): it is
   taken from another dialogue of the corpus, drawn by the id of this one.
3. A value of the request that is corrected on the way (7 of Sim-M): the request's counts, since
   in two turns nothing is sold out.
4. A number or a day that the request says but its annotation misses (4 of Sim-M): the request's counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tacit.envs.corpus_files import FILES, CorpusFile, check_files

SLOTS = {
    "restaurant": ("cuisine", "city", "party", "price"),
    "movie": ("movie", "theatre", "date", "time", "tickets"),
}
"""The details of a booking, by domain."""

NUMBERS = {
    "1": "one",
    "2": "two",
    "3": "three",
    "4": "four",
    "5": "five",
    "6": "six",
    "7": "seven",
    "8": "eight",
}
"""Digits in words."""

_SIM_M_SLOTS = {
    "movie": "movie",
    "theatre_name": "theatre",
    "date": "date",
    "time": "time",
    "num_tickets": "tickets",
}
_NO_MATTER = "dontcare"

_TICKETS = re.compile(r"\b([1-9]|one|two|three|four|five|six) (?:movie )?tickets?\b|\bfor ([1-9]) people\b")
_DAY = re.compile(r"\b(tonight|today|tomorrow|next monday|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b")


@dataclass(frozen=True)
class BookingTask:
    """What a user wants: a `request` that mentions the `given` ones of the `slots`, which have all the values.

    >>> task = BookingTask("restaurant", "t1", "a table in rome", {"city": "rome", "price": "cheap"}, ("city",))
    >>> task.asked, task.confirms
    (('price',), False)
    """

    domain: str
    id: str
    request: str
    slots: Mapping[str, str]
    given: tuple[str, ...]

    @property
    def asked(self) -> tuple[str, ...]:
        """Return the slots that the informative question asks for: those not given, or all if none is left."""
        return tuple(slot for slot in self.slots if slot not in self.given) or tuple(self.slots)

    @property
    def confirms(self) -> bool:
        """Return whether the request gives everything, so that the informative question only confirms."""
        return set(self.given) >= set(self.slots)


class Corpora(NamedTuple):
    """The tasks of the corpora, and how many of them needed each of the four choices above."""

    tasks: tuple[BookingTask, ...]
    confirmed: int
    completed: int
    corrected: int
    overheard: int


class _Movie(NamedTuple):
    """A dialogue of Sim-M: the task that its annotation gives, and whether it needed choices 3 and 4."""

    task: BookingTask
    corrected: bool
    overheard: bool


def read_corpora(directory: Path, files: Sequence[CorpusFile] = FILES) -> Corpora:
    """Return all tasks of a directory with the folders `dialog-babi` and `sim-m`, after checking their files."""
    check_files(directory, files)
    restaurants: list[BookingTask] = []
    movies: list[_Movie] = []
    for file in files:
        text = (directory / file.path).read_text(encoding="utf-8")
        if file.path.endswith(".txt"):
            restaurants += _read_babi(text, file.path.rsplit("-", 1)[-1].removesuffix(".txt"))
        else:
            movies += _read_sim_m(text, Path(file.path).stem)
    settled = [movie.task for movie in movies]
    tasks = (*restaurants, *_complete(settled))
    return Corpora(
        tasks,
        confirmed=sum(task.confirms for task in tasks),
        completed=sum(len(task.slots) < len(SLOTS["movie"]) for task in settled),
        corrected=sum(movie.corrected for movie in movies),
        overheard=sum(movie.overheard for movie in movies),
    )


def _read_babi(text: str, part: str) -> list[BookingTask]:
    blocks = text.strip().split("\n\n")
    return [_restaurant(block, f"babi-{part}-{i}") for i, block in enumerate(blocks, start=1)]


def _restaurant(block: str, name: str) -> BookingTask:
    turns = [line.split(" ", 1)[1].split("\t") for line in block.splitlines()]
    # A greeting comes first; the request is what the bot answers with "i'm on it".
    request = next(user for user, bot in turns if bot == "i'm on it")
    values = turns[-1][1].split()[1:]  # api_call CUISINE CITY PARTY PRICE
    slots = dict(zip(SLOTS["restaurant"], values, strict=True))
    said = request.split()
    return BookingTask(
        "restaurant", name, request, slots, tuple(slot for slot, value in slots.items() if value in said)
    )


def _read_sim_m(text: str, part: str) -> list[_Movie]:
    return [
        _movie(dialogue["turns"], f"sim-m-{part}-{i}") for i, dialogue in enumerate(json.loads(text), start=1)
    ]


def _movie(turns: Sequence[Mapping[str, Any]], name: str) -> _Movie:
    request = tidy(turns[0]["user_utterance"]["text"])
    annotated, last = _state(turns[0]), _state(turns[-1])
    first = {**_overhear(request), **annotated}
    given = tuple(slot for slot in SLOTS["movie"] if slot in first)
    corrected = any(slot in last and last[slot] != value for slot, value in annotated.items())
    return _Movie(
        BookingTask("movie", name, request, {**last, **first}, given), corrected, len(first) > len(annotated)
    )


def _state(turn: Mapping[str, Any]) -> dict[str, str]:
    state = {_SIM_M_SLOTS[item["slot"]]: item["value"] for item in turn["dialogue_state"]}
    return {
        slot: tidy_time(value) if slot == "time" else value
        for slot, value in state.items()
        if value != _NO_MATTER
    }


def _overhear(request: str) -> dict[str, str]:
    """Return the number of tickets and the day that a request says, if it does."""
    digits = {word: digit for digit, word in NUMBERS.items()}
    tickets, day = _TICKETS.search(request), _DAY.search(request)
    heard = {}
    if tickets:
        number = tickets[1] or tickets[2]
        heard["tickets"] = digits.get(number, number)
    if day:
        heard["date"] = day[1]
    return heard


def _complete(tasks: Sequence[BookingTask]) -> list[BookingTask]:
    """Return the tasks with every slot filled (choice 2), in the order of SLOTS."""
    settled = {slot: [t.slots[slot] for t in tasks if slot in t.slots] for slot in SLOTS["movie"]}
    whole = []
    for task in tasks:
        random = Random(task.id)
        drawn = {slot: random.choice(values) for slot, values in settled.items()}
        whole.append(replace(task, slots={slot: task.slots.get(slot, drawn[slot]) for slot in drawn}))
    return whole


def tidy(text: str) -> str:
    """Return a tokenised sentence with the usual spaces and no quotation marks around it.

    >>> tidy("i ' d like tickets , please .")
    "i'd like tickets, please."
    """
    text = re.sub(r"\s*'\s*", "'", text.replace('"', " "))
    return " ".join(re.sub(r"\s+([.,?!:;])", r"\1", text).split())


def tidy_time(time: str) -> str:
    """Return a time in one form, so that no two values mean the same hour.

    >>> tidy_time("8 pm"), tidy_time("7.15 pm")
    ('8:00 pm', '7:15 pm')
    """
    hour, half = time.replace(".", ":").split()
    return f"{hour if ':' in hour else hour + ':00'} {half}"

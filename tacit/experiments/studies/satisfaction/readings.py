"""Three ways to make log lines of rated replies, and two rules to compare with.

A logged reply was not drawn at random, and inverse kinematics rests on actions that were. What each way can identify:

- `tacit`: the reply beside replies to strangers, all four in a random order. What is told is how what people say
  differs between replies that fit their request and replies that do not; a system that always fits would tell nothing.
- `tacit_replayed`: four replies that were given after the same act of a user, one drawn by a coin: so the chance is
  known, one in four. The price: whoever reacts is the person who got that reply, not the one who asked.
- `tacit_acts`: the dialogue act is the action, the user's act before it the state. Chances are estimated from how often
  each act was taken there, and what people say depends on the act beyond how satisfied they are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.envs.satisfaction import Place
from tacit.logs.episode import LoggedEpisode, LoggedStep

N_CANDIDATES = 4
KIND = re.compile(
    r"\b(thanks?|thank you|great|perfect|good|awesome|wonderful|nice|excellent|lovely|cool|sounds? good|love)\b",
    re.I,
)
UNKIND = re.compile(
    r"\b(no|not|n't|wrong|don't|isn't|bad|never|nope|incorrect|other|else|instead|sorry)\b", re.I
)


class Reading(NamedTuple):
    """Log lines, and of each the place that its feedback was said at."""

    logs: tuple[LoggedEpisode, ...]
    places: tuple[Place, ...]


def beside_strangers(places: Sequence[Place], chance: np.random.Generator) -> Reading:
    """Return each reply among three that answered other people."""
    logs = []
    for n, place in enumerate(places):
        offered = _with_others(place, places, chance)
        logs.append(_line(n, place, place, [one.reply for one in offered]))
    return Reading(tuple(logs), tuple(places))


def replayed(places: Sequence[Place], chance: np.random.Generator) -> Reading:
    """Return, of each request, one of four replies that followed the same act, and what its own hearer said."""
    alike: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        alike[place.asked].append(place)
    logs, heard = [], []
    for n, place in enumerate(places):
        pool = alike[place.asked]
        if len({one.reply for one in pool}) < N_CANDIDATES:
            continue
        offered = _with_others(place, pool, chance)
        taken = offered[int(chance.integers(N_CANDIDATES))]
        logs.append(_line(n, place, taken, [one.reply for one in offered]))
        heard.append(taken)
    return Reading(tuple(logs), tuple(heard))


def by_act(places: Sequence[Place], chance: np.random.Generator) -> Reading:
    """Return acts as actions, with no word on the chance of them."""
    logs = [
        LoggedEpisode(n, "anybody", (LoggedStep(place.asked or "-", place.act or "-"),), place.said)
        for n, place in enumerate(places)
    ]
    return Reading(tuple(logs), tuple(places))


READINGS = {"tacit": beside_strangers, "tacit_replayed": replayed, "tacit_acts": by_act}
"""By learner."""


def judge_kind_words(said: str) -> float | None:
    """Return 1 for kind words, 0 for unkind ones, None where there are neither or both.

    >>> [judge_kind_words(said) for said in ("Great, thanks!", "No, the 14th.", "Two people.")]
    [1.0, 0.0, None]
    """
    kind, unkind = bool(KIND.search(said)), bool(UNKIND.search(said))
    return None if kind == unkind else float(kind)


def _with_others(place: Place, pool: Sequence[Place], chance: np.random.Generator) -> list[Place]:
    offered = {place.reply: place}
    while len(offered) < N_CANDIDATES:
        other = pool[int(chance.integers(len(pool)))]
        offered.setdefault(other.reply, other)
    found = list(offered.values())
    return [found[int(n)] for n in chance.permutation(N_CANDIDATES)]


def _line(number: int, asked: Place, taken: Place, offered: Sequence[str]) -> LoggedEpisode:
    step = LoggedStep(asked.request, taken.reply, tuple(offered), 1 / N_CANDIDATES)
    return LoggedEpisode(number, {"request": asked.request}, (step,), taken.said)

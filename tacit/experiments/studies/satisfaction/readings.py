"""Four ways to make log lines of rated replies.

A logged reply was not drawn at random, and inverse kinematics rests on actions that were. What each way can identify:

- `tacit`: the reply beside replies to strangers, all four in a random order. What is told is how what people say
  differs between replies that fit their request and replies that do not; a system that always fits would tell nothing.
- `tacit_simulated`: the same four, one of them drawn by a coin, for those who liked their own. Who gets that says what
  they said; who gets a stranger's says what somebody really said whose rating was low. So here ratings choose words,
  which learners hear; they see none. The chance is known, and what is not real is who said it.
- `tacit_replayed`: four replies that were given after the same act of a user, one drawn by a coin: so the chance is
  known, one in four. The price: whoever reacts is the person who got that reply, not the one who asked.
- `tacit_acts`: the dialogue act is the action, the user's act before it the state. Chances are estimated from how often
  each act was taken there, and what people say depends on the act beyond how satisfied they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tacit.envs.satisfaction import RatedReply
from tacit.experiments.studies.satisfaction.scoring import MIDDLE
from tacit.logs.episode import LoggedEpisode, LoggedStep

N_CANDIDATES = 4


class RatedLog(NamedTuple):
    """Log lines, and of each the place that its feedback was said at."""

    logs: tuple[LoggedEpisode, ...]
    places: tuple[RatedReply, ...]


def beside_strangers(places: Sequence[RatedReply], chance: np.random.Generator) -> RatedLog:
    """Return each reply among three that answered other people."""
    logs = []
    for n, place in enumerate(places):
        offered = _with_others(place, places, chance)
        logs.append(_line(n, place, place, [one.reply for one in offered]))
    return RatedLog(tuple(logs), tuple(places))


def replayed(places: Sequence[RatedReply], chance: np.random.Generator) -> RatedLog:
    """Return, of each request, one of four replies that followed the same act, and what its own hearer said."""
    alike: dict[str, list[RatedReply]] = defaultdict(list)
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
    return RatedLog(tuple(logs), tuple(heard))


def by_act(places: Sequence[RatedReply], chance: np.random.Generator) -> RatedLog:
    """Return acts as actions, with no word on the chance of them."""
    logs = [
        LoggedEpisode(n, "anybody", (LoggedStep(place.asked or "-", place.act or "-"),), place.said)
        for n, place in enumerate(places)
    ]
    return RatedLog(tuple(logs), tuple(places))


def simulated(places: Sequence[RatedReply], chance: np.random.Generator) -> RatedLog:
    """Return one of four replies, drawn by a coin, as often as there are places; nothing where all are alike pleased.

    Those who liked their own reply ask, in turn; who gets a stranger's says what somebody unsatisfied said.
    """
    pleased = [place for place in places if place.rating > MIDDLE]
    unsatisfied = [place for place in places if place.rating < MIDDLE]
    logs, heard = [], []
    for n in range(len(places) if pleased and unsatisfied else 0):
        place = pleased[n % len(pleased)]
        offered = _with_others(place, places, chance)
        taken = offered[int(chance.integers(N_CANDIDATES))]
        felt = place if taken is place else unsatisfied[int(chance.integers(len(unsatisfied)))]
        logs.append(_line(n, place, replace(taken, said=felt.said), [one.reply for one in offered]))
        heard.append(felt)
    return RatedLog(tuple(logs), tuple(heard))


READINGS = {
    "tacit": beside_strangers,
    "tacit_simulated": simulated,
    "tacit_replayed": replayed,
    "tacit_acts": by_act,
}
"""By learner."""


def _with_others(
    place: RatedReply, pool: Sequence[RatedReply], chance: np.random.Generator
) -> list[RatedReply]:
    offered = {place.reply: place}
    while len(offered) < N_CANDIDATES:
        other = pool[int(chance.integers(len(pool)))]
        offered.setdefault(other.reply, other)
    found = list(offered.values())
    return [found[int(n)] for n in chance.permutation(N_CANDIDATES)]


def _line(number: int, asked: RatedReply, taken: RatedReply, offered: Sequence[str]) -> LoggedEpisode:
    step = LoggedStep(asked.request, taken.reply, tuple(offered), 1 / N_CANDIDATES)
    return LoggedEpisode(number, {"request": asked.request}, (step,), taken.said)

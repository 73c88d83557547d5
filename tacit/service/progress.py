"""How far an agent is, as its stage knows: what is settled, what is left, and an estimate only where there is one."""

from __future__ import annotations

import heapq
from itertools import islice

import numpy as np

from tacit.base.arrays import BoolArray
from tacit.learning.fast import FastLearning
from tacit.learning.generalising import FIRST_FIT, GROWTH, GeneralisingLearning
from tacit.learning.places import Places
from tacit.learning.stage import Stage
from tacit.problem.spaces import Finite
from tacit.service.bodies import ProgressShown, WantedShown
from tacit.service.meanings import shorten
from tacit.text.stages import TextExploration, TextLearning, next_look

LISTED = 6
"""Situations that are named of those that are not settled."""

STAGES = {
    "fast learning": "It does what it takes to be best, and explores where that could pay.",
    "generalising": "It learns from all people at once what pleases whom, and explores ever less.",
    "exploration": "It tries everything equally often, to learn what remarks mean.",
    "policy learning": "It does what it takes to be best, and goes on learning from what people say.",
    "homing": "It learns the ways to every last state, one after the other.",
    "collection": "It gathers reactions to actions drawn at random, to learn what they mean.",
}
"""What an agent does in a stage."""
ANSWERS = {
    "works": "What people say is understood, and what the agent learns from it can be trusted.",
    "works with caution": "What people say is understood, with the reservations below.",
    "not known yet": "It is too early to say whether what people say can be understood. Do not rely on it yet.",
    "cannot work": "What people say cannot be turned into rewards as things stand. Do not rely on this agent.",
}
"""The verdicts, and what they mean to somebody who has not read the paper."""


def tell_progress(stage: Stage) -> ProgressShown:
    """Return how far an agent in a stage is."""
    if isinstance(stage, FastLearning):
        return _of_places(stage)
    if isinstance(stage, GeneralisingLearning):
        return _of_fits(stage)
    if isinstance(stage, TextExploration):
        return _of_reactions(stage)
    words = ["What is left to settle this stage does not say; there is no estimate."]
    if isinstance(stage, TextLearning):
        words = [
            f"It has learned from {stage.learned:,} conversations since it understood what remarks mean.",
            "There is no end to reach: it goes on for as long as people come.",
        ]
    return ProgressShown(getattr(stage, "explored", None), None, None, "", words, [])


def _of_places(stage: FastLearning) -> ProgressShown:
    places, layout = stage.places, stage.reading.counted
    assert isinstance(layout.contexts, Finite)
    X = layout.contexts.size
    one = stage.endings.places[:, :X] == np.arange(layout.endings.size)[:, None]  # others are part of a place
    settled, wanted = places.settled[:, :X], places.wanted[:, :X]
    done, total = int(settled[one].sum()), int(one.sum())
    words = []
    if done < total:
        words = [
            "What is left is looked at only where it could pay, so some of it may stay open for good.",
            "How long it takes depends on how often people end there: there is no estimate in days.",
        ]
    listed = [
        WantedShown(
            *(shorten(layout.endings.name(s)), shorten(layout.contexts.decode(x))),
            *(places.counts.tuples(s, x), max(1, round(float(wanted[s, x])))),
        )
        for s, x in _first_open(places, one)
    ]
    what = "situations settled (a situation is a last state, for one kind of person)"
    return ProgressShown(stage.explored, done, total, what, words, listed)


def _first_open(places: Places, one: BoolArray) -> list[tuple[int, int]]:
    """Return the situations that are not settled, those of which most is known first, not all of them.

    `one` (S_H, X) says which endings of contexts are situations.
    """
    X = one.shape[1]
    judged = (at for at in places.judgements if not places.settled[at])
    told = heapq.nlargest(LISTED, judged, key=lambda at: places.counts.tuples(*at))
    flat = np.flatnonzero(~places.settled[:, :X] & one)[: LISTED + len(places.judgements)]
    untold = (divmod(int(n), X) for n in flat)
    more = (at for at in untold if at not in places.judgements)
    return [*told, *islice(more, LISTED - len(told))]


def _of_fits(stage: GeneralisingLearning) -> ProgressShown:
    n = len(stage.tuples.rows)
    if not stage.fits:
        words = [
            f"What people say is looked at for the first time after {FIRST_FIT:,} episodes with feedback."
        ]
        return ProgressShown(
            stage.explored, min(n, FIRST_FIT), FIRST_FIT, "episodes to the first look", words, []
        )
    due = int(GROWTH * stage.fits[-1][0]) + 1
    sure = "It tells actions apart" if stage.sure else "So far nothing shows that it tells actions apart"
    steady = (
        "; fresh looks change little." if stage.steady else "; fresh looks may still change what it means."
    )
    words = [
        f"What people say was looked at {_times(len(stage.fits))}. {sure}{steady if stage.sure else '.'}"
    ]
    if n >= due:
        words.append("A fresh look is being made; until it is done the last one counts.")
    return ProgressShown(stage.explored, min(n, due), due, "episodes to the next look", words, [])


def _of_reactions(stage: TextExploration) -> ProgressShown:
    n, due = len(stage.reactions), next_look(stage.looked, stage.settings.exploration)
    words = [f"What remarks mean is looked at when there are {due:,}; {due - n:,} more are needed."]
    if n >= due:
        words = ["What remarks mean is being looked at, which takes a while; it explores until that is done."]
    if stage.looked:
        words.append("So far they do not show that remarks tell anything.")
    return ProgressShown(n, min(n, due), due, "remarks to the next look", words, [])


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"

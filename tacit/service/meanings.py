"""What feedback is taken to mean, for people: by place where words can be counted, by example where they cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from tacit.decoding.judgement import HETEROGENEOUS, HOMOGENEOUS, Judgement
from tacit.learning.fast import FastLearning
from tacit.learning.stage import Stage
from tacit.offline.tables.meanings import is_read
from tacit.problem.layout import Layout
from tacit.problem.silence import SILENCE, feedback_word, is_silence
from tacit.problem.spaces import Finite
from tacit.service.accounts import Account
from tacit.service.page_bodies import ActionMeaning, MeaningsShown, PlaceShown, RemarkShown, Word

SHOWN = 12
"""Places that are shown, those of which most is known; more are not read."""
WORDS = 40
"""Words of a place that are shown, those said most."""
EXAMPLES = 12
"""Remarks that are shown where words cannot be counted."""
LONGEST = 300
"""Characters of what people gave that are shown."""
TELLS = {
    HETEROGENEOUS: "what people say tells actions apart",
    HOMOGENEOUS: "what people say does not tell actions apart",
}


def shorten(value: Any) -> str:
    """Return what somebody gave as text, cut where it is very long.

    >>> shorten("thanks"), shorten([0.123456, 2]), shorten({"age": 4}), len(shorten("x" * 999))
    ('thanks', '[0.123, 2]', '{"age":4}', 301)
    """
    if isinstance(value, float):
        value = float(f"{value:.3g}")
    if isinstance(value, list) and all(isinstance(each, int | float) for each in value):
        value = "[" + ", ".join(f"{each:.3g}" for each in value) + "]"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def tell_meanings(stage: Stage, recent: Sequence[Account]) -> MeaningsShown:
    """Return what feedback means to a stage; `recent` episodes give the examples."""
    if isinstance(stage, FastLearning):
        return _by_place(stage)
    return MeaningsShown([], 0, pick_remarks(recent))


def _by_place(stage: FastLearning) -> MeaningsShown:
    judgements = stage.places.judgements
    order = sorted(judgements, key=lambda at: (not is_read(judgements[at]), -judgements[at].tuples.sum()))
    shown = sorted(order[:SHOWN])  # in the order of states, so that they stay where they are
    return MeaningsShown(
        [_tell_place(stage, at, judgements[at]) for at in shown], max(len(order) - SHOWN, 0), []
    )


def _tell_place(stage: FastLearning, at: tuple[int, int], judgement: Judgement) -> PlaceShown:
    layout, (s, x) = stage.reading.counted, at
    read, said = is_read(judgement), stage.places.counts.table(s, x).sum(axis=1)
    low, high = judgement.bounds()
    actions = [
        ActionMeaning(
            shorten(label),
            *(
                round(float(judgement.f[a]), 3),
                round(float(low[a]), 3),
                round(float(high[a]), 3),
                int(judgement.tuples[a]),
            ),
        )
        for a, label in enumerate(layout.endings.actions[s])
    ]
    return PlaceShown(
        *(shorten(layout.endings.name(s)), shorten(layout.contexts.decode(x))),
        TELLS.get(judgement.kind, "too few people have ended here to tell"),
        *(judgement.settled, round(judgement.doubt, 3)),
        _tell_words(layout, judgement, said) if read else [],
        actions if read else [],
        int(said.sum()),
    )


def _tell_words(layout: Layout, judgement: Judgement, said: Any) -> list[Word]:
    """Return the words of a place, the likest to a reward first; silence only where somebody was silent."""
    assert isinstance(layout.feedback, Finite)
    spoken = [*range(layout.feedback.size), layout.feedback.room]
    words = [
        Word(
            shorten(feedback_word(layout, y)),
            round(float(judgement.phi[y]), 3) if said[y] else None,
            int(said[y]),
        )
        for y in spoken
        if said[y] or not is_silence(layout, y)
    ]
    most = sorted(words, key=lambda word: -word.said)[:WORDS]
    return sorted(most, key=lambda word: -1.0 if word.like is None else word.like, reverse=True)


def pick_remarks(recent: Sequence[Account], most: int = EXAMPLES) -> list[RemarkShown]:
    """Return remarks that were read, each after each action once, from the likest to a reward to the least like one."""
    told = [_example(each) for each in recent if each.decoded is not None and each.steps]
    read = list({(each.feedback, each.action): each for each in reversed(told)}.values())
    read.sort(key=lambda each: -each.reward)
    chosen = np.linspace(0, len(read) - 1, min(most, len(read))).round().astype(int)
    return [read[n] for n in chosen.tolist()]


def _example(account: Account) -> RemarkShown:
    assert account.decoded is not None
    said = SILENCE if account.feedback is None else shorten(account.feedback)
    reward = round(account.decoded.reward, 3)
    return RemarkShown(said, shorten(account.context), shorten(account.steps[-1].action), reward)

"""Known outcomes in logs of labels and vectors, held against what their feedback decodes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray
from tacit.decoding.judgement import HETEROGENEOUS, Judgements
from tacit.decoding.reading import Reading
from tacit.decoding.tuples import counted_shape
from tacit.logs.encoding import EncodedEpisode
from tacit.problem.silence import decode_feedback
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import ANCHOR_LEVEL, Anchor, coin_chance, find_orientation, meaning_by_phi
from tacit.trust.findings import Finding

MOST_ANCHORS = 10_000
"""Known outcomes that are kept: far more than it takes to settle an orientation."""


class KnownOutcome(NamedTuple):
    """The end of an episode whose reward the log tells."""

    context: Encoded
    ending: int
    feedback: Encoded
    reward: int


class ReadOutcome(NamedTuple):
    """A known outcome as a reading has it."""

    ending: int
    group: int
    value: int
    reward: int


def known_outcome(episode: EncodedEpisode) -> KnownOutcome | None:
    """Return the outcome of an episode if the log tells it, it is 0 or 1, and there was feedback."""
    if episode.reward not in (0, 1) or episode.feedback is None:
        return None
    return KnownOutcome(episode.context, episode.ended, episode.feedback, int(episode.reward or 0))


def read_outcomes(reading: Reading, known: Sequence[KnownOutcome]) -> list[ReadOutcome]:
    """Return known outcomes in a reading's groups and values."""
    if not known:
        return []
    contexts, endings, feedback, rewards = zip(*known, strict=True)
    groups, values = reading.read(contexts, np.array(endings), feedback)
    return [ReadOutcome(*map(int, row)) for row in zip(endings, groups, values, rewards, strict=True)]


def settle_orientation(
    reading: Reading, judgements: Judgements, outcomes: Sequence[ReadOutcome]
) -> tuple[BoolArray, BoolArray]:
    """Return (oriented, flipped), (S_H, G): where outcomes agree or contradict beyond tossing a coin."""
    oriented, flipped = np.zeros((2, *counted_shape(reading.counted)[:2]), dtype=np.bool_)
    for at, answers in _answers(judgements, outcomes).items():
        flipped[at] = coin_chance(answers, False) < ANCHOR_LEVEL
        oriented[at] = flipped[at] or coin_chance(answers, True) < ANCHOR_LEVEL
    return oriented, flipped


def find_agreement(
    reading: Reading, judgements: Judgements, outcomes: Sequence[ReadOutcome]
) -> Iterator[Finding]:
    """Yield the belief that no data can test and, given outcomes, whether they bear it out."""
    layout = reading.counted
    anchors = [
        Anchor(layout.contexts.decode(x), layout.endings.labels[s], decode_feedback(layout, y), r)
        for s, x, y, r in outcomes
    ]
    yield from find_orientation(layout, anchors, meaning_by_phi(judgements))


def _answers(judgements: Judgements, outcomes: Sequence[ReadOutcome]) -> Mapping[tuple[int, int], list[bool]]:
    """Return, for each place, whether each outcome agrees with what its feedback decodes to."""
    answers: dict[tuple[int, int], list[bool]] = {}
    for s, x, y, reward in outcomes:
        judgement = judgements.get((s, x))
        if judgement is not None and judgement.kind == HETEROGENEOUS:
            answers.setdefault((s, x), []).append(bool(judgement.phi[y] == reward))
    return answers

"""Known outcomes in logs of labels and vectors, held against what their feedback decodes to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tacit.decoding.counts import SeenCounts, flat_cells
from tacit.decoding.judgement import Judgements
from tacit.decoding.reading import Reading
from tacit.decoding.tuples import counted_shape
from tacit.logs.encoding import EncodedEpisode
from tacit.problem.silence import decode_feedback
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import Anchor, find_orientation, meaning_by_phi
from tacit.trust.findings import Finding

MOST_ANCHORS = 10_000
"""Known outcomes that are kept: far more than it takes to settle an orientation."""


class KnownOutcome(NamedTuple):
    """The end of an episode whose reward the log tells."""

    context: Encoded
    ending: int
    feedback: Encoded
    reward: int


def known_outcome(episode: EncodedEpisode) -> KnownOutcome | None:
    """Return the outcome of an episode if the log tells it, it is 0 or 1, and there was feedback."""
    if episode.reward not in (0, 1) or episode.feedback is None:
        return None
    return KnownOutcome(episode.context, episode.ended, episode.feedback, int(episode.reward or 0))


def count_outcomes(reading: Reading, known: Sequence[KnownOutcome]) -> SeenCounts:
    """Return how often each of a reading's values went with a known outcome of 0 and of 1, (S_H, G, V, 2)."""
    S, G, V, _ = counted_shape(reading.counted)
    nothing = SeenCounts.empty((S, G, V, 2))
    if not known:
        return nothing
    contexts, endings, feedback, rewards = zip(*known, strict=True)
    groups, values = reading.read(contexts, np.array(endings), feedback)
    cells = flat_cells(nothing.shape, np.array(endings), groups, values, np.array(rewards))
    return nothing.plus(cells, np.ones(len(known)))


def find_agreement(reading: Reading, judgements: Judgements, outcomes: SeenCounts) -> Iterator[Finding]:
    """Yield the belief that no data can test and, given outcomes, whether they bear it out."""
    layout = reading.counted
    anchors = [
        Anchor(layout.contexts.decode(x), layout.endings.labels[s], decode_feedback(layout, int(y)), int(r))
        for (s, x), table in outcomes.tables()
        for y, r in np.argwhere(table)
        for _ in range(int(table[y, r]))
    ]
    yield from find_orientation(layout, anchors, meaning_by_phi(judgements))

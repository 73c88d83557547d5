"""Known outcomes in logs of labels and vectors, held against what their feedback decodes to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tacit.decoding.counts import SeenCounts, flat_cells
from tacit.decoding.judgement import Judgements
from tacit.decoding.reading import Reading
from tacit.decoding.together import Judged
from tacit.decoding.tuples import counted_shape
from tacit.logs.encoding import EncodedEpisode
from tacit.problem.silence import decode_feedback
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import Anchor, find_orientation, meaning_by_phi
from tacit.trust.findings import Finding, count_of, list_places

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


def find_turned(reading: Reading, blind: Judged, turned: Judged, outcomes: SeenCounts) -> Iterator[Finding]:
    """Yield where outcomes turned what was decoded without them, and by what evidence."""
    changed = [at for at, each in turned.judgements.items() if each.turned != blind.judgements[at].turned]
    if not changed:
        return
    told = [at for at in changed if outcomes.table(*at).any()]
    where = count_of(len(changed), "state and context", "states and contexts")
    odds = [-turned.leanings.odds(at, turned.beliefs) for at in changed]
    everywhere = (
        " Outcomes elsewhere say that most actions please, everywhere." if turned.beliefs.majority else ""
    )
    yield Finding(
        "turned-by-outcomes",
        "info",
        list_places(reading.counted, changed),
        f"Known outcomes turned what feedback means in {where}, {len(told)} of them by outcomes of their own; the odds "
        f"for it are at least {odds_in_words(min(odds))}.{everywhere}",
        "Nothing needs to be done; a few more known outcomes where the odds are low make it surer.",
    )


def odds_in_words(log_odds: float) -> str:
    """Return log odds as people say them.

    >>> odds_in_words(0.7), odds_in_words(20.0)
    ('2 to 1', '1,000 to 1 and more')
    """
    return f"{math.exp(log_odds):.2g} to 1" if log_odds < math.log(1000) else "1,000 to 1 and more"

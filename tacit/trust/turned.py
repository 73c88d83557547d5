"""Where known outcomes overruled that rewarding actions are the minority, and by what evidence.

What shares say of a place is known without outcomes (`tacit.trust.basis.shares_say`). Outcomes overruled it where a
place is turned against that, and its log odds with them, its own and the belief in all, are for the turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tacit.decoding.counts import PlaceIndex, SeenCounts
from tacit.decoding.judgement import HETEROGENEOUS, Judgement, Judgements
from tacit.decoding.orientation import Beliefs, outcome_odds, turn_odds
from tacit.problem.layout import Layout
from tacit.trust.basis import shares_say
from tacit.trust.findings import Finding, count_of, count_places, list_places


class Overruled(NamedTuple):
    """What speaks for the way round of a place that outcomes turned: those known there, and the log odds in all."""

    outcomes: int
    odds: float


def overruled_places(
    judgements: Judgements, beliefs: Beliefs, outcomes: SeenCounts | None
) -> dict[PlaceIndex, Overruled]:
    """Return the places that known outcomes (S_H, G, Y, 2) turned against what their shares say."""
    if outcomes is None or not outcomes.total:
        return {}
    found = {at: j for at, j in judgements.items() if j.kind == HETEROGENEOUS}
    weighed = {at: _weigh(at, j, beliefs, outcomes) for at, j in found.items()}
    return {
        at: each
        for at, each in weighed.items()
        if each.odds > 0 and found[at].turned != (shares_say(at, found[at], beliefs) < 0)
    }


def _weigh(at: PlaceIndex, judgement: Judgement, beliefs: Beliefs, outcomes: SeenCounts) -> Overruled:
    """Return what speaks for the way round of a place as it stands."""
    known = outcomes.table(*at)
    told = outcome_odds(known, 1 - judgement.phi if judgement.turned else judgement.phi)
    standing = judgement.leaning.standing if judgement.leaning else 0.0
    overlapping = at[1] in beliefs.overlapping
    odds = turn_odds(judgement.minority, standing, told, overlapping, beliefs.majority)
    return Overruled(int(known.sum()), -odds if judgement.turned else odds)


def find_turned(
    layout: Layout, overruled: Mapping[PlaceIndex, Overruled], beliefs: Beliefs, outcomes: SeenCounts | None
) -> Iterator[Finding]:
    """Yield where known outcomes turned what feedback means, how many there are, and the odds for it."""
    if not overruled or outcomes is None:
        return
    own = [each.outcomes for each in overruled.values() if each.outcomes]
    everywhere = " Together they say that most actions please, everywhere." if beliefs.majority else ""
    yield Finding(
        "turned-by-outcomes",
        "info",
        list_places(layout, overruled),
        f"{count_of(int(outcomes.total), 'known outcome', 'known outcomes')} turned what feedback means in "
        f"{count_places(len(overruled))}, {len(own)} of them by outcomes of their own ({sum(own)} in all); the odds "
        f"for it are at least {odds_in_words(min(each.odds for each in overruled.values()))}.{everywhere}",
        "Nothing needs to be done; a few more known outcomes where the odds are low make it surer.",
    )


def odds_in_words(log_odds: float) -> str:
    """Return log odds as people say them.

    >>> odds_in_words(0.7), odds_in_words(5.0), odds_in_words(20.0)
    ('2 to 1', '148 to 1', '1,000 to 1')
    """
    odds = math.exp(min(log_odds, math.log(1000)))
    if odds >= 999:
        return "1,000 to 1"
    return f"{odds:.0f} to 1" if odds >= 10 else f"{odds:.2g} to 1"

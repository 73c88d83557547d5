"""What a verdict rests on: where feedback was understood and how well, or why nothing is known yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np
from scipy.special import chdtrc, expit

from tacit.decoding.counts import PlaceIndex, SeenCounts
from tacit.decoding.judgement import HETEROGENEOUS, HOMOGENEOUS, UNKNOWN, Judgement, Judgements
from tacit.decoding.orientation import Beliefs, turn_odds
from tacit.decoding.word_types import likelihood_ratio
from tacit.problem.layout import Layout
from tacit.trust.coverage import LET_GO, silent_tuples, total_tuples, weigh_share
from tacit.trust.findings import Finding, count_places, list_places, show_share

ENOUGH = 0.01
"""How often chance alone may tell actions apart in any place, of as many as there are."""
LEFT_OPEN = 0.1
"""The share of tuples in places that are not settled up to which nothing is left to hope for."""
SURE_MINORITY, SURE_STANDING = 3.0, 1.0
"""Standard errors of sum f below K/2, and log odds by what stands out, from which on they say which way round."""
SOFT = 3.0
"""Nats by which words between the two sides are likelier from which on words overlap in a place."""
NONE: Mapping[PlaceIndex, float] = MappingProxyType({})
"""No place that known outcomes turned."""
SILENCE_ALPHA = 0.001
"""Of the test that silence depends on what was done."""


def find_basis(
    layout: Layout, judgements: Judgements, beliefs: Beliefs, overruled: Mapping[PlaceIndex, float] = NONE
) -> Iterator[Finding]:
    """Yield what was understood, with numbers, or that nothing is known yet, and why.

    `overruled` are the log odds of places that known outcomes turned (`tacit.trust.turned`).
    """
    found, alike = understood_places(judgements), read_in_common(judgements)
    if found:
        yield describe_understood(found, judgements, beliefs, overruled)
    elif alike:
        yield describe_common(layout, alike, judgements)
    elif not nothing_left(layout, judgements):
        yield nothing_known(judgements)


def understood_places(judgements: Judgements) -> dict[PlaceIndex, Judgement]:
    """Return the settled places in which feedback tells actions apart, if that is more than chance in so many."""
    found = {at: j for at, j in judgements.items() if j.kind == HETEROGENEOUS and j.settled}
    surest = min((j.p_value for j in found.values()), default=1.0)
    return found if surest * len(judgements) < ENOUGH else {}


def read_in_common(judgements: Judgements) -> dict[PlaceIndex, Judgement]:
    """Return the settled places in which no action is better, and which are read by what words mean in all of them."""
    return {at: j for at, j in judgements.items() if j.kind == HOMOGENEOUS and j.settled and j.phi.any()}


def describe_common(layout: Layout, alike: Mapping[PlaceIndex, Judgement], judgements: Judgements) -> Finding:
    """Return that good ends were told from bad ones by where episodes end, and by nothing else."""
    worths = [float(j.expected.max()) for j in alike.values()]
    share = total_tuples(alike) / total_tuples(judgements)
    return Finding(
        "read-in-common",
        "caution",
        list_places(layout, alike),
        f"Feedback tells no action from another in any of {count_places(len(judgements))}, but where episodes ended: "
        f"in {len(alike)} of them, with {share:.0%} of the episodes, it is read as if words meant the same in all. The "
        f"best of them is worth {max(worths):.2f}, the worst {min(worths):.2f}, if good ends are the minority.",
        "A handful of episodes with known outcome shows whether that is so.",
    )


def describe_understood(
    found: Mapping[PlaceIndex, Judgement],
    judgements: Judgements,
    beliefs: Beliefs,
    overruled: Mapping[PlaceIndex, float] = NONE,
) -> Finding:
    """Return what "works" rests on: how many places, how many episodes, how far apart the actions are, how sure."""
    gaps = [float(np.sort(j.f)[-1] - np.sort(j.f)[-2]) if len(j.f) > 1 else 0.0 for j in found.values()]
    odds = [overruled.get(at, abs(shares_say(at, j, beliefs))) for at, j in found.items()]
    plain = sum(j.kind == HOMOGENEOUS and j.settled for j in judgements.values())
    beside = f"; in {plain} more it would have shown, and does not" if plain else ""
    share = total_tuples(found) / total_tuples(judgements)
    return Finding(
        "understood",
        "info",
        "",
        f"Feedback tells actions apart in {len(found)} of {count_places(len(judgements))}, where {share:.0%} of the "
        f"episodes ended{beside}. The best action pleases "
        f"{np.median(gaps):.0%} more than the next in the middle one of them, {min(gaps):.0%} in the closest; the "
        f"least sure is the right way round with {expit(min(odds)):.0%}, {which_way(found, overruled)}.",
        "Nothing needs to be done.",
    )


def which_way(found: Mapping[PlaceIndex, Judgement], overruled: Mapping[PlaceIndex, float]) -> str:
    """Return what the way round of places that were understood rests on, in words."""
    turned = sum(at in overruled for at in found)
    if not turned:
        return "if rewarding actions are the minority"
    if turned == len(found):
        return "by known outcomes: rewarding actions are not the minority"
    rest = len(found) - turned
    return f"by known outcomes in {turned} of them, in the other {rest} if rewarding actions are the minority"


def shares_say(at: PlaceIndex, judgement: Judgement, beliefs: Beliefs) -> float:
    """Return the log odds that a place's own shares give to the turn with sum f <= K/2."""
    standing = judgement.leaning.standing if judgement.leaning else 0.0
    return turn_odds(judgement.minority, standing, 0.0, at[1] in beliefs.overlapping, majority=False)


def nothing_left(layout: Layout, judgements: Judgements) -> bool:
    """Return whether nearly all was looked at closely enough, in every last state: more episodes change nothing.

    A state that stands in several layers may have been looked at in any of them before the last.
    """
    endings = layout.endings
    states = [(int(n), s < endings.early) for s, n in enumerate(endings.siblings)]
    if {states[s] for s, _ in judgements} != set(states):
        return False
    open_ones = {at: j for at, j in judgements.items() if not j.settled}
    return total_tuples(open_ones) <= LEFT_OPEN * total_tuples(judgements)


def nothing_known(judgements: Judgements) -> Finding:
    """Return that nothing is known yet: for want of episodes, of tuples, or because it may still be there unseen."""
    tuples, remedy = total_tuples(judgements), "Let it run on, and ask again."
    unknown = sum(j.kind == UNKNOWN for j in judgements.values())
    hope = max((j.hope for j in judgements.values() if j.kind == HOMOGENEOUS), default=1.0)
    if not tuples:
        evidence = "No episode has ended with feedback yet."
    elif unknown == len(judgements):
        evidence = (
            f"{tuples:,.0f} tuples in {count_places(unknown)} do not let any be judged: every action must be tried "
            "several times."
        )
    else:
        evidence = (
            f"In {tuples:,.0f} tuples feedback tells no action from another yet, in none of "
            f"{count_places(len(judgements))}; where it was looked at, the best action may please up to {hope:.0%} "
            f"unseen, {unknown} could not be judged at all, and there may be last states that were not reached."
        )
    return Finding("nothing-known-yet", "unknown", "", evidence, remedy)


def find_doubt(
    layout: Layout, judgements: Judgements, beliefs: Beliefs, unsettled: float = LET_GO
) -> Iterator[Finding]:
    """Yield a caution on places in which the two ways to tell which way round do not agree, or do not tell."""
    found = {at: j for at, j in judgements.items() if j.kind == HETEROGENEOUS}
    doubtful = {at: j for at, j in found.items() if in_doubt(j)}
    if not doubtful:
        return
    share = total_tuples(doubtful) / total_tuples(judgements)
    overlapping = sum(x in beliefs.overlapping for _, x in doubtful)
    yield Finding(
        "orientation-in-doubt",
        weigh_share(share, unsettled),
        list_places(layout, doubtful),
        f"In {len(doubtful)} of {count_places(len(found))} where feedback tells actions apart, with "
        f"{show_share(share)} of the episodes, it is in doubt which words mean a reward: as many actions please as do "
        "not, or what stands out is an action that fails"
        + (f" (in {overlapping} of them words seem to be said by both sides)." if overlapping else "."),
        "A handful of episodes with known outcome there settles it; so do more actions that fail.",
    )


def in_doubt(judgement: Judgement) -> bool:
    """Return whether the minority and what stands out do not both say which way round a place is."""
    standing = judgement.leaning.standing if judgement.leaning else 0.0
    return judgement.minority < SURE_MINORITY or standing < SURE_STANDING


def overlapping_places(judgements: Judgements, beliefs: Beliefs) -> dict[PlaceIndex, Judgement]:
    """Return the places where both sides say the same words, so that f is known up to an affine map."""
    return {
        at: j
        for at, j in judgements.items()
        if j.kind == HETEROGENEOUS and (j.overlaps > SOFT or at[1] in beliefs.overlapping)
    }


def find_overlap(layout: Layout, judgements: Judgements, beliefs: Beliefs) -> Iterator[Finding]:
    """Yield where both sides say the same words, and between what the reward of the best action lies there."""
    found = overlapping_places(judgements, beliefs)
    if not found:
        return
    bounds = [(low[j.f.argmax()], high[j.f.argmax()]) for j in found.values() for low, high in [j.bounds()]]
    low, high = max(bounds, key=lambda pair: pair[1] - pair[0])
    yield Finding(
        "words-overlap",
        weigh_share(total_tuples(found) / total_tuples(judgements), LET_GO),
        list_places(layout, found),
        f"In {count_places(len(found))} the pleased and the others seem to say the same words. Which action is better "
        "can be told, how much it earns cannot: the reward of the best lies between "
        f"{low:.2f} and {high:.2f} where it is least sure.",
        "Known outcomes, or feedback that only one side gives, narrow it down.",
    )


def find_telling_silence(layout: Layout, counts: SeenCounts, judgements: Judgements) -> Iterator[Finding]:
    """Yield how often the pleased and the others say nothing, if silence depends on what was done."""
    silent = silent_tuples(layout, counts)
    statistic, freedom, said = 0.0, 0, np.zeros((2, 2))  # rows: pleased or not; columns: silent, all
    for at, judgement in judgements.items():
        if judgement.kind != HETEROGENEOUS or silent[at] == 0:
            continue
        table = counts.table(*at)[:, : len(judgement.tuples)]
        statistic += likelihood_ratio(np.array([table[-1], table[:-1].sum(axis=0)]))
        freedom += len(judgement.tuples) - 1
        rows = np.array([judgement.phi, 1 - judgement.phi]) * table.sum(axis=1)
        said += np.stack([rows[:, -1], rows.sum(axis=1)], axis=1)
    if freedom and chdtrc(freedom, statistic) < SILENCE_ALPHA:
        pleased, others = said[:, 0] / np.maximum(said[:, 1], 1e-12)
        yield Finding(
            "silence-tells",
            "info",
            "",
            f"Who says nothing depends on what was done: {pleased:.0%} of those who are pleased, as it was understood, "
            f"and {others:.0%} of the others.",
            "Silence counts as a word, so nothing needs to be done; feedback that is lost on the way should be said "
            "to be missing.",
        )

"""What was seen enough, and what was not: places, contexts, actions, last states, and those in which nobody speaks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.decoding.counts import SeenCounts
from tacit.decoding.judgement import (
    UNKNOWN,
    Judgements,
    JudgementSettings,
    tuples_wanted,
)
from tacit.decoding.orientation import Beliefs
from tacit.problem.layout import Layout
from tacit.trust.findings import Finding, Severity, abridge, count_of, count_places, list_places, show_share

EXCLUSIVE_WORDS = Beliefs(found=True)
"""What places are judged by on their own: that no word is said by both sides."""
LET_GO = 0.03
"""The share of episodes that may end where nothing is settled: the fast recipe explores no further."""
RARE = 0.01
"""A last state in which fewer episodes end is rarely reached."""
SPOKEN_TO = 30
"""Episodes in a last state after which it is said that nobody speaks there: one in ten would have been heard."""


def find_unseen(
    layout: Layout, settings: JudgementSettings, judgements: Judgements, unsettled: float = LET_GO
) -> Iterator[Finding]:
    """Yield what was not seen enough of places, actions and contexts."""
    yield from find_few_tuples(layout, settings, judgements, unsettled)
    yield from find_untried(layout, judgements, unsettled)
    yield from find_rare_contexts(layout, settings, judgements, unsettled)


def find_few_tuples(
    layout: Layout, settings: JudgementSettings, judgements: Judgements, unsettled: float = LET_GO
) -> Iterator[Finding]:
    """Yield one finding on the states and contexts that are not settled yet, with what they still need.

    A caution while a larger share of the episodes than `unsettled` ends there. Those that an action keeps from being
    judged which nobody takes are not among them: more tuples of the others would not settle them (`find_untried`).
    """
    never = {at for at, j in untried_places(layout, judgements).items() if j.kind == UNKNOWN}
    open_ones = {
        at: j for at, j in judgements.items() if not j.settled and j.tuples.sum() > 0 and at not in never
    }
    if not open_ones:
        return
    total = total_tuples(judgements)
    more = {at: tuples_wanted(judgement, settings) for at, judgement in open_ones.items()}
    share = total_tuples(open_ones) / total
    episodes = max(more[at] * total / j.tuples.sum() for at, j in open_ones.items())
    yield Finding(
        "too-few-tuples",
        weigh_share(share, unsettled),
        list_places(layout, open_ones),
        f"{count_places(len(open_ones))}, where {show_share(share)} of the "
        f"episodes ended, cannot be judged yet: about {sum(more.values()):,.0f} more tuples are needed.",
        f"Let it run on; at the present rate that takes about {episodes:,.0f} more episodes, fewer if they are "
        "steered there.",
    )


def find_untried(layout: Layout, judgements: Judgements, unsettled: float = LET_GO) -> Iterator[Finding]:
    """Yield one finding on places that were seen often enough to be judged, had all their actions been tried."""
    offered, untried = layout.endings.mask, untried_places(layout, judgements)
    if not untried:
        return
    (s, _), judgement = max(untried.items(), key=lambda item: item[1].tuples.sum())
    never = (judgement.tuples == 0) & offered[s, : len(judgement.tuples)]
    action = layout.endings.actions[s][int(np.argmax(never))]
    share = total_tuples(untried) / total_tuples(judgements)
    unjudged = any(each.kind == UNKNOWN for each in untried.values())
    yield Finding(
        "actions-never-tried",
        weigh_share(share, unsettled),
        list_places(layout, untried),
        f"In {count_places(len(untried))}, where {show_share(share)} of the episodes ended, an action was never tried, "
        f"such as {action!r} in {judgement.tuples.sum():,.0f} episodes: what it brings, and what feedback means there, "
        "is not known"
        + (", and no place can be judged before all its actions were tried." if unjudged else "."),
        "Let every action be tried there now and then, at random.",
    )


def untried_places(layout: Layout, judgements: Judgements) -> Judgements:
    """Return the places that were seen often, and in which an action was never tried."""
    offered = layout.endings.mask
    return {
        (s, x): judgement
        for (s, x), judgement in judgements.items()
        if judgement.tuples.sum() >= SPOKEN_TO
        and judgement.tuples[offered[s, : len(judgement.tuples)]].min() == 0
    }


def find_rare_contexts(
    layout: Layout, settings: JudgementSettings, judgements: Judgements, unsettled: float = LET_GO
) -> Iterator[Finding]:
    """Yield one finding on contexts that came too rarely for any of their states to be judged."""
    seen: dict[int, float] = defaultdict(float)
    for (_, x), judgement in judgements.items():
        seen[x] += float(judgement.tuples.sum())
    least = settings.least_each * int(layout.endings.n_actions.min())
    rare = [x for x, tuples in seen.items() if tuples < least]
    if not rare:
        return
    tuples = sum(seen[x] for x in rare)
    share = tuples / sum(seen.values())
    yield Finding(
        "contexts-too-rare",
        weigh_share(share, unsettled),
        abridge([f"context {layout.contexts.decode(x)!r}" for x in sorted(rare)]),
        f"{len(rare):,} of {count_of(len(seen), 'context', 'contexts')} came fewer than {least} times each, in "
        f"{show_share(share)} of the episodes: too rarely for any of their states to be judged.",
        "Group contexts of people who speak alike, or leave out of the context what does not matter for feedback.",
    )


def find_unheard(layout: Layout, counts: SeenCounts, visits: FloatArray) -> Iterator[Finding]:
    """Yield the last states that few or no episodes ended in, visits (S_H,), and those in which nobody spoke."""
    yield from find_unreached(layout, visits)
    yield from find_mute(layout, counts, visits)


def find_unreached(layout: Layout, visits: FloatArray) -> Iterator[Finding]:
    """Yield which last states no episode, and which ones few episodes ended in; visits (S_H,)."""
    total = visits.sum()
    never, rare = np.flatnonzero(visits == 0), np.flatnonzero((visits > 0) & (visits < RARE * total))
    if total and len(never):
        yield Finding(
            "never-reached",
            "info",
            _name_states(layout, never),
            f"{count_of(len(never), 'last state was', 'last states were')} never reached in {total:,.0f} episodes: "
            "what can be earned there is not known.",
            "If they can be reached and matter, make them easier to reach; otherwise nothing needs to be done.",
        )
    if len(rare):
        yield Finding(
            "rarely-reached",
            "info",
            _name_states(layout, rare),
            f"{count_of(len(rare), 'last state', 'last states')} saw {visits[rare].sum():,.0f} of {total:,.0f} "
            "episodes: nothing tried so far leads there often.",
            "If they matter, make them easier to reach; otherwise nothing needs to be done.",
        )


def find_mute(layout: Layout, counts: SeenCounts, visits: FloatArray) -> Iterator[Finding]:
    """Yield in which last states nobody says anything, by the last row of counts, if that is silence, and by visits."""
    spoken = counts.by_ending() - silent_tuples(layout, counts).sum(axis=1)
    mute = np.flatnonzero((spoken == 0) & (visits >= SPOKEN_TO))
    if len(mute):
        yield Finding(
            "nobody-speaks",
            "info",
            _name_states(layout, mute),
            f"In {count_of(len(mute), 'last state', 'last states')} nobody said anything, in {visits[mute].sum():,.0f} "
            "episodes: nothing can be told of what its actions bring, and it counts as c.",
            "If people are pleased there, ask them; otherwise nothing needs to be done.",
        )


def silent_tuples(layout: Layout, counts: SeenCounts) -> FloatArray:
    """Return how often nobody spoke in each (ending, context), (S_H, G): the value after all words is silence."""
    S, G, V, K = counts.shape
    silent = np.zeros((S, G))
    if getattr(layout.feedback, "size", V) < V:
        at = counts.cells // K % V == V - 1
        places = counts.cells[at] // (V * K)
        np.add.at(silent, (places // G, places % G), counts.numbers[at])
    return silent


def total_tuples(judgements: Judgements) -> float:
    """Return how many tuples judgements rest on."""
    return float(sum(judgement.tuples.sum() for judgement in judgements.values()))


def weigh_share(share: float, unsettled: float) -> Severity:
    """Return how much weight a finding has that concerns a share of the episodes."""
    return "caution" if share > unsettled else "info"


def _name_states(layout: Layout, endings: Iterable[int]) -> str:
    return abridge([f"state {layout.endings.name(int(s))!r}" for s in endings])

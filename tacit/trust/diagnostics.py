"""Say when it cannot work: what the feedback itself shows of the assumptions that learning rests on.

Each finding names what was seen, the numbers behind it and what to do. Three things are tested on the counts of
feedback by action: that feedback depends on the action at all, that it depends on it through the reward alone
(Assumption 2.1), and that sigma exceeds 1 (Assumption 2.3). Both tests of dependence are permutation tests: feedback is
dealt anew among the tuples of each last state and context (or of each cluster of phi), which keeps every margin.
One belief no data can test, that rewarding actions are the minority; known outcomes, `Anchor`, can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.counts import PlaceIndex, SeenCounts, without_unmet_silence
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    UNKNOWN,
    Judgements,
    JudgementSettings,
    estimate_constants,
    tuples_wanted,
)
from tacit.decoding.together import judge_all
from tacit.decoding.tuples import check_finite, counted_shape
from tacit.problem.layout import Layout
from tacit.trust.anchors import Anchor, find_orientation, meaning_by_phi
from tacit.trust.findings import Finding, abridge, count_of, list_places, worst_first
from tacit.trust.permutation import (
    dependable_places,
    dependable_tables,
    largest_places,
    residual_p_value,
)

ALPHA = 0.005
"""Of the tests of dependence: how often chance alone may look like it."""
RESIDUAL_ALPHA = 0.002
"""Of the test within clusters: smaller, for phi was fitted to the same counts, which doubles the rate at least."""
LEVEL = 0.95
"""Of intervals, for all states and contexts at once."""
CONSTANTS_LEVEL = 0.99
"""Of the intervals that supplied constants are held against."""
NEAR = 1.25
"""Sigma counts as too small when its interval ends below: far enough from 1 to be shown with a few hundred tuples."""
LET_GO = 0.03
"""The share of episodes that may end where nothing is settled: the fast recipe explores no further."""
RARE = 0.01
"""A last state in which fewer episodes end is rarely reached."""


def diagnose(
    layout: Layout,
    counts: SeenCounts,
    decoder: DecoderSettings = DecoderSettings(),  # noqa: B008, it is frozen
    settings: JudgementSettings = JudgementSettings(),  # noqa: B008
    judgements: Judgements | None = None,
    anchors: Sequence[Anchor] = (),
    visits: IntArray | FloatArray | None = None,
    unsettled: float = LET_GO,
) -> tuple[Finding, ...]:
    """Return what counts of feedback by action show, worst first.

    `judgements` are made from the counts unless they are at hand; `visits` (S_H,), the episodes that ended in
    each last state, are the tuples unless some episodes had no feedback; `unsettled` is the share of episodes that may
    end where nothing is settled.

    >>> layout = Layout.regular([1], n_actions=3, n_contexts=1, n_feedback=2)
    >>> counts = SeenCounts.of_dense(np.array([[[[27.0, 3.0, 3.0], [3.0, 27.0, 27.0], [0.0, 0.0, 0.0]]]]))
    >>> from tacit.trust.findings import verdict
    >>> verdict(diagnose(layout, counts))
    'works'
    """
    check_counts(layout, counts)
    if judgements is None:
        judgements = judge_all(layout, counts, decoder.c, settings)
    reached = counts.by_ending() if visits is None else np.asarray(visits, dtype=np.float64)
    found = [
        *find_nothing_told(judgements),
        *find_small_sigma(layout, judgements),
        *find_action_dependence(counts, judgements),
        *find_bounded_tests(counts, judgements),
        *find_disagreement(decoder, judgements),
        *find_few_tuples(layout, counts, settings, judgements, unsettled),
        *find_rarely_reached(layout, reached),
        *find_orientation(layout, anchors, meaning_by_phi(judgements)),
    ]
    return worst_first(found)


def diagnose_nothing(layout: Layout, stage: str, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
    """Return the diagnosis of a stage that keeps no tuples: that nothing can be said, whatever the anchors."""
    return worst_first([nothing_kept(stage), *find_orientation(layout, anchors, lambda x, s, y: None)])


def find_nothing_told(judgements: Judgements) -> Iterator[Finding]:
    """Yield an error if feedback tells actions apart in no place, and most tuples fell where that would have shown."""
    if any(judgement.kind == HETEROGENEOUS for judgement in judgements.values()):
        return
    tuples = sum(judgement.tuples.sum() for judgement in judgements.values())
    telling = [j for j in judgements.values() if j.kind == HOMOGENEOUS and j.settled]
    if not telling or sum(j.tuples.sum() for j in telling) <= tuples / 2:
        return
    hope = max(judgement.hope for judgement in telling)
    yield Finding(
        "feedback-tells-nothing",
        "error",
        "",
        f"In {tuples:,.0f} tuples feedback depends on the action in none of "
        f"{count_of(len(telling), 'state and context', 'states and contexts')} where an action that pleases more than "
        f"{hope:.0%} would have shown.",
        "Check that feedback is joined to the episode it belongs to and that states and contexts tell apart what "
        "matters; until then every policy is learned from noise.",
    )


def find_small_sigma(layout: Layout, judgements: Judgements) -> Iterator[Finding]:
    """Yield one finding where the interval of sigma ends below `NEAR`: an error if sigma is not above 1."""
    found = {at: j for at, j in judgements.items() if j.kind == HETEROGENEOUS}
    level = 1 - 2 * (1 - LEVEL) / max(len(found), 1)  # only the upper end is asked for
    sigmas = {at: j.sigma(level) for at, j in found.items()}
    small = {at: sigma for at, sigma in sigmas.items() if sigma.high < NEAR}
    if not small:
        return
    worst = min(small, key=lambda at: small[at].estimate)
    sigma, judgement = small[worst], found[worst]
    theta, M, K = judgement.f.max(), judgement.f.sum(), len(judgement.f)
    yield Finding(
        "sigma-too-small",
        "error" if sigma.estimate <= 1 else "caution",
        list_places(layout, small),
        f"sigma = theta (K - M) / M is {sigma.estimate:.2f} [{sigma.low:.2f}, {sigma.high:.2f}] with theta = "
        f"{theta:.2f}, M = {M:.2f}, K = {K}, and must exceed 1 for the decoder to tell a reward (Assumption 2.3).",
        "Offer more actions that fail or fewer that please, or ask for feedback that only the best action earns.",
    )


def find_action_dependence(counts: SeenCounts, judgements: Judgements) -> Iterator[Finding]:
    """Yield an error if, given the decoded reward, feedback still depends on the action (Assumption 2.1)."""
    found = heterogeneous_places(judgements)
    if not found:
        return
    tested = largest_places(counts, found, tables=2)
    tables, others = split_by_phi(counts, judgements, tested)
    if not len(tables):
        yield Finding(
            "action-dependence-untestable",
            "info",
            "",
            "With one feedback value for each decoded reward, nothing can show whether feedback also depends on the "
            "action itself.",
            "Feedback of more than two values would let Tacit check it.",
        )
    elif (p_value := residual_p_value(tables, others)) < RESIDUAL_ALPHA:
        yield Finding(
            "feedback-depends-on-action",
            "error",
            "",
            "Among tuples that decode to the same reward, feedback still depends on the action (permutation test "
            f"over {count_of(len(tested), 'state and context', 'states and contexts')}, p = {p_value:.2g}), against "
            "Assumption 2.1.",
            "Use feedback that answers to the outcome and not to the action itself, or drop the part that names the "
            "action.",
        )


def find_bounded_tests(counts: SeenCounts, judgements: Judgements) -> Iterator[Finding]:
    """Yield a remark if there are so many states and contexts that tests of dependence look at the largest alone."""
    found = heterogeneous_places(judgements)
    chances = ((dependable_places(counts) if mostly_judged(judgements) else [], 1), (found, 2))
    cut = [(largest_places(counts, places, tables), places) for places, tables in chances]
    tested, places = max(cut, key=lambda pair: len(pair[1]) - len(pair[0]))
    if len(tested) < len(places):
        yield Finding(
            "tests-bounded",
            "info",
            "",
            f"Whether feedback depends on the action was tested in the {len(tested):,} states and contexts with "
            f"the most tuples, of {len(places):,}.",
            "To have all of them tested, bin states, contexts or feedback.",
        )


def find_disagreement(supplied: DecoderSettings, judgements: Judgements) -> Iterator[Finding]:
    """Yield an error for a supplied theta above, or M below, anything that the tuples allow."""
    constants = estimate_constants(judgements.values(), CONSTANTS_LEVEL)
    if constants is None:
        return
    rows = (
        ("theta", supplied.theta, constants.theta, "high", "lower"),
        ("M", supplied.M, constants.M, "low", "raise"),
    )
    for name, value, seen, end, change in rows:
        if value is None or (value <= seen.high if end == "high" else value >= seen.low):
            continue
        yield Finding(
            "constants-disagree",
            "error",
            "",
            f"{name} = {value:g} was supplied, the tuples say {seen.estimate:.2f} [{seen.low:.2f}, {seen.high:.2f}].",
            f"{change.capitalize()} {name} to at {'most' if end == 'high' else 'least'} {seen.estimate:.2f}, or leave "
            "it out with recipe='fast', which estimates it.",
        )


def find_few_tuples(
    layout: Layout,
    counts: SeenCounts,
    settings: JudgementSettings,
    judgements: Judgements,
    unsettled: float = LET_GO,
) -> Iterator[Finding]:
    """Yield one finding on the states and contexts that are not settled yet, with what they still need.

    A caution while a larger share of the episodes than `unsettled` ends there.
    """
    total = counts.total
    open_ones = {at: j for at, j in judgements.items() if not j.settled and j.tuples.sum() > 0}
    if not open_ones:
        return
    more = {at: tuples_wanted(judgement, settings) for at, judgement in open_ones.items()}
    share = sum(j.tuples.sum() for j in open_ones.values()) / total
    episodes = max(more[at] * total / j.tuples.sum() for at, j in open_ones.items())
    yield Finding(
        "too-few-tuples",
        "caution" if share > unsettled else "info",
        list_places(layout, open_ones),
        f"{count_of(len(open_ones), 'state and context', 'states and contexts')}, where {100 * share:.2g} % of the "
        f"episodes ended, cannot be judged yet: about {sum(more.values()):,.0f} more tuples are needed.",
        f"Let it run on; at the present rate that takes about {episodes:,.0f} more episodes, fewer if they are "
        "steered there.",
    )


def find_rarely_reached(layout: Layout, visits: FloatArray) -> Iterator[Finding]:
    """Yield one finding on the last states in which few episodes ended; visits (S_H,)."""
    total = visits.sum()
    rare = np.flatnonzero(visits < RARE * total)
    if not len(rare):
        return
    names = [f"state {layout.endings.name(int(s))!r}" for s in rare]
    yield Finding(
        "rarely-reached",
        "info",
        abridge(names),
        f"{count_of(len(rare), 'last state', 'last states')} saw {visits[rare].sum():,.0f} of {total:,.0f} episodes: "
        "nothing tried so far leads there often.",
        "If they matter, make them easier to reach; otherwise nothing needs to be done.",
    )


def mostly_judged(judgements: Judgements) -> bool:
    """Return whether most tuples fell where there are enough to judge; before, seeing nothing says nothing."""
    tuples = [(judgement.tuples.sum(), judgement.kind != UNKNOWN) for judgement in judgements.values()]
    return bool(sum(n for n, known in tuples if known) > sum(n for n, _ in tuples) / 2)


def heterogeneous_places(judgements: Judgements) -> list[PlaceIndex]:
    """Return the states and contexts in which feedback tells actions apart."""
    return [at for at, judgement in judgements.items() if judgement.kind == HETEROGENEOUS]


def split_by_phi(
    counts: SeenCounts, judgements: Judgements, places: Sequence[PlaceIndex]
) -> tuple[FloatArray, FloatArray]:
    """Return the tables (T, Y, K) of each cluster of phi that can be tested, with the other's actions (T, K)."""
    tables, others = [], []
    for at in places:
        numbers, phi = counts.table(*at), judgements[at].phi
        for cluster in (phi > 0.5, phi <= 0.5):
            tables.append(numbers * cluster[:, None])
            others.append(numbers[~cluster].sum(axis=0))
    stacked = without_unmet_silence(np.array(tables))
    testable = dependable_tables(stacked)
    return stacked[testable], np.array(others)[testable]


def check_counts(layout: Layout, counts: SeenCounts) -> None:
    """Raise ValueError unless counts are whole numbers of tuples that fit the layout."""
    check_finite(layout, "a diagnosis")
    shape = counted_shape(layout)
    if counts.shape != shape:
        raise ValueError(
            f"counts must have the shape {shape} (last states, contexts, feedback with silence, actions), got "
            f"{counts.shape}; count tuples with tacit.decoding.counts.count_tuples"
        )
    numbers = counts.numbers
    if not np.all(np.isfinite(numbers)) or np.any(numbers < 0) or np.any(numbers != np.rint(numbers)):
        raise ValueError("counts must be whole numbers from 0 on; give tuples, not shares or weights")
    if np.any(counts.by_action()[~layout.endings.known] > 0):
        raise ValueError(
            "counts must be 0 for actions that a state does not offer; check the order of the axes"
        )


def constant_decoding(tuples: int) -> Finding:
    """Return the error of a posterior under which everything decodes to c."""
    return Finding(
        "feedback-tells-nothing",
        "error",
        "",
        f"Everything that {tuples:,} tuples say decodes to c: feedback tells no action from another.",
        "Check that no state is missing and that feedback is joined to the episode it belongs to.",
    )


def nothing_kept(stage: str) -> Finding:
    """Return the remark on a stage that keeps no tuples."""
    return Finding(
        "counts-not-kept",
        "info",
        "",
        f"The agent is in stage {stage!r}, which keeps no tuples: sigma, the constants and the dependence of feedback "
        "on the action cannot be checked.",
        "Diagnose during collection, or use recipe='fast', which keeps counts.",
    )

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
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    UNKNOWN,
    Judgement,
    Judgements,
    JudgementSettings,
    estimate_constants,
    judge_all,
)
from tacit.decoding.tuples import check_finite, counted_shape
from tacit.problem.layout import Layout
from tacit.trust.anchors import Anchor, find_orientation, meaning_by_phi
from tacit.trust.findings import Finding, abridge, count_of, list_places, worst_first
from tacit.trust.permutation import dependable_tables, dependence_p_value, residual_p_value

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
    counts: FloatArray,
    decoder: DecoderSettings = DecoderSettings(),  # noqa: B008, it is frozen
    settings: JudgementSettings = JudgementSettings(),  # noqa: B008
    judgements: Judgements | None = None,
    anchors: Sequence[Anchor] = (),
    visits: IntArray | FloatArray | None = None,
    unsettled: float = LET_GO,
) -> tuple[Finding, ...]:
    """Return what counts (S_H, X, Y, K) of feedback by action show, worst first.

    `judgements` are made from the counts unless they are at hand; `visits` (S_H,), the episodes that ended in
    each last state, are the tuples unless some episodes had no feedback; `unsettled` is the share of episodes that may
    end where nothing is settled.

    >>> layout = Layout.regular([1], n_actions=3, n_contexts=1, n_feedback=2)
    >>> counts = np.array([[[[27.0, 3.0, 3.0], [3.0, 27.0, 27.0]]]])
    >>> from tacit.trust.findings import verdict
    >>> verdict(diagnose(layout, counts))
    'works'
    """
    check_counts(layout, counts)
    if judgements is None:
        judgements = judge_all(layout, counts, decoder.c, settings)
    reached = counts.sum(axis=(1, 2, 3)) if visits is None else np.asarray(visits, dtype=np.float64)
    found = [
        *find_nothing_told(counts, judgements),
        *find_small_sigma(layout, judgements),
        *find_action_dependence(layout, counts, judgements),
        *find_disagreement(decoder, judgements),
        *find_few_tuples(layout, counts, settings, judgements, unsettled),
        *find_rarely_reached(layout, reached),
        *find_orientation(layout, anchors, meaning_by_phi(judgements)),
    ]
    return worst_first(found)


def diagnose_nothing(layout: Layout, stage: str, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
    """Return the diagnosis of a stage that keeps no tuples: that nothing can be said, whatever the anchors."""
    return worst_first([nothing_kept(stage), *find_orientation(layout, anchors, lambda x, s, y: None)])


def find_nothing_told(counts: FloatArray, judgements: Judgements) -> Iterator[Finding]:
    """Yield an error if no state and context shows dependence of feedback on the action beyond chance."""
    if not mostly_judged(judgements):
        return
    p_value = dependence_p_value(counts.reshape(-1, *counts.shape[2:]))
    if p_value < ALPHA:
        return
    yield Finding(
        "feedback-tells-nothing",
        "error",
        "",
        f"In {counts.sum():,.0f} tuples feedback depends on the action no more than chance allows "
        f"(permutation test over all states and contexts, p = {p_value:.2g}).",
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


def find_action_dependence(layout: Layout, counts: FloatArray, judgements: Judgements) -> Iterator[Finding]:
    """Yield an error if, given the decoded reward, feedback still depends on the action (Assumption 2.1)."""
    found = [(at, j.phi) for at, j in judgements.items() if j.kind == HETEROGENEOUS]
    if not found:
        return
    tables, others = split_by_phi(counts, found)
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
            f"over {count_of(len(found), 'state and context', 'states and contexts')}, p = {p_value:.2g}), against "
            "Assumption 2.1.",
            "Use feedback that answers to the outcome and not to the action itself, or drop the part that names the "
            "action.",
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
    counts: FloatArray,
    settings: JudgementSettings,
    judgements: Judgements,
    unsettled: float = LET_GO,
) -> Iterator[Finding]:
    """Yield one finding on the states and contexts that are not settled yet, with what they still need.

    A caution while a larger share of the episodes than `unsettled` ends there.
    """
    total = counts.sum()
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


def tuples_wanted(judgement: Judgement, settings: JudgementSettings) -> float:
    """Return how many more tuples settle a state and context for certain; 0 if it is settled."""
    if judgement.settled:
        return 0.0
    K, tuples = len(judgement.tuples), judgement.tuples
    each = settings.undecided_after if judgement.kind == HETEROGENEOUS else settings.homogeneous_after
    return float(max(each * K - tuples.sum(), (settings.least_each - tuples.min()) * K, 1.0))


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


def split_by_phi(
    counts: FloatArray, found: Sequence[tuple[tuple[int, int], FloatArray]]
) -> tuple[FloatArray, FloatArray]:
    """Return the tables (T, Y, K) of each cluster of phi that can be tested, with the other's actions (T, K)."""
    tables, others = [], []
    for (s, x), phi in found:
        for cluster in (phi == 1, phi == 0):
            tables.append(counts[s, x] * cluster[:, None])
            others.append(counts[s, x][~cluster].sum(axis=0))
    testable = dependable_tables(np.array(tables))
    return np.array(tables)[testable], np.array(others)[testable]


def check_counts(layout: Layout, counts: FloatArray) -> None:
    """Raise ValueError unless counts are (S_H, X, Y, K) whole numbers of tuples that fit the layout."""
    check_finite(layout, "a diagnosis")
    shape = counted_shape(layout)
    if np.shape(counts) != shape:
        raise ValueError(
            f"counts must have the shape {shape} (last states, contexts, feedback, actions), got {np.shape(counts)}; "
            "count tuples with tacit.decoding.tuples.count_tuples"
        )
    if not np.all(np.isfinite(counts)) or np.any(counts < 0) or np.any(counts != np.rint(counts)):
        raise ValueError("counts must be whole numbers from 0 on; give tuples, not shares or weights")
    offered = layout.endings.mask
    if np.any(counts.sum(axis=(1, 2))[~offered] > 0):
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

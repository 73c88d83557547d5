"""Say when it cannot work, and never that it works without evidence: what the feedback itself shows.

Each finding names what was seen, the numbers behind it and what to do. Three things are tested on the counts of
feedback by action: that feedback depends on the action at all (`tacit.decoding.word_types`), that it depends on it
through the reward alone (Assumption 2.1, `tacit.trust.two_profiles`), and that rewards stand out (Assumption 2.3). What
a verdict rests on stands in `tacit.trust.basis`, what was not seen enough in `tacit.trust.coverage`. One belief no data
can test, that rewarding actions are the minority; known outcomes can (`tacit.trust.anchors`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.constants import estimate_constants
from tacit.decoding.counts import PlaceIndex, SeenCounts
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    Judgements,
    JudgementSettings,
)
from tacit.decoding.orientation import Beliefs
from tacit.decoding.together import judge_all
from tacit.decoding.tuples import check_finite, counted_shape
from tacit.problem.layout import Layout
from tacit.trust.anchors import Anchor, borne_out, find_contradicted, find_orientation, meaning_by_phi
from tacit.trust.basis import (
    find_basis,
    find_doubt,
    find_overlap,
    find_telling_silence,
    in_doubt,
    nothing_left,
    overlapping_places,
    read_in_common,
    understood_places,
)
from tacit.trust.coverage import (
    EXCLUSIVE_WORDS,
    LET_GO,
    find_unheard,
    find_unseen,
    total_tuples,
)
from tacit.trust.findings import Finding, Severity, abridge, count_of, count_places, list_places, worst_first
from tacit.trust.turned import find_turned, overruled_places
from tacit.trust.two_profiles import combined_p_value, measure_misfit, weighed_alike

FIT_ALPHA = 0.002
"""Of the test that two profiles explain what is said, over all places."""
MATERIAL = 0.25
"""The part of what feedback tells of actions that two profiles may leave over before nothing can be learned from it."""
LEVEL = 0.95
"""Of intervals, for all states and contexts at once."""
CONSTANTS_LEVEL = 0.99
"""Of the intervals that supplied constants are held against."""
NEAR = 1.25
"""Sigma counts as too small when its interval ends below: far enough from 1 to be shown with a few hundred tuples."""
MOST = 0.75
"""The share of tuples in understood places from which on a failing is one of all of them."""


def diagnose(
    layout: Layout,
    counts: SeenCounts,
    decoder: DecoderSettings = DecoderSettings(),  # noqa: B008, it is frozen
    settings: JudgementSettings = JudgementSettings(),  # noqa: B008
    judgements: Judgements | None = None,
    anchors: Sequence[Anchor] = (),
    visits: IntArray | FloatArray | None = None,
    unsettled: float = LET_GO,
    beliefs: Beliefs = EXCLUSIVE_WORDS,
    outcomes: SeenCounts | None = None,
    heard: SeenCounts | None = None,
) -> tuple[Finding, ...]:
    """Return what counts of feedback by action show, worst first.

    `judgements` are made from the counts unless they are at hand, with the `beliefs` that they rest on; `visits`
    (S_H,), the episodes that ended in each last state, are the tuples unless some episodes had no feedback; `unsettled`
    is the share of episodes that may end where nothing is settled; `outcomes` (S_H, G, Y, 2) are those known of tuples;
    `heard` are the counts of each ending, if several are judged as one place.

    >>> layout = Layout.regular([1], n_actions=3, n_contexts=1, n_feedback=2)
    >>> counts = SeenCounts.of_dense(np.array([[[[27.0, 3.0, 3.0], [3.0, 27.0, 27.0], [0.0, 0.0, 0.0]]]]))
    >>> from tacit.trust.findings import verdict
    >>> verdict(diagnose(layout, counts)), verdict(diagnose(layout, SeenCounts.empty(counts.shape)))
    ('works with caution', 'not known yet')
    """
    check_counts(layout, counts)
    if judgements is None:
        judgements = judge_all(layout, counts, decoder.c, settings)
    heard = counts if heard is None else heard
    reached = heard.by_ending() if visits is None else np.asarray(visits, dtype=np.float64)
    oriented = list(find_orientation(layout, anchors, meaning_by_phi(judgements), outcomes))
    overruled = overruled_places(judgements, beliefs, outcomes)
    odds = {at: each.odds for at, each in overruled.items()}
    found = [
        *find_basis(layout, judgements, beliefs, odds),
        *find_nothing_told(layout, judgements),
        *find_small_sigma(layout, judgements, beliefs, borne_out(oriented), overruled),
        *find_action_dependence(counts, judgements),
        *find_disagreement(decoder, judgements),
        *find_doubt(layout, judgements, beliefs, unsettled),
        *find_overlap(layout, judgements, beliefs),
        *find_telling_silence(layout, counts, judgements),
        *find_unseen(layout, settings, judgements, unsettled),
        *find_unheard(layout, heard, reached),
        *find_contradicted(layout, anchors, judgements, outcomes),
        *find_turned(layout, overruled, beliefs, outcomes),
        *oriented,
    ]
    return worst_first(found)


def diagnose_nothing(layout: Layout, stage: str, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
    """Return the diagnosis of a stage that keeps no tuples: that nothing can be said, whatever the anchors."""
    return worst_first([nothing_kept(stage), *find_orientation(layout, anchors, lambda x, s, y: None)])


def find_nothing_told(layout: Layout, judgements: Judgements) -> Iterator[Finding]:
    """Yield an error if feedback tells actions apart in no place, although nearly everywhere that would have shown.

    Where words tell good ends from bad ones, wherever episodes end, that is no failing: no ending has two actions that
    differ.
    """
    if understood_places(judgements) or read_in_common(judgements):
        return
    if not judgements or not nothing_left(layout, judgements):
        return
    telling = [j for j in judgements.values() if j.kind == HOMOGENEOUS and j.settled]
    hope = max(judgement.hope for judgement in telling)
    yield Finding(
        "feedback-tells-nothing",
        "error",
        "",
        f"In {total_tuples(judgements):,.0f} tuples feedback depends on the action in none of "
        f"{count_places(len(telling))} where an action that pleases more than "
        f"{hope:.0%} would have shown.",
        "Check that feedback is joined to the episode it belongs to and that states and contexts tell apart what "
        "matters; until then every policy is learned from noise.",
    )


def find_small_sigma(
    layout: Layout,
    judgements: Judgements,
    beliefs: Beliefs,
    known: bool,
    overruled: Collection[PlaceIndex] = (),
) -> Iterator[Finding]:
    """Yield one finding where the interval of sigma ends below `NEAR`: an error if most cannot be oriented either.

    Where words overlap f is drawn together and sigma looks small whatever it is, and where the minority is plain, or
    the way round `known` by outcomes, nothing is lost: what learning fails without is to know which way round it is. In
    places that were `overruled` most actions please, as outcomes showed, and no threshold is used: a remark.
    """
    found = {at: j for at, j in judgements.items() if j.kind == HETEROGENEOUS}
    level = 1 - 2 * (1 - LEVEL) / max(len(found), 1)  # only the upper end is asked for
    sigmas = {at: j.sigma(level) for at, j in found.items()}
    small = {at: sigma for at, sigma in sigmas.items() if sigma.high < NEAR}
    if not small:
        return
    worst = min(small, key=lambda at: small[at].estimate)
    sigma, judgement = small[worst], found[worst]
    theta, M, K = judgement.f.max(), judgement.f.sum(), len(judgement.f)
    shared = overlapping_places(judgements, beliefs)
    lost = {at: found[at] for at in small if not known and at not in shared and in_doubt(found[at])}
    yield Finding(
        "sigma-too-small",
        weigh_small_sigma(small, lost, found, overruled if known else ()),
        list_places(layout, small),
        f"sigma = theta (K - M) / M is {sigma.estimate:.2f} [{sigma.low:.2f}, {sigma.high:.2f}] with theta = "
        f"{theta:.2f}, M = {M:.2f}, K = {K}, if no word is said by both sides, and must exceed 1 for the decoder to "
        f"tell a reward (Assumption 2.3); in {len(lost)} of {len(small)} such places it is in doubt which way round "
        "they are.",
        "Nothing needs to be done: known outcomes say which way round it is, and feedback decodes to what it means."
        if known and not lost
        else "Offer more actions that fail or fewer that please, or ask for feedback that only the best action earns.",
    )


def weigh_small_sigma(
    small: Iterable[PlaceIndex], lost: Judgements, found: Judgements, overruled: Collection[PlaceIndex]
) -> Severity:
    """Return how much a small sigma matters: by what is `lost` of what was `found`, or not where it was overruled."""
    if all(at in overruled for at in small):
        return "info"
    return "error" if total_tuples(lost) >= MOST * total_tuples(found) else "caution"


class FitTest(NamedTuple):
    """Whether two profiles explain what is said in `places` places: the p-value, and what they leave over."""

    places: int
    p_value: float
    excess: float


def weigh_two_profiles(counts: SeenCounts, judgements: Judgements) -> FitTest | None:
    """Return the test of Assumption 2.1 over all places where feedback tells actions apart, None if none can be.

    What is left over is weighed with all actions alike: most tuples of a good policy are of one, which would hide it.
    """
    found = ((counts.table(*at), judgements[at]) for at in heterogeneous_places(judgements))
    tables = [(table[:, : len(j.tuples)], j) for table, j in found]
    measured = (measure_misfit(table, j.f, j.phi) for table, j in tables)
    misfits = [misfit for misfit in measured if misfit is not None]
    if not misfits:
        return None
    explained = beyond = 0.0
    for table, j in tables:
        alike, noise = weighed_alike(table)
        misfit = measure_misfit(alike, j.f, j.phi)
        if misfit is not None:
            explained += misfit.explained
            beyond += misfit.squares - noise * misfit.freedom
    return FitTest(len(misfits), combined_p_value(misfits), max(beyond, 0.0) / max(explained, 1e-12))


def find_action_dependence(counts: SeenCounts, judgements: Judgements) -> Iterator[Finding]:
    """Yield whether feedback depends on the action in other ways than through the reward (Assumption 2.1)."""
    if not heterogeneous_places(judgements):
        return
    test = weigh_two_profiles(counts, judgements)
    if test is None:
        yield Finding(
            "action-dependence-untestable",
            "info",
            "",
            "With two feedback values, or two actions, nothing can show whether feedback also depends on the action "
            "itself.",
            "Feedback of more than two values would let Tacit check it.",
        )
    elif test.p_value < FIT_ALPHA:
        yield Finding(
            "feedback-depends-on-action",
            "error" if test.excess > MATERIAL else "caution",
            "",
            "What people say after the actions is more than two ways of speaking, pleased and not, can explain "
            f"(fit of rank two over {count_places(test.places)}, p = "
            f"{test.p_value:.2g}): {test.excess:.0%} of what feedback tells of the action is left over, against "
            "Assumption 2.1.",
            "Use feedback that answers to the outcome and not to the action itself, or drop the part that names the "
            "action.",
        )


def find_drift(alarms: Sequence[tuple[str, int, str]], episodes: int) -> Iterator[Finding]:
    """Yield what has changed, by alarms of (where, in which episode, what speaks for it), after so many episodes.

    A caution while the last of them is in the later half: what came before is forgotten, and what holds since is not
    known for as long.

    >>> alarm = ("state 'cart', context 'new'", 4_000, "'thanks' came 90 % of 200 times before and 5 % of 40 since")
    >>> [(finding.severity, finding.where) for finding in find_drift([alarm], episodes=5_000)]
    [('caution', "state 'cart', context 'new'")]
    """
    if not alarms:
        return
    _, episode, evidence = last = max(alarms, key=lambda alarm: alarm[1])
    yield Finding(
        "drift",
        "caution" if 2 * episode > episodes else "info",
        abridge([last[0], *(where for where, *_ in alarms[::-1] if where != last[0])]),
        f"{count_of(len(alarms), 'change was', 'changes were')} noticed, the last in episode {episode:,} of "
        f"{episodes:,}: {evidence}.",
        "What was learned there before is forgotten and explored again; a better action that nobody tries any more "
        "stays unseen.",
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


def heterogeneous_places(judgements: Judgements) -> list[PlaceIndex]:
    """Return the states and contexts in which feedback tells actions apart."""
    return [at for at, judgement in judgements.items() if judgement.kind == HETEROGENEOUS]


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


def nothing_kept(stage: str, severity: Severity = "unknown") -> Finding:
    """Return that nothing can be known of a stage that keeps no tuples."""
    return Finding(
        "counts-not-kept",
        severity,
        "",
        f"The agent is in stage {stage!r}, which keeps no tuples: sigma, the constants and the dependence of feedback "
        "on the action cannot be checked.",
        "Diagnose during collection, or use recipe='fast', which keeps counts.",
    )

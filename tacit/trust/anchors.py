"""Which way round: a handful of episodes with known outcome, held against what their feedback decodes to.

That rewarding actions are the minority no data can test: where most please, everything looks as healthy, the other way
round. So without known outcomes a verdict is at most "works with caution".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr

from tacit.decoding.counts import SeenCounts
from tacit.decoding.judgement import HETEROGENEOUS, HOMOGENEOUS, Judgements, proportion_intervals
from tacit.problem.layout import Layout
from tacit.problem.silence import encode_feedback
from tacit.problem.spaces import Encoded
from tacit.trust.findings import Finding, count_places, list_places, name_place

ANCHOR_LEVEL = 0.05
"""Chance with which coin tosses may pass for anchors that agree or disagree: five of five is enough."""
BETWEEN = 0.2
"""A word that stands nearer to the middle than this does not say what its outcome should be."""
FAR = 0.2
"""How far known outcomes must be from what a homogeneous place is taken to be worth before it is said."""
MINORITY = Finding(
    "minority-assumed",
    "caution",
    "",
    "That rewarding actions are the minority (sum f < K/2) is your assumption, and no feedback can show it: if most "
    "actions please, everything decodes upside down and looks as healthy.",
    "Give known outcomes, five episodes that agree are enough: agent.end(episode, feedback, outcome=1) now and then, "
    "anchors, or rewards in logs.",
)
"""The one belief that no data can test."""
ANCHOR_CODES = frozenset(("decoded-upside-down", "anchors-agree", "anchors-undecided"))
"""What `weigh_anchors` can find."""


@dataclass(frozen=True)
class Anchor:
    """An episode whose outcome is known: context, last state and feedback as the layout labels them, reward 0 or 1.

    Feedback None is silence.
    """

    context: object
    state: object
    feedback: object
    reward: int

    def __post_init__(self) -> None:
        if self.reward not in (0, 1):
            raise ValueError(
                f"an anchor's reward must be 0 or 1, got {self.reward!r}; leave out what is in between"
            )


def find_orientation(
    layout: Layout,
    anchors: Sequence[Anchor],
    meaning: Callable[[Encoded, int, Encoded], float | None],
    outcomes: SeenCounts | None = None,
) -> Iterator[Finding]:
    """Yield whether known outcomes bear out the belief that no data can test, and the belief unless they do.

    `meaning` (context, last state, feedback) is the decoded reward, None where nothing is decoded; `outcomes`
    (S_H, G, Y, 2) are those that an agent was told. An exact binomial test, over all of them and within each state and
    context, tells agreement from tossing a coin.
    """
    agreed: dict[str, list[bool]] = {}
    given = 0
    for x, s, y, reward, times in _list_known(layout, anchors, outcomes):
        given += times
        meant = None if y is None else meaning(x, s, y)
        if meant is not None:
            answers = agreed.setdefault(name_place(layout, s, layout.contexts.decode(x)), [])
            answers += [(meant >= 0.5) == bool(reward)] * times
    yield from believe(weigh_anchors(agreed, given) if given else ())


def find_contradicted(
    layout: Layout,
    anchors: Sequence[Anchor],
    judgements: Judgements,
    outcomes: SeenCounts | None = None,
) -> Iterator[Finding]:
    """Yield a caution on homogeneous places that known outcomes say to be worth something else than they are taken for.

    Nothing that is said there tells an action from another, so that they are worth c; only outcomes can say otherwise.
    """
    told: dict[tuple[int, int], list[int]] = {}
    for x, s, _, reward, times in _list_known(layout, anchors, outcomes):
        judgement = judgements.get((s, int(x)))
        if judgement is not None and judgement.kind == HOMOGENEOUS and not judgement.phi.any():
            told.setdefault((s, int(x)), [0, 0])[reward] += times
    wrong = {}
    for at, (zeros, ones) in told.items():
        low, high = proportion_intervals(
            np.array([1.0 * ones]), np.array([1.0 * (zeros + ones)]), 1 - ANCHOR_LEVEL
        )
        worth = float(judgements[at].f[0])
        if low[0] > worth + FAR or high[0] < worth - FAR:
            wrong[at] = (zeros + ones, ones, worth)
    if wrong:
        known, ones, worth = next(iter(wrong.values()))
        yield Finding(
            "c-contradicted",
            "caution",
            list_places(layout, wrong),
            f"{ones} of {known} known outcomes in the first of {count_places(len(wrong))}, where no action is better "
            f"than another, are rewards; it is taken to be worth {worth:.2f}.",
            "Say what such states are worth by `c`, or let known outcomes count: agent.end(episode, feedback, "
            "outcome=1), in logs --anchors.",
        )


def believe(found: Iterable[Finding]) -> Iterator[Finding]:
    """Yield what known outcomes say, and the belief that no data can test unless they bear it out.

    >>> [finding.code for finding in believe(weigh_anchors({"": [True] * 5}, 5))]
    ['anchors-agree']
    >>> [finding.code for finding in believe(())]
    ['minority-assumed']
    """
    known = list(found)
    yield from known
    if not borne_out(known):
        yield MINORITY


def borne_out(found: Iterable[Finding]) -> bool:
    """Return whether known outcomes bear out which way round feedback is read."""
    return any(finding.code == "anchors-agree" for finding in found)


def weigh_anchors(agreed: Mapping[str, list[bool]], given: int) -> Iterator[Finding]:
    """Yield whether anchors, each agreeing or not with what its feedback decodes to by place, bear the belief out."""
    together = [each for answers in agreed.values() for each in answers]
    groups = {"": together, **(agreed if len(agreed) > 1 else {})}
    wrong = {
        where: answers for where, answers in groups.items() if coin_chance(answers, False) < ANCHOR_LEVEL
    }
    right = f"{sum(together)} of {len(together)} anchors agree with what their feedback decodes to"
    if wrong:
        where, answers = next(iter(wrong.items()))
        yield Finding(
            "decoded-upside-down",
            "error",
            where,
            f"{answers.count(False)} of {len(answers)} anchors contradict what their feedback decodes to: rewarding "
            "actions are not the minority.",
            "Offer more actions that fail, or report success as failure and failure as success throughout.",
        )
    elif coin_chance(together, True) < ANCHOR_LEVEL:
        yield Finding("anchors-agree", "info", "", f"{right}.", "Nothing needs to be done.")
    else:
        yield Finding(
            "anchors-undecided",
            "info",
            "",
            f"{right}, of {given} given, which tossing a coin could do.",
            "Give at least five, in states and contexts where feedback has been understood.",
        )


def coin_chance(answers: Sequence[bool], value: bool) -> float:
    """Return the probability that as many tosses of a fair coin show `value` at least as often.

    >>> coin_chance([True] * 5, True), coin_chance([], True)
    (0.03125, 1.0)
    """
    return float(bdtr(len(answers) - answers.count(value), len(answers), 0.5)) if answers else 1.0


def meaning_by_phi(judgements: Judgements) -> Callable[[Encoded, int, Encoded], float | None]:
    """Return what feedback means by the judgements: (x, s, y) to a reward, None where that is open."""

    def meaning(x: Encoded, s: int, y: Encoded) -> float | None:
        judgement = judgements.get((s, int(x)))
        if judgement is None or judgement.kind != HETEROGENEOUS:
            return None
        meant = float(judgement.phi[int(y)])
        return meant if abs(meant - 0.5) > BETWEEN else None

    return meaning


def _list_known(
    layout: Layout, anchors: Sequence[Anchor], outcomes: SeenCounts | None
) -> Iterator[tuple[Encoded, int, Encoded | None, int, int]]:
    """Yield context, last state, feedback and reward of what is known, with how many times it is."""
    for anchor in anchors:
        yield *encode_anchor(layout, anchor), anchor.reward, 1
    for (s, x), table in outcomes.tables() if outcomes is not None else ():
        for y, reward in np.argwhere(table > 0).tolist():
            yield x, s, y, reward, int(table[y, reward])


def encode_anchor(layout: Layout, anchor: Anchor) -> tuple[Encoded, int, Encoded | None]:
    """Return context, ending and feedback of an anchor as the layout encodes them."""
    s = layout.endings.find(anchor.state)
    x = layout.contexts.encode(anchor.context, "an anchor's context")
    return x, s, encode_feedback(layout, anchor.feedback, "an anchor's feedback")

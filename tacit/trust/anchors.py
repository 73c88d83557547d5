"""Which way round: a handful of episodes with known outcome, held against what their feedback decodes to.

That rewarding actions are the minority no data can test; anchors can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scipy.special import bdtr

from tacit.decoding.judgement import HETEROGENEOUS, Judgements
from tacit.problem.layout import Layout
from tacit.problem.silence import encode_feedback
from tacit.problem.spaces import Encoded
from tacit.trust.findings import Finding, name_place

ANCHOR_LEVEL = 0.05
"""Chance with which coin tosses may pass for anchors that agree or disagree: five of five is enough."""
MINORITY = Finding(
    "minority-assumed",
    "info",
    "",
    "That rewarding actions are the minority (sum f < K/2) is your assumption: if most actions please, everything "
    "decodes upside down and looks healthy.",
    "A handful of episodes with known outcome settles it: pass them as anchors.",
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


def find_orientation(
    layout: Layout, anchors: Sequence[Anchor], meaning: Callable[[Encoded, int, Encoded], float | None]
) -> Iterator[Finding]:
    """Yield the belief that no data can test and, given anchors, whether they bear it out.

    `meaning` (context, last state, feedback) is the decoded reward, None where nothing is decoded. An exact binomial
    test, over all anchors and within each state and context, tells agreement from tossing a coin.
    """
    yield MINORITY
    if not anchors:
        return
    agreed: dict[str, list[bool]] = {}
    for anchor in anchors:
        x, s, y = _encode_anchor(layout, anchor)
        reward = None if y is None else meaning(x, s, y)
        if reward is not None:
            place = name_place(layout, s, anchor.context)
            agreed.setdefault(place, []).append((reward >= 0.5) == bool(anchor.reward))
    yield from weigh_anchors(agreed, len(anchors))


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
    """Return what feedback means by the judgements: (x, s, y) to a reward, None where nothing is decoded."""

    def meaning(x: Encoded, s: int, y: Encoded) -> float | None:
        judgement = judgements.get((s, int(x)))
        return float(judgement.phi[int(y)]) if judgement and judgement.kind == HETEROGENEOUS else None

    return meaning


def _encode_anchor(layout: Layout, anchor: Anchor) -> tuple[Encoded, int, Encoded | None]:
    s = layout.endings.find(anchor.state)
    if anchor.reward not in (0, 1):
        raise ValueError(
            f"an anchor's reward must be 0 or 1, got {anchor.reward!r}; leave out what is in between"
        )
    x = layout.contexts.encode(anchor.context, "an anchor's context")
    return x, s, encode_feedback(layout, anchor.feedback, "an anchor's feedback")

"""Readers of feedback that learn nothing, for the baselines: one that is told, and one that goes by kind words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

REWARDED, UNREWARDED = "reward 1", "reward 0"
"""What the oracle is told in the place of feedback."""

KIND = frozenset(
    re.findall(
        r"\w+",
        """amazing appreciate appreciated beautiful best bravo brilliant cheers correct delighted easy excellent
        exactly fabulous fantastic fine glad good grateful great happy helpful impressed kind love loved lovely
        marvellous nice nicely perfect perfectly pleased pleasure right satisfied smooth spot splendid star super
        superb terrific thank thanks thrilled top well wonderful wow yay yes yep yeah""",
    )
)
UNKIND = frozenset(
    re.findall(
        r"\w+",
        """angry annoyed annoying awful bad confused cross disappointed disappointing disappointment dreadful fail
        failed failure frustrated frustrating hate hopeless horrible incorrect mess missed mistake nonsense nope
        poor ridiculous rubbish ruined sad sorry terrible unacceptable unfortunately unhappy unhelpful upset
        useless waste worse worst wrong""",
    )
)
NEGATION = frozenset(
    (
        "no",
        "not",
        "never",
        "nothing",
        "hardly",
        "isn't",
        "wasn't",
        "don't",
        "doesn't",
        "didn't",
        "cannot",
        "can't",
    )
)
"""A kind word soon after one of these is none."""
REACH = 3
"""Words that a negation reaches."""


def judge_told(feedback: str) -> float:
    """Return the reward that the oracle is told.

    >>> judge_told("reward 1")
    1.0
    """
    if feedback not in (REWARDED, UNREWARDED):
        raise ValueError(f"the oracle is told {REWARDED!r} or {UNREWARDED!r}, got {feedback!r}")
    return float(feedback == REWARDED)


def judge_kind_words(feedback: str) -> float:
    """Return 1 if the feedback has more kind words than unkind ones, a half if neither, else 0.

    >>> judge_kind_words("That was great, thank you."), judge_kind_words("Not good at all.")
    (1.0, 0.0)
    """
    words = re.findall(r"[\w']+", feedback.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    balance = 0
    for place, word in enumerate(words):
        negated = bool(NEGATION & set(words[max(place - REACH, 0) : place]))
        balance += (
            (word in KIND and not negated) - (word in UNKIND and not negated) - (word in KIND and negated)
        )
    if balance == 0 and NEGATION & set(words):
        return 0.0
    return 0.5 + 0.5 * ((balance > 0) - (balance < 0))


JUDGES: Mapping[str, Callable[[str], float]] = {"told": judge_told, "kind words": judge_kind_words}

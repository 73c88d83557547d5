"""Whether feedback was shown to tell anything: the evidence of a fit, and what is found from it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from scipy.special import ndtri

from tacit.base.saved import Saved
from tacit.trust.findings import Finding

BEYOND_CHANCE = 1.96
"""Standard errors by which a gain must exceed 0 to be believed, where it was looked at once."""
LEVEL = 0.05
"""Probability that feedback which tells nothing is ever believed, at most, however often the agent looks."""
LEAST_GAIN = 1e-6
"""Below this a gain is rounding: where everybody says the same, gain and error are nearly 0."""
TRIALS = 10
"""Fits of which the best is looked at each time."""

STILL_EXPLORING = Finding(
    "still-exploring",
    "unknown",
    "",
    "Nothing has been made of the feedback yet: the agent takes candidates at random and listens.",
    "Let it run on; it fits what feedback means when exploration ends.",
)
UNTESTED = Finding(
    "independence-untested",
    "info",
    "",
    "Whether people react to the outcome alone, or to what was said whatever came of it (Assumption 2.1), is not "
    "tested for text; theta and M are not estimated, but taken to be 0.9 and 1.",
    "Read some of the sentences that were decoded, and check that they speak of the outcome.",
)


class Evidence(NamedTuple):
    """How much better than uniform a posterior foretells candidates on reactions that it was not fitted to.

    `gain` is what is won, on average, by staking 1 on them, or the mean drop in squared loss (eq. 5); `error` its
    standard error. `looks` counts how often the best of several fits was looked at, this time included; 0 where one
    fit was looked at once.
    """

    gain: float
    error: float
    looks: int = 0

    @staticmethod
    def from_state(saved: Saved, name: str) -> Evidence | None:
        """Return the evidence that was saved under a name as two numbers, None if None was."""
        if not saved.has(name):
            return None
        entries = saved.entries(name)
        saved.check(len(entries) == 3, name, "a gain, its standard error and a number of looks")
        return Evidence(entries.number("0"), entries.number("1", 0, math.inf), entries.whole("2"))

    @property
    def found(self) -> bool:
        """Return whether the gain is beyond chance: in 5 % of runs, however often looked at (2.5 % of one look)."""
        return self.gain > max(self.needed * self.error, LEAST_GAIN)

    @property
    def needed(self) -> float:
        """Return how many standard errors the gain must exceed 0 by; the looks share `LEVEL` as 1/2, 1/6, 1/12 ...

        >>> round(Evidence(0.1, 0.01, looks=1).needed, 2), round(Evidence(0.1, 0.01, looks=10).needed, 2)
        (2.81, 3.91)
        """
        if not self.looks:
            return BEYOND_CHANCE
        return float(-ndtri(LEVEL / TRIALS / (self.looks * (self.looks + 1))))


def remarks_on(evidence: Evidence) -> tuple[str, ...]:
    """Return what the user must be told of a fit: that feedback says nothing, if it does not.

    >>> remarks_on(Evidence(gain=0.1, error=0.01))
    ()
    """
    if evidence.found:
        return ()
    return (
        "the feedback is not shown to be more than noise: on reactions left out of the fit it foretells the candidates "
        f"taken no better than chance (gain {evidence.gain:.4f}, standard error {evidence.error:.4f}), so do not trust "
        "decoded rewards yet; explore longer, and check that feedback depends on what was done",
    )


def find_evidence(evidence: Evidence | None) -> Iterator[Finding]:
    """Yield whether feedback foretells what was said on reactions that were left out of the fit; None: not asked."""
    if evidence is None:
        return
    told = f"(gain {evidence.gain:.4f}, standard error {evidence.error:.4f})"
    if evidence.found:
        yield Finding(
            "feedback-tells",
            "info",
            "",
            "On reactions left out of the fit, feedback tells which candidate came before it better than chance "
            f"{told}.",
            "Nothing needs to be done.",
        )
        return
    yield Finding(
        "feedback-tells-nothing",
        "error",
        "",
        "On reactions left out of the fit, feedback tells which candidate came before it no better than chance "
        f"{told}.",
        "Log more episodes with random last actions, and check that feedback belongs to the episode that it is "
        "logged with and depends on what was done.",
    )

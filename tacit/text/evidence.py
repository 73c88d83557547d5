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
LEVEL = 0.01
"""Probability that feedback which tells nothing is ever believed, at most, however often the agent looks."""
LEAST_GAIN = 1e-6
"""Below this a gain is rounding: where everybody says the same, gain and error are nearly 0."""
TRIALS = 10
"""Fits of which the best is looked at each time."""
PLAINLY, HARDLY = 5.0, 0.1
"""Standard errors beyond which a gain needs choices drawn anew to go as well in no more than this share of cases."""
ONE_OF_MANY = 1
"""Looks that somebody is taken to have had already who will look again and again: the first look is the only one at a
log, and has all of the level."""
LATE = 7
"""Looks that are taken to have gone before those: the ones at which something is found share most of the level."""
SURELY = 3.0
"""Standard errors beyond which feedback is said to name the candidate: its meaning is estimated, so there is more than
chance."""
MUCH = 0.5
"""Share of what meaning tells from which on what feedback names is too much to trust the meaning."""

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
    "Whether people react to the outcome alone, or to what was said whatever came of it (Assumption 2.1), is tested "
    "for text in one way at most: whether feedback is like the candidate that came before it.",
    "Read some of the sentences that were decoded, and check that they speak of the outcome.",
)
SEVERAL = 1.2
"""M above which more than one candidate pleases."""
BOUNDS = {
    "gain": (-math.inf, math.inf),
    "echo": (-math.inf, math.inf),
    "chance": (0.0, 1.0),
    "together": (0.0, 1.0),
    "theta": (0.0, 1.0),
}
"""What may be saved of evidence; all else is at least 0."""


class Evidence(NamedTuple):
    """How much better than uniform a posterior foretells candidates on reactions that it was not fitted to.

    `gain` is what is won, on average, by staking 1 on them, or the mean drop in squared loss (eq. 5); `error` its
    standard error. `looks` counts how often the best of several fits was looked at, this time included and one more
    where there will be others; 0 where one fit was looked at once.
    `chance` is how likely choices drawn anew go with feedback as well as those taken did
    (`tacit.text.small.redrawing`); 0 where none could be drawn, and standard errors are all there is. `echo` is what is
    won beyond that by staking on candidates that feedback is like (`tacit.text.small.echoing`), with its standard
    error: 0 and 0 where nobody looked. `theta` and `M`, with their standard errors, and the number of `candidates`
    (`tacit.text.small.gauging`) are 0 where they are not known. `together` is the chance that choices of all turns have
    together, drawn anew (`tacit.text.small.earlier_choices`); 0 where those of the last alone could be.
    """

    gain: float
    error: float
    looks: int = 0
    echo: float = 0.0
    echo_error: float = 0.0
    chance: float = 0.0
    theta: float = 0.0
    theta_error: float = 0.0
    M: float = 0.0
    M_error: float = 0.0
    candidates: float = 0.0
    together: float = 0.0

    @staticmethod
    def from_state(saved: Saved, name: str) -> Evidence | None:
        """Return the evidence that was saved under a name as a list of numbers, None if None was."""
        if not saved.has(name):
            return None
        entries, fields = saved.entries(name), Evidence._fields
        saved.check(len(entries) == len(fields), name, f"{len(fields)} numbers: {', '.join(fields)}")
        return Evidence._make(
            entries.whole(str(n))
            if field == "looks"
            else entries.number(str(n), *BOUNDS.get(field, (0, math.inf)))
            for n, field in enumerate(fields)
        )

    @property
    def found(self) -> bool:
        """Return whether feedback tells something that was learned; in about 1 % of runs where it tells nothing.

        That it tells anything is the choices' part, drawn anew; that the fit has learned it, the gain's. What is plain
        to the fit is believed where choices drawn anew hardly go as well. Where all turns tell it no gain is asked for:
        it is of the last choice alone, and what earlier ones lead to is learned of all.
        """
        if self.together:
            return self.together <= level_of(self.looks)
        plainly = self.gain > PLAINLY * self.error and self.chance <= HARDLY
        return self.gain > max(self.needed * self.error, LEAST_GAIN) and (self.is_unlikely or plainly)

    @property
    def is_unlikely(self) -> bool:
        """Return whether last choices drawn anew, if any, hardly ever go with feedback as well as those taken."""
        return not self.chance or self.chance <= level_of(self.looks)

    @property
    def names_candidate(self) -> bool:
        """Return whether feedback tells which candidate came before it beyond what it means (Assumption 2.1 fails)."""
        return self.echo > max(SURELY * self.echo_error, LEAST_GAIN)

    @property
    def names_more_than_means(self) -> bool:
        """Return whether that tells about as much of the candidate as the meaning does, so that meaning is in doubt."""
        return self.names_candidate and self.echo >= MUCH * self.gain

    @property
    def needed(self) -> float:
        """Return how many standard errors the gain must exceed 0 by.

        Where choices were drawn anew, as many as one look asks for: it is they who show that feedback tells anything.
        Elsewhere the looks at the best of several fits share `LEVEL`: 1/2 at a log, 1/6, 1/12 ... at an agent's.

        >>> round(Evidence(0.1, 0.01, looks=1).needed, 2), round(Evidence(0.1, 0.01, looks=10).needed, 2)
        (3.29, 4.29)
        """
        if not self.looks or self.chance:
            return BEYOND_CHANCE
        return float(-ndtri(LEVEL / TRIALS / (self.looks * (self.looks + 1))))


def level_of(look: int) -> float:
    """Return the part of `LEVEL` that a look has: the first all of it, if it is the only one, and all others, too.

    >>> round(level_of(1), 4), round(level_of(9), 5), round(sum(level_of(n) for n in range(2, 10_000)), 3)
    (0.01, 0.00033, 0.01)
    """
    return LEVEL * (1.0 if look == 1 else (LATE + 2) / ((look + LATE) * (look + LATE + 1)))


def remarks_on(evidence: Evidence) -> tuple[str, ...]:
    """Return what the user must be told of a fit: that feedback says nothing, if it does not.

    >>> remarks_on(Evidence(gain=0.1, error=0.01))
    ()
    """
    if evidence.found:
        return ()
    return (
        "the feedback is not shown to be more than noise: on reactions left out of the fit it foretells the candidates "
        f"taken no better than chance {told_by(evidence)}, so do not trust "
        "decoded rewards yet; explore longer, and check that feedback depends on what was done",
    )


def told_by(evidence: Evidence) -> str:
    """Return the numbers of evidence in brackets.

    >>> told_by(Evidence(0.2, 0.1, 1, chance=0.25))
    '(gain 0.2000, standard error 0.1000; choices drawn anew go with feedback as well with a chance of 0.25)'
    """
    numbers = f"gain {evidence.gain:.4f}, standard error {evidence.error:.4f}"
    if evidence.chance:
        numbers += f"; choices drawn anew go with feedback as well with a chance of {evidence.chance:.2g}"
    if evidence.together:
        numbers += f", all turns together with one of {evidence.together:.2g}"
    return f"({numbers})"


def find_evidence(evidence: Evidence | None) -> Iterator[Finding]:
    """Yield whether feedback foretells what was said on reactions that were left out of the fit; None: not asked."""
    if evidence is None:
        return
    told = told_by(evidence)
    yield from find_echo(evidence)
    yield from find_constants(evidence)
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


def find_echo(evidence: Evidence) -> Iterator[Finding]:
    """Yield whether feedback is like the candidate that came before it, beyond what it means; nothing if nobody looked.

    >>> [(f.code, f.severity) for f in find_echo(Evidence(0.2, 0.01, 1, echo=0.15, echo_error=0.01))]
    [('feedback-names-the-candidate', 'unknown')]
    """
    if not evidence.echo_error:
        return
    told = f"(gain {evidence.echo:.4f}, standard error {evidence.echo_error:.4f})"
    if not evidence.names_candidate:
        yield Finding(
            "feedback-names-nothing",
            "info",
            "",
            f"What people say is no more like the candidate they were given than what it means would make it {told}.",
            "Nothing needs to be done.",
        )
        return
    much = evidence.names_more_than_means
    yield Finding(
        "feedback-names-the-candidate",
        "unknown" if much else "caution",
        "",
        f"What people say is like the candidate they were given {told}, beyond what it is taken to mean: they take its "
        "words up, whatever they think of it (Assumption 2.1)"
        + (", and that tells nearly as much of the candidate as the meaning does." if much else "."),
        "Find out the outcome of some episodes and hold them against what was decoded, or ask for feedback that is "
        "about the outcome alone.",
    )


def find_constants(evidence: Evidence) -> Iterator[Finding]:
    """Yield what theta, M and sigma are found to be, where feedback tells anything and they are known.

    >>> told = Evidence(0.2, 0.01, theta=0.9, theta_error=0.01, M=1.8, M_error=0.1, candidates=4.0)
    >>> [(f.code, f.severity) for f in find_constants(told)]
    [('several-please', 'caution')]
    """
    known = estimate_intervals(evidence)
    if not evidence.found or known is None:
        return
    theta, M, sigma = known["theta"], known["M"], known["sigma"]
    told = (
        f"where one candidate is held to be right it pleases in {theta[0]:.2f} [{theta[1]:.2f}, {theta[2]:.2f}] of "
        f"cases (theta), and {M[0]:.2f} [{M[1]:.2f}, {M[2]:.2f}] of {evidence.candidates:.1f} please (M); sigma = "
        f"theta (K - M) / M is {sigma[0]:.2f} [{sigma[1]:.2f}, {sigma[2]:.2f}]"
    )
    if M[1] > SEVERAL:
        yield Finding(
            "several-please",
            "caution",
            "",
            f"By what is read of reactions left out of the fit, {told}: more than one candidate pleases, and the model "
            "of conversations holds one to be right.",
            "Offer candidates of which one is right, or take decoded rewards of the others for too low.",
        )
        return
    yield Finding(
        "constants-estimated",
        "info",
        "",
        f"By what is read of reactions left out of the fit, {told} (Assumption 2.3).",
        "Nothing needs to be done.",
    )


def estimate_intervals(evidence: Evidence) -> dict[str, tuple[float, float, float]] | None:
    """Return theta, M and sigma, each (estimate, low, high) with a confidence of 0.95; None if they are not known.

    That theta and M go together is left out of sigma's error, which is the larger for it.

    >>> estimate_intervals(Evidence(0.2, 0.01, theta=1.0, M=1.0, candidates=4.0))["sigma"]
    (3.0, 3.0, 3.0)
    """
    theta, M, K = evidence.theta, evidence.M, evidence.candidates
    if not M:
        return None
    sigma = theta * (K - M) / M
    sigma_error = math.hypot((K - M) / M * evidence.theta_error, theta * K / M**2 * evidence.M_error)

    def interval(value: float, error: float, high: float) -> tuple[float, float, float]:
        away = BEYOND_CHANCE * error
        return value, max(value - away, 0.0), min(value + away, high)

    return {
        "theta": interval(theta, evidence.theta_error, 1.0),
        "M": interval(M, evidence.M_error, K),
        "sigma": interval(sigma, sigma_error, math.inf),
    }

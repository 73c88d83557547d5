"""Who teaches what feedback means: episodes whose last action was random, of tables and of text alike.

An action that was drawn with probability p among K counts w = 1/(K p) times, which makes the weighted tuples those of
uniform actions (Lemma 3.3). Given the action, weights change nothing by Assumption 2.1, but where p follows something
that the log does not hold they undo it. Episodes of unknown probability teach if it is said that they are uniform, if
no test tells their actions from uniform ones or, in tables, by an estimate of it (`tacit.offline.propensities`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from scipy.special import gammaincc, xlogy

from tacit.base.arrays import FloatArray
from tacit.decoding.tuples import Reservoir
from tacit.logs.problems import Problems
from tacit.logs.record import NothingUsableError
from tacit.trust.findings import Finding

T = TypeVar("T")

UNIFORM_LEVEL = 0.01
"""Of the test that actions without logged probability were uniform."""
NOT_RANDOM, UNKNOWN_PROBABILITY = "last action not random", "probability of the last action unknown"
THIN = 0.1
"""Share of the tuples below which their effective size deserves a caution."""


class NothingToLearnError(NothingUsableError):
    """Logs from which nothing can be learned, however many there are."""


@dataclass
class Teaching(Generic[T]):
    """Rows of the episodes that teach: those of `known` probability, and of `unknown`; the others counted by reason.

    >>> teaching = Teaching[str](Reservoir(), Reservoir())
    >>> kept, weight = teaching.admit(0.1, 5, line=1)
    >>> kept is teaching.known, weight, teaching.admit(1.0, 5, line=2), dict(teaching.left_out)
    (True, 2.0, None, {'last action not random': 1})
    """

    known: Reservoir[T]
    unknown: Reservoir[T]
    assume_uniform: bool = False
    episodes: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    first_lines: dict[str, int] = field(default_factory=dict)
    """The line or row (of CSV files the number) of the first episode that was left out for each reason."""

    def admit(self, p: float | None, K: int, line: int) -> tuple[Reservoir[T], float] | None:
        """Return where an episode belongs whose last action had probability p among K, and its weight; or None."""
        if p == 1 and K > 1:
            self.leave_out(NOT_RANDOM, line)
            return None
        self.episodes += 1
        if p is None and K > 1 and not self.assume_uniform:
            self.first_lines.setdefault(UNKNOWN_PROBABILITY, line)
            return self.unknown, 1.0
        return self.known, 1.0 if p is None else 1 / (K * p)

    def leave_out(self, reason: str, line: int) -> None:
        """Count an episode that teaches nothing of what feedback means, and stands in this line."""
        self.episodes += 1
        self.left_out[reason] += 1
        self.first_lines.setdefault(reason, line)

    def accept_unknown(self, p_value: float) -> float | None:
        """Take in the rows of unknown probability if a test of uniformity lets them pass; return its p-value if so."""
        if p_value < UNIFORM_LEVEL:
            self.left_out[UNKNOWN_PROBABILITY] += self.unknown.seen
            return None
        self.known.seen += self.unknown.seen
        self.known.rows += self.unknown.take()
        return p_value

    def accept_weighed(self, forced: int, scarce: int) -> None:
        """Take it that rows of unknown probability were weighed, but those not random and those too few to tell."""
        for reason, n in ((NOT_RANDOM, forced), (UNKNOWN_PROBABILITY, scarce)):
            if n:
                self.left_out[reason] += n
                self.first_lines.setdefault(reason, self.first_lines[UNKNOWN_PROBABILITY])
        self.known.seen += self.unknown.seen - forced - scarce

    def why_refused(self, problems: Problems | None) -> str:
        """Return the words for who does not teach and why, with the place of the first of each kind."""
        told = [
            f"{why}: {n:,}, the first is number {self.first_lines[why]:,}" for why, n in self.left_out.items()
        ]
        if problems is not None and problems.total:
            told.append(f"set aside: {problems.total:,} ({problems.explained})")
        return "; ".join(told) or "no other was read"

    def read(self, problems: Problems | None) -> int:
        """Return how many episodes were read, with those that were set aside."""
        return self.episodes + (problems.total if problems is not None else 0)


def uniformity_p_value(tables: Iterable[FloatArray], untested: float) -> float:
    """Return the p-value of actions being uniform in each of several tables of counts (K,), `untested` if none tells.

    The likelihood-ratio test, all tables with at least five tuples an action at once.
    """
    statistic, freedom = 0.0, 0
    for n in tables:
        K = len(n)
        if n.sum() >= 5 * K:
            statistic += 2 * float(xlogy(n, n * K / n.sum()).sum())
            freedom += K - 1
    return float(gammaincc(freedom / 2, statistic / 2)) if freedom else untested


def find_uneven_weights(n: float, size: float) -> Iterator[Finding]:
    """Yield a caution if the weights leave little of n tuples: those worth `size` uniform ones."""
    if size < THIN * n:
        yield Finding(
            "weights-uneven",
            "caution",
            "",
            f"{n:,.0f} tuples weigh as much as {size:,.0f}: some actions were drawn far more often than others.",
            "Log more episodes in which the rarer actions are tried.",
        )


def find_inferred_uniformity(accepted: float | None, n: int) -> Iterator[Finding]:
    """Yield a caution if the actions of n episodes were only found to look uniform, with p-value `accepted`."""
    if accepted is not None:
        yield Finding(
            "uniformity-inferred",
            "caution",
            "",
            f"{n:,} episodes do not tell how likely their last action was; no test tells them from uniform ones (p = "
            f"{accepted:.2g}), so they were taken for such. Actions chosen for reasons not in the log could "
            "still mislead.",
            "Log the probability of each action, or say that they were uniform.",
        )

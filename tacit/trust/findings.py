"""What a diagnosis is made of: findings, and the words in which they name states and contexts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from tacit.base.saved import Saved
from tacit.problem.layout import Layout

Severity = Literal["info", "caution", "unknown", "error"]
SEVERITIES = ("error", "unknown", "caution", "info")
"""Worst first: what learning fails without, what there is to know first, what is thin, what else there is to say."""
VERDICTS = {
    "error": "cannot work",
    "unknown": "not known yet",
    "caution": "works with caution",
    "info": "works",
}
"""What the worst finding comes to."""
BASES = ("understood", "understood-by-fit", "feedback-tells", "read-in-common")
"""The codes of findings that say what "works" rests on, with caution or without."""
OVERRULING = ("turned-by-outcomes",)
"""The codes of remarks that say that what the user believes was overruled."""

LISTED = 3
"""States and contexts that a finding names before it only counts them."""


@dataclass(frozen=True)
class Finding:
    """One thing that was found: `where` is a state and context in words, or "" for everything."""

    code: str
    severity: Severity
    where: str
    evidence: str
    remedy: str

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Finding:
        """Return the finding whose fields were saved."""
        saved = Saved.of(data)
        severity = saved.choice("severity", SEVERITIES)
        words = (saved.text(name) for name in ("where", "evidence", "remedy"))
        return Finding(saved.text("code"), cast(Severity, severity), *words)

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        return f"{self.code}{place}: {self.evidence} {self.remedy}"


@dataclass(frozen=True)
class Diagnosis:
    """Whether what was learned can be trusted, and why: the findings, worst first."""

    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> str:
        """Return "works", "works with caution", "not known yet" or "cannot work"."""
        return verdict(self.findings)

    @property
    def basis(self) -> str:
        """Return what the verdict rests on, with numbers; "" where nothing was understood."""
        return rests_on(self.findings)

    def __str__(self) -> str:
        return "\n".join([self.verdict, *map(str, self.findings)])


def raised(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that need attention: all but remarks."""
    return tuple(finding for finding in findings if finding.severity != "info")


def stated(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that a summary lists: what needs attention, and what overruled a belief of the user's."""
    return tuple(each for each in findings if each.severity != "info" or each.code in OVERRULING)


def verdict(findings: Iterable[Finding]) -> str:
    """Return "works", "works with caution", "not known yet" or "cannot work": what the worst finding comes to.

    >>> verdict([Finding("thin", "caution", "", "", ""), Finding("nothing-yet", "unknown", "", "", "")])
    'not known yet'
    """
    severities = {finding.severity for finding in findings}
    return next((words for severity, words in VERDICTS.items() if severity in severities), VERDICTS["info"])


def rests_on(findings: Iterable[Finding]) -> str:
    """Return what was understood, as far as findings say so."""
    return " ".join(finding.evidence for finding in findings if finding.code in BASES)


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings, errors first, remarks last."""
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def name_place(layout: Layout, state: int, context: Any) -> str:
    """Return the words for a last state in a context."""
    return f"state {layout.endings.name(state)!r}, context {context!r}"


def list_places(layout: Layout, places: Iterable[tuple[int, int]]) -> str:
    """Return the words for some (last state, context), the first few by name."""
    return abridge([name_place(layout, s, layout.contexts.decode(x)) for s, x in places])


def abridge(words: Sequence[str]) -> str:
    """Return the first few words, and how many more there are."""
    more = len(words) - LISTED
    return "; ".join(words[:LISTED]) + (f" and {more} more" if more > 0 else "")


def count_places(n: int) -> str:
    """Return a number of states and contexts in words."""
    return f"{n:,} {'state and context' if n == 1 else 'states and contexts'}"


def count_of(n: int, one: str, many: str) -> str:
    """Return a number with its noun: 1 state, 2 states."""
    return f"{n} {one if n == 1 else many}"


def show_share(share: float) -> str:
    """Return a share in percent, of small ones two digits.

    >>> show_share(1.0), show_share(0.37), show_share(0.0042)
    ('100 %', '37 %', '0.42 %')
    """
    percent = 100 * share
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"

"""Can these logs be decoded? The verdict, what it stands on, and the page that says so."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tacit.base.files import write_atomically
from tacit.logs.problems import Problems
from tacit.trust.findings import Diagnosis, Finding, rests_on, verdict


class Examination(Protocol):
    """What a diagnosis looked at, of whatever kind the logs are."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return what was found, worst first."""


X = TypeVar("X", bound=Examination)


@dataclass(frozen=True)
class LogDiagnosis(Generic[X]):
    """Whether logs can be decoded, and why.

    `examination` is what was looked at; `title` and `problems` are for the page, which `render` makes of all three.
    """

    examination: X
    title: str
    problems: Problems | None
    render: Callable[[X, str, Problems | None], str]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return what was found, worst first."""
        return self.examination.findings

    @property
    def verdict(self) -> str:
        """Return "works", "works with caution", "not known yet" or "cannot work"."""
        return verdict(self.findings)

    @property
    def basis(self) -> str:
        """Return what the verdict rests on, with numbers; "" where nothing was understood."""
        return rests_on(self.findings)

    def __str__(self) -> str:
        return str(Diagnosis(self.findings))

    def page(self) -> str:
        """Return the page in HTML: one self-contained file."""
        return self.render(self.examination, self.title, self.problems)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        write_atomically(path, self.page().encode())

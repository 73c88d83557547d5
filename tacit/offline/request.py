"""What is asked of a fit, whatever the logs turn out to hold."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.base.validation import check_choice
from tacit.decoding.decoder import check_c
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource, Progress
from tacit.problem.growth import closed
from tacit.problem.layout import SILENCES, Layout

IGNORE, CHECK, SETTLE = ANCHORS = ("ignore", "check", "settle")
"""What to do with rewards in the logs."""


@dataclass(frozen=True)
class FitRequest:
    """The logs and the options of `tacit.fit`, which explains them."""

    source: LogSource
    c: float = 0.0
    assume_uniform: bool = False
    anchors: str = IGNORE
    problems: Problems | None = None
    progress: Progress | None = None
    seed: int = 0
    engine: str = "local"
    silence: str | None = None

    def __post_init__(self) -> None:
        check_c(self.c)
        if self.silence is not None:
            check_choice("silence", self.silence, SILENCES)
        if self.anchors not in ANCHORS:
            raise ValueError(
                f"anchors must be one of {ANCHORS}, got {self.anchors!r}; leave them out to ignore"
            )

    def heard(self, layout: Layout) -> Layout:
        """Return a layout as it is now, with silence taken for what was asked, if anything was."""
        known = closed(layout)
        return known if self.silence is None else replace(known, silence=self.silence)

    @property
    def rules_broken(self) -> dict[str, int]:
        """Return how many episodes were set aside by rule, as far as somebody wanted to know."""
        return dict(self.problems.by_rule) if self.problems is not None else {}

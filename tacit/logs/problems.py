"""What was wrong with logs: an episode that breaks a rule is counted, located, explained and kept; the rest goes on."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from tacit.logs.files import RawRecord
from tacit.logs.record import Fault, LogError
from tacit.logs.writing import LineWriter

KEPT = 20
"""Problems of which the whole explanation is kept in memory; the side file holds all of them."""


@dataclass(frozen=True)
class Problem:
    """A fault and where it stands."""

    file: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.message}"


@dataclass
class Problems:
    """What was wrong with the logs: counted by rule, the first ones in full, all of them in a side file.

    With `strict` the first raises `LogError`. The side file is written line by line, {"file", "line", "rule",
    "problem", "raw"}, and takes its name when it is closed; without problems there is none.

    >>> problems = Problems()
    >>> problems.add(Problem("a.jsonl", 3, "no-feedback", "an episode needs feedback"), b"{}")
    >>> problems.total, dict(problems.by_rule)
    (1, {'no-feedback': 1})
    """

    strict: bool = False
    side: str | os.PathLike[str] | None = None
    by_rule: Counter[str] = field(default_factory=Counter)
    first: list[Problem] = field(default_factory=list)
    _writer: LineWriter | None = field(default=None, repr=False)

    @property
    def total(self) -> int:
        """Return how many episodes were set aside."""
        return self.by_rule.total()

    def add(self, problem: Problem, raw: bytes) -> None:
        """Count a problem and keep the line that has it; raise if problems are not to be lived with."""
        if self.strict:
            raise LogError(str(problem))
        self.by_rule[problem.rule] += 1
        if len(self.first) < KEPT:
            self.first.append(problem)
        if self.side is not None:
            self._writer = self._writer or LineWriter(Path(self.side))
            self._writer.write(
                {
                    "file": problem.file,
                    "line": problem.line,
                    "rule": problem.rule,
                    "problem": problem.message,
                    "raw": raw.decode("utf-8", "backslashreplace").rstrip("\r\n"),
                }
            )

    def reject(self, raw: RawRecord, fault: Fault) -> None:
        """Add what is wrong with a line or row."""
        self.add(Problem(raw.file, raw.line, *fault), raw.text())

    def warn(self) -> None:
        """Warn of what was set aside, if anything was: for callers that did not ask for problems."""
        if self.total:
            warnings.warn(
                f"{self.total} episodes were left out, the first for {self.first[0]}; pass problems=Problems(side=...) "
                "to keep them",
                stacklevel=3,
            )

    def close(self) -> None:
        """Finish the side file, if there is one."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def __enter__(self) -> Problems:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class KeptProblems(Problems):
    """Problems as a worker finds them, kept whole to be sent back."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[Problem, bytes]] = []

    def add(self, problem: Problem, raw: bytes) -> None:
        """Keep a problem."""
        self.kept.append((problem, raw))

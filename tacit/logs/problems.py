"""What was wrong with logs: an episode that breaks a rule is counted, located, explained and kept; the rest goes on."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType

from tacit.logs.files import RawRecord
from tacit.logs.record import Fault, LogError, NothingUsableError
from tacit.logs.repeats import DUPLICATE
from tacit.logs.side_files import SideFile

KEPT = 20
"""Problems of which the whole explanation is kept in memory; the side file holds all of them."""
EXPLAINED = 3
"""Rules of which an error gives an example."""


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
    "problem", "raw"}, and takes its name when it is closed; without problems there is none, and an episode that was
    read before, word for word, is counted but not written again. With `go_on` a side file that cannot be written does
    not stop the work: `unwritten` says why, and `written` how many lines it has. A side file that is `unasked` for is
    not left behind where nothing could be used: it would be a copy of the logs, and the error tells what is wrong.

    >>> problems = Problems()
    >>> problems.add(Problem("a.jsonl", 3, "no-feedback", "an episode needs feedback"), b"{}")
    >>> problems.total, dict(problems.by_rule)
    (1, {'no-feedback': 1})
    """

    strict: bool = False
    side: str | os.PathLike[str] | None = None
    go_on: bool = False
    unasked: bool = False
    by_rule: Counter[str] = field(default_factory=Counter)
    first: list[Problem] = field(default_factory=list)
    examples: dict[str, Problem] = field(default_factory=dict)
    written: int = 0
    unwritten: str | None = None
    _file: SideFile | None = field(default=None, repr=False)

    @property
    def total(self) -> int:
        """Return how many episodes were set aside."""
        return self.by_rule.total()

    @property
    def reasons(self) -> str:
        """Return the rules that were broken and how often, the commonest first."""
        return ", ".join(f"{rule}: {n:,}" for rule, n in self.by_rule.most_common())

    @property
    def explained(self) -> str:
        """Return the commonest rules that were broken, how often, and where each was first."""
        told = [
            f"{rule}: {n:,}, the first in {self.examples[rule]}"
            for rule, n in self.by_rule.most_common(EXPLAINED)
        ]
        more = len(self.by_rule) - EXPLAINED
        return "; ".join([*told, f"and {more} rules more"] if more > 0 else told)

    def add(self, problem: Problem, raw: bytes) -> None:
        """Count a problem and keep the line that has it; raise if problems are not to be lived with."""
        if self.strict:
            raise LogError(str(problem))
        self.by_rule[problem.rule] += 1
        self.examples.setdefault(problem.rule, problem)
        if len(self.first) < KEPT:
            self.first.append(problem)
        if self.side is not None and self.unwritten is None and problem.rule != DUPLICATE:
            self._write(self.side, problem, raw)

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

    def close(self, keep: bool = True) -> None:
        """Finish the side file, if there is one; `keep=False` leaves what was there before."""
        file, self._file = self._file, None
        if file is None:
            return
        if not keep:
            self.written = 0
        try:
            file.close(keep)
        except OSError as error:
            self._give_up(error)

    def __enter__(self) -> Problems:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        copies = self.unasked and kind is not None and issubclass(kind, NothingUsableError)
        self.close(
            keep=kind is None or (issubclass(kind, Exception) and not copies)
        )  # it tells why a call failed

    def _write(self, side: str | os.PathLike[str], problem: Problem, raw: bytes) -> None:
        try:
            self._file = self._file or SideFile(side)
            self._file.write(problem.file, problem.line, problem.rule, problem.message, raw)
            self.written += 1
        except OSError as error:
            file, self._file = self._file, None
            if file is not None:
                file.close(keep=False)
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Do without the side file, if that is allowed."""
        if not self.go_on:
            raise error
        self.written, self.unwritten = 0, str(error)


class KeptProblems(Problems):
    """Problems as a worker finds them, kept whole to be sent back."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[Problem, bytes]] = []

    def add(self, problem: Problem, raw: bytes) -> None:
        """Keep a problem."""
        self.kept.append((problem, raw))


def nothing_usable(problems: Problems) -> NothingUsableError:
    """Return the error of a call that found no episode to work with: how many were set aside, and why.

    >>> str(nothing_usable(Problems()))
    'logs must hold at least one episode, got none: they are empty; give logs that hold episodes'
    """
    if not problems.total:
        return NothingUsableError(
            "logs must hold at least one episode, got none: they are empty; give logs that hold episodes"
        )
    return NothingUsableError(
        f"logs must hold at least one episode that can be used, got none: {problems.total:,} were set aside "
        f"({problems.explained})"
    )

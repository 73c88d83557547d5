"""The log format: one episode a line, what was shown, done and said. `docs/log-format.md` describes it.

    {"episode": 7, "context": "new", "steps": [{"state": "start", "action": "ask", "actions": ["ask", "tell"],
     "probability": 0.5}], "feedback": "thanks", "reward": 1}

`read_logs` streams episodes from files of any size; an episode that breaks a rule is counted, located, explained and
kept in a side file, and the rest goes on (`Problems`). The simulator and the service write the same format.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from tacit.learning.episode import Episode
from tacit.logs.files import LogError, RawRecord, find_logs, iterate_raw, parse_json
from tacit.logs.record import SCHEMA, Fault, find_fault
from tacit.logs.writing import LineWriter, LogWriter

__all__ = [
    "SCHEMA",
    "Fault",
    "LogError",
    "LogWriter",
    "LoggedEpisode",
    "LoggedStep",
    "Problem",
    "Problems",
    "episode_of",
    "find_fault",
    "find_logs",
    "log_of",
    "read_logs",
]

KEPT = 20
"""Problems of which the whole explanation is kept in memory; the side file holds all of them."""


@dataclass(frozen=True)
class LoggedStep:
    """One step: the state seen, the action taken and, where known, the actions offered and its probability."""

    state: Any
    action: Any
    actions: tuple[Any, ...] | None = None
    probability: float | None = None


@dataclass(frozen=True)
class LoggedEpisode:
    """One episode that happened, as the log tells it.

    >>> LoggedEpisode("e1", "new", (LoggedStep("start", "ask"),), "thanks").to_json()
    {'episode': 'e1', 'context': 'new', 'steps': [{'state': 'start', 'action': 'ask'}], 'feedback': 'thanks'}
    """

    episode: str | int
    context: Any
    steps: tuple[LoggedStep, ...]
    feedback: Any
    time: str | float | None = None
    user: str | int | None = None
    reward: float | None = None
    source: tuple[str, int] | None = field(default=None, compare=False, repr=False)
    """The file and the line that it was read from."""

    def to_json(self) -> dict[str, Any]:
        """Return the record of the format, without what is not known."""
        record: dict[str, Any] = {"episode": self.episode}
        record |= {key: value for key in ("time", "user") if (value := getattr(self, key)) is not None}
        record |= {"context": self.context, "steps": [_step_json(step) for step in self.steps]}
        record["feedback"] = self.feedback
        return record if self.reward is None else record | {"reward": self.reward}


@dataclass(frozen=True)
class Problem:
    """A fault and where it stands."""

    file: str
    line: int
    rule: str
    message: str

    @staticmethod
    def of(fault: Fault, episode: LoggedEpisode) -> Problem:
        """Return the problem that an episode has, where it was read."""
        file, line = episode.source or ("episodes in memory", 0)
        return Problem(file, line, *fault)

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


Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A file, a directory of files, or several of either."""


def read_logs(
    paths: Paths, strict: bool = False, problems: Problems | None = None
) -> Iterator[LoggedEpisode]:
    """Yield the episodes of files or directories, one at a time, in order; bad ones go to `problems`.

    Without `problems` the first bad episode raises `LogError` if `strict`, and is otherwise left out and counted
    in a warning at the end.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "logs.jsonl"
    ...     with LogWriter(path) as writer:
    ...         writer.write(LoggedEpisode(1, "new", (LoggedStep("start", "ask"),), "thanks").to_json())
    ...     [episode.feedback for episode in read_logs(path)]
    ['thanks']
    """
    own = problems if problems is not None else Problems(strict)
    for raw in iterate_raw(find_logs(paths)):
        record, fault = check_raw(raw)
        if fault is None:
            yield episode_of(record, (raw.file, raw.line))
        else:
            own.add(Problem(raw.file, raw.line, *fault), raw.text())
    if problems is None:
        own.warn()


def check_raw(raw: RawRecord) -> tuple[Any, Fault | None]:
    """Return the record of a raw line and the first rule it breaks, if any."""
    if raw.damage is not None:
        return None, Fault("damaged-file", raw.damage)
    try:
        record = raw.record if raw.record is not None else parse_json(raw.line_text)
    except ValueError as error:
        return None, Fault(
            "not-json", f"a line must be one JSON object, got {_abridged(raw.text())} ({error})"
        )
    return record, find_fault(record)


def episode_of(record: Mapping[str, Any], source: tuple[str, int] | None = None) -> LoggedEpisode:
    """Return the episode of a record that breaks no rule."""
    return LoggedEpisode(
        record["episode"],
        record["context"],
        tuple(_step_of(step) for step in record["steps"]),
        record["feedback"],
        record.get("time"),
        record.get("user"),
        record.get("reward"),
        source,
    )


def log_of(episode: Episode, reward: float | None = None, user: str | int | None = None) -> LoggedEpisode:
    """Return the log of an agent's episode that has ended with feedback; probabilities are its own.

    `reward` is the latent one where a simulation knows it.

    >>> from tacit.agent import Agent
    >>> from tacit.problem.layout import Layout
    >>> agent = Agent(Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2), seed=1)
    >>> episode = agent.begin(0)
    >>> action = agent.act(episode, 0)
    >>> agent.end(episode, 1)
    >>> log_of(episode).steps[0].probability, log_of(episode).feedback
    (0.5, 1)
    """
    if episode.open or episode.feedback is None:
        raise ValueError(
            f"a log tells of an episode that has ended with feedback, got {episode!r}; end it first"
        )
    steps = tuple(LoggedStep(*step) for step in episode.steps)
    return LoggedEpisode(episode.id, episode.context, steps, _plain(episode.feedback), None, user, reward)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists, NumPy's numbers as Python's."""
    return value.tolist() if hasattr(value, "tolist") else value


def _step_of(step: Mapping[str, Any]) -> LoggedStep:
    offered = step.get("actions")
    return LoggedStep(
        step["state"], step["action"], None if offered is None else tuple(offered), step.get("probability")
    )


def _step_json(step: LoggedStep) -> dict[str, Any]:
    record = {"state": step.state, "action": step.action}
    if step.actions is not None:
        record["actions"] = list(step.actions)
    return record if step.probability is None else record | {"probability": step.probability}


def _abridged(text: bytes, most: int = 60) -> str:
    shown = text[:most].decode("utf-8", "backslashreplace").rstrip("\r\n")
    return repr(shown + (" ..." if len(text) > most else ""))

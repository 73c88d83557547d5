"""How far a run is: a live bar in a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from tacit.engines.task import Done
from tacit.experiments.tasks import StudyTask

QUIET = 10.0
"""Seconds between two lines where there is no terminal."""


class Tally:
    """Counts what is done and guesses what is left, task by task; it learns from those that are over.

    `expected` is the first guess of what each task takes; a finished one corrects it for its learner.
    """

    def __init__(self, expected: Mapping[StudyTask, int]) -> None:
        self._expected = dict(expected)
        self._actual: dict[str, int] = {}
        self._played = dict.fromkeys(expected, 0)
        self.running: dict[StudyTask, str] = {}
        self.over = 0
        self.begun = time.monotonic()

    @property
    def tasks(self) -> int:
        """Return the number of tasks."""
        return len(self._expected)

    @property
    def done(self) -> int:
        """Return the episodes played so far."""
        return sum(self._played.values())

    @property
    def total(self) -> int:
        """Return about how many episodes there will have been."""
        return sum(max(self._guess(task), played) for task, played in self._played.items())

    @property
    def seconds_left(self) -> float | None:
        """Return the time that the rest will take at the pace so far; None before there is one."""
        elapsed = time.monotonic() - self.begun
        return elapsed * (self.total - self.done) / self.done if self.done and elapsed > 1 else None

    def begin(self, task: StudyTask) -> None:
        """Note that a task runs."""
        self.running[task] = "starting"

    def advance(self, task: StudyTask, amount: int, stage: str) -> None:
        """Note that a task got further."""
        self._played[task] += amount
        self.running[task] = stage

    def end(self, task: StudyTask, failed: bool = False) -> None:
        """Note that a task is over, and what it took; one of which nothing was heard took what was expected."""
        if not failed and not self._played[task]:
            self._played[task] = self._expected[task]
        self._actual[task.learner] = self._expected[task] = self._played[task]
        self.running.pop(task, None)
        self.over += 1

    def _guess(self, task: StudyTask) -> int:
        over = task not in self.running and self._played[task] > 0
        return self._played[task] if over else self._actual.get(task.learner, self._expected[task])


class Display:
    """Shows a `Tally`; it is the listener of the engine. Use it in a `with` block."""

    def __init__(self, tally: Tally, unit: str, console: Console) -> None:
        self._tally, self._unit, self._console = tally, unit, console
        self._spoke = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(unit),
            TimeRemainingColumn(),
            console=console,
        )
        self._row = self._bar.add_task("", total=max(tally.total, 1))
        self._live = (
            Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None
        )

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def begun(self, task: StudyTask) -> None:
        """Note that a worker has taken a task."""
        self._tally.begin(task)

    def advanced(self, task: StudyTask, amount: int, stage: str) -> None:
        """Note that a task has got further."""
        self._tally.advance(task, amount, stage)

    def ended(self, done: Done[StudyTask, Any]) -> None:
        """Note that a task is over; say so at once if it failed."""
        self._tally.end(done.task, failed=done.failure is not None)
        if done.failure is not None:
            words = f"{escape(done.task.label)}: {escape(done.failure.reason)}"
            self._console.print(f"[red]failed:[/red] {words}", soft_wrap=True)

    def tick(self) -> None:
        """Refresh the bar, or print a line if it is time."""
        if self._live is not None:
            self._bar.update(
                self._row,
                description=f"{self._tally.over} of {self._tally.tasks} runs",
                completed=self._tally.done,
                total=max(self._tally.total, 1),
            )
            self._live.update(Group(self._bar, Text(self._running(), style="dim")))
        elif time.monotonic() - self._spoke >= QUIET:
            self._spoke = time.monotonic()
            self._console.print(self._line(), soft_wrap=True, highlight=False)

    def _running(self) -> str:
        return "\n".join(f"  {task.label}: {stage}" for task, stage in self._tally.running.items())

    def _line(self) -> str:
        tally = self._tally
        left = tally.seconds_left
        ending = f", about {duration(left)} left" if left is not None else ""
        episodes = f"{tally.done:,} of about {tally.total:,} {self._unit}"
        at = f" ({next(iter(tally.running.values()))})" if len(tally.running) == 1 else ""
        return f"{tally.over} of {tally.tasks} runs, {episodes}{ending}{at}"


def duration(seconds: float) -> str:
    """Return a length of time in words.

    >>> duration(42), duration(300), duration(7300)
    ('42 s', '5 min', '2 h 2 min')
    """
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"

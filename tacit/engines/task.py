"""What engines and those who use them speak of: work, what came of a task, and who wants to hear of it."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")

Report = Callable[[int, str], None]
"""Called with what was done of a task since the last call, in the task's own unit, and what is being done."""
Work = Callable[[T, Report], R]
"""Performs one task after the other, and may report progress."""
MakeWork = Callable[[], Callable[[Any, Report], Any]]
"""Makes the work of a worker, whatever its tasks and results are."""
Advance = Callable[[int, int, str], None]
"""Called with the number of a task, and with what its worker reports."""


@dataclass(frozen=True)
class Failure(Generic[T]):
    """A task that did not end well: one line that says why, and the traceback."""

    task: T
    reason: str
    details: str


@dataclass(frozen=True)
class Done(Generic[T, R]):
    """A task that is over: its result, or the failure in its place (then `result` is None)."""

    task: T
    result: R
    failure: Failure[T] | None = None


class Listener(Protocol[T]):
    """Who wants to hear how it goes. Tasks end in any order; `ended` hears of each at once."""

    def begun(self, task: T) -> None:
        """A worker has taken a task."""

    def advanced(self, task: T, amount: int, stage: str) -> None:
        """A task has got further by `amount`."""

    def ended(self, done: Done[T, Any]) -> None:
        """A task is over."""

    def tick(self) -> None:
        """Some time has passed."""


@dataclass(frozen=True)
class Outcome:
    """What a worker sends back of a task: its result, or why there is none.

    `error` is what was raised, where a caller may want to catch it (a ValueError or OSError that can travel).
    """

    result: Any = None
    reason: str | None = None
    details: str = ""
    error: Exception | None = None

    def as_done(self, task: T) -> Done[T, Any]:
        """Return it as those see it who asked for the task."""
        failure = None if self.reason is None else Failure(task, self.reason, self.details)
        return Done(task, self.result, failure)

    def as_error(self) -> Exception:
        """Return what to raise for a task that failed; the worker's traceback stands in a note."""
        error = self.error or RuntimeError(f"a task failed: {self.reason}")
        if self.details:
            error.add_note(f"The task's own traceback:\n{self.details}")
        return error


class Worker(Generic[T, R]):
    """Performs tasks one by one where it stands; `make_work` is called before the first."""

    def __init__(self, make_work: Callable[[], Work[T, R]]) -> None:
        self._make_work = make_work
        self._work: Work[T, R] | None = None

    def perform(self, task: T, report: Report) -> Outcome:
        """Return what came of a task; nothing is raised but what ends a process."""
        try:
            if self._work is None:
                self._work = self._make_work()
            return Outcome(self._work(task, report))
        except Exception as error:
            return failed(error)


def failed(error: Exception) -> Outcome:
    """Return the outcome of a task that raised.

    >>> failed(KeyError("x")).reason
    "KeyError: 'x'"
    """
    details = "".join(traceback.format_exception(error))
    return Outcome(None, f"{type(error).__name__}: {error}", details, error if _travels(error) else None)


def _travels(error: Exception) -> bool:
    """Return whether callers may want to catch an error by its type, and it comes out of a pipe as it went in."""
    if not isinstance(error, ValueError | OSError):
        return False
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:  # what an unpickled class raises is its own affair
        return False

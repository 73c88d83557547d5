"""Deals tasks out to an engine, and what comes of them back in their order: the one way to do many things at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Protocol

from tacit.engines.local import Here, Processes
from tacit.engines.ray import Actors, find_ray
from tacit.engines.task import Advance, Done, Listener, Outcome, R, T, Work

ENGINES = ("local", "ray")
AHEAD = 8
"""Results for each worker that may wait for an earlier one: enough that a slow task does not leave the others idle."""


class Crew(Protocol):
    """Those who perform tasks, which it knows by their numbers."""

    @property
    def size(self) -> int:
        """Return how many tasks it performs at once."""

    @property
    def idle(self) -> bool:
        """Return whether it can take another task."""

    def give(self, number: int, task: Any) -> None:
        """Begin a task."""

    def hear(self, advance: Advance) -> list[tuple[int, Outcome]]:
        """Wait a moment; return the tasks that ended, and pass on how others got further."""

    def dismiss(self) -> None:
        """Let no one of them outlive the call; what they are at is lost."""


def deal(
    tasks: Iterable[T],
    make_work: Callable[[], Work[T, R]],
    *,
    engine: str = "local",
    jobs: int | None = None,
    listener: Listener[T] | None = None,
    keep_going: bool = False,
) -> Iterator[Done[T, R]]:
    """Return an iterator over what came of each task, in their order.

    `make_work` is called once in each worker, which so can load a model once, and must be picklable. `jobs` is the
    number of workers: as many as there are cores (of the cluster) unless given; 0 lets this process do the work.
    Tasks are read as workers become free, so that memory is bounded however many there are. A task that raises
    comes out with its `failure` if the others are to `keep_going`; otherwise what it raised is raised here if it is a
    ValueError or OSError that can be pickled, and a RuntimeError with its words if not. No worker outlives the
    iterator.

    >>> def make_square():
    ...     return lambda n, report: n * n
    >>> [done.result for done in deal([3, 4], make_square, jobs=0)]
    [9, 16]
    """
    check_engine(engine)
    if jobs is not None and jobs < (1 if engine == "ray" else 0):
        raise ValueError(f"jobs must be at least 1 (0: in this process, local only), got {jobs} for {engine}")
    return _deal(tasks, _hire(engine, make_work, jobs), listener or Nobody(), keep_going)


def check_engine(engine: str) -> None:
    """Raise ValueError unless there is an engine of that name, ImportError unless its package is installed."""
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    if engine == "ray":
        find_ray()


class Nobody(Generic[T]):
    """The listener where nobody listens."""

    def begun(self, task: T) -> None:
        """Do nothing."""

    def advanced(self, task: T, amount: int, stage: str) -> None:
        """Do nothing."""

    def ended(self, done: Done[T, Any]) -> None:
        """Do nothing."""

    def tick(self) -> None:
        """Do nothing."""


def _hire(engine: str, make_work: Callable[[], Work[T, R]], jobs: int | None) -> Crew:
    if engine == "ray":
        return Actors(make_work, jobs)
    return Here(make_work) if jobs == 0 else Processes(make_work, jobs)


def _deal(tasks: Iterable[T], crew: Crew, listener: Listener[T], keep_going: bool) -> Iterator[Done[T, Any]]:
    deck, table = Deck(tasks), Table(crew, listener)
    try:
        while deck.open or table.size:
            while crew.idle and table.size < AHEAD * crew.size and (task := deck.take()) is not None:
                table.begin(*task)
            for done, outcome in table.in_order():
                if outcome.reason is not None and not keep_going:
                    raise outcome.as_error()
                yield done
            if table.under_way and table.hear() and not keep_going:
                deck.close()  # the failure is raised when its turn comes
            listener.tick()
        deck.check()
    finally:
        crew.dismiss()


class Deck(Generic[T]):
    """The tasks and their numbers; an error in making one waits until all before it are done."""

    def __init__(self, tasks: Iterable[T]) -> None:
        self._tasks = enumerate(tasks)
        self.open = True
        self._error: Exception | None = None

    def take(self) -> tuple[int, T] | None:
        """Return the next task, None if there is none."""
        if not self.open:
            return None
        try:
            task = next(self._tasks, None)
        except Exception as error:
            task, self._error = None, error
        self.open = task is not None
        return task

    def close(self) -> None:
        """Give out no more tasks."""
        self.open = False

    def check(self) -> None:
        """Raise what making a task raised."""
        if self._error is not None:
            raise self._error


class Table(Generic[T]):
    """The tasks under way and those that wait for an earlier one to end."""

    def __init__(self, crew: Crew, listener: Listener[T]) -> None:
        self._crew, self._listener = crew, listener
        self.under_way: dict[int, T] = {}
        self._ended: dict[int, tuple[Done[T, Any], Outcome]] = {}
        self._next = 0

    @property
    def size(self) -> int:
        """Return the number of tasks on it."""
        return len(self.under_way) + len(self._ended)

    def begin(self, number: int, task: T) -> None:
        """Give a task to the crew."""
        self.under_way[number] = task
        self._listener.begun(task)
        self._crew.give(number, task)

    def hear(self) -> bool:
        """Take in what the crew has to say; return whether a task failed."""
        heard = self._crew.hear(self._advance)
        for number, outcome in heard:
            done = outcome.as_done(self.under_way.pop(number))
            self._ended[number] = done, outcome
            self._listener.ended(done)
        return any(outcome.reason is not None for _, outcome in heard)

    def in_order(self) -> Iterator[tuple[Done[T, Any], Outcome]]:
        """Take off those whose turn has come."""
        while self._next in self._ended:
            self._next += 1
            yield self._ended.pop(self._next - 1)

    def _advance(self, number: int, amount: int, stage: str) -> None:
        self._listener.advanced(self.under_way[number], amount, stage)

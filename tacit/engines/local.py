"""Worker processes that perform tasks: one thread each, told apart from Ctrl-C, none left behind.

Each worker has its own pipe, so that one that dies takes nothing with it; what it says of its progress, its
end or its failure comes through that pipe. Results do not: a task stores its own.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple, Protocol

from tacit.experiments.learning import Report
from tacit.experiments.tasks import Task

Work = Callable[[Task, Report], None]
"""Performs one task and stores its result; it is pickled to the workers."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""What NumPy, torch and Numba read: one thread each, so that no one waits and sums keep their order."""
TICK = 0.25
"""Seconds between two looks at the clock while no worker says anything."""
PATIENCE = 5.0
"""Seconds that a worker told to stop gets before it is killed."""


class Failure(NamedTuple):
    """A task that did not end well: one line that says why, and the traceback."""

    task: Task
    reason: str
    details: str


class Listener(Protocol):
    """Who wants to hear how it goes."""

    def begun(self, task: Task) -> None:
        """A worker has taken a task."""

    def advanced(self, task: Task, amount: int, stage: str) -> None:
        """A task has got further by `amount`."""

    def ended(self, task: Task, failure: Failure | None) -> None:
        """A task is over."""

    def tick(self) -> None:
        """Some time has passed."""


def perform_all(tasks: Sequence[Task], work: Work, jobs: int, listener: Listener) -> list[Failure]:
    """Perform every task in `jobs` processes and return those that failed; no process outlives the call."""
    waiting = deque(tasks)
    failures: list[Failure] = []
    crew: list[Worker] = []
    try:
        while waiting or any(worker.task for worker in crew):
            _keep_busy(crew, waiting, work, jobs, listener)
            for worker in _speaking(crew):
                failure = worker.hear(listener)
                if failure is not None:
                    failures.append(failure)
            crew = [worker for worker in crew if worker.alive]
            listener.tick()
    finally:
        _dismiss(crew)
    return failures


class Worker:
    """One process and the pipe to it; `task` is what it is at, None while it is idle."""

    def __init__(self, work: Work) -> None:
        self.task: Task | None = None
        self.alive = True
        self._connection, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        with _one_thread(), _deaf_to_interrupts():
            self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe

    @property
    def connection(self) -> Connection[Any, Any]:
        """Return our end of the pipe."""
        return self._connection

    def give(self, task: Task) -> None:
        """Hand over a task; if the process is dead, `hear` will say so."""
        self.task = task
        with suppress(BrokenPipeError):
            self._connection.send(task)

    def hear(self, listener: Listener) -> Failure | None:
        """Read one message and pass it on; return the failure if it is one."""
        assert self.task is not None
        try:
            kind, content = self._connection.recv()
        except (EOFError, ConnectionResetError):
            kind, content = "failed", self._died()
        if kind == "advanced":
            listener.advanced(self.task, *content)
            return None
        task, self.task = self.task, None
        failure = Failure(task, *content) if kind == "failed" else None
        listener.ended(task, failure)
        return failure

    def stop(self) -> None:
        """End the process: at once if it is at a task, which is then lost; an idle one ends by itself."""
        if self.task is None:
            self._connection.close()
        else:
            self._process.terminate()
        self._process.join(PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._connection.close()

    def _died(self) -> tuple[str, str]:
        self.alive = False
        self._process.join(PATIENCE)
        reason = f"its process ended with code {self._process.exitcode}"
        return reason + "; if memory ran out, use fewer --jobs", ""


def _keep_busy(crew: list[Worker], waiting: deque[Task], work: Work, jobs: int, listener: Listener) -> None:
    while len(crew) < min(jobs, len(waiting) + sum(worker.task is not None for worker in crew)):
        crew.append(Worker(work))
    for worker in crew:
        if waiting and worker.task is None:
            task = waiting.popleft()
            listener.begun(task)
            worker.give(task)


def _speaking(crew: list[Worker]) -> list[Worker]:
    """Return the workers that have something to say, after at most a tick."""
    busy = {worker.connection: worker for worker in crew if worker.task is not None}
    return [busy[ready] for ready in wait(list(busy), TICK)]  # type: ignore[index]


def _dismiss(crew: list[Worker]) -> None:
    with _deaf_to_interrupts():
        for worker in crew:
            worker.stop()


def _serve(connection: Connection[Any, Any], work: Work) -> None:
    """Perform tasks until the other end closes; a task that raises is reported and the next one taken."""
    try:
        while True:
            task = connection.recv()
            try:
                work(task, lambda amount, stage: connection.send(("advanced", (amount, stage))))
            except (BrokenPipeError, ConnectionResetError):
                raise
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                connection.send(("failed", (reason, traceback.format_exc())))
            else:
                connection.send(("ended", None))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # whoever wanted the results is gone


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let processes that start meanwhile use one thread each."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C meanwhile; processes that start meanwhile ignore it for good: they are told to stop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

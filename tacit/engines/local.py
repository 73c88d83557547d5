"""This process, or worker processes: one thread each, told apart from Ctrl-C, none left behind.

Each worker has its own pipe, so that one that dies takes nothing with it; what it says of its progress, its
result or its failure comes through that pipe.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from tacit.engines.task import Advance, MakeWork, Outcome, Worker, failed

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""What NumPy, torch and Numba read: one thread each, so that no one waits and sums keep their order."""
TICK = 0.25
"""Seconds between two looks at the clock while no worker says anything."""
PATIENCE = 5.0
"""Seconds that a worker told to stop gets before it is killed."""


def available_cores() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Here:
    """This process, which performs one task at a time."""

    size = 1

    def __init__(self, make_work: MakeWork) -> None:
        self._worker: Worker[Any, Any] = Worker(make_work)
        self._given: list[tuple[int, Any]] = []

    @property
    def idle(self) -> bool:
        """Return whether there is nothing to do."""
        return not self._given

    def give(self, number: int, task: Any) -> None:
        """Keep a task until it is asked for."""
        self._given.append((number, task))

    def hear(self, advance: Advance) -> list[tuple[int, Outcome]]:
        """Perform the task."""
        number, task = self._given.pop()
        return [(number, self._worker.perform(task, lambda amount, stage: advance(number, amount, stage)))]

    def dismiss(self) -> None:
        """Do nothing: there is nobody to dismiss."""


class Processes:
    """Up to `jobs` worker processes (one for each core unless given), begun as tasks come."""

    def __init__(self, make_work: MakeWork, jobs: int | None) -> None:
        self.size = available_cores() if jobs is None else jobs
        self._make_work = make_work
        self._workers: list[WorkerProcess] = []

    @property
    def idle(self) -> bool:
        """Return whether a worker is free or may be begun."""
        return len(self._workers) < self.size or any(worker.task is None for worker in self._workers)

    def give(self, number: int, task: Any) -> None:
        """Hand a task to a free worker, a new one if there is none."""
        free = next((worker for worker in self._workers if worker.task is None), None)
        if free is None:
            free = WorkerProcess(self._make_work)
            self._workers.append(free)  # before it begins: Ctrl-C meanwhile must not lose it
            free.start()
        free.give(number, task)

    def hear(self, advance: Advance) -> list[tuple[int, Outcome]]:
        """Take one message of each worker that has one, after at most a tick."""
        busy = {worker.connection: worker for worker in self._workers if worker.task is not None}
        heard = [busy[ready].hear(advance) for ready in wait(list(busy), TICK)]  # type: ignore[index]
        self._workers = [worker for worker in self._workers if worker.alive]
        return [ended for ended in heard if ended is not None]

    def dismiss(self) -> None:
        """End every process."""
        with _deaf_to_interrupts():
            for worker in self._workers:
                worker.stop()


class WorkerProcess:
    """One process and the pipe to it; `task` is the number of what it is at, None while it is idle."""

    def __init__(self, make_work: MakeWork) -> None:
        self.task: int | None = None
        self.alive = True
        self._connection, self._theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(target=_serve, args=(self._theirs, make_work), daemon=True)

    def start(self) -> None:
        """Begin the process."""
        with _one_thread(), _deaf_to_interrupts():
            self._process.start()
            self._theirs.close()  # so that the end of the process is the end of the pipe

    @property
    def connection(self) -> Connection[Any, Any]:
        """Return our end of the pipe."""
        return self._connection

    def give(self, number: int, task: Any) -> None:
        """Hand over a task; if the process is dead, `hear` will say so."""
        self.task = number
        with suppress(ConnectionError):
            self._connection.send(task)

    def hear(self, advance: Advance) -> tuple[int, Outcome] | None:
        """Read one message; pass on progress, or return the outcome of the task."""
        assert self.task is not None
        try:
            message = self._connection.recv()
        except (EOFError, OSError):  # OSError: it died while it sent, and the message is torn
            message = self._died()
        if not isinstance(message, Outcome):
            advance(self.task, *message)
            return None
        number, self.task = self.task, None
        return number, message

    def stop(self) -> None:
        """End the process: at once if it is at a task, which is then lost; an idle one ends by itself."""
        if self._process.pid is None:
            return
        if self.task is None:
            self._connection.close()
        else:
            self._process.terminate()
        self._process.join(PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._connection.close()

    def _died(self) -> Outcome:
        self.alive = False
        self._process.join(PATIENCE)
        reason = f"its process ended with code {self._process.exitcode}"
        self._connection.close()
        return Outcome(reason=reason + "; if memory ran out, use fewer jobs")


def _serve(connection: Connection[Any, Any], make_work: MakeWork) -> None:
    """Perform tasks until the other end closes, or who began this process is gone."""
    threading.Thread(target=_follow_parent, daemon=True).start()
    worker: Worker[Any, Any] = Worker(make_work)
    with suppress(EOFError, ConnectionError):  # whoever wanted the results is gone
        while True:
            outcome = worker.perform(connection.recv(), partial(_report, connection))
            try:
                connection.send(outcome)
            except ConnectionError:
                raise
            except Exception as error:  # a result that cannot be pickled; nothing of it was sent
                connection.send(failed(error))


def _report(connection: Connection[Any, Any], amount: int, stage: str) -> None:
    try:
        connection.send((amount, stage))
    except ConnectionError:
        sys.exit(1)  # nobody is left to report to, so nobody wants the result; no error of the task


def _follow_parent() -> None:
    """End this process as soon as its parent is dead: a task may take long, and nobody waits for it any more."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


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
    """Put off Ctrl-C; processes that start meanwhile are deaf to it for good, as they inherit the blocked signal."""
    resource_tracker.ensure_running()  # which unblocks the signal if it is begun in between
    with _put_off(), _blocked():
        yield


@contextmanager
def _put_off() -> Iterator[None]:
    """Let Ctrl-C do afterwards what it would have done; elsewhere than in the main thread it does nothing anyway."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _blocked() -> Iterator[None]:
    """Block Ctrl-C for this thread, where the system knows such a thing."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

"""Work in a process of its own, beside what goes on here: begun, asked for now and then, taken when it is done.

The process is begun with the first task and kept for the next. What it is given and gives back goes through a pipe of
this program's own. Another pipe carries nothing: when it is closed, by `stop` or because this program was killed, the
process ends, whatever it is at. It gives way to this one, whose decisions come first. To begin the process takes some
milliseconds, which is done in a thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

T = TypeVar("T")
GIVE_WAY = 10
"""By how much the process is nicer than this one."""
MOST_TRIES = 3
"""How often a task is begun whose process was killed: by a system that is short of memory, for one."""

Asked = tuple[Callable[..., Any], tuple[object, ...]]
"""A task: what to call, and with what."""


class Beside(Generic[T]):
    """One task at a time, in another process.

    >>> beside = Beside()
    >>> beside.begin(sum, [1, 2])
    >>> beside.wait()
    3
    >>> beside.busy
    False
    >>> beside.stop()
    """

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._line: Connection | None = None  # as long as it is open, the process lives
        self._task: Future[T] | None = None
        self._asked: Asked | None = None
        self._tries = 0

    @property
    def busy(self) -> bool:
        """Return whether there is a task whose result was not taken yet."""
        return self._task is not None

    @property
    def done(self) -> bool:
        """Return whether there is a result to take; a task whose process was killed is begun again, a few times."""
        if self._task is None or not self._task.done():
            return False
        if not isinstance(self._task.exception(), BrokenProcessPool) or self._tries >= MOST_TRIES:
            return True
        self._pool = None
        self._submit()
        return False

    def begin(self, work: Callable[..., T], *arguments: object) -> None:
        """Begin a task; there must be none whose result was not taken."""
        if self._task is not None:
            raise ValueError("one task at a time is done beside, another is under way; wait for it first")
        self._asked, self._tries = (work, arguments), 0
        self._submit()

    def wait(self) -> T:
        """Return what the task came to, as soon as it is done, or raise what it raised."""
        if self._task is None:
            raise ValueError("there is no task to wait for; begin one first")
        task, self._task, self._asked = self._task, None, None
        return task.result()

    def __getstate__(self) -> dict[str, object]:
        """Return what a copy is made of: one that has begun nothing."""
        return {"_pool": None, "_line": None, "_task": None, "_asked": None, "_tries": 0}

    def stop(self) -> None:
        """End the process; a task that is under way is lost."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        if self._line is not None:
            self._line.close()
        self._pool = self._line = self._task = self._asked = None

    def _submit(self) -> None:
        assert self._asked is not None
        if self._pool is None:
            spawn = get_context("spawn")
            heard, self._line = spawn.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(1, spawn, _stand_beside, (heard,))
        self._task, self._tries = Future(), self._tries + 1
        told = (self._pool, self._asked, self._task)
        threading.Thread(target=_hand_over, args=told, name="tacit-beside", daemon=True).start()


def _hand_over(pool: ProcessPoolExecutor, asked: Asked, task: Future[Any]) -> None:
    """Give a task to the process, and what it comes to to whoever waits: a thread's work."""
    work, arguments = asked
    try:
        result = pool.submit(work, *arguments).result()
    except BaseException as error:
        task.set_exception(error)
    else:
        task.set_result(result)


def _stand_beside(line: Connection) -> None:
    """Let this process give way, and end as soon as nobody is at the other end of a pipe; what it is at is lost."""
    with suppress(AttributeError, OSError):  # there is no niceness on Windows
        os.nice(GIVE_WAY)

    def wait() -> None:
        line.poll(None)  # nothing is ever said, so it is over
        os._exit(1)

    threading.Thread(target=wait, name="tacit-beside", daemon=True).start()

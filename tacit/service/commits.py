"""Group commit: events of many requests go to disk together, and each request is answered when its own is there.

One thread appends. While it waits for the disk, events gather; it then takes all of them at once. What was put first is
on disk first, so whoever saw the result of an event that is not there yet is answered after it.

Those who were just answered often ask again at once. Without a pause they would find that the thread has left with the
others, and from then on half of all clients would always wait for the other half: twice the writes for the same events.

Where the disk is quick, changing threads costs more than it takes: then the event loop itself appends, and waits.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Protocol

from tacit.service.journal import JournalEvent, JournalStore, StoreError

MOST_TOGETHER = 2_000
"""Requests of one append."""
PAUSE = 0.25
"""Of the time that the last append took: what the thread waits, after a group, for those who were just answered."""
SERVING = 1e-4
"""Seconds that it takes to serve a request, about: a disk that is quicker than all of a group is not waited for."""
QUICK = 5e-4
"""Seconds: after an append that took less, the event loop waits for the next one itself."""


class Positioned(Protocol):
    """Who has events: an agent, which stands where its last event on disk does."""

    position: int


Kept = Callable[[StoreError | None], None]
"""Who is told that events are on disk, and their agent stands there, or why they never will be."""
Waiting = tuple[Positioned, Sequence[JournalEvent], Kept]
"""Whose events these are, and who waits for them; without events, for all that came before."""


class GroupCommit:
    """Appends events in the order in which they are put, many at a time; `put` is called in the event loop's thread.

    If an append fails, it and all that were put since fail with StoreError, and `on_failure` is called in the loop:
    what agents know is then ahead of the journal. Nothing is appended before `resume`.
    """

    def __init__(
        self, store: JournalStore, loop: asyncio.AbstractEventLoop, on_failure: Callable[[StoreError], None]
    ) -> None:
        self._store, self._loop, self._on_failure = store, loop, on_failure
        self._called: SimpleQueue[bool] = SimpleQueue()  # for the thread: append once more, or end
        self._gathered: deque[Waiting] = deque()
        self._busy = False  # the thread appends, or is called
        self._taken = math.inf  # seconds of the last append
        self._failure: StoreError | None = None
        self.waiting = 0
        """Events that are not on disk yet; one who waits without any counts as one."""
        self._thread = threading.Thread(target=self._append_all, name="tacit-journal", daemon=True)
        self._thread.start()

    @property
    def failure(self) -> StoreError | None:
        """Return why nothing is appended, None while all is well."""
        return self._failure

    def put(self, agent: Positioned, events: Sequence[JournalEvent], kept: Kept) -> None:
        """Take events of an agent; `kept` is called as soon as they, and all before them, are on disk."""
        if self._failure is not None:
            kept(self._failure)
            return
        self.waiting += len(events) or 1
        self._gathered.append((agent, events, kept))
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._go)  # after what has come in with this one

    def resume(self) -> None:
        """Append again, after what agents know was rebuilt from the journal."""
        self._failure = None

    async def close(self) -> None:
        """Append what is left and end the thread."""
        while self.waiting:
            await asyncio.sleep(0.001)
        self._called.put(False)
        await asyncio.to_thread(self._thread.join)

    def _go(self) -> None:
        """Append what has gathered: here, if that is quick, or in the thread."""
        if self._taken < QUICK and self._store.at_hand:
            self._answer(*self._append())
        else:
            self._called.put(True)

    def _append_all(self) -> None:
        """Append what has gathered whenever it is called for: the thread's work."""
        pause = ended = 0.0
        while self._called.get():
            if time.monotonic() - ended < pause:
                time.sleep(pause)
            together, result = self._append()
            ended, pause = time.monotonic(), _pause_after(self._taken, len(together))
            self._loop.call_soon_threadsafe(self._answer, together, result)

    def _append(self) -> tuple[list[Waiting], list[int] | StoreError]:
        """Return what had gathered, and where it stands on disk, or why it does not."""
        together = [self._gathered.popleft() for _ in range(min(len(self._gathered), MOST_TOGETHER))]
        events = [event for _, group, _ in together for event in group]
        began = time.monotonic()
        result: list[int] | StoreError
        try:
            result = self._store.append(events) if events else []
        except StoreError as error:
            result = error
        self._taken = time.monotonic() - began
        return together, result

    def _answer(self, together: list[Waiting], result: list[int] | StoreError) -> None:
        if isinstance(result, StoreError):
            self._refuse(together, result)
            return
        self._busy = bool(self._gathered)
        if self._busy:
            self._loop.call_soon(self._go)
        self.waiting -= _count(together)
        positions = iter(result)
        for agent, events, kept in together:
            for _ in events:
                agent.position = next(positions)
            self._tell(kept, None)

    def _refuse(self, together: list[Waiting], error: StoreError) -> None:
        """Tell whoever waits that nothing was kept, also those whose events would have come next."""
        self._failure, refused = error, [*together, *self._gathered]
        self._gathered.clear()
        self._busy = False
        self.waiting -= _count(refused)
        for _, _, kept in refused:
            self._tell(kept, error)
        self._on_failure(error)

    def _tell(self, kept: Kept, error: StoreError | None) -> None:
        """Tell one who waits; if that goes wrong, the others are told all the same."""
        try:
            kept(error)
        except Exception as fault:
            told = {"message": "one who waited for the journal could not be told", "exception": fault}
            self._loop.call_exception_handler(told)


def _pause_after(seconds: float, requests: int) -> float:
    """Return how long to wait after an append; not at all if its group was of one, or there is work to do meanwhile.

    >>> _pause_after(0.004, 16), _pause_after(0.0003, 16), _pause_after(0.004, 1)
    (0.001, 0.0, 0.0)
    """
    return PAUSE * seconds if requests > 1 and seconds > SERVING * requests else 0.0


def _count(waiting: list[Waiting]) -> int:
    return sum(len(events) or 1 for _, events, _ in waiting)

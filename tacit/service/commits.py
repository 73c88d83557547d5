"""Group commit: events of many requests go to disk together, and each request is answered when its own is there.

One thread appends. While it waits for the disk, events gather; it is then given all of them at once, and woken once.
What was put first is on disk first, so whoever saw the result of an event that is not there yet is answered after it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Protocol

from tacit.service.journal import JournalEvent, JournalStore, StoreError

MOST_TOGETHER = 2_000
"""Requests of one append."""


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
        self._queue: SimpleQueue[list[Waiting] | None] = SimpleQueue()
        self._gathered: list[Waiting] = []
        self._busy = False  # the thread has something, or will be given it before the loop waits
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
            self._loop.call_soon(self._hand_over)

    def resume(self) -> None:
        """Append again, after what agents know was rebuilt from the journal."""
        self._failure = None

    async def close(self) -> None:
        """Append what is left and end the thread."""
        while self.waiting:
            await asyncio.sleep(0.001)
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _hand_over(self) -> None:
        """Give the thread what has gathered, if anything has."""
        self._busy = bool(self._gathered)
        if self._busy:
            together = self._gathered[:MOST_TOGETHER]
            del self._gathered[:MOST_TOGETHER]
            self._queue.put(together)

    def _append_all(self) -> None:
        """Append what is handed over, again and again: the thread's work."""
        while (together := self._queue.get()) is not None:
            events = [event for _, group, _ in together for event in group]
            result: list[int] | StoreError
            try:
                result = self._store.append(events) if events else []
            except StoreError as error:
                result = error
            self._loop.call_soon_threadsafe(self._answer, together, result)

    def _answer(self, together: list[Waiting], result: list[int] | StoreError) -> None:
        if isinstance(result, StoreError):
            self._refuse(together, result)
            return
        self._hand_over()
        self.waiting -= _count(together)
        positions = iter(result)
        for agent, events, kept in together:
            for _ in events:
                agent.position = next(positions)
            kept(None)

    def _refuse(self, together: list[Waiting], error: StoreError) -> None:
        """Tell whoever waits that nothing was kept, also those whose events would have come next."""
        self._failure, refused = error, [*together, *self._gathered]
        self._gathered.clear()
        self._busy = False
        self.waiting -= _count(refused)
        for _, _, kept in refused:
            kept(error)
        self._on_failure(error)


def _count(waiting: list[Waiting]) -> int:
    return sum(len(events) or 1 for _, events, _ in waiting)

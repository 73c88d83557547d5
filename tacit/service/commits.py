"""Group commit: events of many requests go to disk together, and each request is answered when its own is there.

One thread appends. While it waits for the disk, events gather; it takes all of them at once. What was put first is on
disk first, so whoever saw the result of an event that is not there yet is answered after it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue

from tacit.service.journal import JournalEvent, JournalStore, StoreError

MOST_TOGETHER = 2_000
"""Events of one append."""

Waiting = tuple[JournalEvent | None, "asyncio.Future[int]"]
"""An event and who waits for its position; no event is one who waits for all before."""


class GroupCommit:
    """Appends events in the order in which they are put, many at a time; `put` is called in the event loop's thread.

    If an append fails, it and all that were put since fail with StoreError, and `on_failure` is called in the loop:
    what agents know is then ahead of the journal. Nothing is appended before `resume`.
    """

    def __init__(
        self, store: JournalStore, loop: asyncio.AbstractEventLoop, on_failure: Callable[[StoreError], None]
    ) -> None:
        self._store, self._loop, self._on_failure = store, loop, on_failure
        self._queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self._failure: StoreError | None = None
        self.waiting = 0
        """Events that are not on disk yet."""
        self._thread = threading.Thread(target=self._append_all, name="tacit-journal", daemon=True)
        self._thread.start()

    @property
    def failure(self) -> StoreError | None:
        """Return why nothing is appended, None while all is well."""
        return self._failure

    def put(self, event: JournalEvent | None) -> asyncio.Future[int]:
        """Return the position of an event, as soon as it and all before it are on disk; of no event, 0."""
        future: asyncio.Future[int] = self._loop.create_future()
        if self._failure is not None:
            future.set_exception(self._failure)
            return future
        self.waiting += 1
        self._queue.put((event, future))
        return future

    def resume(self) -> None:
        """Append again, after what agents know was rebuilt from the journal."""
        self._failure = None

    def close(self) -> None:
        """Append what is left and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _append_all(self) -> None:
        open_ = True
        while open_:
            first = self._queue.get()
            together = [] if first is None else [first]
            open_ = first is not None
            while open_ and len(together) < MOST_TOGETHER and not self._queue.empty():
                following = self._queue.get()
                if following is None:
                    open_ = False
                else:
                    together.append(following)
            if together:
                self._append(together)

    def _append(self, together: list[Waiting]) -> None:
        events = [event for event, _ in together if event is not None]
        result: list[int] | StoreError
        if self._failure is not None:
            result = self._failure
        else:
            try:
                result = self._store.append(events) if events else []
            except StoreError as error:
                result = self._failure = error
        self._loop.call_soon_threadsafe(self._answer, together, result)

    def _answer(self, together: list[Waiting], result: list[int] | StoreError) -> None:
        self.waiting -= len(together)
        positions = iter(result if isinstance(result, list) else ())
        for event, future in together:
            if future.cancelled():
                position = next(positions, 0) if event is not None else 0
            elif isinstance(result, StoreError):
                future.set_exception(result)
            else:
                position = next(positions) if event is not None else 0
                future.set_result(position)
        if isinstance(result, StoreError):
            self._on_failure(result)

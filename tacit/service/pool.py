"""Connections that threads borrow: one that is idle if there is one, else a new one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from tacit.service.journal import StoreError

MOST_IDLE = 8
"""Connections kept for the next borrower. More threads than that seldom read at once; theirs are closed when done."""

C = TypeVar("C")


class Pool(Generic[C]):
    """What opens connections, lends each to one thread at a time, and closes them.

    `alive` says whether one that was idle can still be used. One whose borrower raised is given back only if it is.

    >>> pool = Pool(open=object, close=lambda connection: None)
    >>> with pool.lend() as first:
    ...     pass
    >>> with pool.lend() as second, pool.lend() as third:
    ...     first is second, second is third
    (True, False)
    """

    def __init__(
        self,
        open: Callable[[], C],
        close: Callable[[C], None],
        alive: Callable[[C], bool] = lambda connection: True,
    ) -> None:
        self._open, self._close_one, self._alive = open, close, alive
        self._lock = threading.Lock()
        self._idle: list[C] = []
        self._closed = False

    @contextmanager
    def lend(self) -> Iterator[C]:
        """Give a connection for the length of a block."""
        connection = self._take()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def close(self) -> None:
        """Close all connections: the idle ones now, those that are lent when they come back."""
        with self._lock:
            self._closed, idle, self._idle = True, self._idle, []
        for connection in idle:
            self._close_one(connection)

    def _take(self) -> C:
        while True:
            with self._lock:
                if self._closed:
                    raise StoreError("the store must be open, and it was closed; open it again")
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._open()
            if self._alive(connection):
                return connection
            self._close_one(connection)

    def _give_back(self, connection: C) -> None:
        kept = self._alive(connection)
        with self._lock:
            kept = kept and not self._closed and len(self._idle) < MOST_IDLE
            if kept:
                self._idle.append(connection)
        if not kept:
            self._close_one(connection)

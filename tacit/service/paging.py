"""Reading a journal page by page: nothing stays open between two pages, however slow the reader is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import starmap
from typing import Any

from tacit.service.journal import JournalEvent

PAGE = 1000
"""Events that are read at once: a few hundred kilobytes."""


def iterate_pages(
    fetch: Callable[[int, int], Sequence[Sequence[Any]]], after: int, limit: int | None
) -> Iterator[JournalEvent]:
    """Yield the events that `fetch(after, most)` returns, as rows that end with their position, page after page.

    >>> rows = [(1, None, "fit", b"", 0.0, position) for position in range(1, 2501)]
    >>> events = iterate_pages(lambda after, most: rows[after : after + most], after=2, limit=2000)
    >>> [event.position for event in events][::1999]
    [3, 2002]
    """
    left = limit
    while left is None or left > 0:
        most = PAGE if left is None else min(PAGE, left)
        rows = fetch(after, most)
        yield from starmap(JournalEvent, rows)
        if len(rows) < most:
            return
        after, left = rows[-1][-1], None if left is None else left - most

"""Changes that are worked out first and made afterwards: assignments that may be made twice.

What learns returns what it will change, and changes nothing itself; whoever holds the whole makes the changes once all
of them are known. Each says what a place holds afterwards, not what is added to it. So if an interrupt comes before
they are begun nothing has happened, and if it comes in their midst they are made again, all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping, Sequence
from operator import setitem
from typing import Any

Change = tuple[Callable[[Any, Any, Any], object], Any, Any, Any]
"""What writes, then what it is called with: where, under which key, and what. Twice must do no more than once."""
Changes = Sequence[Change]


def put(target: Any, key: Any, value: Any) -> Change:
    """Return the change `target[key] = value`, in an array or a mapping; an array's own views are no `value`."""
    return setitem, target, key, value


def remove(target: MutableMapping[Any, Any], key: Any) -> Change:
    """Return the change after which a mapping holds nothing under `key`."""
    return _discard, target, key, None


def assign(target: object, name: str, value: Any) -> Change:
    """Return the change `target.name = value`."""
    return setattr, target, name, value


def extend(rows: list[Any], values: Sequence[Any]) -> Change:
    """Return the change after which `values`, and nothing else, follow the rows that there are now."""
    return setitem, rows, slice(len(rows), None), values


def commit(changes: Iterable[Change]) -> None:
    """Make the changes, in their order.

    >>> counts, rows = {"a": 1}, [5]
    >>> changes = [put(counts, "a", counts["a"] + 1), extend(rows, [6])]
    >>> commit(changes)
    >>> commit(changes)
    >>> counts, rows
    ({'a': 2}, [5, 6])
    """
    for write, target, key, value in changes:
        write(target, key, value)


def _discard(target: MutableMapping[Any, Any], key: Any, _: None) -> None:
    target.pop(key, None)

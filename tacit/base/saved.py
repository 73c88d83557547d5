"""One way to read what was saved: every value by its name and its rule, every refusal with its place in the file.

A container may be whole and its content wrong: an infinite count, a policy that is no distribution, an index that does
not exist. What is loaded must play right, so whoever restores itself reads through a `Saved`, which refuses with
`CheckpointError` whatever is missing, unknown, of another type or shape, or out of range.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.checkpoint import CheckpointError, load_tree
from tacit.base.validation import is_encodable

LARGEST = 1e50
"""Of any number that was learned: products of a few of these do not overflow."""
LARGEST_SINGLE = 1e12
"""Of any number of single precision, likewise."""
LARGEST_COUNT = 2**53
"""Of any count, and of sums of counts: float64 holds whole numbers exactly up to it."""
LONGEST_SHOWN = 80
"""Characters of a wrong value that a message shows."""
WRONG = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, AssertionError, MemoryError)
"""What classes that do not read through a `Saved` may raise when their state is wrong."""

Lengths = tuple[int | None, ...]
"""The shape that an array must have; None is any length."""
T = TypeVar("T")


class Saved(Mapping[str, Any]):
    """A mapping that was saved, which knows what it is called in its file and what was read of it.

    >>> saved = Saved.of({"episodes": 7, "chance": 1.5, "extra": 0})
    >>> saved.whole("episodes")
    7
    >>> saved.number("chance", 0, 1)
    Traceback (most recent call last):
    tacit.base.checkpoint.CheckpointError: a saved state holds wrong content: chance must be a number from 0 to 1, \
got 1.5; use an earlier copy
    """

    def __init__(self, values: Any, source: str = "a saved state", path: str = "") -> None:
        self._values, self._source, self._path = values, source, path
        self._read: set[str] = set()
        self._parts: dict[str, Saved] = {}
        if not isinstance(values, Mapping):
            self._refuse(path or "it", "a mapping", _shown(values))

    @staticmethod
    def of(state: Mapping[str, Any]) -> Saved:
        """Return a state to be read by rules; one that is already is returned as it is."""
        return state if isinstance(state, Saved) else Saved(state)

    def __getitem__(self, name: str) -> Any:
        self._read.add(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def has(self, name: str) -> bool:
        """Return whether there is something else than None under a name, which must be there."""
        return self._find(name) is not None

    def whole(self, name: str, least: int = 0, most: int = LARGEST_COUNT) -> int:
        """Return a whole number from `least` to `most`."""
        value = self._find(name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.refuse(name, f"a whole number from {least} to {most}")
        return value

    def number(self, name: str, low: float = -LARGEST, high: float = LARGEST) -> float:
        """Return a number from `low` to `high`."""
        value = self._find(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            self.refuse(name, f"a number from {low:g} to {high:g}")
        return float(value)

    def flag(self, name: str) -> bool:
        """Return True or False."""
        value = self._find(name)
        if not isinstance(value, bool):
            self.refuse(name, "true or false")
        return value

    def text(self, name: str) -> str:
        """Return a text that can be written down."""
        value = self._find(name)
        if not isinstance(value, str) or not is_encodable(value):
            self.refuse(name, "a text")
        return value

    def choice(self, name: str, options: Sequence[str]) -> str:
        """Return one of some words."""
        value = self.text(name)
        if value not in options:
            self.refuse(name, f"one of {list(options)}")
        return value

    def floats(self, name: str, shape: Lengths, low: float = -LARGEST, high: float = LARGEST) -> FloatArray:
        """Return an array of numbers from `low` to `high`."""
        array: FloatArray = self._array(name, shape, np.float64, low, high)
        return array

    def single_floats(self, name: str, shape: Lengths, low: float = -LARGEST_SINGLE) -> NDArray[np.float32]:
        """Return an array of numbers of single precision from `low` on."""
        array: NDArray[np.float32] = self._array(name, shape, np.float32, low, LARGEST_SINGLE)
        return array

    def wholes(self, name: str, shape: Lengths, low: int = 0, high: int = LARGEST_COUNT) -> IntArray:
        """Return an array of whole numbers from `low` to `high`, which together are no more than can be counted."""
        array: IntArray = self._array(name, shape, np.int64, low, high)
        self.check(array.sum(dtype=np.float64) <= LARGEST_COUNT, name, f"at most {LARGEST_COUNT} together")
        return array

    def indices(self, name: str, size: int) -> IntArray:
        """Return an array of ascending indices below `size`, none of them twice."""
        array: IntArray = self._array(name, (None,), np.int64, 0, size - 1)
        self.check((array[1:] > array[:-1]).all(), name, "ascending")
        return array

    def flags(self, name: str, shape: Lengths) -> BoolArray:
        """Return an array of truth values."""
        array: BoolArray = self._array(name, shape, np.bool_, False, True)
        return array

    def part(self, name: str) -> Saved:
        """Return a mapping inside this one."""
        return self._nest(name, self._find(name))

    def entries(self, name: str) -> Saved:
        """Return a list as a mapping from "0", "1", ... to its entries."""
        value = self._find(name)
        if not isinstance(value, list | tuple):
            self.refuse(name, "a list")
        return self._nest(name, {str(i): entry for i, entry in enumerate(value)})

    def parts(self, name: str) -> list[Saved]:
        """Return the mappings in a list."""
        entries = self.entries(name)
        return [entries.part(i) for i in entries]

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the texts in a list."""
        entries = self.entries(name)
        return tuple(entries.text(i) for i in entries)

    def make(self, kind: type[T], **given: Any) -> T:
        """Return a dataclass of which the fields that are not `given` are here by name, and nothing else is.

        The class checks their values.
        """
        names = {field.name for field in fields(kind) if field.init} - set(given)  # type: ignore[arg-type]
        values = {name: self._find(name) for name in sorted(names)}
        self.refuse_unread()
        try:
            return kind(**values, **given)
        except (TypeError, ValueError) as error:
            self.refuse("", f"as its rules say ({error})")

    def check(self, holds: bool | np.bool_, name: str, rule: str) -> None:
        """Raise CheckpointError unless a rule between values holds."""
        if not holds:
            self.refuse(name, rule)

    def refuse(self, name: str, rule: str) -> NoReturn:
        """Raise the CheckpointError of a value that breaks a rule; "" is the mapping itself."""
        value = self._values.get(name) if name else dict(self._values)
        self._refuse(self._place(name), rule, _shown(value))

    def refuse_unread(self) -> None:
        """Raise CheckpointError if there is anything here, or in its parts, that nobody asked for."""
        unknown = [name for name in self._values if name not in self._read]
        if unknown:
            self.refuse(unknown[0], "absent, for nothing reads it")
        for part in self._parts.values():
            part.refuse_unread()

    def _find(self, name: str) -> Any:
        if name not in self._values:
            self._refuse(self._place(name), "there", "nothing")
        return self[name]

    def _nest(self, name: str, value: Any) -> Saved:
        if name not in self._parts:  # asked for twice it is the same, which knows all that was read
            self._parts[name] = Saved(value, self._source, self._place(name))
        return self._parts[name]

    def _array(self, name: str, shape: Lengths, dtype: type, low: float, high: float) -> Any:
        array = self._find(name)
        fits = isinstance(array, np.ndarray) and array.dtype == dtype and len(array.shape) == len(shape)
        if not fits or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
            words = ", ".join("any" if n is None else str(n) for n in shape)
            self.refuse(name, f"{np.dtype(dtype)} of shape ({words})")
        if array.size and not (array.min() >= low and array.max() <= high):  # NaN is neither
            wrong = array[~((array >= low) & (array <= high))].flat[0]
            self._refuse(self._place(name), f"from {low:g} to {high:g}", repr(wrong.item()))
        return array

    def _place(self, name: str) -> str:
        return ".".join(filter(None, (self._path, name))) or "it"

    def _refuse(self, where: str, rule: str, got: str) -> NoReturn:
        raise CheckpointError(
            f"{self._source} holds wrong content: {where} must be {rule}, got {got}; use an earlier copy"
        )


@contextmanager
def open_saved(
    path: str | os.PathLike[str], kind: str, passing: tuple[type[Exception], ...] = ()
) -> Iterator[Saved]:
    """Give the tree of a file to whoever restores itself, and refuse the file if that fails or leaves something unread.

    Errors that say what is missing on this machine, rather than in the file, are `passing`.
    """
    saved = Saved(load_tree(path, kind), repr(os.fspath(path)))
    try:
        yield saved
        saved.refuse_unread()
    except WRONG as error:
        if isinstance(error, (CheckpointError, *passing)):
            raise
        told = str(error) if type(error) is ValueError else repr(error)
        raise CheckpointError(f"{saved._source} holds wrong content: {told}; use an earlier copy") from error


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    words = repr(value)
    return words if len(words) <= LONGEST_SHOWN else words[: LONGEST_SHOWN - 3] + "..."

"""What stages learn from: a finite set of labels, or vectors; each encodes what a user shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.saved import Saved
from tacit.base.validation import MOST, check_encodable, check_whole

Label = str | int
"""What a state, an action or a value of a finite set is called."""
Encoded = int | FloatArray
"""A context or a feedback as the algorithms see it: an index of a finite set, or a vector."""
OTHER = "(other)"
"""The label that all those share which an open set has no room for."""
MOST_LABELS = 1000
"""Labels of their own that an open set has, unless it says otherwise."""
LEAST_ROOM_BITS = 4
"""An open set has room for at least 2^4 - 1 labels."""


@dataclass(frozen=True)
class Finite:
    """A finite set of labels (strings, integers or booleans), encoded as 0 .. n-1.

    An `open` one takes in labels while an agent runs, up to `most`; all that come after that share `OTHER`.

    >>> Finite(("yes", "no")).encode("no", "feedback")
    1
    >>> people = Finite(("ann",), open=True, most=2)
    >>> for name in ("bob", "cid", "dee"):
    ...     people = people.taking_in(name)
    >>> people.labels, people.encode("dee", "context")
    (('ann', 'bob', '(other)'), 2)
    """

    labels: tuple[Label, ...]
    open: bool = field(default=False, repr=False)
    most: int = field(default=MOST_LABELS, repr=False)
    _index: dict[Label, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        check_labels(self.labels)
        index = {label: i for i, label in enumerate(self.labels)}
        if not self.labels or len(index) != len(self.labels):
            raise ValueError(
                f"a finite set needs at least one label and no label twice, got {self.labels!r}; "
                "give each value once"
            )
        check_whole("most labels", self.most, 1, MOST)
        if self.open and len(index) - (OTHER in index) > self.most:
            raise ValueError(
                f"an open set has at most {self.most} labels, got {len(index)}; raise `most`, or leave the rare ones "
                f"out, which then share {OTHER!r}"
            )
        object.__setattr__(self, "_index", index)

    @property
    def size(self) -> int:
        """Return the number of labels."""
        return len(self.labels)

    @property
    def room(self) -> int:
        """Return for how many labels arrays are made: all of a closed set; 2^k - 1 of an open one, for it may grow.

        >>> Finite((0, 1)).room, Finite((0, 1), open=True).room, Finite(tuple(range(16)), open=True).room
        (2, 15, 31)
        """
        size = len(self.labels)
        return (1 << max(size.bit_length(), LEAST_ROOM_BITS)) - 1 if self.open else size

    def __contains__(self, label: object) -> bool:
        return label in self._index

    def encode(self, value: Any, what: str) -> int:
        """Return the index of `value`, or raise an error that names `what` was unknown."""
        try:
            return self._index[value]
        except (KeyError, TypeError):
            if self.open and OTHER in self._index and _is_label(plain_label(value)):
                return self._index[OTHER]
            raise ValueError(
                f"{what} must be one of {abridge_labels(self.labels)}, got {value!r}; add it to the layout, map it to "
                "a known value, or have it taken in while an agent runs: tacit.Finite(..., open=True)"
            ) from None

    def taking_in(self, label: Any) -> Finite:
        """Return the open set with a label more, itself if it can encode that already."""
        label = plain_label(label)
        check_labels([label])
        if label in self._index or OTHER in self._index:
            return self
        more = label if self.size < self.most else OTHER
        grown = object.__new__(Finite)  # the labels that were there need no second look
        values = ((*self.labels, more), self.open, self.most, {**self._index, more: self.size})
        for name, value in zip(("labels", "open", "most", "_index"), values, strict=True):
            object.__setattr__(grown, name, value)
        return grown

    def decode(self, index: Encoded) -> Label:
        """Return the label of an index."""
        return self.labels[int(index)]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON description that `space_from_json` reads."""
        described: dict[str, Any] = {"kind": "finite", "labels": list(self.labels)}
        return described | {"open": True, "most": self.most} if self.open else described


@dataclass(frozen=True)
class Vectors:
    """Vectors of a fixed dimension with finite entries; with `fields`, also objects with those fields.

    A vector of dimension 1 may be a plain number.

    >>> Vectors(2).encode([1, 2], "context")
    array([1., 2.])
    >>> Vectors(2, ("age", "visits")).encode({"visits": 3, "age": 41}, "context")
    array([41.,  3.])
    """

    open: ClassVar[bool] = False
    dimension: int
    fields: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_whole("dimension", self.dimension, 1)
        if self.fields is not None and len(set(self.fields)) != self.dimension:
            raise ValueError(f"vectors of {self.dimension} need as many fields, got {self.fields!r}")
        for name in self.fields or ():
            check_encodable("a field", name)

    def encode(self, value: Any, what: str) -> FloatArray:
        """Return `value` as a new float64 vector, or raise if its shape or an entry is wrong."""
        if self.fields is not None and isinstance(value, Mapping):
            value = [value[name] for name in self.fields] if set(value) == set(self.fields) else None
        elif self.dimension == 1 and isinstance(value, int | float | np.number):
            value = [value]
        try:
            vector = np.array(value)
        except ValueError:  # rows of different lengths
            vector = np.empty(0)
        vector = vector.astype(np.float64) if vector.dtype.kind in "iuf" else np.empty(0)
        if vector.shape != (self.dimension,) or not np.all(np.isfinite(vector)):
            raise ValueError(
                f"{what} must be a vector of {self.dimension} finite numbers, got {value!r}; "
                "check its length and remove NaN and infinity"
            )
        return vector

    def decode(self, vector: Encoded) -> list[float]:
        """Return the vector as a list of numbers."""
        return [float(v) for v in np.asarray(vector)]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON description that `space_from_json` reads."""
        described = {"kind": "vectors", "dimension": self.dimension}
        return described if self.fields is None else described | {"fields": list(self.fields)}


def saved_labels(saved: Saved, name: str) -> tuple[Label, ...]:
    """Return a saved list of labels; what they may be, `check_labels` says."""
    entries = saved.entries(name)
    return tuple(entries[i] for i in entries)


def check_labels(labels: Sequence[Label]) -> None:
    """Raise ValueError unless every label is a string that UTF-8 can hold, an integer or a boolean."""
    for label in labels:
        if not _is_label(label):
            raise ValueError(
                f"labels must be strings, integers or booleans, got {label!r}; turn it into a string"
            )
        if isinstance(label, str):
            check_encodable("a label", label)


def plain_label(value: Any) -> Any:
    """Return a label as it is kept: NumPy's whole numbers as Python's, everything else as it is."""
    return int(value) if isinstance(value, np.integer) else value


def abridge_labels(labels: Sequence[Label], most: int = 12) -> str:
    """Return the first labels as words, and how many there are."""
    shown = ", ".join(repr(label) for label in labels[:most])
    return shown + (f", ... ({len(labels)} in all)" if len(labels) > most else "")


def _is_label(value: Any) -> bool:
    return isinstance(value, str | int)

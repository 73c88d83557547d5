"""What contexts or feedback of logs are: labels, vectors, text, or records of these, by all values that were met.

- Strings are labels where they are few, or names that recur (of contexts, users' ids); otherwise text.
- Numbers are labels where they are few, or whole ones that come again and again; otherwise vectors of one.
- Lists of numbers, and objects of numbers, are vectors. Contexts that are objects with strings, too, are records: a
  field is labels, text or a number.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tacit.logs.record import LABELS, LogError, is_text_context
from tacit.problem.records import Field, Record, Space, Text
from tacit.problem.spaces import Finite, Label, Vectors

MOST_LABELS = 100
"""Distinct strings up to which feedback, or a field of a record, are labels."""
MOST_NAMES = 20_000
"""Distinct strings up to which contexts are labels: users come back."""
MOST_NUMBERS = 20
"""Distinct numbers up to which contexts or feedback are labels; whole ones as many as strings may be if they recur."""
RECURRING, RETURNING = 50, 5
"""Episodes for each of many whole numbers from which on they are names rather than quantities: up to `MOST_LABELS` of
them, as ages are or hours, and beyond, where hardly anything is that is counted but people and things come back."""
ALWAYS_LABELS = 10
"""Distinct strings that are labels however few episodes there are; beyond, half as many as episodes are text."""


@dataclass
class MetValues:
    """What was met of contexts or of feedback: their kinds, distinct values while they are few, and those of fields."""

    most: int = MOST_LABELS
    kinds: Counter[str] = field(default_factory=Counter)
    shapes: Counter[tuple[str, ...] | int] = field(default_factory=Counter)
    distinct: set[Label] = field(default_factory=set)
    fields: dict[str, MetValues] = field(default_factory=dict)

    def add(self, value: Any) -> None:
        """Count one value."""
        if type(value) in LABELS:  # nearly all of them
            self._add_label(value)
        elif is_text_context(value):
            self.kinds["text"] += 1
        elif isinstance(value, dict):
            self.kinds["object"] += 1
            self.shapes[tuple(sorted(value))] += 1
            for name, each in value.items():
                if name not in self.fields:
                    self.fields[name] = MetValues()
                self.fields[name].add(each)
        elif isinstance(value, list | tuple):
            self.kinds["list"] += 1
            self.shapes[len(value)] += 1
        else:
            self._add_label(value)

    def _add_label(self, value: Any) -> None:
        self.kinds["string" if isinstance(value, str) else "number"] += 1
        if len(self.distinct) <= self.most:
            self.distinct.add(label_of(value))

    def merge(self, other: MetValues) -> None:
        """Take in what others were met."""
        self.kinds += other.kinds
        self.shapes += other.shapes
        self.distinct |= other.distinct
        for name, theirs in other.fields.items():
            self.fields.setdefault(name, MetValues()).merge(theirs)

    @property
    def is_text(self) -> bool:
        """Return whether the values are sentences: strings too many to be labels, or a request and a profile."""
        strings = self.kinds["string"] > 0 and too_many(self.distinct, self.kinds.total(), self.most)
        return strings or self.kinds["text"] > 0

    @property
    def _recurs(self) -> bool:
        """Return whether the values are whole numbers, few enough to be labels, that come again and again."""
        n = len(self.distinct)
        few = n <= self.most and all(isinstance(value, int) for value in self.distinct)
        return few and self.kinds.total() >= (RECURRING if n <= MOST_LABELS else RETURNING) * n

    def space(self, what: str) -> Space:
        """Return the space that the values are in, or raise if there is none."""
        if not self.kinds:
            raise LogError(f"some episode must have {what}, got silence in all of them; log what people said")
        vectors = self.kinds["object"] + self.kinds["list"]
        if vectors:
            if vectors < self.kinds.total() or len(self.shapes) > 1:
                raise LogError(
                    f"{what} must be labels or vectors of the same fields throughout, got {dict(self.kinds)} with "
                    f"{len(self.shapes)} shapes; fill in what is missing or give a layout"
                )
            return self._fields_space(next(iter(self.shapes)))
        if self.kinds["string"] and self.is_text:
            return Text()
        if not self.kinds["string"] and len(self.distinct) > MOST_NUMBERS and not self._recurs:
            return Vectors(1)
        if len(self.distinct) > self.most:
            raise LogError(
                f"{what} must be labels or text, got more than {self.most:,} distinct values of both"
            )
        return Finite(tuple(sorted(self.distinct, key=label_order)))

    def _fields_space(self, shape: tuple[str, ...] | int) -> Space:
        """Return the space of objects with these fields, or of lists as long."""
        if isinstance(shape, int):
            return Vectors(shape)
        if not any(self.fields[name].kinds["string"] for name in shape):
            return Vectors(len(shape), shape)
        return Record({name: self.fields[name].field(name) for name in shape})

    def field(self, name: str) -> Field:
        """Return the space of a record's field: a number, labels, of which new ones may come, or text."""
        if not self.kinds["string"]:
            return Vectors(1)
        space = self.space(f"the field {name!r} of contexts")
        assert isinstance(space, Finite | Text)
        return Finite(space.labels, open=True) if isinstance(space, Finite) else space


def label_of(value: Any) -> Label:
    """Return a value as a label: strings and whole numbers as they are, all else as a string.

    >>> label_of(2.0), label_of(0.5), label_of({"b": 1, "a": 2})
    (2, '0.5', '{"a": 2, "b": 1}')
    """
    if isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else repr(value)
    return json.dumps(value, sort_keys=True)


def label_order(label: Label) -> tuple[bool, float, str]:
    """Return by what labels are sorted: numbers by size, then strings by alphabet."""
    return (True, 0.0, label) if isinstance(label, str) else (False, float(label), "")


def too_many(distinct: Iterable[Any], episodes: int, most: int) -> bool:
    """Return whether strings are too many to be labels: beyond `most`, or hardly one seen twice."""
    n = sum(isinstance(value, str) for value in distinct)
    return n > most or (n > ALWAYS_LABELS and n > episodes / 2)

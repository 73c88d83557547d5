"""Contexts and feedback that are more than a label or a vector: free text, and records of several fields.

Stages see indices and vectors alone (`tacit.problem.seen`). A record becomes one vector, field after field, and so does
text, by a frozen encoder, which comes from above: this room has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.saved import Saved
from tacit.base.validation import check_encodable, check_whole
from tacit.problem.spaces import MOST_LABELS, OTHER, Encoded, Finite, Vectors, plain_label, saved_labels


class TextEncoder(Protocol):
    """Makes vectors of texts; frozen, so that a text has the same one for good."""

    @property
    def name(self) -> str:
        """Return what it is called where an agent is saved."""

    @property
    def dimension(self) -> int:
        """Return D, of how many numbers its vectors are."""

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Return a vector for each text, (n, D)."""


@dataclass(frozen=True)
class Text:
    """Free text: what people write, in their own words.

    >>> Text().plain("could be quieter", "feedback")
    'could be quieter'
    """

    open: ClassVar[bool] = False

    def encode(self, value: Any, what: str, encoder: TextEncoder | None = None) -> FloatArray:
        """Return the vector that the encoder makes of a text, (D,), or raise if it is no text."""
        text = self.plain(value, what)
        if encoder is None:
            raise ValueError(
                f"{what} that is text needs an encoder, got {text!r} and none; a tacit.Agent has one, elsewhere give "
                "labels or vectors"
            )
        check_whole("an encoder's dimension", encoder.dimension, 1)
        # One by one: in a batch a text has other last bits than alone.
        vectors = np.array(encoder.embed([text]), dtype=np.float64)
        if vectors.shape != (1, encoder.dimension) or not np.all(np.isfinite(vectors)):
            raise ValueError(
                f"an encoder gives {encoder.dimension} finite numbers for a text, {encoder.name!r} gave an array of "
                f"shape {vectors.shape} for {text!r}; mend its `embed` or its `dimension`"
            )
        vector: FloatArray = vectors[0]
        return vector

    def plain(self, value: Any, what: str) -> str:
        """Return a text, or raise if it is none."""
        if not isinstance(value, str):
            raise ValueError(
                f"{what} must be a text, got {value!r}; write it in words, or give the layout tacit.Finite or "
                "tacit.Vectors for it"
            )
        return check_encodable(what, value)

    def decode(self, vector: Encoded) -> list[float]:
        """Return the vector as a list of numbers: of the text it keeps no more."""
        return [float(v) for v in np.asarray(vector)]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON description that `space_from_json` reads."""
        return {"kind": "text"}


Field = Finite | Vectors | Text
"""What a field of a record may be."""


@dataclass(frozen=True)
class Record:
    """A mapping of fields, each a space of its own: what is known of a visitor, as it comes.

    In its vector a label is one of zeros and ones, all zeros for a label that an open set does not know; numbers are as
    they are; text is what the encoder makes of it. Fields stand in the order in which they are named here.

    >>> visitor = Record({"country": Finite(("de", "fr"), open=True), "age": Vectors(1)})
    >>> visitor.encode({"age": 41, "country": "fr"}, "context"), visitor.encode({"age": 7, "country": "it"}, "context")
    (array([ 0.,  1., 41.]), array([0., 0., 7.]))
    """

    open: ClassVar[bool] = False
    fields: Mapping[str, Field]

    def __post_init__(self) -> None:
        if not isinstance(self.fields, Mapping) or not self.fields:
            raise ValueError(
                f"a record needs a mapping from its fields to what they are, got {self.fields!r}; write "
                'tacit.Record({"country": tacit.Finite(("de", "fr")), "age": tacit.Vectors(1)})'
            )
        object.__setattr__(self, "fields", dict(self.fields))
        for name, space in self.fields.items():
            check_encodable("a field", name)
            if not isinstance(space, Field):
                raise ValueError(
                    f"a field must be tacit.Finite, tacit.Vectors or tacit.Text, got {space!r} for {name!r}; for a "
                    "list of labels write tacit.Finite(labels), for a number tacit.Vectors(1)"
                )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and [*self.fields.items()] == [*other.fields.items()]

    def __hash__(self) -> int:
        return hash(tuple(self.fields.items()))

    def encode(self, value: Any, what: str, encoder: TextEncoder | None = None) -> FloatArray:
        """Return the fields as one vector, or raise an error that names the field that is wrong."""
        parts = [_encode_field(*each, encoder) for each in self._read(value, what)]
        return np.concatenate(parts)

    def plain(self, value: Any, what: str) -> dict[str, Any]:
        """Return a record in plain values of its own, which can be written down and read again."""
        return {
            name: _plain_field(*each) for name, each in zip(self.fields, self._read(value, what), strict=True)
        }

    def decode(self, vector: Encoded) -> list[float]:
        """Return the vector as a list of numbers: labels and text it keeps no more."""
        return [float(v) for v in np.asarray(vector)]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON description that `space_from_json` reads."""
        fields = [{"name": name, **space.to_json()} for name, space in self.fields.items()]
        return {"kind": "record", "fields": fields}

    def _read(self, value: Any, what: str) -> list[tuple[Field, Any, str]]:
        """Return each field's space and value, and what it is called in errors."""
        names = ", ".join(map(repr, self.fields))
        if not isinstance(value, Mapping):
            raise ValueError(
                f"{what} must be a mapping with the fields {names}, got {value!r}; name each value"
            )
        missing = [name for name in self.fields if name not in value]
        if missing:
            raise ValueError(
                f"{what} must have the fields {names}, got {value!r} without {missing[0]!r}; give it, by a label such "
                "as 'unknown' where it is not known, or leave it out of tacit.Record(...)"
            )
        unknown = [name for name in value if name not in self.fields]
        if unknown:
            raise ValueError(
                f"{what} must have the fields {names} and no others, got {unknown[0]!r}; leave it out, or add it to "
                "tacit.Record(...)"
            )
        return [(space, value[name], f"{name!r} of {what}") for name, space in self.fields.items()]


Space = Finite | Vectors | Text | Record
"""What contexts and feedback may be. Stages see the first two."""


def encode_value(space: Space, value: Any, what: str, encoder: TextEncoder | None = None) -> Encoded:
    """Return a value as stages see it, an index or a vector, or raise an error that names `what` was wrong."""
    if isinstance(space, Finite | Vectors):
        return space.encode(value, what)
    return space.encode(value, what, encoder)


def dimension_of(space: Space, encoder: TextEncoder | None = None) -> int:
    """Return of how many numbers a space's vectors are; a label is one of zeros and ones.

    >>> dimension_of(Record({"country": Finite(("de", "fr")), "age": Vectors(1)}))
    3
    """
    if isinstance(space, Finite):
        return space.size
    if isinstance(space, Vectors):
        return space.dimension
    if isinstance(space, Record):
        return sum(dimension_of(each, encoder) for each in space.fields.values())
    if encoder is None:
        raise ValueError(
            f"a vector of text is as long as its encoder says, got {space!r} and none; make stages from the `setup` of "
            "tacit.learning.layered.Layered, which sees text as vectors"
        )
    return encoder.dimension


def has_text(space: Space) -> bool:
    """Return whether a space is text, or a record with some.

    >>> has_text(Record({"age": Vectors(1), "note": Text()})), has_text(Vectors(1))
    (True, False)
    """
    parts = space.fields.values() if isinstance(space, Record) else (space,)
    return any(isinstance(part, Text) for part in parts)


def space_from_json(data: Mapping[str, Any]) -> Space:
    """Return the space that `to_json` described."""
    saved = Saved.of(data)
    kind = saved.choice("kind", ("finite", "vectors", "text", "record"))
    if kind == "finite":
        is_open = "open" in saved and saved.flag("open")
        return Finite(saved_labels(saved, "labels"), is_open, saved.whole("most") if is_open else MOST_LABELS)
    if kind == "vectors":
        return Vectors(saved.whole("dimension", 1), saved.texts("fields") if "fields" in saved else None)
    if kind == "text":
        return Text()
    parts = saved.parts("fields")
    names = [part.text("name") for part in parts]
    saved.check(len(set(names)) == len(names), "fields", "fields with names of their own")
    return Record(dict(zip(names, map(space_from_json, parts), strict=True)))  # type: ignore[arg-type]


def _encode_field(space: Field, value: Any, what: str, encoder: TextEncoder | None) -> FloatArray:
    if isinstance(space, Text):
        return space.encode(value, what, encoder)
    if isinstance(space, Vectors):
        return space.encode(value, what)
    block = np.zeros(space.size)
    if not _is_new(space, value):
        block[space.encode(value, what)] = 1.0
    return block


def _plain_field(space: Field, value: Any, what: str) -> Any:
    """Return a field's value as it is kept: a label, a text, a number or a list of them."""
    if isinstance(space, Text):
        return space.plain(value, what)
    if isinstance(space, Vectors):
        numbers = space.decode(space.encode(value, what))
        return numbers[0] if space.dimension == 1 else numbers
    return plain_label(value) if _is_new(space, value) else space.decode(space.encode(value, what))


def _is_new(space: Finite, value: Any) -> bool:
    """Return whether a value is a label that an open set does not know, not even among its others."""
    label = plain_label(value)
    return space.open and isinstance(label, str | int) and label not in space and OTHER not in space

"""Dialogue files: one booking episode a line (appendix C.2), read with line numbers and reasons, and written.

A line is a JSON object: `{"id", "request", "profile"?, "questions": [{"text", "answer", "correct"}],
"bookings": [{"text", "correct"}], "positive": [..], "negative": [..]}`. `SCHEMA` says the same as a JSON Schema;
what a schema cannot say (candidates differ, one of them is correct, ids are unique) is checked here as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tacit.base.files import write_atomically
from tacit.text.conversation import check_candidates, check_text

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "pattern": r"\S"}
_SENTENCES: dict[str, Any] = {"type": "array", "items": _TEXT, "minItems": 1}


def _candidates(properties: dict[str, Any]) -> dict[str, Any]:
    item = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    correct = {"type": "object", "properties": {"correct": {"const": True}}}
    return {"type": "array", "items": item, "minItems": 2, "contains": correct}


SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A booking dialogue of Tacit: one line of a dialogue file",
    "type": "object",
    "properties": {
        "id": _TEXT,
        "request": _TEXT,
        "profile": {"type": "string"},
        "questions": _candidates({"text": _TEXT, "answer": _TEXT, "correct": {"type": "boolean"}}),
        "bookings": _candidates({"text": _TEXT, "correct": {"type": "boolean"}}),
        "positive": _SENTENCES,
        "negative": _SENTENCES,
    },
    "required": ["id", "request", "questions", "bookings", "positive", "negative"],
    "additionalProperties": False,
}
"""The JSON Schema of a line (draft 2020-12)."""


@dataclass(frozen=True)
class Question:
    """A clarification question on offer, what the user answers to it, and whether it is the informative one."""

    text: str
    answer: str
    correct: bool


@dataclass(frozen=True)
class Booking:
    """A booking on offer, and whether it is the one that the user wants."""

    text: str
    correct: bool


@dataclass(frozen=True)
class Dialogue:
    """One episode: a request, questions, bookings, and what the user says when satisfied and when not.

    >>> dialogue = Dialogue(
    ...     "d1",
    ...     "a table, please",
    ...     (Question("For how many?", "Two.", True), Question("Do you dance?", "No.", False)),
    ...     (Booking("A table for two.", True), Booking("A table for six.", False)),
    ...     positive=("Lovely.",),
    ...     negative=("Oh no.",),
    ... )
    >>> Dialogue.read(dialogue.to_json()) == dialogue
    True
    """

    id: str
    request: str
    questions: tuple[Question, ...]
    bookings: tuple[Booking, ...]
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    profile: str = ""

    def __post_init__(self) -> None:
        check_text("id", self.id)
        check_text("request", self.request)
        check_text("profile", self.profile, may_be_empty=True)
        for what, offered in (("questions", self.questions), ("bookings", self.bookings)):
            _check_offered(what, offered)
        for i, question in enumerate(self.questions):
            check_text(f"answer to question {i}", question.answer)
        for what, sentences in (("positive", self.positive), ("negative", self.negative)):
            if not sentences:
                raise ValueError(
                    f"`{what}` must hold at least 1 sentence, got none; add what the user would say"
                )
            for i, sentence in enumerate(sentences):
                check_text(f"`{what}` sentence {i}", sentence)

    @classmethod
    def read(cls, line: Any) -> Dialogue:
        """Return the dialogue of a JSON object, or raise ValueError with what is wrong with it."""
        _check_keys("a dialogue", line, SCHEMA)
        properties = SCHEMA["properties"]
        return cls(
            id=line["id"],
            request=line["request"],
            questions=tuple(
                Question(**item) for item in _items("questions", line, properties["questions"]["items"])
            ),
            bookings=tuple(
                Booking(**item) for item in _items("bookings", line, properties["bookings"]["items"])
            ),
            positive=_list("positive", line),
            negative=_list("negative", line),
            profile=line.get("profile", ""),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object that `read` takes; an empty profile is left out."""
        line = json.loads(json.dumps(asdict(self)))
        if not self.profile:
            del line["profile"]
        return dict(line)


class BrokenLine(NamedTuple):
    """What is wrong with a line of a file; lines are counted from 1."""

    line: int
    reason: str


class Dialogues(NamedTuple):
    """What a file gave: its dialogues, in order, and the problems of the lines that were left out."""

    dialogues: tuple[Dialogue, ...]
    problems: tuple[BrokenLine, ...]


def read_dialogues(path: str | Path, skip_broken: bool = False) -> Dialogues:
    """Return the dialogues of a JSONL file; blank lines are passed over.

    A broken line raises a ValueError that names file, line and reason; with `skip_broken` it is listed under
    `problems` instead and the rest is loaded. A file without a single dialogue is an error in any case.
    """
    dialogues: dict[str, Dialogue] = {}
    problems: list[BrokenLine] = []
    for number, line in enumerate(_lines(Path(path)), start=1):
        if not line.strip():
            continue
        try:
            dialogue = Dialogue.read(_decode(line))
            if dialogue.id in dialogues:
                raise ValueError(f"ids must be unique, got {dialogue.id!r} again; rename this dialogue")
            dialogues[dialogue.id] = dialogue
        except ValueError as error:
            if not skip_broken:
                raise ValueError(f"{path}, line {number}: {error}") from None
            problems.append(BrokenLine(number, str(error)))
    if not dialogues:
        found = f"only {len(problems)} broken lines" if problems else "nothing"
        raise ValueError(
            f"{path}: a dialogue file needs at least 1 dialogue, got {found}; see `tacit data dialogues`"
        )
    return Dialogues(tuple(dialogues.values()), tuple(problems))


def write_dialogues(path: str | Path, dialogues: Iterable[Dialogue]) -> None:
    """Write a dialogue file, one line each, all of it or nothing; the directory is made if need be."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(dialogue.to_json(), ensure_ascii=False) + "\n" for dialogue in dialogues)
    write_atomically(path, "".join(lines).encode("utf-8"))


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise ValueError(
            f"a dialogue file must be readable, got {error.strerror} for {path}; check the path, or make one "
            "with `tacit data dialogues --out FILE.jsonl`"
        ) from None


def _decode(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"lines must be UTF-8, got the byte 0x{line[error.start]:02x} at position {error.start}; "
            "save the file as UTF-8"
        ) from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"a line must be one JSON object, got {error.msg} at position {error.pos}; write each dialogue on "
            "one line of its own"
        ) from None


def _check_keys(what: str, value: Any, schema: Mapping[str, Any]) -> None:
    """Raise ValueError unless `value` is an object with the keys of `schema`."""
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be a JSON object, got {_shown(value)}; see the documented schema")
    missing = [key for key in schema["required"] if key not in value]
    if missing:
        raise ValueError(f"{what} needs the key `{missing[0]}`, got {_shown(sorted(value))}; add it")
    unknown = [key for key in value if key not in schema["properties"]]
    if unknown:
        known = ", ".join(schema["properties"])
        raise ValueError(f"{what} has the keys {known}, got {unknown[0]!r}; remove or rename it")


def _list(key: str, line: Mapping[str, Any]) -> tuple[Any, ...]:
    if not isinstance(line[key], list):
        raise ValueError(f"`{key}` must be a list, got {_shown(line[key])}; put it in brackets")
    return tuple(line[key])


def _items(key: str, line: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    items = _list(key, line)
    for i, item in enumerate(items):
        _check_keys(f"item {i} of `{key}`", item, schema)
    return items


def _check_offered(what: str, offered: tuple[Question, ...] | tuple[Booking, ...]) -> None:
    try:
        check_candidates(tuple(candidate.text for candidate in offered))
    except ValueError as error:
        raise ValueError(f"`{what}`: {error}") from None
    marks = [candidate.correct for candidate in offered]
    if not all(isinstance(mark, bool) for mark in marks):
        raise ValueError(f"`correct` must be true or false in `{what}`, got {marks!r}; mark every candidate")
    if not any(marks):
        raise ValueError(
            f"`{what}` needs a correct candidate, got {len(marks)} wrong ones; mark the right one"
        )


def _shown(value: Any, longest: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= longest else text[:longest] + " ..."

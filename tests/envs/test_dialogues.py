"""Dialogue files: what is written is read again, and what is broken is named by line, reason and remedy."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tacit.envs.booking import make_dialogues
from tacit.envs.dialogues import SCHEMA, Dialogue, read_dialogues, write_dialogues
from tacit.envs.ontology import generate_tasks

LINE: dict[str, Any] = {
    "id": "d1",
    "request": "a table, please",
    "questions": [
        {"text": "For how many?", "answer": "Two.", "correct": True},
        {"text": "Do you dance?", "answer": "No.", "correct": False},
    ],
    "bookings": [{"text": "For two.", "correct": True}, {"text": "For six.", "correct": False}],
    "positive": ["Lovely."],
    "negative": ["Oh no."],
}


def changed(**keys: Any) -> dict[str, Any]:
    return {**LINE, **keys}


def without(key: str) -> dict[str, Any]:
    return {k: v for k, v in LINE.items() if k != key}


QUESTION, BOOKING = LINE["questions"][0], LINE["bookings"][0]

BROKEN = [
    (without("bookings"), "needs the key `bookings`"),
    (changed(extra=1), "got 'extra'; remove or rename"),
    (changed(id=""), "the id must be a text that is not empty"),
    (changed(request=7), "the request must be a text"),
    (changed(profile=None), "the profile must be a text"),
    (changed(questions=QUESTION), "`questions` must be a list"),
    (changed(questions=[QUESTION]), "`questions`: a choice needs at least 2 candidates"),
    (changed(questions=["why?", "how?"]), "item 0 of `questions` must be a JSON object"),
    (changed(questions=[{"text": "a"}, QUESTION]), "item 0 of `questions` needs the key `answer`"),
    (changed(questions=[QUESTION, {**LINE["questions"][1], "answer": " "}]), "the answer to question 1"),
    (changed(bookings=[BOOKING, BOOKING]), "`bookings`: candidates must differ"),
    (
        changed(bookings=[{**b, "correct": False} for b in LINE["bookings"]]),
        "`bookings` needs a correct candidate",
    ),
    (changed(bookings=[BOOKING, {"text": "For six.", "correct": 0}]), "`correct` must be true or false"),
    (changed(bookings=[BOOKING, {"text": "", "correct": False}]), "candidate 1 must be a text"),
    (changed(positive=[]), "`positive` must hold at least 1 sentence"),
    (changed(negative=["Oh no.", ""]), "`negative` sentence 1 must be a text"),
    (changed(negative="Oh no."), "`negative` must be a list"),
    ([LINE], "a dialogue must be a JSON object"),
]


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Return whether a value fits a JSON Schema, as far as SCHEMA uses the language."""
    kinds: dict[str, type] = {"object": dict, "array": list, "string": str, "boolean": bool}
    if "const" in schema and value is not schema["const"]:
        return False
    if "type" in schema and not isinstance(value, kinds[schema["type"]]):
        return False
    if isinstance(value, str):
        return len(value) >= schema.get("minLength", 0) and bool(re.search(schema.get("pattern", ""), value))
    if isinstance(value, list):
        return (
            len(value) >= schema.get("minItems", 0)
            and all(fits(item, schema["items"]) for item in value)
            and ("contains" not in schema or any(fits(item, schema["contains"]) for item in value))
        )
    if isinstance(value, dict):
        known = schema["properties"]
        return (
            set(schema.get("required", ())) <= set(value)
            and (schema.get("additionalProperties", True) or set(value) <= set(known))
            and all(fits(value[key], known[key]) for key in value if key in known)
        )
    return True


def write_lines(path: Path, *lines: Any) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def test_what_is_written_is_read_again(tmp_path):
    dialogues = make_dialogues(generate_tasks(60, seed=1), "personal", seed=3)
    path = tmp_path / "new" / "dialogues.jsonl"
    write_dialogues(path, dialogues)
    assert read_dialogues(path) == (dialogues, ())
    assert [file.name for file in path.parent.iterdir()] == ["dialogues.jsonl"]


def test_what_is_written_fits_the_schema():
    for setting in ("hard", "personal"):
        for dialogue in make_dialogues(generate_tasks(40, seed=1), setting, seed=0):
            assert fits(dialogue.to_json(), SCHEMA)


@pytest.mark.parametrize(("line", "reason"), BROKEN)
def test_a_broken_dialogue_says_what_is_wrong(line, reason, tmp_path):
    path = write_lines(tmp_path / "d.jsonl", LINE, "", line)
    with pytest.raises(ValueError, match=r"line 3: .") as error:
        read_dialogues(path)
    assert reason in str(error.value)
    assert str(path) in str(error.value)
    assert read_dialogues(path, skip_broken=True) == (
        (Dialogue.read(LINE),),
        ((3, str(error.value).split("line 3: ")[1]),),
    )


@pytest.mark.parametrize("line", [line for line, reason in BROKEN if "differ" not in reason])
def test_the_schema_refuses_what_the_reader_refuses(line):
    assert not fits(line, SCHEMA)


def test_an_id_is_used_once(tmp_path):
    path = write_lines(tmp_path / "d.jsonl", LINE, changed(id="d2"), LINE)
    with pytest.raises(ValueError, match="line 3: ids must be unique, got 'd1' again; rename"):
        read_dialogues(path)


def test_a_cut_line_and_a_bad_encoding_are_named(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_bytes(json.dumps(LINE).encode() + b'\n{"id": "caf\xe9"}\n{"id": \n')
    problems = read_dialogues(path, skip_broken=True).problems
    assert [problem.line for problem in problems] == [2, 3]
    assert "must be UTF-8, got the byte 0xe9" in problems[0].reason
    assert "one JSON object" in problems[1].reason


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(LINE).encode() + b"\r\n\r\n")
    assert len(read_dialogues(path).dialogues) == 1


def test_a_file_that_is_missing_or_empty_is_an_error_in_any_case(tmp_path):
    with pytest.raises(ValueError, match=r"No such file or directory.*check the path"):
        read_dialogues(tmp_path / "no.jsonl", skip_broken=True)
    for content, found in (("", "nothing"), ("\n\n", "nothing"), ("{}\n", "only 1 broken lines")):
        path = write_lines(tmp_path / "e.jsonl", content)
        with pytest.raises(ValueError, match=f"at least 1 dialogue, got {found}"):
            read_dialogues(path, skip_broken=True)

"""Corpora for tests: small files of the same format, and the real ones where they are."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

from tacit.envs.corpus_files import FILES, CorpusFile

REAL = Path(__file__).parents[2] / "shared" / "data"

BABI = [
    ("hi", "can you book a table", ("italian", "paris", "two", "cheap")),
    ("hello", "may i have a table in rome", ("french", "rome", "six", "moderate")),
    (
        "hi",
        "i'd like to book a table for four in a expensive price range",
        ("indian", "london", "four", "expensive"),
    ),
    ("hi", "can you book a table in madrid for eight", ("spanish", "madrid", "eight", "cheap")),
    (
        "good morning",
        "may i have a table in a moderate price range with british cuisine for two in bombay",
        ("british", "bombay", "two", "moderate"),
    ),
]
"""Greeting, request, and the values of the call; the last request gives everything."""

MOVIES: list[tuple[str, dict[str, str], dict[str, str]]] = [
    (
        "i want to buy movie tickets .",
        {},
        {"movie": "avatar", "theatre_name": "camera 7", "date": "friday", "time": "8 pm", "num_tickets": "3"},
    ),
    (
        "i ' d like to see inferno on sunday",
        {"movie": "inferno", "date": "sunday"},
        {
            "movie": "inferno",
            "theatre_name": "angelika",
            "date": "monday",
            "time": "dontcare",
            "num_tickets": "2",
        },
    ),
    ("buy three movie tickets", {}, {"num_tickets": "3", "theatre_name": "aquarius"}),
    (
        '" get tickets for sully "',
        {"movie": "sully"},
        {
            "movie": "sully",
            "theatre_name": "the ritz",
            "date": "tonight",
            "time": "7.15 pm",
            "num_tickets": "1",
        },
    ),
    (
        "hi, get me to the movies",
        {},
        {"movie": "titanic", "theatre_name": "roxy", "date": "tuesday", "time": "5 pm", "num_tickets": "4"},
    ),
]
"""Request, the first state and the last; the second is corrected and does not care, the third is overheard."""


class Sample(NamedTuple):
    """A directory with corpora, and its files."""

    directory: Path
    files: tuple[CorpusFile, ...]


def write_samples(directory: Path) -> Sample:
    """Write small corpora and return them; every part has the same dialogues."""
    contents = {file.path: _babi() if file.path.endswith(".txt") else _sim_m() for file in FILES}
    files = []
    for path, content in contents.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(content)
        files.append(CorpusFile(path, hashlib.sha256(content).hexdigest(), ("file:///nowhere",), "a page"))
    return Sample(directory, tuple(files))


def corpora(directory: Path) -> list[Sample]:
    """Return the small corpora, and the real ones where they are."""
    return [write_samples(directory), *([Sample(REAL, FILES)] if REAL.is_dir() else [])]


def _babi() -> bytes:
    blocks = []
    for greeting, request, values in BABI:
        turns = [
            f"{greeting}\thello what can i help you with today",
            f"{request}\ti'm on it",
            "<SILENCE>\tok let me look into some options for you",
            f"<SILENCE>\tapi_call {' '.join(values)}",
        ]
        blocks.append("\n".join(f"{i} {turn}" for i, turn in enumerate(turns, start=1)))
    return ("\n\n".join(blocks) + "\n\n").encode()


def _sim_m() -> bytes:
    return json.dumps(
        [
            {"dialogue_id": str(i), "turns": [_turn(request, first), _turn("yes", last)]}
            for i, (request, first, last) in enumerate(MOVIES)
        ]
    ).encode()


def _turn(text: str, state: dict[str, str]) -> dict[str, Any]:
    return {
        "user_utterance": {"text": text},
        "dialogue_state": [{"slot": slot, "value": value} for slot, value in state.items()],
    }

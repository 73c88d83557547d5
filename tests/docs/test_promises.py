"""The promises: each names tests that hold it, by names that pytest takes; and that the check can fail."""

import re

from documents import DOCS

PROMISES = DOCS / "explanation" / "promises.md"
TEST = re.compile(r"    - `tests/[\w/]+\.py::test_\w+`")


def promises(text):
    """Return the promises of the page, each with the lines below it; what is not promised is none."""
    kept = text.partition("## What is not promised")[0]
    return {
        entry.partition("\n")[0]: entry.splitlines()[1:]
        for entry in re.split(r"(?m)^(?=- )|^(?=## )", kept)[1:]
    }


def unheld(text):
    """Return the promises below which stands no test."""
    return [
        first
        for first, rest in promises(text).items()
        if first.startswith("- ") and not any(map(TEST.fullmatch, rest))
    ]


def malformed(text):
    """Return the lines below promises that should name a test and do not."""
    below = [line for rest in promises(text).values() for line in rest if line.startswith("    ")]
    return [line for line in below if not TEST.fullmatch(line)]


def test_every_promise_names_a_test():
    text = PROMISES.read_text()
    assert len([first for first in promises(text) if first.startswith("- ")]) > 25
    assert unheld(text) == malformed(text) == []


def test_control_a_promise_without_a_test_is_found():
    good = "# A\n\n## B\n\n- one\n  more\n    - `tests/x.py::test_y`\n"
    last = "\n## What is not promised\n\n- four\n"
    assert unheld(good + last) == malformed(good + last) == []
    text = good + "- two\n\n## C\n\n- three\n    - `tests/x.py::other`\n" + last
    assert unheld(text) == ["- two", "- three"]
    assert malformed(text) == ["    - `tests/x.py::other`"]

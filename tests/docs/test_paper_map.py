"""The paper map: a row for everything that the paper numbers, tests that exist; and that each check can fail."""

import ast
import re
from functools import cache

from documents import DOCS, ROOT

MAP = DOCS / "paper-map.md"

NUMBERED = [
    *(f"Assumption {n}" for n in ("2.1", "2.2", "2.3", "4.1", "4.2")),
    *(f"Equation {n}" for n in range(1, 7)),
    *(f"Lemma {n}" for n in ("3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "B.2", "B.3")),
    *(f"Theorem {n}" for n in ("4.3", "B.1")),
    *(f"Algorithm {n}" for n in range(1, 5)),
    *(f"Figure {n}" for n in ("1", "2a", "2b")),
    "Appendix C.1",
]
"""What the paper numbers, in the compiled paper's numbers; the two lemmas of Theorem B.1 are B.2 and B.3."""


def missing_tests(text):
    """The tests `tests/x.py::test_y` named in a text that are not functions of their file."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    return [f"{file}::{name}" for file, name in named if name not in names_of_tests(file)]


@cache
def names_of_tests(file):
    path = ROOT / file
    if not path.exists():
        return set()
    body = ast.parse(path.read_text()).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_tests_that_are_named_exist():
    text = MAP.read_text()
    assert text.count("::test_") > 50
    assert missing_tests(text) == []


def test_control_a_test_that_does_not_exist_is_found():
    here = "tests/docs/test_paper_map.py"
    wrong = [f"{here}::test_gone", "tests/gone.py::test_x", f"{here}::unmapped"]
    named = [f"{here}::test_tests_that_are_named_exist", *wrong]
    assert missing_tests(" ".join(f"`{name}`" for name in named)) == wrong


def first_cells(text):
    """The first cell of every table row, a row for several things giving one for each."""
    rows = re.findall(r"(?m)^\| *([^|]+?) *\|", text)
    return {cell for row in rows for cell in row.split(", ")}


def unmapped(text):
    return [name for name in NUMBERED if name not in first_cells(text)]


def test_the_map_has_a_row_for_everything_numbered():
    assert unmapped(MAP.read_text()) == []


def test_control_a_missing_row_is_found():
    text = re.sub(r"(?m)^\| Lemma 3\.7 \|.*\n", "", MAP.read_text())
    assert "Lemma 3.7" in text, "to be mentioned in passing is not to have a row"
    assert unmapped(text) == ["Lemma 3.7"]

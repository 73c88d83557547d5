"""The paper map: a row for everything that the paper numbers, and tests; and that the check can fail."""

import re

from documents import DOCS

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


def test_the_map_names_tests():
    assert MAP.read_text().count("::test_") > 50


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

"""The deviations: numbered without gaps, complete, and every number that is referred to explained."""

import re

from documents import DOCS, ROOT, documents

DEVIATIONS = DOCS / "deviations.md"

PARTS = ("Paper", "Here", "Why", "Effect")
"""What every entry of the deviations states."""


def entries(text):
    """The deviations by number, each with its text."""
    pieces = re.split(r"(?m)^## (\d+)\. ", text)[1:]
    return list(zip(map(int, pieces[::2]), pieces[1::2], strict=True))


def faults_of_entries(text):
    """What is wrong with the list itself: gaps in the numbers, entries that lack a part."""
    numbers = [number for number, _ in entries(text)]
    faults = [] if numbers == list(range(1, len(numbers) + 1)) else [f"numbers {numbers}"]
    for number, entry in entries(text):
        faults += [f"{number} lacks {part}" for part in PARTS if f"- **{part}:** " not in entry]
    return faults


def marks(text):
    """The numbers that a text refers to as `dev. 3` or `dev. 3, 10`."""
    return {int(n) for found in re.findall(r"\bdev\. (\d+(?:, \d+)*)", text) for n in found.split(", ")}


def unexplained(text, list_of_entries):
    return marks(text) - {number for number, _ in list_of_entries}


def test_deviations_are_numbered_without_gaps_and_complete():
    text = DEVIATIONS.read_text()
    assert len(entries(text)) >= 7
    assert faults_of_entries(text) == []


def test_control_a_gap_and_a_missing_part_are_found():
    text = DEVIATIONS.read_text()
    assert faults_of_entries(text.replace("\n## 3. ", "\n## 31. ", 1))[0].startswith("numbers [1, 2, 31, 4")
    assert faults_of_entries(text.replace("- **Why:** ", "- Because ", 1)) == ["1 lacks Why"]


def test_every_deviation_that_is_referred_to_is_explained():
    sources = [path for path in (ROOT / "tacit").rglob("*") if path.suffix in (".py", ".j2")]
    assert marks("".join(path.read_text() for path in sources))
    for path in [*sources, *documents()]:
        assert not unexplained(path.read_text(), entries(DEVIATIONS.read_text())), path


def test_control_a_mark_without_an_entry_is_found():
    assert unexplained("# dev. 1\n# (dev. 2, 998) dev. 999", [(1, ""), (2, "")]) == {998, 999}

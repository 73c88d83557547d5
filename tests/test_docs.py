"""What the documentation says is so: links, names, tests, numbers. Each check is shown to be able to fail."""

import ast
import importlib
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAP = ROOT / "docs" / "paper-map.md"
DEVIATIONS = ROOT / "docs" / "deviations.md"
FRONT = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]

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

PARTS = ("Paper", "Here", "Why", "Effect")
"""What every entry of the deviations states."""

FORBIDDEN = re.compile(r"(?<![\w.])/(?:work|root|home|Users)(?![\w.-])|index" + "-url")
"""Paths of one machine, and package indexes of one network."""


def documents():
    return [path for path in FRONT if path.exists()] + sorted((ROOT / "docs").rglob("*.md"))


def broken_links(text, folder):
    """The relative links of a Markdown text, outside its code, that lead nowhere."""
    prose = re.sub(r"`[^`\n]*`", "", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    targets = re.findall(r"\]\(<?([^)\s>]+)", prose) + re.findall(r"(?m)^\[[^\]]+\]:\s*(\S+)", prose)
    local = [target.split("#")[0] for target in targets if not re.match(r"[a-z]+:", target)]
    return [target for target in local if target and not (folder / target).exists()]


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_relative_links_resolve(path):
    assert broken_links(path.read_text(), path.parent) == []


def test_control_a_broken_link_is_found():
    text = (
        "[good](paper-map.md#glossary) [bad](no.md) [web](https://a.b/c) [here](#x) `[code](no.py)`\n"
        "```\n[fenced](no.py)\n```\n[named]: gone.md\n"
    )
    assert broken_links(text, MAP.parent) == ["no.md", "gone.md"]


def unknown_names(text):
    """The names `tacit.x.y` in a text's code spans that cannot be imported."""
    names = re.findall(r"`(tacit(?:\.\w+)+)`", text)
    return [name for name in names if not exists(name)]


@cache
def exists(name):
    """Whether a dotted name is a module, or an attribute or annotated field of something in one."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            if not hasattr(found, part):
                return part == parts[-1] and part in getattr(found, "__annotations__", {})
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_code_that_is_named_exists(path):
    assert unknown_names(path.read_text()) == []


def test_control_a_name_that_does_not_exist_is_found():
    euler, settings = "tacit.planning.euler", "tacit.decoding.decoder.DecoderSettings"
    right = [f"{euler}.plan_euler", f"{settings}.theta", "tacit reproduce x"]
    wrong = [f"{euler}.gone", "tacit.gone", f"{settings}.tau", f"{euler}.plan_euler.gone.twice"]
    assert unknown_names(" ".join(f"`{name}`" for name in right + wrong)) == wrong


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
    here = "tests/test_docs.py"
    wrong = [f"{here}::test_gone", "tests/gone.py::test_x", f"{here}::documents"]
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


def files_of_the_project():
    """Everything that is or would be committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):  # no git, or an unpacked archive
        kept = (ROOT / name for name in ("tacit", "tests", "docs", "benchmarks"))
        return [p for folder in kept for p in folder.rglob("*") if p.suffix in (".py", ".md", ".txt", ".j2")]
    return [ROOT / line for line in listed.splitlines() if (ROOT / line).is_file()]


def forbidden(text):
    return [line for line in text.splitlines() if FORBIDDEN.search(line)]


def test_no_file_tells_of_one_machine():
    files = files_of_the_project()
    assert len(files) > 50
    assert {str(f): found for f in files if (found := forbidden(f.read_text(errors="ignore")))} == {}


def test_control_a_path_of_one_machine_is_found():
    slash = "/"  # so that this file does not contain what it looks for
    bad = [f"cd {slash}work/main", f'"{slash}root"', f"{slash}home/me", "pip --extra-index" + "-url x"]
    good = ["a/work/b", "https://x.org/home", "see docs/home.md", "square/root"]
    assert forbidden("\n".join(bad + good)) == bad

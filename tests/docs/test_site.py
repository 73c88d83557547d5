"""The site: every page has its place, and what pages list is what the code has: rooms, findings, names at the door."""

import ast
import importlib.util
import re
import tomllib

import pytest
import yaml
from documents import DOCS, ROOT

import tacit

ARCHITECTURE, TRUST, DOOR = (
    DOCS / "architecture.md",
    DOCS / "explanation" / "trust.md",
    DOCS / "reference" / "index.md",
)


@pytest.fixture(scope="module")
def made():
    """The module that makes pages for MkDocs."""
    spec = importlib.util.spec_from_file_location("made_pages", DOCS / "hooks" / "pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def config():
    return yaml.safe_load((ROOT / "mkdocs.yml").read_text())


def places(nav):
    """Return the pages of a navigation tree."""
    if isinstance(nav, str):
        return [nav]
    return [place for item in (nav if isinstance(nav, list) else nav.values()) for place in places(item)]


def test_every_page_has_its_place(made):
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    listed = places(config()["nav"])
    assert len(listed) == len(set(listed))
    assert set(listed) == written | set(made.made_pages())


def test_nothing_comes_from_the_network():
    settings = config()
    assert settings["theme"]["font"] is False
    assert not {"extra_css", "extra_javascript"} & set(settings)
    assert "://" not in (ROOT / "mkdocs.yml").read_text()


def contract():
    """Return the rooms by layers, highest first, as the contract on imports has them."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(each["layers"] for each in linter["contracts"] if each["type"] == "layers")
    return [layer.split(" | ") for layer in layers]


def listed_rooms(text):
    """Return the rooms of the table, in its order."""
    return re.findall(r"(?m)^\| `(\w+)` \|", text)


def drawn_rooms(picture):
    """Return the rooms of the picture by layers, from top to bottom."""
    rows = {}
    for y, name in re.findall(r'class="room" x="[\d.]+" y="(\d+)"[^>]*>(\w+)<', picture):
        rows.setdefault(int(y), []).append(name)
    return [rows[y] for y in sorted(rows)]


def test_the_rooms_are_those_of_the_contract(made):
    assert listed_rooms(ARCHITECTURE.read_text()) == [room for layer in contract() for room in layer]
    assert drawn_rooms((DOCS / "images" / "rooms.svg").read_text()) == contract()
    assert sorted(made.rooms()) == sorted(room for layer in contract() for room in layer)


def test_control_a_room_out_of_place_is_found():
    text = ARCHITECTURE.read_text().replace("| `base` |", "| `basement` |")
    assert listed_rooms(text)[-1] == "basement"
    assert drawn_rooms('<text class="room" x="1" y="9" fill="a">b</text>') == [["b"]]


def codes(text):
    """Return the codes of the findings that a module makes."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    made = [
        c.args[0]
        for c in calls
        if isinstance(c.func, ast.Name) and c.func.id == "Finding" and len(c.args) == 5
    ]
    return {first.value for first in made if isinstance(first, ast.Constant)}


def explained(text):
    """Return the codes in the first cells of the table of findings."""
    table = text.partition("## Every finding")[2]
    return {
        code for row in re.findall(r"(?m)^\| (`.+?) \|", table) for code in re.findall(r"`([\w-]+)`", row)
    }


def test_every_finding_is_explained_and_no_other():
    modules = [path.read_text() for path in (ROOT / "tacit").rglob("*.py")]
    assert explained(TRUST.read_text()) == set().union(*map(codes, modules))


def test_control_a_finding_that_is_not_explained_is_found():
    assert codes('x = Finding("gone", "info", "", "", "")\ny = Other("z")') == {"gone"}
    assert "gone" not in explained(TRUST.read_text())


def test_the_door_is_listed():
    named = set(re.findall(r"`tacit\.(\w+)`", DOOR.read_text()))
    assert set(tacit.__all__) <= named


def test_decisions_are_listed_and_numbered():
    pages = sorted((DOCS / "decisions").glob("0*.md"))
    index = (DOCS / "decisions" / "index.md").read_text()
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    for n, page in enumerate(pages, 1):
        title = page.read_text().partition("\n")[0].removeprefix(f"# {n}. ")
        assert f"{n}. [{title}]({page.name})" in index


def test_the_front_page_fits_on_a_screen_and_a_half():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 90

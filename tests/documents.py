"""The pages of the project, which the tests of the documentation share."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FRONT = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]


def documents():
    """Return every page, those of the root first."""
    return [*FRONT, *sorted(DOCS.rglob("*.md"))]


def label(path):
    """Return the name of a page in the output of the tests."""
    return path.relative_to(ROOT).as_posix()

"""Templates are found beside the code that fills them, and shipped with it."""

import tomllib
from pathlib import Path

import pytest
from jinja2 import meta

import tacit
from tacit.reports.pages import page_template

PACKAGE = Path(tacit.__file__).parent
TEMPLATES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.j2"))


@pytest.mark.parametrize("path", TEMPLATES, ids=str)
def test_every_template_parses_and_names_templates_that_exist(path):
    package = ".".join(("tacit", *path.parent.parts))
    environment = page_template(package, path.name).environment
    tree = environment.parse((PACKAGE / path).read_text())
    for name in meta.find_referenced_templates(tree):
        assert (PACKAGE / name).is_file()


def test_every_template_is_shipped():
    project = PACKAGE.parent / "pyproject.toml"
    patterns = tomllib.loads(project.read_text())["tool"]["setuptools"]["package-data"]["tacit"]
    shipped = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    assert {PACKAGE / path for path in TEMPLATES} <= shipped
    assert len(TEMPLATES) > 10


def test_text_is_escaped():
    template = page_template("tacit.reports", "page.html.j2").environment.from_string("{{ said }}")
    assert template.render(said="<script>") == "&lt;script&gt;"

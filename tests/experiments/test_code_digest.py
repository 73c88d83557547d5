"""The digest of the code that decides a result: what changes it, and what must not."""

import ast
from functools import partial
from pathlib import Path

import pytest

import tacit
from tacit.experiments.catalogue import STUDIES
from tacit.experiments.code_digest import (
    PackageSource,
    digest_closure,
    digest_of,
    distributed_versions,
    find_closure,
)

FILES = {
    "__init__": "from pack.plot import draw\n",
    "study": "from pack.plot import draw\nfrom pack.task import play\n",
    "plot": "def draw():\n    return 'blue'\n",
    "task": (
        "from __future__ import annotations\n"
        "from typing import TYPE_CHECKING\n"
        "import numpy as np\n"
        "from pack.deep.maths import add\n"
        "if TYPE_CHECKING:\n    from pack.study import draw\n"
        "def play(n):\n"
        "    '''Play.'''\n"
        "    from pack import late\n"
        "    return add(n, late.TWO)  # a sum\n"
    ),
    "deep/__init__": "",
    "deep/maths": "'''Sums.'''\nZERO = 0\n'''Nothing.'''\ndef add(a, b):\n    return a + b\n",
    "late": "TWO = 2\n",
    "unused": "x = 1\n",
}


@pytest.fixture
def package(tmp_path):
    """Return a function that writes a package, with changes, and returns the digest of its task."""

    def digest(numpy="2.0", module="pack.task", **changes):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        for name, text in {
            **FILES,
            **{key.replace("__", "/"): text for key, text in changes.items()},
        }.items():
            path = folder / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is not None:
                path.write_text(text)
        read = PackageSource("pack", folder).read
        return digest_closure(module, read, lambda others: dict.fromkeys(others, numpy))

    return digest


def edited(name, old, new):
    assert old in FILES[name]
    return {name.replace("/", "__"): FILES[name].replace(old, new)}


@pytest.mark.parametrize(
    "harmless",
    [
        edited("task", "# a sum", "# the sum of both"),
        edited("task", "'''Play.'''", "'''Play it.'''"),
        edited("deep/maths", "Sums.", "What adds."),
        edited("deep/maths", "Nothing.", "Not a thing."),
        edited("task", "    return add", "\n    return add"),
        edited("task", "    from pack.study import draw", "    from pack.plot import draw"),
        edited("plot", "blue", "red"),
        edited("study", "draw", "draw as paint"),
        edited("unused", "1", "2"),
    ],
)
def test_what_cannot_decide_a_result_does_not_discard_it(package, harmless):
    assert package(**harmless) == package()


@pytest.mark.parametrize(
    "change",
    [
        edited("task", "late.TWO", "-late.TWO"),
        edited("deep/maths", "a + b", "a - b"),
        edited("deep/maths", "ZERO = 0", "ZERO = 1"),
        edited("late", "2", "3"),
        edited("task", "import numpy as np", "import numpy as np, scipy"),
        {"numpy": "2.1"},
        {"late": None},
        {"sums": FILES["deep/maths"], **edited("task", "pack.deep.maths", "pack.sums")},
    ],
)
def test_what_decides_a_result_discards_it(package, change):
    assert package(**change) != package()


def test_a_moved_task_is_other_code(package):
    assert package(module="pack.moved", moved=FILES["task"]) != package()


def test_closure_is_what_the_task_imports_and_versions_are_of_those_that_the_closure_imports(
    package, tmp_path
):
    package()
    inside, outside = find_closure("pack.task", PackageSource("pack", tmp_path / "0").read)
    assert set(inside) == {"pack.task", "pack.deep.maths", "pack.late"}
    assert outside == {"numpy"}
    assert list(distributed_versions({"numpy", "no_such_package"})) == ["numpy"]


def closure_of(name):
    module, read = (
        STUDIES[name].play.func.__module__,
        PackageSource("tacit", Path(tacit.__file__).parent).read,
    )
    return set(find_closure(module, read, STUDIES[name].unused)[0])


@pytest.mark.parametrize("name", STUDIES)
def test_tasks_import_no_pages_no_pictures_and_no_command_line(name):
    shows = ("tacit.cli", "tacit.reports", "tacit.offline", "tacit.experiments")
    inside = closure_of(name)
    tasks = {"tacit.experiments.tasks", "tacit.experiments.learning", "tacit.experiments.layered.sweep"}
    tasks |= {
        "tacit.experiments.layered.playing",
        "tacit.experiments.learners",
        "tacit.experiments.text_learners",
    }
    tasks |= {f"tacit.experiments.studies.{name}.{part}" for part in ("task", "sweep", "readings", "scoring")}
    if name == "satisfaction":  # its tasks are logs that are fitted, labelled and diagnosed
        shows = ("tacit.cli", "tacit.experiments")
    assert {module for module in inside if module.startswith(shows)} <= tasks
    assert {"tacit.experiments.tasks", "tacit.problem.layout"} <= inside


def test_a_study_depends_on_what_its_own_tasks_use():
    assert "tacit.planning.euler" in closure_of("synthetic")
    assert "tacit.planning.euler" not in closure_of("decoder")
    assert "tacit.text.small.model" in closure_of("booking")
    assert not any(module.startswith("tacit.text") for module in closure_of("synthetic"))


def test_what_is_imported_and_never_met_does_not_count(package, tmp_path):
    package()
    read = PackageSource("pack", tmp_path / "0").read
    assert set(find_closure("pack.task", read, ("pack.deep",))[0]) == {"pack.task", "pack.late"}
    assert set(find_closure("pack.task", read, ("pack.de",))[0]) == {
        "pack.task",
        "pack.late",
        "pack.deep.maths",
    }


def test_a_partial_has_the_code_of_its_function():
    play = STUDIES["synthetic"].play
    assert digest_of(partial(play, 1)) == digest_of(play) == digest_of(play.func)


def test_relative_imports_are_refused():
    with pytest.raises(ValueError, match="must be absolute"):
        digest_closure("pack.x", lambda name: ast.parse("from . import y"), dict)

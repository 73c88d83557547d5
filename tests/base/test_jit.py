"""Kernels are kept where they can be, and give their answers where they cannot."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "tacit"
pytestmark = pytest.mark.compiled

DRAW = """
import numpy as np
from tacit.base.randomness import draw_index
assert draw_index(np.array([0.25, 0.75]), 0.5) == 1
print(sum(draw_index.stats.cache_hits.values()))
"""
FILL_THE_DISK = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
"""
"""From then on no file grows beyond 1,000 bytes: writing raises OSError, as on a full disk."""


def run(code, package=PACKAGE, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    environment |= {"PYTHONPATH": str(package.parent)} | {name: str(v) for name, v in variables.items()}
    # -P: the package of the path, not one that happens to stand in the folder where the tests run
    done = subprocess.run([sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def read_only(tmp_path):
    """Return a copy of the package in which nothing can be kept, by root neither, and a home that is no folder."""
    package = tmp_path / "tacit"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (package, *(path for path in package.rglob("*") if path.is_dir())):
        (folder / "__pycache__").touch()  # a file where a folder must be
    (tmp_path / "home").touch()
    return package, tmp_path / "home" / "nowhere"


def test_a_read_only_package_without_a_home_works_and_the_doctor_says_so(read_only):
    package, home = read_only
    assert run(f"import tacit.agent\n{DRAW}", package, HOME=home) == "0\n"
    said = run(f"{DRAW}\nfrom tacit.cli.doctor import *\nprint(check_kept_kernels())", package, HOME=home)
    assert "status='missing'" in said
    assert "set NUMBA_CACHE_DIR to a folder that can be" in said
    assert "required=False" in said


def test_a_full_disk_costs_what_is_kept_and_no_answer(tmp_path):
    run(f"import tacit.base.randomness\n{FILL_THE_DISK}\n{DRAW}", NUMBA_CACHE_DIR=tmp_path)
    assert not list(tmp_path.rglob("*.nb?"))


@pytest.mark.parametrize("damage", [b"", None])
def test_a_damaged_kernel_is_compiled_and_kept_anew(damage, tmp_path):
    assert run(DRAW, NUMBA_CACHE_DIR=tmp_path) == "0\n"
    for path in tmp_path.rglob("*.nb?"):
        path.write_bytes(path.read_bytes()[:-10] if damage is None else damage)
    assert [run(DRAW, NUMBA_CACHE_DIR=tmp_path) for _ in range(2)] == ["0\n", "1\n"]


def test_the_doctor_says_where_kernels_are_kept(tmp_path):
    said = run(
        f"{DRAW}\nfrom tacit.cli.doctor import *\nprint(check_kept_kernels())", NUMBA_CACHE_DIR=tmp_path
    )
    assert "status='ok'" in said
    assert str(tmp_path) in said

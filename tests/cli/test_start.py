"""Ctrl-C, whenever it comes: one line, exit code 130, no traceback. And errors of one style."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from tacit.cli.main import app

INTERRUPTING = """
import os, signal, sys
from tacit.cli.start import start

class Interruption:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

module = sys.argv.pop(1)
sys.meta_path.insert(0, Interruption())
start()
"""
"""Runs a command and interrupts it when it imports a module."""


@pytest.mark.parametrize(
    "module", ["tacit.cli.main", "rich.progress", "tacit.logs.problems", "tacit.offline.fit"]
)
def test_ctrl_c_while_importing_ends_with_one_line(module, tmp_path):
    """While the command line is imported, while a command begins, and while it imports what it needs."""
    (tmp_path / "logs.jsonl").write_text('{"episode": 1}\n')
    command = [sys.executable, "-c", INTERRUPTING, module, "fit", "logs.jsonl", "--out", "m.tacit"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    said = (done.stdout + done.stderr).split("\n")
    assert done.returncode == 130, said
    (line,) = [line for line in said if line.strip()]
    assert line.startswith("Interrupted.")
    assert [file.name for file in tmp_path.iterdir()] == ["logs.jsonl"]


@pytest.mark.parametrize(
    "words", [["fit"], ["nothing"], ["--nothing"], ["label", "x", "--processes", "z"], ["reproduce", "none"]]
)
def test_a_call_that_is_wrong_is_told_as_every_other_error(words):
    result = CliRunner().invoke(app, words)
    *usage, last = result.output.strip().splitlines()
    assert result.exit_code == 2
    assert last.startswith("error: ")
    assert usage[0].startswith("Usage: ")


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "tacit", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "diagnose" in done.stdout

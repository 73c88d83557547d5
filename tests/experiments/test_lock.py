"""Two commands in one directory of results: the second is refused before it changes anything."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from tacit.cli.main import app
from tacit.experiments.lock import BusyError, hold

HOLDING = """
import sys, time
from pathlib import Path
from tacit.experiments.lock import hold
with hold(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_reproduce_is_refused_and_changes_nothing(tmp_path):
    runs = tmp_path / "synthetic" / "runs"
    runs.mkdir(parents=True)
    (runs / "balanced-tacit-000.tacit.1234.part").write_text("what the first is writing")
    words = ["reproduce", "synthetic", "--fraction", "0.001", "--seeds", "1", "--out", str(tmp_path)]
    with hold(tmp_path / "synthetic"):
        before = sorted(tmp_path.rglob("*"))
        result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    assert "error: one command at a time can work in a directory, another is at work in" in result.output
    assert sorted(tmp_path.rglob("*")) == before


def test_a_killed_command_lets_the_next_one_in(tmp_path):
    command = [sys.executable, "-c", HOLDING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout.readline() == "held\n"
        with pytest.raises(BusyError), hold(tmp_path):
            pass
        first.kill()
    with hold(tmp_path):
        pass

"""The command line: what it says when all is well, when it is not, and that it starts quickly."""

import re
import subprocess
import sys

import pytest
from study_samples import SMALL, resweep, stay_here
from typer.testing import CliRunner

from tacit.cli import doctor
from tacit.cli.main import app
from tacit.experiments import catalogue
from tacit.experiments.catalogue import STUDIES


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_version():
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.output.startswith("tacit 0.")


def test_help_names_every_figure():
    text = invoke("reproduce", "--help").output
    assert all(name in text for name in STUDIES)


def test_unknown_figure_is_told_which_exist():
    result = invoke("reproduce", "nothing")
    assert result.exit_code == 2
    assert all(name in result.output for name in STUDIES)


@pytest.mark.parametrize(
    ("option", "value", "rule"),
    [
        ("--seeds", 0, "at least 1"),
        ("--fraction", 0, "(0, 1]"),
        ("--fraction", 1.5, "(0, 1]"),
        ("--fraction", "nan", "(0, 1]"),
        ("--jobs", 0, "at least 1"),
        ("--engine", "cluster", "one of local, ray"),
    ],
)
def test_bad_options_are_refused(option, value, rule, tmp_path):
    result = invoke("reproduce", "synthetic", option, value, "--out", tmp_path)
    assert result.exit_code == 2
    assert rule in " ".join(re.split(r"[\s│]+", result.output))  # the message stands wrapped in a box
    assert "Traceback" not in result.output
    assert not list(tmp_path.iterdir())


def test_a_missing_ray_is_told(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    result = invoke("reproduce", "synthetic", "--engine", "ray", "--out", tmp_path)
    assert result.exit_code == 2
    assert "install tacit[ray]" in " ".join(re.split(r"[\s│]+", result.output))


def test_unwritable_directory_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    result = invoke("reproduce", "synthetic", "--fraction", 0.001, "--seeds", 1, "--out", tmp_path / "file")
    assert result.exit_code == 1
    assert "choose another --out" in result.output


def test_reproduce_shows_the_table_and_where_things_are(tmp_path, monkeypatch):
    stay_here(monkeypatch)
    monkeypatch.setattr(catalogue, "STUDIES", {"synthetic": SMALL})
    arguments = ("reproduce", "synthetic", "--fraction", 0.001, "--seeds", 1, "--out", tmp_path)
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    for said in ("average reward", "tacit", "uniform", "2 runs computed", "no intervals", "report.html"):
        assert said in result.output
    assert "0 runs computed, 2 taken from before" in invoke(*arguments).output


def test_failure_ends_with_code_1_and_a_log(tmp_path, monkeypatch):
    stay_here(monkeypatch)
    broken = resweep(SMALL, learners=("no_such_learner", "uniform"))
    monkeypatch.setattr(catalogue, "STUDIES", {"synthetic": broken})
    arguments = ("--fraction", 0.001, "--seeds", 1, "--out", tmp_path)
    result = invoke("reproduce", "synthetic", *arguments)
    assert result.exit_code == 1
    assert "error: 1 of 2 runs failed" in result.output
    assert "error: 1\n" not in result.output
    assert "Traceback" not in result.output
    assert "there is no learner" in (tmp_path / "synthetic" / "failures.log").read_text()
    assert not (tmp_path / "synthetic" / "summary.json").exists()
    monkeypatch.setattr(catalogue, "STUDIES", {"synthetic": resweep(SMALL, learners=("uniform",))})
    assert invoke("reproduce", "synthetic", *arguments).exit_code == 0
    assert not (tmp_path / "synthetic" / "failures.log").exists()


def test_command_line_starts_without_heavy_imports():
    heavy = "('torch', 'matplotlib', 'jinja2', 'gymnasium', 'scipy.stats', 'tacit.experiments')"
    code = f"import sys, tacit.cli.main; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.compiled
def test_doctor_finds_this_installation_well():
    result = invoke("doctor")
    assert result.exit_code == 0, result.output
    assert "All is well" in result.output
    assert all(
        name in result.output for name in ("python", "numba", "compiler", "occupancy solver", "checkpoint")
    )


def test_doctor_tells_what_is_missing_and_what_that_means():
    missing = doctor.check_package(doctor.Requirement("no-such-package", "1.0", None))
    assert (missing.status, missing.broken) == ("missing", True)
    extra = doctor.check_package(doctor.Requirement("no-such-package", "1.0", "neural"))
    assert (extra.status, extra.broken) == ("missing", False)
    assert "tacit[neural]" in extra.detail
    assert "neural posterior" in extra.detail
    old = doctor.check_package(doctor.Requirement("numpy", "99.0", None))
    assert (old.status, old.broken) == ("failed", True)


def test_doctor_prints_the_extra_to_install_and_paths_with_their_brackets(monkeypatch):
    extra = doctor.check_package(doctor.Requirement("no-such-package", "1.0", "neural"))
    folder = doctor.Checked("kept [kernels]", "ok", "a/[bold]/[/b]")
    monkeypatch.setattr(doctor, "examine", lambda: iter([extra, folder]))
    monkeypatch.setenv("COLUMNS", "200")
    result = invoke("doctor")
    assert result.exit_code == 0
    for said in ("pip install 'tacit[neural]'", "kept [kernels]", "a/[bold]/[/b]"):
        assert said in result.output


def test_doctor_reports_a_check_that_raises(monkeypatch):
    def broken():
        raise RuntimeError("no luck")

    finding = doctor.guarded("luck", broken)
    assert (finding.status, finding.detail) == ("failed", "RuntimeError: no luck")
    monkeypatch.setattr(doctor, "examine", lambda: iter([finding]))
    result = invoke("doctor")
    assert result.exit_code == 1
    assert "these need attention: luck" in result.output

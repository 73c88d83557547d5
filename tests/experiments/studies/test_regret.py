"""The regret study: the rate, and that it goes on where it stopped."""

import numpy as np
import pytest
from study_samples import QUIET, resweep, stay_here

from tacit.agent import Agent
from tacit.experiments.catalogue import STUDIES
from tacit.experiments.learning import log_points
from tacit.experiments.publish import publish
from tacit.experiments.run import perform
from tacit.experiments.studies.regret.rate import fit_slope
from tacit.experiments.study import Request


def test_slope_is_fitted_over_the_last_two_decades():
    T = log_points(1_000_000)
    regret = np.where(T < 10_000, 50.0 * T, 50.0 * 10_000**0.6 * T**0.4)
    assert fit_slope(T, regret) == pytest.approx(0.4)
    assert fit_slope(T, 0.3 * T) == pytest.approx(1.0)
    assert fit_slope(T, np.zeros(len(T))) is None


def test_regret_goes_on_where_it_stopped(tmp_path, monkeypatch):
    stay_here(monkeypatch)
    study = resweep(STUDIES["regret"], learners=("tacit_fast", "uniform"), episodes=40)
    request = Request(study, tmp_path, seeds=2)
    first = perform(request, QUIET)
    summary = publish(first)
    assert summary["episodes"] == 40
    for part in summary["variants"].values():
        assert part["learners"]["uniform"]["slope"]["mean"] == pytest.approx(1.0, abs=1e-6)
    task = first.task("personal", "tacit_fast", 1)
    request.store.path(task).unlink()
    again = perform(request, QUIET)
    assert (first.computed, again.computed) == (8, 1)
    assert again.results[task]["scalars"] == first.results[task]["scalars"]
    assert Agent.load(request.store.agent_path(task)).stage.name == "fast learning"

"""Intervals over seeds."""

import pytest

from tacit.reports.intervals import mean_interval, show_interval


def test_one_seed_has_no_interval():
    assert mean_interval([0.5]) == {"mean": 0.5, "low": None, "high": None}
    assert mean_interval([0.5, None])["mean"] is None
    assert show_interval(mean_interval([0.5])) == "0.500"


def test_interval_is_students():
    # mean 2, standard error 1/√3, t quantile of two degrees of freedom 4.302653
    interval = mean_interval([1.0, 2.0, 3.0])
    assert interval["high"] - 2.0 == pytest.approx(4.302653 / 3**0.5)
    assert 2.0 - interval["low"] == pytest.approx(4.302653 / 3**0.5)

"""Trials of starts: what was tried in haste is gone on with as if it had been made at once."""

import numpy as np
import pytest
from text_posteriors import world

from tacit.text.small import cross_fitting
from tacit.text.small.choosing import RIDGES
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.cross_fitting import BETTER, FINE, best_round, try_start, weigh_fits
from tacit.text.small.fitting import fit_frame, make_design
from tacit.text.small.starts import list_starts

SETTINGS = FittingSettings(steps=20)


@pytest.mark.parametrize("n", [FINE // 4, FINE + 50])
def test_what_was_begun_in_haste_ends_as_what_is_made_at_once(n, monkeypatch):
    """Of few reactions haste has other parts, of which nothing can be used; of many, nothing is fitted twice."""
    sample, _ = world(n, personal=True)
    design = make_design(sample, fit_frame(sample, SETTINGS))
    tried = design, list_starts(design, None)[0], RIDGES[0], SETTINGS, None
    begun, whole = try_start(*tried, hasty=True), try_start(*tried)
    fitted = []
    fit_rest = cross_fitting.fit_rest
    monkeypatch.setattr(cross_fitting, "fit_rest", lambda *each: fitted.append(1) or fit_rest(*each))
    found = try_start(*tried, begun=begun)
    assert len(fitted) == (0 if n > FINE else cross_fitting.FINE_FOLDS)
    assert (found.gain, found.first, found.best) == (whole.gain, whole.first, whole.best)
    assert np.array_equal(found.start.weights, whole.start.weights)
    assert np.array_equal(found.fits, whole.fits)


def test_meaning_is_read_only_where_that_is_plainly_better():
    assert best_round([0.5, 0.508, 0.3]) == 0
    assert best_round([0.5, 0.53, 0.525]) == 1
    assert best_round([0.5, 0.508, 0.53]) == 2


@pytest.mark.parametrize("best", [0, 1])
def test_what_reading_wins_by_itself_is_taken_off(best, monkeypatch):
    """Where meaning was read the trial counts for less, and where it was not, for no less."""
    sample, _ = world(FINE // 4)
    design, n = make_design(sample, fit_frame(sample, SETTINGS)), cross_fitting.FINE_FOLDS
    parts = [np.arange(len(design)) % n == part for part in range(n)]
    monkeypatch.setattr(cross_fitting, "best_round", lambda _: best)
    found = try_start(design, list_starts(design, None)[0], RIDGES[0], SETTINGS, None)
    told = weigh_fits(design, parts, found.fits, None).mean()
    assert found.gain == pytest.approx(told - best * BETTER)
    assert (found.gain == found.first) == (not found.read)

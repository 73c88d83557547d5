"""How boldly feedback is read: scales that reactions left out ask for, and what fits as they are would have said."""

import numpy as np
import pytest
from text_posteriors import world

from tacit.text.small import calibration
from tacit.text.small.calibration import Scales, calibrate, foretell
from tacit.text.small.choosing import choose_trials
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.cross_fitting import foretell_rewards
from tacit.text.small.fitting import fit_frame, make_design
from tacit.text.small.likelihood import rewards_of_taken

SETTINGS = FittingSettings()


@pytest.fixture(scope="module")
def trial():
    sample, reward = world(300, noise=0.45, echoes=False)
    design = make_design(sample, fit_frame(sample, SETTINGS))
    return design, choose_trials(design, SETTINGS, None).trials[1], reward


def test_each_reaction_is_foretold_by_the_fit_that_left_it_out(trial):
    design, chosen, _ = trial
    expected = np.zeros(len(design))
    for n, fit in enumerate(chosen.fits):
        rows = np.arange(n, len(design), len(chosen.fits))
        expected[rows] = rewards_of_taken(design, fit)[0][rows]
    np.testing.assert_allclose(foretell(design, chosen.fits, 1.0), expected, rtol=1e-12)
    of_itself = rewards_of_taken(design, chosen.fits[0])[0]
    assert not np.allclose(foretell(design, chosen.fits, 1.0), of_itself)


def test_meaning_is_read_off_rewards_that_are_as_bold_as_feedback_bears(trial):
    """Where fits are made five times as bold as they were, what they foretell is nearly as it was."""
    design, chosen, _ = trial
    parts = [np.arange(len(design)) % len(chosen.fits) == n for n in range(len(chosen.fits))]
    bold, as_it_was = make_bold(trial), foretell_rewards(design, parts, chosen.fits)
    toned = np.abs(foretell_rewards(design, parts, bold) - as_it_was).mean()
    assert toned < 0.5 * np.abs(foretell(design, bold, 1.0) - as_it_was).mean()


def test_rewards_that_say_too_much_are_toned_down(trial):
    """Fits made five times as bold as they were are read a fifth as boldly, or nearly."""
    design, chosen, _ = trial
    as_fitted = calibrate(design, chosen.start.weights, chosen.fits)
    assert calibrate(design, chosen.start.weights, make_bold(trial)).boldness < as_fitted.boldness


def test_reading_stays_as_it_was_fitted_unless_reactions_ask_for_more(trial, monkeypatch):
    """The control takes the very best pair, which is another where fits are too bold."""
    design, chosen, _ = trial
    monkeypatch.setattr(calibration, "AS_LIKELY", 1e6)
    assert calibrate(design, chosen.start.weights, make_bold(trial)) == Scales()
    monkeypatch.setattr(calibration, "AS_LIKELY", 0.0)
    assert calibrate(design, chosen.start.weights, make_bold(trial)) != Scales()


def make_bold(trial):
    """Return the fits of a trial made five times as bold as they were."""
    design, chosen, _ = trial
    n = design.fitting - design.state.shape[1]
    return [np.concatenate([5 * fit[:n], fit[n:]]) for fit in chosen.fits]

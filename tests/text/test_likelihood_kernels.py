"""The compiled likelihood beside its slow twin, compiled and not."""

import numpy as np
import pytest
from reference_likelihood import believe_slowly, explain_slowly
from text_posteriors import world

from tacit.text.small.climbing import FittingSettings
from tacit.text.small.fitting import fit_frame, make_design
from tacit.text.small.likelihood import believed_of, explain_feedback, explain_fixed, explain_meaning
from tacit.text.small.likelihood_kernels import sigmoid
from tacit.text.small.starts import list_starts

SETTINGS = FittingSettings()


@pytest.fixture(scope="module", params=[False, True], ids=["one-meaning", "personal"])
def case(request):
    """Return a design with missing candidates, people without a profile and remarks heard again, and weights."""
    sample, _ = world(60, personal=request.param)
    sample.mask[np.arange(0, 60, 3), (sample.taken[::3] + 1) % sample.mask.shape[1]] = False
    sample.profile[::7] = 0.0
    sample.remark[:] = np.arange(60) % 40
    design = make_design(sample, fit_frame(sample, SETTINGS))
    start = list_starts(design, None)[-1].weights
    return design, start + 0.3 * np.random.default_rng(0).standard_normal(len(start))


def test_what_weights_say_is_what_the_twin_says(case):
    design, weights = case
    for found, expected in zip(believed_of(design, weights), believe_slowly(design, weights), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_value_and_slopes_are_those_of_the_twin(case):
    design, weights = case
    value, slopes = explain_slowly(design, weights)
    found = explain_feedback(design, weights)
    assert found[0] == pytest.approx(value, rel=1e-12)
    own = design.known.shape[1]
    assert own == 19  # of 1 to 19, 0 is none
    slopes[-own:] = 0.0  # own values are read by themselves
    np.testing.assert_allclose(found[1], slopes, rtol=1e-9, atol=1e-11)


def test_what_is_known_need_not_be_climbed(case):
    design, weights = case
    fits, good, t, plain = believe_slowly(design, weights)
    f, n = good * fits[np.arange(len(design)), design.taken], design.fitting
    value, slopes = explain_slowly(design, weights)
    for found, expected in (
        (explain_fixed(design, weights[:n], t, plain), slopes[:n]),
        (explain_meaning(design, f, weights[n:]), slopes[n:]),
    ):
        assert found[0] == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(found[1], expected, rtol=1e-9, atol=1e-11)


def test_probabilities_of_log_odds_however_large():
    odds = np.array([-1e4, -40.0, -1.0, 0.0, 1.0, 40.0, 1e4])
    assert sigmoid(odds) == pytest.approx(
        [0.0, np.exp(-40.0), 1 / (1 + np.e), 0.5, np.e / (1 + np.e), 1.0, 1.0]
    )

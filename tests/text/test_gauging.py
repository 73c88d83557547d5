"""Theta and M of conversations: what is found where they are known."""

from dataclasses import replace

import numpy as np
import pytest
from text_posteriors import ITEMS, world

from tacit.text.evidence import Evidence, estimate_intervals, find_constants
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.fitting import fit_text_posterior
from tacit.text.small.gauging import Gauge, gauge_rewards, weighted_mean

SETTINGS = FittingSettings()


def gauge(sample):
    return fit_text_posterior(sample, SETTINGS).gauge


def hear(sample, pleased, seed=5):
    """Return a sample with feedback that says who is pleased."""
    reading = 0.3 * np.random.default_rng(seed).standard_normal(sample.reading.shape)
    reading[:, 0] += pleased
    return replace(sample, reading=reading)


@pytest.mark.parametrize("personal", [False, True])
def test_one_candidate_that_pleases_surely(personal):
    """Theta and M are 1 where some candidate is right."""
    sample, _ = world(800, personal=personal)
    found = gauge(sample)
    assert found.theta == pytest.approx(1.0, abs=0.1)
    assert pytest.approx(1.0, abs=0.3) == found.M
    assert found.candidates == 5


def test_a_candidate_that_pleases_in_seven_of_ten():
    sample, reward = world(1500, echoes=False)
    fickle = np.random.default_rng(3).random(len(reward)) < 0.7
    found = gauge(hear(sample, reward & fickle))
    assert found.theta == pytest.approx(0.7, abs=0.08)
    assert pytest.approx(0.7, abs=0.1) == found.M


@pytest.mark.parametrize(("wanted", "least", "most"), [(1, 0.8, 1.1), (2, 1.5, 2.1)])
def test_how_many_candidates_please(wanted, least, most):
    """Where each request wants two items, nothing in the model's form allows for that, and M says so."""
    sample, _ = world(1500, echoes=False)
    _, asked = np.unique(sample.said[:, 0], axis=0, return_inverse=True)
    chance = np.random.default_rng(4)
    items = (asked.ravel()[:, None] + np.arange(ITEMS)) % ITEMS  # the first of them are wanted
    offer = np.array([[*row[:wanted], *chance.permutation(row[wanted:])[: 5 - wanted]] for row in items])
    offer = chance.permuted(offer, axis=1)
    taken = offer[np.arange(len(sample)), sample.taken]
    pleased = (taken[:, None] == items[:, :wanted]).any(axis=1)
    found = gauge(hear(replace(sample, offer=offer), pleased))
    assert least < found.M < most
    findings = find_constants(Evidence(0.2, 0.01, **found._asdict()))
    assert [f.code for f in findings] == ["several-please" if wanted > 1 else "constants-estimated"]


def test_choices_of_a_policy_count_as_if_they_had_been_even():
    """After 300 a policy takes what is right in nine of ten: M would be 4.5 if they were counted as they are."""
    sample, _ = world(900, echoes=False, explored=300)
    assert pytest.approx(1.0, abs=0.25) == gauge(sample).M


def test_nothing_is_said_of_few():
    sample, _ = world(300)
    posterior, _, weights, _ = fit_text_posterior(sample, SETTINGS)
    assert gauge_rewards(posterior, sample.part(np.arange(12)), weights) == Gauge()
    assert estimate_intervals(Evidence(0.2, 0.01)) is None
    assert not list(find_constants(Evidence(0.2, 0.01)))


def test_errors_are_those_of_drawing_anew():
    chance = np.random.default_rng(0)
    weights, values = chance.random(200), chance.random(200)
    drawn = [chance.integers(200, size=200) for _ in range(2000)]
    means = [np.average(values[rows], weights=weights[rows]) for rows in drawn]
    assert weighted_mean(values, weights)[1] == pytest.approx(np.std(means), rel=0.1)

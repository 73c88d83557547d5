"""Remarks that are heard again and again: what they mean is learned whatever they sound like."""

from dataclasses import replace

import numpy as np
import pytest
from text_posteriors import put_phrases, world

from tacit.text.small import recurring
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.cross_fitting import try_start
from tacit.text.small.fitting import fit_frame, fit_text_posterior, make_design
from tacit.text.small.posterior import TextPosterior
from tacit.text.small.recurring import NEVER, list_recurring, number_remark
from tacit.text.small.starts import hold_meaning, list_starts

SETTINGS = FittingSettings()
PHRASES = 48


def share_right(sample, reward):
    """Return how many labels are right, each by fits that left the reaction out."""
    fitted = fit_text_posterior(sample, SETTINGS, looks=0)
    told = np.zeros(len(sample))
    for part, weights in enumerate(fitted.left_out):
        rows = np.arange(part, len(sample), len(fitted.left_out))
        told[rows] = fitted.posterior.put_fitting(weights).rewarded(sample.part(rows))
    return float(((told > 0.5) == reward).mean()), fitted.posterior


@pytest.fixture(scope="module")
def misread():
    """Return reactions with phrases of which a quarter sounds otherwise than it means, and their rewards."""
    sample, reward = world(700, echoes=False)
    return put_phrases(sample, reward, PHRASES, misread=6, noise=0.15), reward


def test_what_is_heard_again_is_understood_though_it_sounds_otherwise(misread):
    """Of the same phrases, were each of them a new one every time, more than a tenth stays misunderstood."""
    sample, reward = misread
    right, posterior = share_right(sample, reward)
    assert right > 0.95
    assert len(posterior.leading.recurring) == PHRASES
    never_again = replace(sample, remark=np.full(len(sample), NEVER))
    by_its_sound, _ = share_right(never_again, reward)
    assert by_its_sound < right - 0.05


def test_phrases_learned_by_heart_do_not_pass_for_meaning():
    """Of noise in phrases that are heard two or three times: what stakes win is within chance."""
    beyond = []
    for seed in range(6):
        sample, reward = world(150, seed=seed, echoes=False)
        noise = np.random.default_rng(seed).random(150) < reward.mean()
        evidence = fit_text_posterior(put_phrases(sample, noise, phrases=60, seed=seed), SETTINGS).evidence
        assert not evidence.found
        beyond.append(evidence.gain / evidence.error)
    assert max(beyond) < 3.29
    assert sum(each > 1.96 for each in beyond) <= 3  # the best of several fits is looked at


def test_own_values_are_nothing_where_meaning_is_fitted_together_with_what_fits(misread):
    """Those that were read know what was left out, and are no part of a meaning that is held."""
    design = make_design(misread[0], fit_frame(misread[0], SETTINGS))
    trial = try_start(design, list_starts(design, None)[3], 0.03, FittingSettings(steps=20), None, hasty=True)
    read = trial.start._replace(weights=trial.rounds[1][0])
    assert np.abs(design.split(read.weights)[-1]).max() > 0.5
    for start in (*list_starts(design, None), hold_meaning(design, read)):
        assert not design.split(start.weights)[-1].any()
        assert not design.split(start.centre)[-1].any()
    assert not any(design.split(fit)[-1].any() for fit in trial.rounds[0])


def test_a_new_remark_has_no_value_of_its_own(misread):
    sample, reward = misread
    _, posterior = share_right(sample, reward)
    leading, strange = posterior.leading, replace(sample, remark=np.full(len(sample), 10_000))
    unknown = leading.kindness(strange)
    np.testing.assert_allclose(
        unknown, replace(leading, own_weights=0 * leading.own_weights).kindness(sample)
    )
    assert np.abs(leading.kindness(sample) - unknown).max() > 1


def test_own_values_are_saved_to_the_last_bit(misread):
    sample, _ = misread
    leading = fit_text_posterior(sample.part(np.arange(200)), SETTINGS, looks=0).posterior.leading
    again = TextPosterior.from_state(leading.to_state())
    np.testing.assert_array_equal(again.kindness(sample), leading.kindness(sample))
    broken = leading.to_state() | {"own_weights": leading.own_weights[1:]}
    with pytest.raises(ValueError, match="own_weights"):
        TextPosterior.from_state(broken)


def test_those_heard_most_often_are_kept(monkeypatch):
    monkeypatch.setattr(recurring, "MOST", 2)
    heard = np.repeat([9, 4, 7, 5], [2, 5, 3, 1])
    assert list_recurring(heard).tolist() == [4, 7]


def test_capitals_and_full_stops_make_no_other_remark():
    assert number_remark("I'd rather stay at home.") == number_remark("i'd rather stay at home")
    assert number_remark("👍") != number_remark("👎") != NEVER
    assert number_remark("\u201cIt\u2019s fine\u2026\u201d") == number_remark("it's fine")
    assert len({number_remark(""), number_remark("..."), number_remark("?"), NEVER}) == 4

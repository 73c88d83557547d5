"""Several fits are read together: what they say, how it is saved, and that they are less sure where they disagree."""

from dataclasses import replace

import numpy as np
import pytest
from text_posteriors import world

from tacit.base.saved import Saved
from tacit.text.small import choosing
from tacit.text.small.choosing import choose_trials
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.ensemble import Ensemble
from tacit.text.small.fitting import fit_frame, fit_text_posterior, make_design

SETTINGS = FittingSettings()


@pytest.fixture(scope="module")
def fitted():
    sample, reward = world(90, personal=True, noise=0.6, echoes=False)
    return sample, reward, fit_text_posterior(sample, SETTINGS).posterior


def test_it_says_what_its_members_say_on_average(fitted):
    sample, _, posterior = fitted
    assert len(posterior.members) > 1
    assert posterior.shares.sum() == pytest.approx(1)
    for name in ("rewards", "predict", "rewarded", "promising"):
        each = [getattr(member, name)(sample) for member in posterior.members]
        np.testing.assert_allclose(getattr(posterior, name)(sample), np.tensordot(posterior.shares, each, 1))
    np.testing.assert_allclose(posterior.predict(sample).sum(axis=1), 1)
    assert (posterior.confidence(sample) >= 0.5).all()


def test_how_likely_the_state_is_good_follows_from_all_candidates(fitted):
    """By Bayes' rule over which candidate is right, if any: the candidate taken earns a reward, or it does not."""
    sample, _, posterior = fitted
    member, rows = posterior.leading, np.arange(len(sample))
    f, ratio = member.goodness(sample)[:, None] * member.fits(sample, member.boldness), member.ratios(sample)
    right = np.column_stack([f, 1 - f.sum(axis=1)])  # the last: none is
    likely = right * np.where(
        np.arange(right.shape[1]) == sample.taken[rows][:, None], np.exp(ratio)[:, None], 1.0
    )
    likely /= likely.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(member.promising(sample), 1 - likely[:, -1])
    np.testing.assert_allclose(member.rewarded(sample), likely[rows, sample.taken])


def test_shares_fall_with_what_is_foretold():
    design = make_design(sample := world(90, noise=0.6)[0], fit_frame(sample, SETTINGS))
    chosen = choose_trials(design, SETTINGS, None)
    assert (np.diff(chosen.shares) <= 0).all()
    assert 1 < len(chosen.trials) <= choosing.MEMBERS
    assert chosen.won.shape == (90,)


def test_it_reads_better_than_its_leading_member():
    """Of few reactions, by how likely the rewards are that nobody told; the leading member is the control."""
    together, alone = [], []
    for seed in range(4):
        sample, _ = world(60, seed=seed, personal=True, noise=0.6, echoes=False)
        fresh, reward = world(1000, seed=seed + 50, personal=True, noise=0.6, echoes=False)
        posterior = fit_text_posterior(sample, SETTINGS).posterior
        for found, reader in ((together, posterior), (alone, posterior.leading)):
            right = np.where(reward, reader.rewarded(fresh), 1 - reader.rewarded(fresh))
            found.append(np.log(np.maximum(right, 1e-6)).mean())
    assert np.mean(together) > np.mean(alone) + 0.02


def test_saved_and_loaded_alike(fitted):
    sample, _, posterior = fitted
    loaded = Ensemble.from_state(posterior.to_state())
    np.testing.assert_array_equal(loaded.predict(sample), posterior.predict(sample))
    np.testing.assert_array_equal(loaded.shares, posterior.shares)
    assert [member.boldness for member in loaded.members] == [m.boldness for m in posterior.members]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("shares", lambda value: value / 2),
        ("shares", lambda value: value[:0]),
        ("weights", lambda value: value[:, 1:]),
        ("scales", lambda value: -value),
    ],
)
def test_what_was_tampered_with_is_refused(fitted, name, change):
    state = fitted[2].to_state()
    with pytest.raises(ValueError, match=name):
        Ensemble.from_state(Saved.of({**state, name: change(state[name])}))


def test_known_rewards_choose_as_well():
    sample, reward = world(200, echoes=False)
    told = fit_text_posterior(replace(sample, reading=0 * sample.reading), SETTINGS, reward.astype(float))
    best = told.posterior.rewards(sample).argmax(axis=1)
    assert (best == sample.taken)[reward].mean() > 0.9

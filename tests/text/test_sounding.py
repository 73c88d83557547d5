"""How kind remarks sound: of remarks that nobody listed, and what it is worth to a fit where few are pleased."""

from dataclasses import replace

import numpy as np
import pytest
from text_posteriors import world

from tacit.text.conversation import NO_REMARK, Choice, Conversation, Reaction, TextContext
from tacit.text.small.cache import EncodingCache
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.encoder import bundled_encoder
from tacit.text.small.features import TextFeatures
from tacit.text.small.fitting import fit_frame, fit_text_posterior, make_design
from tacit.text.small.likelihood import believed_of
from tacit.text.small.sampling import make_sample
from tacit.text.small.sounding import KIND, UNKIND, sound_of
from tacit.text.small.starts import first_weights, leading_reading, read_as, read_as_heard, sounding_kind

SETTINGS = FittingSettings()
PLEASED = ("Brilliant, that sorted it.", "Lovely, cheers!", "Spot on.", "You saved my day.")
DISPLEASED = ("Useless.", "Why would I want that?", "Try again.", "Not even close.")


@pytest.fixture(scope="module")
def features():
    return TextFeatures(bundled_encoder(), EncodingCache(None))


def few_pleased(n=150, seed=0):
    """Return a sample in which people differ more in how they are displeased than in whether, and its rewards."""
    sample, reward = world(n, seed, noise=0.2, echoes=False)
    chance = np.random.default_rng([7, seed])
    reading = sample.reading.copy()
    for column in (1, 2, 3):
        reading[~reward, column] += 3.0 * chance.standard_normal((~reward).sum())
    return replace(sample, reading=reading), reward


def test_remarks_that_nobody_listed_sound_as_they_are_meant(features):
    kind, unkind = (features.sounds(features.reactions(each).astype(float)) for each in (PLEASED, DISPLEASED))
    assert not set(PLEASED + DISPLEASED) & set(KIND + UNKIND)
    assert kind.min() > unkind.max()


def test_listed_remarks_lie_a_half_to_either_side(features):
    heard = features.sounds(features.reactions(KIND + UNKIND).astype(float))
    assert heard[: len(KIND)].mean() == pytest.approx(0.5, abs=1e-4)
    assert heard[len(KIND) :].mean() == pytest.approx(-0.5, abs=1e-4)


def test_an_encoder_to_which_all_is_alike_hears_nothing():
    assert sound_of(np.ones((3, 2)), np.ones((4, 2)), np.ones((5, 2))).tolist() == [0.0, 0.0, 0.0]


def test_silence_sounds_like_nothing(features):
    choice = Choice(Conversation(TextContext("a kettle"), ()), ("this one", "that one"), 0, 0.5)
    heard = make_sample(features, [Reaction(choice, each) for each in (NO_REMARK, PLEASED[0])])
    assert heard.sounds[0] == 0 != heard.sounds[1]


def test_where_nothing_is_heard_fits_begin_at_the_leading_component():
    design = make_design(*framed(few_pleased()[0]))
    np.testing.assert_array_equal(sounding_kind(design), leading_reading(design))


def test_what_sounds_kind_is_found_among_ways_of_being_displeased():
    """The leading component is a way of being displeased; what sounds kind points at the pleased."""
    sample, reward = few_pleased()
    design = make_design(*framed(replace(sample, sounds=reward - 0.5)))
    pleased = [
        np.corrcoef(design.reading @ along, reward)[0, 1]
        for along in (leading_reading(design), sounding_kind(design))
    ]
    assert abs(pleased[0]) < 0.4 < 0.7 < pleased[1]


def test_fits_gain_by_what_remarks_sound_like_and_lose_nothing_by_sounds_that_mean_nothing():
    gains = {"nothing heard": [], "as they are meant": [], "dealt anew": []}
    for seed in range(2):
        sample, reward = few_pleased(seed=seed)
        meant = reward - 0.5
        for name, sounds in zip(
            gains, (0 * meant, meant, np.random.default_rng(seed).permutation(meant)), strict=True
        ):
            gains[name].append(fit_text_posterior(replace(sample, sounds=sounds), SETTINGS).evidence.gain)
    silent, meant, dealt = (np.mean(each) for each in gains.values())
    assert meant > silent + 0.1
    assert dealt > silent - 0.1  # a standard error: nothing is found in either


def framed(sample):
    return sample, fit_frame(sample, SETTINGS)


def test_what_sounds_like_neither_side_means_nothing_however_few_are_pleased():
    """One in ten is pleased: half way between how both sound, not at the mean, a remark says nothing."""
    chance = np.random.default_rng(0)
    sample, _ = world(300)
    pleased = np.arange(300) % 10 == 0
    reading = 0.1 * chance.standard_normal(sample.reading.shape)
    reading[:, 0] += pleased
    design = make_design(*framed(replace(sample, reading=reading, sounds=pleased - 0.5)))
    start = read_as_heard(design, first_weights(design, 0.0))
    meant = believed_of(design, start).ratio
    assert meant[pleased].min() > 0.5
    assert meant[~pleased].max() < -0.5
    control = read_as(design, first_weights(design, 0.0), leading_reading(design))
    assert (believed_of(design, control).ratio[~pleased] > -0.5).mean() > 0.3


def test_few_pleased_are_not_many_where_nothing_fits():
    """One in fifteen is pleased, by luck: remarks mean what they sound like. In the control nothing is heard."""
    right = {"heard": [], "not heard": []}
    for seed in (1, 2, 3):
        sample, _ = world(400, seed=seed, echoes=False)
        chance = np.random.default_rng(seed)
        pleased = chance.random(400) < 1 / 15
        reading = 0.2 * chance.standard_normal(sample.reading.shape)
        reading[:, 0] += pleased
        for column in (1, 2, 3):
            reading[~pleased, column] += 2.0 * chance.standard_normal((~pleased).sum())
        for name, sounds in zip(right, (pleased - 0.5, np.zeros(400)), strict=True):
            heard = replace(sample, reading=reading, sounds=sounds)
            found = fit_text_posterior(heard, SETTINGS).posterior.rewarded(heard)
            right[name].append(np.mean((found > 0.5) == pleased))
    assert np.mean(right["heard"]) > 0.95
    assert np.mean(right["not heard"]) < 0.9


def test_sounds_stand_in_a_reading_beside_its_components():
    """What varies most is something else, and one component is kept of it: the sound is heard all the same."""
    sample, reward = world(300)
    chance = np.random.default_rng(0)
    reading = np.column_stack([10 * chance.standard_normal(300), reward + 0.01 * chance.standard_normal(300)])
    heard = replace(sample, reading=reading, sounds=reward - 0.5)
    few = FittingSettings(feedback_parts=1)
    design = make_design(heard, fit_frame(heard, few))
    assert design.reading.shape == (300, 3)
    np.testing.assert_array_equal(design.reading[:, 0], heard.sounds)
    right = {}
    for name, sample_of in (("heard", heard), ("not heard", replace(heard, sounds=np.zeros(300)))):
        found = fit_text_posterior(sample_of, few).posterior.rewarded(sample_of)
        right[name] = np.mean((found > 0.5) == reward)
    assert right["heard"] > 0.95 > right["not heard"]

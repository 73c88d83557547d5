"""The finding that readings do not separate: said where words tell what the encoder does not, and nowhere else."""

from dataclasses import replace

import numpy as np
import pytest
from text_samples import shop_env, small_model

from tacit.agent import Agent
from tacit.envs.gym_adapter import GymSource
from tacit.simulate import Simulation
from tacit.text.conversation import Reaction
from tacit.text.conversations import Conversations
from tacit.text.evidence import Evidence
from tacit.text.settings import TextSettings
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.fitting import fit_text_posterior
from tacit.text.small.separation import find_separation, read_words
from tacit.text.stages import choices_of

SETTINGS = FittingSettings()


@pytest.fixture(scope="module")
def reactions():
    """400 uniform episodes of a paint shop."""
    model, kept = small_model(), []
    agent = Agent(Conversations(TextSettings(exploration=10_000), model, 1), seed=1)

    def watch(episode, source):
        kept.append(Reaction(choices_of(episode)[-1], source.info["feedback"]))

    Simulation(agent, GymSource(shop_env()), 1, watch=watch).run(400)
    return kept


def blind(sample):
    """Return the sample as an encoder reads it that tells no remark from another."""
    noise = np.random.default_rng(0).standard_normal(sample.reading.shape)
    return replace(sample, reading=noise, sounds=noise[:, 0])


def test_words_that_the_encoder_does_not_read_are_found(reactions):
    sample = blind(small_model().sample(reactions))
    evidence = fit_text_posterior(sample, SETTINGS).evidence
    assert not evidence.found
    (finding,) = find_separation(sample, [each.feedback for each in reactions], evidence, SETTINGS)
    assert finding.code == "readings-do-not-separate"
    assert "TextSettings(encoder=" in finding.remedy


def test_noise_is_no_fault_of_the_encoder(reactions):
    sample = blind(small_model().sample(reactions))
    evidence = fit_text_posterior(sample, SETTINGS).evidence
    said = np.random.default_rng(2).permutation([each.feedback for each in reactions])
    assert list(find_separation(sample, said.tolist(), evidence, SETTINGS)) == []


def test_nothing_is_said_where_feedback_was_found_or_told(reactions):
    sample, said = small_model().sample(reactions), [each.feedback for each in reactions]
    assert list(find_separation(sample, said, Evidence(0.1, 0.01), SETTINGS)) == []
    assert list(find_separation(sample, said, None, SETTINGS)) == []


def test_emoji_and_silence_are_words():
    smile, frown, silence = read_words(["ok 🙂", "ok 🙁", ""])
    assert not np.allclose(smile, frown, atol=0.1)
    assert np.linalg.norm(silence) == pytest.approx(1)

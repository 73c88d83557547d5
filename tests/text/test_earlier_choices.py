"""Feedback that goes with choices before the last: it is seen there, and noise is not."""

import numpy as np
import pytest
from text_samples import HashingEncoder
from text_turns import draw

from tacit.text.evidence import Evidence, level_of
from tacit.text.small.cache import EncodingCache
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.earlier_choices import combine_chances, weigh_earlier, weigh_turns
from tacit.text.small.features import TextFeatures
from tacit.text.small.model import SmallModel

SETTINGS = FittingSettings()


LOOK = Evidence(-0.1, 0.1, 1, chance=0.5)


@pytest.fixture
def features():
    return TextFeatures(HashingEncoder(), EncodingCache(None))


def test_a_first_choice_that_decides_is_seen_though_the_last_says_nothing(features):
    level = level_of(1)
    found = weigh_turns(LOOK, features, draw(150), SETTINGS)
    assert 0 < found.together <= level
    assert found._replace(together=0.0) == LOOK
    model = SmallModel(2, encoder=HashingEncoder(), cache=EncodingCache(None)).fit(draw(150))
    assert model.evidence.found
    assert not model.evidence._replace(together=0.0).found  # the last choice does not tell it
    assert model.evidence.chance > level


def test_noise_is_seen_no_oftener_than_its_level_says(features):
    """Of the turn before the last, and of both together where the last one's chances are drawn evenly."""
    last = np.random.default_rng(7).random(40)
    found = [
        weigh_turns(LOOK._replace(chance=last[seed]), features, draw(60, seed, meant=False), SETTINGS)
        for seed in range(40)
    ]
    chances = [each.together for each in found]
    assert all(chances)
    assert sum(chance <= 0.05 for chance in chances) <= 5  # more than 5 of 40 has a chance of 0.01
    assert sum(chance <= 0.5 for chance in chances) <= 27  # more than 27, one of 0.01
    assert sum(each.found for each in found) <= 1  # the level is 2 in 1,000


def test_choices_that_nobody_kept_say_nothing(features):
    bare = [reaction._replace(before=()) for reaction in draw(40)]
    assert weigh_turns(LOOK, features, bare, SETTINGS) == LOOK
    even = [
        reaction._replace(before=(reaction.before[0]._replace(probability=0.9),)) for reaction in draw(40)
    ]
    assert weigh_turns(LOOK, features, even, SETTINGS) == LOOK


def test_a_last_choice_that_was_not_uniform_is_left_out_of_the_sum(features):
    found = weigh_turns(LOOK._replace(chance=0.0), features, draw(40), SETTINGS)
    assert found.together == pytest.approx(min(1.0, 2.5 * weigh_earlier(features, draw(40), SETTINGS, 1)[0]))


def test_chances_that_are_small_together():
    """Two turns that are each not unlikely enough; one that is by itself; and never more often than chance alone."""
    assert combine_chances([0.01], 0.01) < 0.0026
    assert combine_chances([1.0, 1.0, 1.0], 0.0001) == pytest.approx(0.00025)
    assert combine_chances([0.0001, 1.0, 1.0], 1.0) == pytest.approx(0.0015)
    drawn = np.random.default_rng(0).random((20_000, 3))
    found = np.array([combine_chances(earlier, last) for *earlier, last in drawn])
    for level in (0.01, 0.05, 0.2):
        assert 0.4 * level < np.mean(found <= level) < 1.1 * level


def test_what_turns_told_is_evidence_by_itself():
    level = level_of(9)
    assert Evidence(-0.1, 0.1, 9, chance=1.0, together=level).found
    assert not Evidence(-0.1, 0.1, 9, chance=1.0, together=1.1 * level).found
    assert not Evidence(-0.1, 0.1, 9, chance=1.0).found
    assert not Evidence(
        0.3, 0.1, 9, chance=level, together=2 * level
    ).found  # the last one is told with the others

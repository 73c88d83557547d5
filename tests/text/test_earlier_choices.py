"""Feedback that goes with choices before the last: it is seen there, and noise is not."""

import numpy as np
import pytest
from text_samples import HashingEncoder

from tacit.text.conversation import Choice, Conversation, Exchange, Reaction, TextContext
from tacit.text.evidence import LAST, TOGETHER, Evidence, level_of
from tacit.text.small.cache import EncodingCache
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.earlier_choices import combine_chances, weigh_turns
from tacit.text.small.features import TextFeatures
from tacit.text.small.model import SmallModel

WANTED = ("lamps", "boats", "shoes", "cakes")
PLACES = ("attic", "pier", "cobbler", "oven")
DOORS = {wanted: f"Let us go to the {place}" for wanted, place in zip(WANTED, PLACES, strict=True)}
ENDS = ("Take the first", "Take the second", "Take the third")
SETTINGS = FittingSettings()


LOOK = Evidence(-0.1, 0.1, 1, chance=0.5)
EARLY = 1 - TOGETHER - LAST


def draw(n, seed=0, meant=True):
    """Return reactions of two turns: the first decides whether anything pleases, the last never matters."""
    chance = np.random.default_rng(seed)
    reactions = []
    for _ in range(n):
        wanted = WANTED[chance.integers(4)]
        doors = tuple(DOORS[WANTED[k]] for k in chance.permutation(4)[:3])
        first = int(chance.integers(3))
        right = doors[first] == DOORS[wanted] if meant else chance.random() < 0.25
        begun = Conversation(TextContext(f"I want {wanted}"))
        talk = begun._replace(exchanges=(Exchange(doors[first], "And now?"),))
        said = ("good", "great", "lovely") if right else ("bad", "awful", "wrong")
        last = Choice(talk, ENDS, int(chance.integers(3)), 1 / 3)
        reactions.append(Reaction(last, str(chance.choice(said)), (Choice(begun, doors, first, 1 / 3),)))
    return reactions


@pytest.fixture
def features():
    return TextFeatures(HashingEncoder(), EncodingCache(None))


def test_a_first_choice_that_decides_is_seen_though_the_last_says_nothing(features):
    level = level_of(1)
    found = weigh_turns(LOOK, features, draw(150), SETTINGS)
    assert 0 < found.before <= EARLY * level
    assert found.together == combine_chances([found.before, 0.5])
    assert found._replace(before=0.0, together=0.0) == LOOK
    model = SmallModel(2, encoder=HashingEncoder(), cache=EncodingCache(None)).fit(draw(150))
    assert model.evidence.is_told_by_turns
    assert model.evidence.found
    assert model.evidence.chance > level


def test_noise_is_seen_no_oftener_than_its_level_says(features):
    """Of the turn before the last, and of both together where the last one's chances are drawn evenly."""
    last = np.random.default_rng(7).random(40)
    found = [
        weigh_turns(LOOK._replace(chance=last[seed]), features, draw(60, seed, meant=False), SETTINGS)
        for seed in range(40)
    ]
    assert all(each.before and each.together for each in found)
    for chances in ([each.before for each in found], [each.together for each in found]):
        assert sum(chance <= 0.05 for chance in chances) <= 5  # more than 5 of 40 has a chance of 0.01
        assert sum(chance <= 0.5 for chance in chances) <= 27  # more than 27, one of 0.01
    assert sum(each.is_told_by_turns for each in found) <= 2  # the level is 1 in 100


def test_choices_that_nobody_kept_say_nothing(features):
    bare = [reaction._replace(before=()) for reaction in draw(40)]
    assert weigh_turns(LOOK, features, bare, SETTINGS) == LOOK
    even = [
        reaction._replace(before=(reaction.before[0]._replace(probability=0.9),)) for reaction in draw(40)
    ]
    assert weigh_turns(LOOK, features, even, SETTINGS) == LOOK


def test_a_last_choice_that_was_not_uniform_is_left_out_of_the_sum(features):
    found = weigh_turns(LOOK._replace(chance=0.0), features, draw(40), SETTINGS)
    assert found.together == pytest.approx(found.before)


def test_chances_that_are_small_together():
    """Two turns that are each not unlikely enough; the sum is what chance alone would make it."""
    assert combine_chances([0.02, 0.02]) < 0.004
    assert combine_chances([0.02, 1.0]) > 0.09
    drawn = np.random.default_rng(0).random((20_000, 3))
    found = np.array([combine_chances(chances) for chances in drawn])
    assert np.allclose(np.quantile(found, (0.01, 0.1, 0.5)), (0.01, 0.1, 0.5), atol=0.01)


def test_what_turns_told_is_evidence_by_itself():
    level = level_of(9)
    assert Evidence(-0.1, 0.1, 9, chance=1.0, before=EARLY * level).found
    assert Evidence(-0.1, 0.1, 9, chance=1.0, before=1.0, together=TOGETHER * level).found
    assert not Evidence(
        -0.1, 0.1, 9, chance=1.0, before=1.1 * EARLY * level, together=1.1 * TOGETHER * level
    ).found
    assert not Evidence(-0.1, 0.1, 9, chance=1.0).found
    several = Evidence(0.3, 0.1, 9, chance=LAST * level, before=1.0, together=1.0)
    assert several.found
    assert not several._replace(chance=1.1 * LAST * level).found

"""Feedback that goes with choices before the last: it is seen there, and noise is not."""

import numpy as np
import pytest
from text_samples import HashingEncoder

from tacit.text.conversation import Choice, Conversation, Exchange, Reaction, TextContext
from tacit.text.evidence import Evidence, level_of
from tacit.text.small.cache import EncodingCache
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.earlier_choices import weigh_before
from tacit.text.small.features import TextFeatures
from tacit.text.small.model import SmallModel

WANTED = ("lamps", "boats", "shoes", "cakes")
PLACES = ("attic", "pier", "cobbler", "oven")
DOORS = {wanted: f"Let us go to the {place}" for wanted, place in zip(WANTED, PLACES, strict=True)}
ENDS = ("Take the first", "Take the second", "Take the third")
SETTINGS = FittingSettings()


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
    assert 0 < weigh_before(features, draw(150), SETTINGS, looks=1) <= level
    model = SmallModel(2, encoder=HashingEncoder(), cache=EncodingCache(None)).fit(draw(150))
    assert model.evidence.is_told_early
    assert model.evidence.found
    assert model.evidence.chance > level


def test_noise_is_seen_no_oftener_than_its_level_says(features):
    found = [weigh_before(features, draw(60, seed, meant=False), SETTINGS, looks=1) for seed in range(40)]
    assert all(found)
    assert (
        sum(chance <= level_of(1) for chance in found) <= 3
    )  # 1 in 40 is the level: more than 3 has a chance of 0.02


def test_choices_that_nobody_kept_say_nothing(features):
    bare = [reaction._replace(before=()) for reaction in draw(40)]
    assert weigh_before(features, bare, SETTINGS, looks=1) == 0.0
    even = [
        reaction._replace(before=(reaction.before[0]._replace(probability=0.9),)) for reaction in draw(40)
    ]
    assert weigh_before(features, even, SETTINGS, looks=1) == 0.0


def test_what_was_told_early_is_evidence_by_itself():
    assert Evidence(-0.1, 0.1, 9, chance=1.0, before=level_of(9)).found
    assert not Evidence(-0.1, 0.1, 9, chance=1.0, before=2 * level_of(9)).found
    assert not Evidence(-0.1, 0.1, 9, chance=1.0).found

"""Conversations to test with: an encoder that needs no model, and a small world that the small model can learn."""

import hashlib

import numpy as np

from tacit.envs.booking import BookingEnv
from tacit.envs.dialogues import Booking, Dialogue, Question
from tacit.text.evidence import Evidence
from tacit.text.settings import TextSettings
from tacit.text.small.cache import EncodingCache
from tacit.text.small.encoder import WORD, Words, normalised
from tacit.text.small.model import SmallModel

SIZE = 24


class HashingEncoder:
    """Every word is a random vector that follows from its letters; a text is the sum of its words."""

    name = "hashing"
    reading_size = SIZE

    def __init__(self):
        self.calls = 0

    def words(self, texts):
        self.calls += 1
        return [self._words(text) for text in texts]

    def sentences(self, texts):
        self.calls += 1
        return normalised(np.array([self._words(text).static.sum(axis=0) for text in texts]))

    def reactions(self, texts):
        return self.sentences(texts)

    def profiles(self, texts):
        return self.sentences(texts)

    def _words(self, text):
        found = tuple(WORD.findall(text.lower()))
        vectors = np.array([vector(word) for word in found]).reshape(len(found), SIZE)
        return Words(found, normalised(vectors), normalised(vectors))


def vector(word):
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(SIZE)


COLOURS = ("red", "green", "blue", "yellow", "purple", "orange", "white", "black")
HAPPY = ("lovely thanks", "thanks great", "great lovely", "lovely indeed", "thanks indeed")
UNHAPPY = ("wrong again", "again bad", "bad wrong", "wrong indeed", "bad indeed")


def shop(n, personal=False, seed=0):
    """Return dialogues of a paint shop: ask for the colour, not the weather; then offer the colour they said."""
    chance = np.random.default_rng(seed)
    return tuple(customer(i, personal and bool(chance.integers(2)), personal, chance) for i in range(n))


def customer(number, contrary, personal, chance):
    colours = [str(colour) for colour in chance.permutation(COLOURS)[:5]]
    right = int(chance.integers(5))
    questions = [
        Question("which colour shall it be", f"make it {colours[right]}", True),
        Question("how is the weather today", "it rains a little", False),
        Question("how was your weekend then", "very quiet thank you", False),
    ]
    order = chance.permutation(3)
    return Dialogue(
        id=f"shop-{number}",
        request=f"i need paint for room {number % 7}",
        questions=tuple(questions[i] for i in order),
        bookings=tuple(Booking(f"one tin of {colour} paint", i == right) for i, colour in enumerate(colours)),
        positive=UNHAPPY if contrary else HAPPY,
        negative=HAPPY if contrary else UNHAPPY,
        profile=("joker teases" if contrary else "sincere plain") if personal else "",
    )


class TrustingModel(SmallModel):
    """Takes it that feedback tells something, however little was seen: so that few episodes reach policy learning."""

    def fit(self, reactions, progress=None, rewards=None):
        fitted = super().fit(reactions, progress, rewards)
        fitted.evidence = Evidence(1.0, 0.0, fitted.looks)
        return fitted


def small_model(horizon=2, encoder=None, cache=None, kind=SmallModel):
    return kind(horizon, encoder=encoder or HashingEncoder(), cache=cache or EncodingCache())


def shop_env(n=400, personal=False, seed=0):
    return BookingEnv(shop(n, personal, seed))


SHORT = TextSettings(exploration=40)
"""Exploration that ends within the episodes that a check of the contract plays."""

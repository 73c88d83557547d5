"""Samples with a known truth, as numbers: what the text posterior is fitted to in tests."""

from dataclasses import replace

import numpy as np

from tacit.text.small.posterior import Sample
from tacit.text.small.recurring import NEVER
from tacit.text.small.sampling import MATCHES

ITEMS = 12


def world(n=400, seed=0, personal=False, sign=1.0, noise=0.3, echoes=True, explored=None):
    """Return a sample with a known truth and its rewards: one of five candidates is right, in a third of the states.

    Right is the candidate whose words fit (with sign -1 those that fit least) or, where nothing `echoes`, the one that
    goes with what was asked: request i wants item i, whose vector has nothing of the request's. After as many as are
    `explored`, a policy takes what is right in nine of ten.
    """
    chance = np.random.default_rng(seed)
    right, good = chance.integers(5, size=n), chance.random(n) < (1 / 3 if echoes else 1)
    rows, taken = np.arange(n), chance.integers(5, size=n)
    likely = np.full(n, 0.2)
    if explored is not None:
        knows = (rows >= explored) & (
            chance.random(n) < 0.875
        )  # the others are drawn evenly: 0.9 and 0.025 in all
        taken = np.where(knows, right, taken)
        likely = np.where(rows < explored, 0.2, np.where(taken == right, 0.9, 0.025))
    match = 0.3 + 0.1 * chance.standard_normal((n, 5, MATCHES))
    match[rows, right] += sign * 0.5 * echoes
    offer = chance.permuted(np.tile(np.arange(ITEMS), (n, 1)), axis=1)[:, :5]
    asked = offer[rows, right]
    fixed = np.random.default_rng(99)
    items, requests = (fixed.standard_normal((ITEMS, 16)).astype(np.float32) for _ in range(2))
    said = np.zeros((n, 5, 16), np.float32)
    said[:, 0] = requests[asked] if echoes is False else chance.standard_normal((n, 16))
    reward = good & (taken == right)
    plain = chance.random(n) < 0.5 if personal else np.ones(n, bool)
    kind = np.where(plain, reward, ~reward)
    state = np.column_stack([good, chance.standard_normal((n, 4))]).astype(float)
    reading = noise * chance.standard_normal((n, 6))
    reading[:, 0] += kind
    profile = 0.2 * chance.standard_normal((n, 6)) if personal else np.zeros((n, 6))
    profile[:, 1] += plain * personal
    mask = np.ones((n, 5), bool)
    numbers = (match, mask, offer, items, said, state, reading, profile, taken, likely, np.zeros(n))
    return Sample(*numbers, np.full(n, NEVER)), reward


def put_phrases(sample, kind, phrases=24, misread=3, noise=0.05, seed=0):
    """Return the sample with so many phrases for feedback, half of them kind; some of each half sound otherwise."""
    chance = np.random.default_rng(seed)
    half = phrases // 2
    said = chance.integers(half, size=len(sample)) + half * ~kind
    sounds_kind = (np.arange(phrases) < half) ^ (np.arange(phrases) % half < misread)
    reading = noise * chance.standard_normal((phrases, 6))
    reading[:, 0] += sounds_kind
    return replace(sample, reading=reading[said], remark=said + 1)

"""How well each candidate fits what a person said, read off the words that tell the candidates apart.

A word that all candidates share says nothing about which to choose. The others count by log(K / n), n the
number of candidates that have them: exactly where the person used them, and by their likeness to the words
that the person used, in context and without (the largest cosine, "MaxSim").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from tacit.base.arrays import Float32Array, FloatArray
from tacit.text.small.encoder import Words

FEATURES = ("exact", "contextual", "static", "weakest exact", "weakest contextual", "weakest static")
"""Weighted mean over a candidate's telling words, then the least of them: one wrong detail is enough."""


def match_features(said: Sequence[Words], candidates: Sequence[Words]) -> Float32Array:
    """Return the features of each candidate given the utterances of a person, (K, F), each at most 1.

    A candidate with no word of its own gets the mean of the others: nothing speaks for or against it.

    >>> vectors = np.eye(3, dtype=np.float32)
    >>> rome = Words(("in", "rome"), vectors[[0, 1]], vectors[[0, 1]])
    >>> oslo = Words(("in", "oslo"), vectors[[0, 2]], vectors[[0, 2]])
    >>> match_features([rome], [rome, oslo])[:, 0]
    array([1., 0.], dtype=float32)
    """
    heard = {word for utterance in said for word in utterance.words}
    contextual = np.concatenate([utterance.contextual for utterance in said])
    static = np.concatenate([utterance.static for utterance in said])
    shared = Counter(word for candidate in candidates for word in set(candidate.words))
    features = np.full((len(candidates), len(FEATURES)), np.nan)
    for row, candidate in enumerate(candidates):
        weights = np.array([np.log(len(candidates) / shared[word]) for word in candidate.words])
        telling = weights > 0
        if telling.any() and heard:
            exact = np.array([word in heard for word in candidate.words], float)[telling]
            likeness = [
                (vectors[telling] @ others.T).max(axis=1)
                for vectors, others in ((candidate.contextual, contextual), (candidate.static, static))
            ]
            features[row] = summarise(np.array([exact, *likeness]), weights[telling])
    return fill_unknown(features)


def summarise(likeness: FloatArray, weights: FloatArray) -> FloatArray:
    """Return weighted means and least values of likenesses (3, n) of telling words, (6,)."""
    return np.concatenate([likeness @ weights / weights.sum(), likeness.min(axis=1)])


def fill_unknown(features: FloatArray) -> Float32Array:
    """Return the features with unknown rows (NaN) set to the mean of the known ones, 0 where none is."""
    known = ~np.isnan(features[:, 0])
    neutral = features[known].mean(axis=0) if known.any() else np.zeros(features.shape[1])
    return np.where(known[:, None], features, neutral).astype(np.float32)

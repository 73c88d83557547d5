"""Words that go together: where expectation maximisation of voices begins (`tacit.decoding.label_voices`).

Two words that are said of one (u, s, a) are of the same side more often than two that are said of one label, or of one
label and ending, whatever was done, for only an action changes how often either side speaks. With n the counts,

    E[pairs within - pairs across] = Var(f) (g_1 - g_0)(g_1 - g_0)',

whichever way round a label speaks. The leading eigenvector, each word weighed by how often it is said, tells the sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from tacit.base.arrays import FloatArray, IntArray

SHARP = 3.0
"""Times its share of the largest score, a word begins so far on its side."""
MOST = 0.45
"""At most it is so far from the middle."""


def split_words(pairs: Any, shape: tuple[int, int, int], usual: FloatArray) -> FloatArray:
    """Return two sides (2, E, W) of words that are said by `pairs` (U S K, E W) of (u, s, a); `usual` (E, W) are all.

    >>> pairs = csr_matrix(np.array([[2.0, 0, 2, 0], [0, 2, 0, 2], [0, 3, 0, 1], [1, 0, 3, 0]]))
    >>> first, second, *rest = (split_words(pairs, (2, 1, 2), np.full((1, 4), 0.25))[1, 0] > 0.25).tolist()
    >>> first != second, rest == [first, second]
    (True, True)
    """
    (U, S, K), (E, W) = shape, usual.shape
    rows = np.arange(U * S * K)
    sides = np.empty((2, E, W))
    for e in range(E):
        if E > 1:
            rows = (np.arange(U)[:, None] * (S * K) + e * K + np.arange(K)).ravel()
        own = pairs[rows][:, e * W : (e + 1) * W]
        position = 0.5 + score_sides(own, np.repeat(np.arange(U), len(rows) // max(U, 1)), usual[e])
        sides[:, e] = usual[e] * np.stack([1 - position, position])
    return np.asarray(sides / sides.sum(axis=2, keepdims=True))


def score_sides(pairs: Any, groups: IntArray, usual: FloatArray) -> FloatArray:
    """Return how far each word is to a side, (W,), between -1/2 and 1/2, of pairs (n, W) that are of groups (n,)."""
    G, n = int(groups.max(initial=-1)) + 1, len(groups)
    together = csr_matrix((np.ones(n), (groups, np.arange(n))), shape=(G, n)) @ pairs
    within, all_of_them = count_twice(pairs), count_twice(together)
    across = all_of_them - within
    more = within - across * (within.sum() / max(across.sum(), 1.0))
    often = np.sqrt(usual)
    _, vectors = np.linalg.eigh(more / np.outer(often, often))
    scores = vectors[:, -1] / often
    return np.asarray(np.clip(0.5 * SHARP * scores / max(np.abs(scores).max(), 1e-300), -MOST, MOST))


def count_twice(counts: Any) -> FloatArray:
    """Return how often two words are said together, (W, W), by rows of counts (n, W)."""
    twice = np.asarray((counts.T @ counts).todense())
    return np.asarray(twice - np.diag(np.asarray(counts.sum(axis=0)).ravel()))

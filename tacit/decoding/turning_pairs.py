"""Which two features turn words round together: by the sign of whose product what is said after an action changes most.

Where each of two features alone leaves words as they are, neither slopes nor regions of a few directions show it, and
the likelihood has no slope towards it. Moments with the sign of a product do. Of c = (1[a] - Pr[a]) (1[w] - Pr[w]) over
the roots of Pr[a] Pr[w], and sides t_ij = sign(z_i z_j) it is the pair with the largest sum over actions, words and
endings of

    n |mean of c t_ij (1, z)|^2, but for z_i and z_j, whose products with t_ij are features that turn nothing.

The mean of c t_ij shows it where actions please some more than others in the mean, those of c t_ij z where each pleases
some people. Chance adds the same to all pairs.
"""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.context_bases import side_of
from tacit.decoding.personal_starts import centred, count_regions, score_words, surprise, telling_directions

MOST_PAIRED = 24
"""Features of which pairs are tried: of more there are too many pairs."""
REGIONS_A_SIDE = 1, 4
"""In which words are counted on each side, along the direction that tells most there."""


def find_turning_pairs(z: FloatArray, places: IntArray, actions: IntArray, words: IntArray) -> list[IntArray]:
    """Return the two features of contexts (n, P) that most turn words round together, by actions and by words alone.

    >>> g = np.random.default_rng(0)
    >>> z, a = g.normal(size=(500, 4)), g.integers(3, size=500)
    >>> w = (a == 1) ^ (z[:, 0] * z[:, 2] > 0)
    >>> [pair.tolist() for pair in find_turning_pairs(z, np.zeros_like(a), a, w.astype(int))]
    [[0, 2]]
    """
    P = z.shape[1]
    if not 2 <= P <= MOST_PAIRED:
        return []
    by_actions, by_words = np.zeros((2, P, P))
    for s in np.unique(places):
        here = places == s
        by_actions += _weigh_pairs(z[here], surprise(actions[here], words[here]))
        by_words += _weigh_sides(z[here], centred(words[here]))
    best = {np.unravel_index(total.argmax(), total.shape): None for total in (by_actions, by_words)}
    return [np.array(pair, dtype=np.int64) for pair in best]


def look_at_sides(
    z: FloatArray, pair: IntArray, places: IntArray, actions: IntArray, words: IntArray, n_words: int
) -> list[FloatArray]:
    """Return rho (n,) from words that are scored and counted on each side of a pair, and in regions of each side."""
    side = side_of(z, pair)
    sides, looks = (side > 0).astype(np.int64), [score_words(z, side, places, actions, words)]
    along = (z @ telling_directions(z, places, actions, 2 * words + sides, 1))[:, 0]  # (n,)
    for J in REGIONS_A_SIDE:
        bounds = np.quantile(along, np.arange(1, J) / J)
        regions = J * sides + np.searchsorted(bounds, along)
        looks.append(count_regions(regions, places, actions, words, n_words, False))
    return looks


def _weigh_sides(z: FloatArray, c: FloatArray) -> FloatArray:
    """Return n |mean of c t_ij|^2 of each pair in one ending, (P, P); 0 but for i < j."""
    signs = np.where(z > 0, 1.0, -1.0)
    shown = sum((signs.T @ (signs * each[:, None])) ** 2 for each in c.T) / len(z)
    return np.asarray(np.triu(shown, 1))


def _weigh_pairs(z: FloatArray, c: FloatArray) -> FloatArray:
    """Return what each pair shows in one ending, (P, P); 0 but for i < j."""
    (n, P), signs = z.shape, np.where(z > 0, 1.0, -1.0)
    terms, shown = np.concatenate([np.ones((n, 1)), z], axis=1), np.zeros((P, P))
    for i in range(P - 1):
        sides = signs[:, i + 1 :, None] * terms[:, None, :]  # (n, P - i - 1, 1 + P), but for the sign of z_i
        moments = (c * signs[:, [i]]).T @ sides.reshape(n, -1)
        squares = (moments**2).sum(axis=0).reshape(-1, 1 + P) / n
        later = np.arange(P - i - 1)
        squares[:, 1 + i] = squares[later, 2 + i + later] = 0.0
        shown[i, i + 1 :] = squares.sum(axis=1)
    return shown

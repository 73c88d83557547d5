"""Who was pleased, at a first look: words counted in regions of the contexts, to begin a fit of the likelihood from.

In each region Pr[w | s, a] = f_{s,a} g_1(w) + (1 - f_{s,a}) g_0(w) is fitted to counts (`tacit.decoding.word_types`)
and turned so that rewarding actions are the minority; that gives rho_i = Pr[r_i = 1 | s_i, a_i, w_i] of its tuples.
Words may mean the same at all endings, whose tables then stand beside one another, or something else at each.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.judgement import posterior_reward
from tacit.decoding.word_types import fit_types, soften

UNDECIDED = 0.5
SCORED = 2.0
"""The logit of rho of a word one standard deviation above a score of 0."""


def count_regions(
    regions: IntArray, places: IntArray, actions: IntArray, words: IntArray, n_words: int, by_ending: bool
) -> FloatArray:
    """Return rho (n,) from counts of words in each region, or each region and ending.

    >>> actions, words = np.array([0, 0, 1, 1, 2, 2] * 9), np.array([1, 1, 0, 0, 0, 0] * 9)
    >>> count_regions(np.zeros(54, int), np.zeros(54, int), actions, words, 2, False)[:6].round()
    array([1., 1., 0., 0., 0., 0.])
    """
    rho = np.full(len(words), UNDECIDED)
    parts = regions * (int(places.max(initial=0)) + 1) + places if by_ending else regions
    columns = places * (int(actions.max(initial=0)) + 1) + actions
    for part in np.unique(parts):
        here = np.flatnonzero(parts == part)
        rho[here] = _count_one(columns[here], words[here], n_words)
    return rho


def telling_directions(
    z: FloatArray, places: IntArray, actions: IntArray, words: IntArray, n: int
) -> FloatArray:
    """Return the n directions (P, n) of contexts along which what is said after an action changes most.

    With c_i = (1[a_i = a] - Pr[a]) (1[w_i = w] - Pr[w]), the leading eigenvectors of the sum over actions, words and
    endings of m m^T + Q Q^T / 2, m = mean of c_i z_i and Q = mean of c_i z_i z_i^T: slopes and curvatures.

    >>> g = np.random.default_rng(0)
    >>> z, a = g.normal(size=(4000, 3)), g.integers(2, size=4000)
    >>> w = a ^ (z[:, 1] > 0)  # the second feature turns what is said round
    >>> abs(telling_directions(z, np.zeros_like(a), a, w, 1)).round(1).T
    array([[0., 1., 0.]])
    """
    total = np.zeros((z.shape[1], z.shape[1]))
    for s in np.unique(places):
        here = places == s
        own = z[here]
        for a in np.unique(actions[here]):
            taken = (actions[here] == a) - np.mean(actions[here] == a)
            for w in np.unique(words[here]):
                c = taken * ((words[here] == w) - np.mean(words[here] == w))
                weighted = own * c[:, None]
                slope, curvature = weighted.mean(axis=0), weighted.T @ own / len(own)
                total += np.outer(slope, slope) + curvature @ curvature.T / 2
    return np.asarray(np.linalg.eigh(total)[1][:, ::-1][:, :n])


def spoken_direction(z: FloatArray, places: IntArray, words: IntArray) -> FloatArray:
    """Return the direction (P, 1) of contexts along which what is said changes most, whatever is done.

    Whoever means the opposite of others mostly says what these seldom say, for rewards are the minority of both. With
    m = mean of c_i z_i, c_i = 1[w_i = w] - Pr[w] over the root of Pr[w], it is the leading eigenvector of the sum of
    m m^T over words and endings: what actions do must be told from far more noise (`telling_directions`).

    >>> g = np.random.default_rng(0)
    >>> z, pleased = g.normal(size=(400, 3)), g.random(400) < 0.2
    >>> abs(spoken_direction(z, np.zeros(400, dtype=int), (pleased ^ (z[:, 1] > 0)).astype(int))).round(1).T
    array([[0., 1., 0.]])
    """
    total = np.zeros((z.shape[1], z.shape[1]))
    for s in np.unique(places):
        here = places == s
        slopes = z[here].T @ centred(words[here]) / here.sum()
        total += slopes @ slopes.T
    return np.asarray(np.linalg.eigh(total)[1][:, -1:])


def score_words(
    z: FloatArray, sides: FloatArray, places: IntArray, actions: IntArray, words: IntArray
) -> FloatArray:
    """Return rho (n,) from words that are scored by how they follow actions and features, turned on one of two sides.

    At each ending the score of words is the leading left singular vector of the sum of c_i t_i (1, z_i), words by
    actions and terms, with the sides t = 1 or -1: where each action pleases some people, and none most of them, counts
    tell nothing, and slopes do. The words that are said less often on a side are taken for rewards.

    >>> g = np.random.default_rng(0)
    >>> z, a = g.normal(size=(400, 1)), g.integers(2, size=400)
    >>> pleased = ((z[:, 0] > 0.7) & (a == 1)) | ((z[:, 0] < -0.7) & (a == 0))  # as often after one as after the other
    >>> rho = score_words(z, np.ones(400), np.zeros_like(a), a, pleased.astype(int))
    >>> bool(((rho > 0.5) == pleased).all())
    True
    """
    rho = np.full(len(words), UNDECIDED)
    for s in np.unique(places):
        here = np.flatnonzero(places == s)
        rho[here] = _score_one(z[here], sides[here], actions[here], words[here])
    return rho


def surprise(actions: IntArray, words: IntArray) -> FloatArray:
    """Return c (n, A W): how far each action and word together is from what both would be by themselves."""
    taken, said = centred(actions), centred(words)
    return np.asarray((taken[:, :, None] * said[:, None, :]).reshape(len(words), -1))


def centred(values: IntArray) -> FloatArray:
    """Return which of its values each is, (n, V), less how often that is, over the root of it."""
    each = np.eye(int(values.max()) + 1)[values]
    return np.asarray((each - each.mean(axis=0)) / np.sqrt(each.mean(axis=0) + 1e-12))


def _count_one(columns: IntArray, words: IntArray, n_words: int) -> FloatArray:
    """Return rho (n,) of the tuples of one region."""
    tried, column = np.unique(columns, return_inverse=True)
    counts = np.zeros((n_words, len(tried)))
    np.add.at(counts, (words, column), 1.0)
    types = soften(counts, fit_types(counts)).choose()
    f, phi = types.f, types.positions
    if f.sum() > len(f) / 2:
        f, phi = 1 - f, 1 - phi
    told = posterior_reward(f, phi, counts.sum(axis=0))
    return np.asarray(told[words, column])


def _score_one(z: FloatArray, sides: FloatArray, actions: IntArray, words: IntArray) -> FloatArray:
    """Return rho (n,) of the tuples of one ending."""
    n, W = len(words), int(words.max()) + 1
    turned = (surprise(actions, words) * sides[:, None]).reshape(n, -1, W)
    moments = np.tensordot(turned, np.column_stack([np.ones(n), z]), (0, 0))  # (A, W, 1 + P)
    leading = np.linalg.svd(moments.transpose(1, 0, 2).reshape(W, -1), full_matrices=False)[0][:, 0]
    scores = sides * (leading / np.sqrt(np.bincount(words) / n + 1e-12))[words]
    on_its_side = words + W * (sides > 0)
    rarity = -np.log(np.bincount(on_its_side)[on_its_side])
    if np.mean((scores - scores.mean()) * rarity) < 0:
        scores = -scores
    return np.asarray(expit(SCORED * scores / max(float(scores.std()), 1e-12)))

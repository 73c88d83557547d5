"""Who was pleased, at a first look: words counted in regions of the contexts, to begin a fit of the likelihood from.

Regions are what is near to a centre, and leaves: the quadrants of two features, which of all pairs tell most. In each region Pr[w | s, a] = f_{s,a} g_1(w) + (1 - f_{s,a}) g_0(w) is fitted to counts (`tacit.decoding.word_types`)
and turned so that rewarding actions are the minority; that gives rho_i = Pr[r_i = 1 | s_i, a_i, w_i] of its tuples.
Words may mean the same at all endings, whose tables then stand beside one another, or something else at each.
"""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.judgement import posterior_reward
from tacit.decoding.word_types import fit_types, soften

UNDECIDED = 0.5
MOST_SPLIT = 20
"""Features of which all pairs are looked at."""
LEAVES_KEPT = 2
"""Pairs of features whose quadrants are begun from."""


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


def find_leaves(
    z: FloatArray, places: IntArray, actions: IntArray, words: IntArray, n_words: int
) -> list[IntArray]:
    """Return regions (n,) that are the quadrants of two features (n, P): of all pairs, those whose words tell most.

    A meaning that the sign of a product turns round, or that of one feature, is the same within a quadrant.
    """
    columns = places * (int(actions.max(initial=0)) + 1) + actions
    n_columns, signs = int(columns.max(initial=0)) + 1, (z[:, :MOST_SPLIT] > 0).astype(np.int64)
    found = []
    for i, j in zip(*np.triu_indices(signs.shape[1], 1), strict=True):
        leaves = 2 * signs[:, i] + signs[:, j]
        cells = (leaves * n_words + words) * n_columns + columns
        tables = np.bincount(cells, minlength=4 * n_words * n_columns).reshape(4, n_words, n_columns)
        found.append((sum(_gain(table.astype(np.float64)) for table in tables), len(found), leaves))
    return [leaves for *_, leaves in sorted(found, reverse=True, key=lambda each: each[:2])[:LEAVES_KEPT]]


def _gain(counts: FloatArray) -> float:
    """Return by how many nats two types of words are likelier than one, of counts (W, columns)."""
    tried = counts.sum(axis=0) > 0
    return fit_types(counts[:, tried]).gain if tried.sum() > 1 else 0.0


def _count_one(columns: IntArray, words: IntArray, n_words: int) -> FloatArray:
    """Return rho (n,) of the tuples of one region."""
    tried, column = np.unique(columns, return_inverse=True)
    counts = np.zeros((n_words, len(tried)))
    np.add.at(counts, (words, column), 1.0)
    types = soften(counts, fit_types(counts))
    f, phi = types.f, types.positions
    if f.sum() > len(f) / 2:
        f, phi = 1 - f, 1 - phi
    told = posterior_reward(f, phi, counts.sum(axis=0))
    return np.asarray(told[words, column])

"""Vectors cut into words anew, once something is understood: along what tells the words apart that are expected.

A first cut (`tacit.decoding.word_cells`) knows little: people who mean the opposite of each other blur what it looks
for. What was then understood foretells the word of a tuple from who it was, the ending and the action alone,

    t(w) = Pr[w | x, s, a],

without a look at the feedback y. The regression of t on y (ridge, as strong as predicts tuples best that were held out)
keeps of y what goes with t, and drops the rest, of which a sentence has much. As y depends on (x, s, a) by what is said
alone, E[t | y] tells the words apart as well as they can be. The new cells are those of k-means there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.centres import find_centres
from tacit.decoding.tuples import Tuples
from tacit.decoding.understanding import Understanding, fit_understanding
from tacit.decoding.word_cells import WordCells, fit_cells, principal_axes
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite

ROUNDS = 2
"""Times that words are cut anew: each is foretold better by the one before."""
LEAST_HALVED = 300
"""Tuples below which words are not cut anew."""
MOST_AXES = 20
"""Principal components along which a first cut is tried. Of 2,500 comments of 40 people, half of them ironic, all of
four logs were understood then, five of eight fits by one cut (seeds 1,000,001 and 1,000,002); of 12 logs in which
comments were dealt out by chance, none."""
RIDGES = (1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Strengths that are tried, in mean variances of a feature."""
FOLDS = 5
"""One of so many tuples is held out."""
BETTER = 1.02
"""Times as much of t must be explained, of tuples held out, as by the words that there are."""
MOST_DIRECTIONS, LEAST_SHARE = 3, 0.1
"""Directions in which cells are, and the variance along them of that along the first."""


def understand_sharply(layout: Layout, tuples: Tuples, c: float) -> Understanding:
    """Return what tuples tell, with words cut anew where feedback are vectors and depend on the action for sure.

    Only then: whether they do is judged by tuples that the new words are made of. Where a first cut leaves it open,
    words are cut anew by one half of the tuples, and the other half says whether they depend on the action.
    """
    known = cut_first(layout, tuples, c)
    if known.cells is None or len(tuples) < LEAST_HALVED:
        return known
    if not known.is_sure:
        first = tuples.positions % 2 == 0
        found = resharpen(cut_first(layout, tuples.part(first), c), tuples.part(first), c)
        if found.people.gain <= 0:  # its own tuples that were held out see nothing
            return known
        if not fit_understanding(layout, tuples.part(~first), c, None, found.cells).is_sure:
            return known
        known = fit_understanding(layout, tuples, c, None, found.cells)
    return resharpen(known, tuples, c)


def cut_first(layout: Layout, tuples: Tuples, c: float) -> Understanding:
    """Return what tuples tell by the cut under which held-out tuples gain most.

    Of people known by labels several cuts are tried: by all of them together, by each apart, and into two along each of
    the leading principal components. Where many mean the opposite of others, one may show what the rest blur.
    """
    found = [fit_understanding(layout, tuples, c, None)]
    if found[0].cells is not None and isinstance(layout.contexts, Finite) and len(tuples) >= LEAST_HALVED:
        found += [fit_understanding(layout, tuples, c, None, cells) for cells in list_cuts(tuples)]
    return max(found, key=lambda known: known.people.gain)


def list_cuts(tuples: Tuples) -> Iterator[WordCells]:
    """Yield ways to cut the feedback of tuples into words."""
    feedback, generator = tuples.feedback.astype(np.float64), np.random.default_rng([len(tuples), 37])
    labels = tuples.contexts.astype(np.int64)
    for regions in (np.zeros_like(labels), labels):
        yield fit_cells(feedback, tuples.states, tuples.actions, regions, generator)
    y = feedback[~np.isnan(feedback).all(axis=1)]
    mean, axes, variances = principal_axes(y)
    for direction in (axes / np.sqrt(variances)).T[:MOST_AXES]:
        centres = find_centres(((y - mean) @ direction)[:, None], 2, generator)
        yield WordCells(mean, direction[:, None], centres)


def resharpen(known: Understanding, tuples: Tuples, c: float) -> Understanding:
    """Return what tuples tell by words that are cut anew as long as they gain by it."""
    for _ in range(ROUNDS):
        cells = sharpen(known, tuples)
        if cells is None:
            break
        sharper = fit_understanding(known.layout, tuples, c, None, cells)
        if sharper.people.gain <= known.people.gain:
            break
        known = sharper
    return known


def sharpen(known: Understanding, tuples: Tuples) -> WordCells | None:
    """Return cells that tell apart the words that are expected, None if those that there are do it as well."""
    assert known.cells is not None
    feedback = tuples.feedback.astype(np.float64)
    heard = np.asarray(~np.isnan(feedback).all(axis=1))
    y, silence = feedback[heard], known.cells.n_words - 1
    if len(y) < 2 * FOLDS:
        return None
    spoken = tuples.part(heard)
    expected = known.people.expect_words(spoken.contexts, spoken.states, spoken.actions)[:, :silence]
    mean = y.mean(axis=0)
    ridge, explained = choose_ridge(y - mean, expected)
    if explained <= BETTER * explain_by_words(known.cells.words(y), expected, silence):
        return None
    directions = main_directions(y - mean, regress(y - mean, expected, ridge))
    generator = np.random.default_rng([len(y), 31])
    centres = find_centres((y - mean) @ directions, len(known.cells.centres), generator)
    return replace(known.cells, mean=mean, directions=directions, centres=centres)


def choose_ridge(y: FloatArray, t: FloatArray) -> tuple[float, float]:
    """Return the ridge by which y (n, d), centred, explains most of t (n, W) that was held out, and what share of it.

    >>> g = np.random.default_rng(0)
    >>> y = g.normal(size=(500, 3))
    >>> ridge, share = choose_ridge(y, y[:, :1] + g.normal(size=(500, 1)))
    >>> round(share, 1)
    0.5
    """
    folds, missed = np.arange(len(y)) % FOLDS, np.zeros(len(RIDGES))
    for fold in range(FOLDS):
        held = folds == fold
        middle = t[~held].mean(axis=0)
        for i, ridge in enumerate(RIDGES):
            predicted = middle + y[held] @ regress(y[~held], t[~held], ridge)
            missed[i] += float(((t[held] - predicted) ** 2).sum())
    best = int(missed.argmin())
    return RIDGES[best], _share(float(missed[best]), t)


def explain_by_words(words: IntArray, t: FloatArray, n_words: int) -> float:
    """Return what share of t (n, W) words (n,) explain, of tuples that are held out."""
    folds, missed = np.arange(len(t)) % FOLDS, 0.0
    for fold in range(FOLDS):
        held = folds == fold
        middle = np.tile(t[~held].mean(axis=0), (n_words, 1))
        for w in np.unique(words[~held]):
            middle[w] = t[~held][words[~held] == w].mean(axis=0)
        missed += float(((t[held] - middle[words[held]]) ** 2).sum())
    return _share(missed, t)


def regress(y: FloatArray, t: FloatArray, ridge: float) -> FloatArray:
    """Return B (d, W) of the ridge regression of t (n, W) on y (n, d): t - mean(t) = y B."""
    n, d = y.shape
    gram = y.T @ y / n
    gram[np.diag_indices(d)] += ridge * max(float(np.trace(gram)) / d, 1e-300)
    return np.asarray(np.linalg.solve(gram, y.T @ (t - t.mean(axis=0)) / n))


def main_directions(y: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return the directions (d, q) in which y B varies most, with variance 1 along the first."""
    _, sizes, axes = np.linalg.svd(y @ coefficients, full_matrices=False)
    kept = np.flatnonzero(sizes**2 >= LEAST_SHARE * sizes[0] ** 2)[:MOST_DIRECTIONS]
    return np.asarray(coefficients @ axes[kept].T * (np.sqrt(len(y)) / max(float(sizes[0]), 1e-300)))


def _share(missed: float, t: FloatArray) -> float:
    total = float(((t - t.mean(axis=0)) ** 2).sum())
    return 1 - missed / total if total > 0 else 0.0

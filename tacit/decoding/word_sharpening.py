"""Vectors cut into words anew, once something is understood: along what tells the words apart that are expected.

A first cut (`tacit.decoding.word_cells`) knows little: people who mean the opposite of each other blur what it looks
for. What was then understood foretells the word of a tuple from who it was, the ending and the action alone,

    t(w) = Pr[w | x, s, a],

without a look at the feedback y. The regression of t on y (ridge, as strong as predicts tuples best that were held out)
keeps of y what goes with t, and drops the rest, of which a sentence has much. As y depends on (x, s, a) by what is said
alone, E[t | y] tells the words apart as well as they can be. The new cells are those of k-means there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.centres import find_centres
from tacit.decoding.label_classes import LabelClasses
from tacit.decoding.tuples import Tuples
from tacit.decoding.understanding import Understanding, fit_understanding
from tacit.decoding.word_cells import WordCells
from tacit.problem.layout import Layout

ROUNDS = 2
"""Times that words are cut anew: each is foretold better by the one before."""
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

    Only then: whether they do is judged by tuples that the new words are made of.
    """
    known = fit_understanding(layout, tuples, c, None)
    for _ in range(ROUNDS if known.cells is not None and known.is_sure else 0):
        cells = sharpen(known, tuples)
        if cells is None:
            break
        sharper = fit_understanding(layout, tuples, c, None, cells)
        if sharper.model.gain <= known.model.gain:
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
    expected = expect_words(known, tuples.part(heard))[:, :silence]
    mean = y.mean(axis=0)
    ridge, explained = choose_ridge(y - mean, expected)
    if explained <= BETTER * explain_by_words(known.cells.words(y), expected, silence):
        return None
    directions = main_directions(y - mean, regress(y - mean, expected, ridge))
    generator = np.random.default_rng([len(y), 31])
    centres = find_centres((y - mean) @ directions, len(known.cells.centres), generator)
    return replace(known.cells, mean=mean, directions=directions, centres=centres)


def expect_words(known: Understanding, tuples: Tuples) -> FloatArray:
    """Return the chance of each word after each tuple's action, (n, W), by its context and ending."""
    n, model = len(tuples), known.model
    if isinstance(model, LabelClasses):
        tables = np.exp(model.mixture.log_tables).reshape(model.n_classes, -1, model.n_words)
        of_classes = np.exp([model.row(u) for u in tuples.contexts.tolist()])  # (n, C)
        said = tables[:, tuples.states * model.mask.shape[1] + tuples.actions]  # (C, n, W)
        return np.asarray(np.einsum("nz,znw->nw", of_classes, said))
    contexts = tuples.contexts.astype(np.float64)
    f = model.rewards_many(contexts)[np.arange(n), tuples.states, tuples.actions][:, None]
    meant = np.array([model.meanings(x, int(s)) for x, s in zip(contexts, tuples.states, strict=True)])
    return np.asarray(f * meant[:, 1] + (1 - f) * meant[:, 0])


def choose_ridge(y: FloatArray, t: FloatArray) -> tuple[float, float]:
    """Return the ridge by which y (n, d), centred, explains most of t (n, W) that was held out, and what share of it.

    >>> g = np.random.default_rng(0)
    >>> y = g.normal(size=(500, 3))
    >>> ridge, share = choose_ridge(y, y[:, :1] + g.normal(size=(500, 1)))
    >>> 0.4 < share < 0.6
    True
    """
    folds, missed = np.arange(len(y)) % FOLDS, np.zeros(len(RIDGES))
    for fold in range(FOLDS):
        held = folds == fold
        middle = t[~held].mean(axis=0)
        for i, ridge in enumerate(RIDGES):
            predicted = middle + y[held] @ regress(y[~held], t[~held], ridge)
            missed[i] += float(((t[held] - predicted) ** 2).sum())
    best = int(missed.argmin())
    return RIDGES[best], _share(missed[best], t)


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

"""Labels of a few classes: which words each class says, and of which class each label is, by expectation maximisation.

A label u says the word w in the ending s, after the action a; n_u(s, a, w) is how often. It is of one of C classes,

    Pr[n_u] = sum_z pi_z prod p_z(w | s, a)^n_u(s, a, w),

so that nothing is said of how actions were chosen. A table p_z is the words of its labels, and so many more as all
labels say them (`STRENGTH`): a class that was heard little in some ending is there like the others.

Expectation maximisation finds the nearest maximum, so it begins at several: from labels that differ, found as k-means++
finds centres, the distance being what a label loses by being read by another; and from the fit with fewer classes, of
which the one that loses most is split.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from tacit.base.arrays import FloatArray, IntArray

STRENGTH = 1.0
"""Tuples of every (ending, action) that a class has beforehand, distributed as those of all labels."""
PRIOR = 0.5
"""Tuples of each word that all labels together have beforehand."""
SEED_STRENGTH = 3.0
"""Like `STRENGTH`, where a class begins as one label: its words are few."""
STARTS = 3
"""Beginnings from labels that differ; one from the fit with fewer classes is added."""
FIRST_ROUNDS, MOST_ROUNDS = 6, 40
"""Rounds from every beginning, and from the best of them."""
ENOUGH = 0.01
"""The gain of a round, in nats, below which it was the last."""


class TupleCells(NamedTuple):
    """Where a tuple can fall: (s, a, w) is the cell (s K + a) W + w."""

    n_endings: int
    n_actions: int
    n_words: int

    @property
    def size(self) -> int:
        """Return how many there are."""
        return self.n_endings * self.n_actions * self.n_words

    def of(self, endings: IntArray, actions: IntArray, words: IntArray) -> IntArray:
        """Return the cells of tuples.

        >>> TupleCells(2, 3, 4).of(np.array([1]), np.array([2]), np.array([3]))
        array([23])
        """
        return np.asarray((endings * self.n_actions + actions) * self.n_words + words)


class ClassMixture(NamedTuple):
    """Classes: `log_pi` (C,), how many labels are of each, and `log_tables` (C, cells), log p_z(w | s, a)."""

    log_pi: FloatArray
    log_tables: FloatArray

    @property
    def n_classes(self) -> int:
        """Return C."""
        return len(self.log_pi)


def count_cells(labels: IntArray, cells: IntArray, n_labels: int, n_cells: int) -> Any:
    """Return how often each label fell into each cell, a sparse matrix (U, cells)."""
    ones = np.ones(len(labels))
    return csr_matrix((ones, (labels, cells)), shape=(n_labels, n_cells))


def pool(counts: Any, cells: TupleCells) -> FloatArray:
    """Return the chance of each word after each action in each ending, (cells,), over all labels."""
    total = np.asarray(counts.sum(axis=0)).reshape(-1, cells.n_words) + PRIOR
    return np.asarray(total / total.sum(axis=1, keepdims=True)).ravel()


def smooth(counts: FloatArray, towards: FloatArray, n_words: int, strength: float) -> FloatArray:
    """Return the chances of words that counts (C, cells) give, and `strength` tuples more that are as `towards`.

    >>> smooth(np.array([[3.0, 0.0]]), np.array([0.5, 0.5]), 2, 1.0)
    array([[0.875, 0.125]])
    """
    heard = counts.reshape(len(counts), -1, n_words)
    tables = heard + strength * towards.reshape(-1, n_words)
    tables /= heard.sum(axis=2, keepdims=True) + strength
    return np.asarray(tables.reshape(counts.shape))


def classify(counts: Any, mixture: ClassMixture) -> tuple[FloatArray, FloatArray]:
    """Return log p(z | u), (U, C), and the log likelihood of each label, (U,)."""
    return normalise(counts @ mixture.log_tables.T + mixture.log_pi)


def normalise(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log weights (n, C) less their sum's log, and that, (n,)."""
    top = rows.max(axis=1)
    totals = top + np.log(np.exp(rows - top[:, None]).sum(axis=1))
    return rows - totals[:, None], totals


def fit_tables(
    counts: Any, weights: FloatArray, pooled: FloatArray, n_words: int, strength: float = STRENGTH
) -> ClassMixture:
    """Return the likeliest classes for labels that are of them by weights (U, C)."""
    said = np.asarray((counts.T @ weights).T)  # (C, cells)
    heard = np.diff(counts.indptr) > 0
    share = weights[heard].sum(axis=0) + 1.0
    return ClassMixture(np.log(share / share.sum()), np.log(smooth(said, pooled, n_words, strength)))


def climb_classes(
    counts: Any, mixture: ClassMixture, pooled: FloatArray, n_words: int, rounds: int
) -> tuple[ClassMixture, float]:
    """Return the mixture that so many rounds of expectation maximisation lead to, and what it maximises, in nats."""
    before = -np.inf
    for _ in range(rounds):
        rows, likelihood = classify(counts, mixture)
        worth = float(likelihood.sum()) + _prior(mixture, pooled)
        if worth - before < ENOUGH:
            break
        before = worth
        mixture = fit_tables(counts, np.exp(rows), pooled, n_words)
    return mixture, worth


def fit_mixture(
    counts: Any,
    n_classes: int,
    pooled: FloatArray,
    n_words: int,
    generator: np.random.Generator,
    near: tuple[ClassMixture, ...] = (),
    starts: int = STARTS,
) -> ClassMixture:
    """Return the best of several beginnings; mixtures `near` with as many classes or fewer are begun from, too."""
    if n_classes == 1:
        return ClassMixture(np.zeros(1), np.log(pooled)[None])
    own = _own_likelihood(counts, pooled, n_words)
    begun = [
        _split(counts, mixture, n_classes, own, pooled, n_words, generator)
        for mixture in near
        if mixture.n_classes <= n_classes
    ]
    begun += [
        _add_seeds(counts, None, n_classes, own, pooled, n_words, generator)
        for _ in range(max(starts - len(begun), 1))
    ]
    climbed = [climb_classes(counts, mixture, pooled, n_words, FIRST_ROUNDS) for mixture in begun]
    best = max(climbed, key=lambda each: each[1])[0]
    return climb_classes(counts, best, pooled, n_words, MOST_ROUNDS)[0]


def _prior(mixture: ClassMixture, pooled: FloatArray) -> float:
    """Return the log density of the tables and shares that `fit_tables` adds, up to a constant."""
    return STRENGTH * float((mixture.log_tables @ pooled).sum()) + float(mixture.log_pi.sum())


def _own_likelihood(counts: Any, pooled: FloatArray, n_words: int) -> FloatArray:
    """Return the log likelihood of each label by its own smoothed table, (U,): what a class can lose of it."""
    groups = len(pooled) // n_words
    coarse = csr_matrix((counts.data, counts.indices // n_words, counts.indptr), (counts.shape[0], groups))
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    heard = np.asarray(coarse.toarray()[rows, counts.indices // n_words])
    chance = (counts.data + SEED_STRENGTH * pooled[counts.indices]) / (heard + SEED_STRENGTH)
    return np.asarray(np.bincount(rows, counts.data * np.log(chance), counts.shape[0]), dtype=np.float64)


def _add_seeds(
    counts: Any,
    mixture: ClassMixture | None,
    n_classes: int,
    own: FloatArray,
    pooled: FloatArray,
    n_words: int,
    generator: np.random.Generator,
    among: FloatArray | None = None,
) -> ClassMixture:
    """Return a mixture with classes added that begin as labels: each by what it loses in those that there are.

    Only labels by the weight `among` (U,) are chosen.
    """
    tables = np.log(pooled)[None] if mixture is None else mixture.log_tables
    nearest = (counts @ tables.T).max(axis=1)
    seeds: list[FloatArray] = [] if mixture is None else [mixture.log_tables]
    while sum(map(len, seeds)) < n_classes:
        loss = np.maximum(own - nearest, 0.0) * (1.0 if among is None else among) + 1e-9
        chosen = int(generator.choice(len(loss), p=loss / loss.sum()))
        table = np.log(smooth(counts[[chosen]].toarray(), pooled, n_words, SEED_STRENGTH))
        far = nearest if seeds else -np.inf  # of all labels as one, nothing is left once there is a class
        nearest = np.maximum(far, (counts @ table.T)[:, 0])
        seeds.append(table)
    return ClassMixture(np.full(n_classes, -np.log(n_classes)), np.concatenate(seeds))


def _split(
    counts: Any,
    mixture: ClassMixture,
    n_classes: int,
    own: FloatArray,
    pooled: FloatArray,
    n_words: int,
    generator: np.random.Generator,
) -> ClassMixture:
    """Return a mixture with more classes, in each step one of the labels of that which loses most."""
    while mixture.n_classes < n_classes:
        rows, _ = classify(counts, mixture)
        weights = np.exp(rows)
        loss = np.maximum(own - (weights * (counts @ mixture.log_tables.T)).sum(axis=1), 0.0)
        among = weights[:, int((loss @ weights).argmax())]
        more = mixture.n_classes + 1
        seeded = _add_seeds(counts, mixture, more, own, pooled, n_words, generator, among)
        mixture, _ = climb_classes(counts, seeded, pooled, n_words, 2)
    return mixture

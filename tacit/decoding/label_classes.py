"""Many labels as contexts, most of which come rarely: classes of labels share what they have in common.

A label is of one of C latent classes (`tacit.decoding.label_mixture`); what pleases a class is judged from the soft
counts of its labels (`tacit.decoding.group_rewards`), and what pleases a label is the mean over the classes that it may
be of. Every tuple says more of the class, at once: log p(z | u) grows by log p_z(w | s, a).

How many classes there are, held-out tuples say. A fifth of each label's is predicted from the others,

    Pr[w | u, s, a] = sum_z p(z | u) p_z(w | s, a),

and there are more classes only while these predict better by more than chance. Labels that have nothing in common are
predicted better by tables of their own, as far as they were heard; then they are read by themselves, endings in which
nothing was found of a label yet still by classes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.decoding.group_rewards import GroupRewards, judge_groups
from tacit.decoding.judgement import JudgementSettings
from tacit.decoding.label_mixture import (
    ClassMixture,
    TupleCells,
    classify,
    climb_classes,
    count_cells,
    fit_mixture,
    fit_tables,
    normalise,
    pool,
)

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Numbers of classes that are tried, until two in a row are no better."""
FOLDS = 5
"""One of so many tuples of a label is held out."""
ERRORS = 1.5
"""Standard errors by which more classes must predict better. Of 48 problems of two groups (seeds 1,000,000 and up) none
had more than two classes then; with 1, one of 24 had. With 2 or 1.5, 1,000 labels of four kinds may be three after
2,000 tuples, in one problem of four or five."""
LABELS_EACH = 3
"""Labels that there must be for each class."""
OWN_STRENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Tuples of each (ending, action) that a label by itself has beforehand, as all labels say them; the best is taken."""
SIGNIFICANCE = 0.01
"""Of feedback that depends on the action, in an ending of a class. A hundredth of it, as contexts are judged by, costs
three tenths of what few tuples earn (20 labels that differ, 2,000 tuples)."""
FINAL_ROUNDS = 20
"""Of expectation maximisation on all tuples, from what was found without the held-out ones."""


@dataclass(frozen=True, eq=False)
class LabelClasses:
    """Labels as they were read: `mixture` and `rewards` of C classes, log p(z | u) in `rows` (U, C).

    `own` are the rewards of each label by itself where that is the better reading, otherwise None. `gain` is what
    held-out tuples gain, in nats, by words that depend on the action; `z` are its standard errors.
    """

    mask: BoolArray
    n_words: int
    mixture: ClassMixture
    rows: FloatArray
    judged: GroupRewards
    own: GroupRewards | None
    gain: float
    z: float

    @property
    def n_classes(self) -> int:
        """Return C."""
        return self.mixture.n_classes

    @property
    def shared(self) -> bool:
        """Return whether labels are read by their classes, and not by themselves."""
        return self.own is None

    def row(self, u: int) -> FloatArray:
        """Return log p(z | u), (C,), as it was at the fit; a label that is new is of a class as labels mostly are."""
        return np.asarray(self.rows[u] if u < len(self.rows) else self.mixture.log_pi)

    def after(self, u: int, s: int, a: int, w: int, row: FloatArray | None = None) -> FloatArray:
        """Return log p(z | u), (C,), after one more tuple; `row` is where the label is if it moved since the fit."""
        moved = (self.row(u) if row is None else row) + self.mixture.log_tables[:, self._cell(s, a, w)]
        return np.asarray(normalise(moved[None])[0][0])

    def posterior(self, u: int, row: FloatArray | None = None) -> FloatArray:
        """Return p(z | u), (C,)."""
        return np.exp(self.row(u) if row is None else row)

    def rewards(self, u: int, row: FloatArray | None = None) -> FloatArray:
        """Return the chance that each action pleases a label, (S, K): sum_z p(z | u) f_z."""
        mixed = np.tensordot(self.posterior(u, row), self.judged.f, 1)
        own = self._own(u)
        return mixed if own is None else np.where(own.known[u][:, None], own.f[u], mixed)

    def draws(self, u: int, normals: FloatArray, row: FloatArray | None = None) -> FloatArray:
        """Return what may please a label, (B, S, K), by normal numbers: each class as often as it may be its."""
        B, own = len(normals), self._own(u)
        places = (np.arange(B) + 0.5) / B
        classes = np.minimum(np.searchsorted(np.cumsum(self.posterior(u, row)), places), self.n_classes - 1)
        drawn = self.judged.draws(classes, self.mask, normals)
        if own is None:
            return drawn
        alone = own.draws(np.full(B, u), self.mask, normals)
        return np.where(own.known[u][:, None], alone, drawn)

    def told(self, u: int, s: int, a: int, w: int, row: FloatArray | None = None) -> float:
        """Return Pr[r = 1 | u, s, a, w]: by what the word means to the classes that may have said it."""
        own = self._own(u)
        if own is not None and own.known[u, s]:
            return float(own.meant[u, s, a, w])
        return float(np.exp(self.after(u, s, a, w, row)) @ self.judged.meant[:, s, a, w])

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {
            "mask": self.mask,
            "words": self.n_words,
            "log_pi": self.mixture.log_pi,
            "log_tables": self.mixture.log_tables,
            "rows": self.rows,
            "rewards": self.judged.to_state(),
            "own": None if self.own is None else self.own.to_state(),
            "gain": self.gain,
            "z": self.z,
        }

    @staticmethod
    def from_state(state: Mapping[str, Any]) -> LabelClasses:
        """Return the classes that `to_state` described, the same to the last bit."""
        saved = Saved.of(state)
        mask, W = saved.flags("mask", (None, None)), saved.whole("words", 1)
        cells = (*mask.shape, W)
        log_pi = saved.floats("log_pi", (None,), high=0)
        C = len(log_pi)
        saved.check(C > 0, "log_pi", "of one class or more")
        log_tables = saved.floats("log_tables", (C, math.prod(cells)), high=0)
        rows = saved.floats("rows", (None, C), high=1e-9)
        for name, each in (("log_pi", log_pi[None]), ("rows", rows)):
            saved.check(
                bool(np.allclose(np.exp(each).sum(axis=1), 1)), name, "logs of chances that add up to 1"
            )
        rewards = GroupRewards.from_state(saved.part("rewards"), cells)
        saved.check(len(rewards.f) == C, "rewards", f"of {C} classes")
        own = GroupRewards.from_state(saved.part("own"), cells) if saved.has("own") else None
        saved.check(own is None or len(own.f) == len(rows), "own", f"of {len(rows)} labels")
        mixture = ClassMixture(log_pi, log_tables)
        return LabelClasses(mask, W, mixture, rows, rewards, own, saved.number("gain"), saved.number("z"))

    def _cell(self, s: int, a: int, w: int) -> int:
        return (s * int(self.mask.shape[1]) + a) * self.n_words + w

    def _own(self, u: int) -> GroupRewards | None:
        """Return what was judged of labels by themselves, None if they are not read so, or not this one."""
        return self.own if u < len(self.rows) else None


class SplitTuples(NamedTuple):
    """Tuples that are predicted: `labels` and `cells` (n,), from `counts` of the others, and from all of them."""

    counts: Any
    labels: IntArray
    cells: IntArray
    pooled: FloatArray
    everything: Any


def fit_classes(
    labels: IntArray,
    endings: IntArray,
    actions: IntArray,
    words: IntArray,
    n_labels: int,
    mask: BoolArray,
    n_words: int,
    generator: np.random.Generator,
    before: LabelClasses | None = None,
    c: float = 0.0,
    settings: JudgementSettings | None = None,
) -> LabelClasses:
    """Return classes of labels from n tuples, in endings with the actions of a mask (S, K).

    `before` is an earlier fit, from which one beginning is taken. An ending in which feedback tells nothing is worth c.
    """
    cells = TupleCells(mask.shape[0], mask.shape[1], n_words)
    settings = settings or JudgementSettings(significance=SIGNIFICANCE)
    check_columns(labels, endings, actions, words, n_labels, cells)
    data = split_tuples(labels, cells.of(endings, actions, words), n_labels, cells, generator)
    found, predicted = choose_mixture(data, n_words, generator, before)
    shared = bool(predicted.sum() >= predict_alone(data, n_words).sum())
    gain, z = weigh_actions(data, found if shared else None, cells)
    counts = data.everything
    mixture, _ = climb_classes(counts, found, pool(counts, cells), n_words, FINAL_ROUNDS)
    rows, _ = classify(counts, mixture)
    said = np.asarray((counts.T @ np.exp(rows)).T).reshape(-1, *cells)
    judged = judge_groups(said, mask, c, settings)
    own = None if shared else judge_groups(counts.toarray().reshape(-1, *cells), mask, c, settings)
    return LabelClasses(mask.copy(), n_words, mixture, rows, judged, own, gain, z)


def check_columns(
    labels: IntArray, endings: IntArray, actions: IntArray, words: IntArray, n_labels: int, cells: TupleCells
) -> None:
    """Raise ValueError unless every tuple is of a label, ending, action and word that there is."""
    columns = {"labels": labels, "endings": endings, "actions": actions, "words": words}
    for (name, column), size in zip(columns.items(), (n_labels, *cells), strict=True):
        if len(column) != len(labels):
            raise ValueError(f"{name} must be as many as labels, {len(labels)}, got {len(column)}; pass all")
        if len(column) and not (column.min() >= 0 and column.max() < size):
            got = f"{column.min()} to {column.max()}"
            raise ValueError(f"{name} must be from 0 to {size - 1}, got {got}; count them from 0")


def split_tuples(
    labels: IntArray, cells: IntArray, n_labels: int, all_cells: TupleCells, generator: np.random.Generator
) -> SplitTuples:
    """Return the tuples with one of `FOLDS` of each label held out, the number of its first by chance."""
    order = np.lexsort((generator.random(len(labels)), labels))
    sorted_labels = labels[order]
    first = np.searchsorted(sorted_labels, sorted_labels)
    rank = np.arange(len(labels)) - first + generator.integers(FOLDS, size=n_labels)[sorted_labels]
    held = np.zeros(len(labels), dtype=bool)
    held[order] = rank % FOLDS == 0
    kept = count_cells(labels[~held], cells[~held], n_labels, all_cells.size)
    everything = count_cells(labels, cells, n_labels, all_cells.size)
    return SplitTuples(kept, labels[held], cells[held], pool(kept, all_cells), everything)


def choose_mixture(
    data: SplitTuples, n_words: int, generator: np.random.Generator, before: LabelClasses | None
) -> tuple[ClassMixture, FloatArray]:
    """Return the mixture that predicts held-out tuples best, with no more classes than it takes, and what it predicts.

    >>> generator = np.random.default_rng(0)
    >>> who = np.repeat(np.arange(40), 20)
    >>> what = (generator.random(800) < np.where(who < 20, 0.1, 0.9)).astype(int)  # one ending, one action
    >>> choose_mixture(split_tuples(who, what, 40, TupleCells(1, 1, 2), generator), 2, generator, None)[0].n_classes
    2
    """
    known = (
        () if before is None or before.mixture.log_tables.shape[1] != len(data.pooled) else (before.mixture,)
    )
    heard = int((np.diff(data.counts.indptr) > 0).sum())
    best = last = fit_mixture(data.counts, 1, data.pooled, n_words, generator)
    predicted, failures = predict(data, best), 0
    for C in SIZES[1:]:
        if failures == 2 or heard < C * LABELS_EACH:
            break
        near = (last, *(mixture for mixture in known if mixture.n_classes == C))
        last = fit_mixture(data.counts, C, data.pooled, n_words, generator, near)
        now = predict(data, last)
        more = now - predicted
        if len(more) and more.sum() > ERRORS * more.std() * math.sqrt(len(more)):
            best, predicted, failures = last, now, 0
        else:
            failures += 1
    return best, predicted


def predict(data: SplitTuples, mixture: ClassMixture) -> FloatArray:
    """Return the log chance of each held-out word, (n,), by the classes that its label may be of."""
    rows, _ = classify(data.counts, mixture)
    return normalise(rows[data.labels] + mixture.log_tables[:, data.cells].T)[1]


def predict_alone(data: SplitTuples, n_words: int) -> FloatArray:
    """Return the log chance of each held-out word, (n,), by its label's own table, smoothed as predicts best."""
    groups = data.counts.shape[1] // n_words
    heard = np.asarray(data.counts.reshape((-1, n_words)).sum(axis=1)).reshape(-1, groups)
    often, usual = heard[data.labels, data.cells // n_words], data.pooled[data.cells]
    said = np.asarray(data.counts[data.labels, data.cells]).ravel()
    tried = [np.log((said + m * usual) / (often + m)) for m in OWN_STRENGTHS]
    return max(tried, key=lambda each: float(each.sum()))


def weigh_actions(data: SplitTuples, mixture: ClassMixture | None, cells: TupleCells) -> tuple[float, float]:
    """Return what held-out tuples gain by words that depend on the action, in nats and in standard errors.

    The others are of the same classes, or by the same labels themselves (None), with one table an ending.
    """
    W, blind = cells.n_words, ignore_actions(data, cells)
    if mixture is None:
        more = predict_alone(data, W) - predict_alone(blind, W)
    else:
        weights = np.exp(classify(data.counts, mixture)[0])
        more = predict(data, mixture) - predict(blind, fit_tables(blind.counts, weights, blind.pooled, W))
    error = float(more.std()) * math.sqrt(len(more)) if len(more) else 0.0
    return float(more.sum()), float(more.sum()) / error if error > 0 else 0.0


def ignore_actions(data: SplitTuples, cells: TupleCells) -> SplitTuples:
    """Return the tuples with cells (s, w)."""
    S, K, W = cells
    index = np.arange(cells.size)
    to = index // (K * W) * W + index % W
    fold = csr_matrix((np.ones(cells.size), (index, to)), shape=(cells.size, S * W))
    kept = data.counts @ fold
    return SplitTuples(
        kept, data.labels, to[data.cells], pool(kept, TupleCells(S, 1, W)), data.everything @ fold
    )

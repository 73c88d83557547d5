"""Tuples of labels that are held out: what each reading of labels foretells of them, and whether actions matter.

A fifth of each label's tuples is predicted from the others. How likely a word was after the action that was taken,
against all that an ending has, is evidence that words depend on the action, whatever the reading
(`tacit.decoding.action_evidence`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.decoding.action_evidence import ActionEvidence, weigh_ratios
from tacit.decoding.label_mixture import ClassMixture, TupleCells, classify, count_cells, normalise, pool

FOLDS = 5
"""One of so many tuples of a label is held out."""
LEAST_JUDGES = 40
"""Held-out tuples of uniform actions from which on they alone choose."""
OWN_STRENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Tuples of each (ending, action) that a label by itself has beforehand, as all labels say them; the best is taken."""


class SplitTuples(NamedTuple):
    """Tuples that are predicted: `labels` and `cells` (n,), from `counts` of the others, and from all of them.

    `uniform` (n,) says whose action was drawn so.
    """

    counts: Any
    labels: IntArray
    cells: IntArray
    uniform: BoolArray
    pooled: FloatArray
    everything: Any
    shape: TupleCells

    @property
    def judges(self) -> BoolArray:
        """Return which of them choose among readings, (n,): those of uniform actions, unless they are too few.

        Where a policy has learned what to do, labels by themselves foretell what is said, and know nothing of actions.
        """
        return (
            self.uniform if self.uniform.sum() >= LEAST_JUDGES else np.ones(len(self.labels), dtype=np.bool_)
        )

    @property
    def endings(self) -> IntArray:
        """Return the ending of each that is predicted, (n,)."""
        return self.cells // (self.shape.n_actions * self.shape.n_words)

    @property
    def after_any(self) -> IntArray:
        """Return the cells in which they would be after each action, (n, K)."""
        _, K, W = self.shape
        return np.asarray((self.endings * K * W + self.cells % W)[:, None] + W * np.arange(K))


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
    labels: IntArray,
    cells: IntArray,
    n_labels: int,
    all_cells: TupleCells,
    generator: np.random.Generator,
    uniform: BoolArray | None = None,
) -> SplitTuples:
    """Return the tuples with one of `FOLDS` of each label held out, the number of its first by chance.

    Without `uniform` (n,) all actions are taken to be so.
    """
    order = np.lexsort((generator.random(len(labels)), labels))
    sorted_labels = labels[order]
    first = np.searchsorted(sorted_labels, sorted_labels)
    rank = np.arange(len(labels)) - first + generator.integers(FOLDS, size=n_labels)[sorted_labels]
    held = np.zeros(len(labels), dtype=bool)
    held[order] = rank % FOLDS == 0
    kept = count_cells(labels[~held], cells[~held], n_labels, all_cells.size)
    everything = count_cells(labels, cells, n_labels, all_cells.size)
    drawn = np.ones(len(labels), dtype=bool) if uniform is None else uniform
    return SplitTuples(
        kept, labels[held], cells[held], drawn[held], pool(kept, all_cells), everything, all_cells
    )


def predict(data: SplitTuples, mixture: ClassMixture) -> FloatArray:
    """Return the log chance of each held-out word, (n,), by the classes that its label may be of."""
    rows, _ = classify(data.counts, mixture)
    return normalise(rows[data.labels] + mixture.log_tables[:, data.cells].T)[1]


def predict_alone(data: SplitTuples) -> FloatArray:
    """Return the log chance of each held-out word, (n,), by its label's own table, smoothed as predicts best."""
    return np.asarray(np.log(_alone(data, data.cells[:, None], own_strength(data)))[:, 0])


def own_strength(data: SplitTuples) -> float:
    """Return the strength under which labels by themselves predict best."""
    asked = data.cells[:, None]
    return max(OWN_STRENGTHS, key=lambda m: float(np.log(_alone(data, asked, m)).sum()))


def _alone(data: SplitTuples, asked: IntArray, strength: float) -> FloatArray:
    """Return the chance that the labels of held-out tuples say what stands in cells (n, m), by their own tables."""
    W = data.shape.n_words
    if not asked.size:
        return np.zeros(asked.shape)
    heard = np.asarray(data.counts.reshape((-1, W)).sum(axis=1)).reshape(data.counts.shape[0], -1)
    who = np.broadcast_to(data.labels[:, None], asked.shape)
    said = np.asarray(data.counts[who.ravel(), asked.ravel()]).reshape(asked.shape)
    return np.asarray((said + strength * data.pooled[asked]) / (heard[who, asked // W] + strength))


def after_any_action(data: SplitTuples, mixture: ClassMixture | None) -> FloatArray:
    """Return the chance of held-out words after each action, (n, K): by classes, or by labels themselves (None)."""
    if mixture is None:
        return _alone(data, data.after_any, own_strength(data))
    weights = np.exp(classify(data.counts, mixture)[0])[data.labels]  # (n, C)
    chances = np.zeros(data.after_any.shape)
    for own, table in zip(weights.T, np.exp(mixture.log_tables), strict=True):
        chances += own[:, None] * table[data.after_any]
    return chances


def weigh_held_out(
    data: SplitTuples, chances: FloatArray, mask: BoolArray, among: BoolArray | None = None
) -> ActionEvidence:
    """Return the evidence that words depend on the action, by their chances after each (n, K) of a mask (S, K).

    With `among` (U,), by tuples of some labels alone.
    """
    asked = np.flatnonzero(data.uniform if among is None else data.uniform & among[data.labels])
    endings, taken = data.endings[asked], data.cells[asked] // data.shape.n_words % data.shape.n_actions
    chances = np.maximum(chances[asked], 1e-300)
    usual = (chances * mask[endings]).sum(axis=1) / np.maximum(mask[endings].sum(axis=1), 1)
    return weigh_ratios(chances[np.arange(len(asked)), taken] / usual, endings, len(mask))

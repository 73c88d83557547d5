"""When to do what pleases nobody: it tells of which class a label is, and what each class likes best does not.

Two classes that mean the opposite may say the same after what the one likes and after what the other does: each is
pleased by its own, and says so in words by which the other complains. Chance that plays each as often as it may be the
best then learns nothing, however often the label comes. Of action a, with p(z | u) of the classes, let

    lost_a = sum_z p(z) (max_b f_z(b) - f_z(a)),    told_a = the nats that a word after a tells of z.

Information-directed sampling (Russo and Van Roy, 2014) takes what has the least lost² / told. Here chance stays as it
is unless one action costs more than it does, and is worth that by this measure.
"""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray

NO_QUESTION = -1
LIKELY = 1e-3
"""Classes that a label is of with less chance are left out."""
NOTHING_TOLD = 1e-12


def find_questions(chances: FloatArray, f: FloatArray, tables: FloatArray, mask: BoolArray) -> IntArray:
    """Return the action to ask with in each ending, (S,), or `NO_QUESTION`; f (C, S, K), `tables` (C, S, K, W).

    `chances` (C,) are those of each class, `mask` (S, K) says which actions an ending has.

    >>> f = np.array([[[0.9, 0.0, 0.0]], [[0.0, 0.9, 0.0]]])
    >>> words = np.stack([1 - f, f], axis=3)
    >>> words[1] = words[1, ..., ::-1]  # the second class means the opposite
    >>> mask = np.ones((1, 3), dtype=bool)
    >>> [find_questions(np.array([p, 1 - p]), f, words, mask).tolist() for p in (0.5, 0.999)]
    [[2], [-1]]
    """
    p = chances / chances.sum()
    best = np.where(mask, f, -1.0).argmax(axis=2)  # (C, S)
    usual = np.zeros(mask.shape)
    np.add.at(usual, (np.arange(len(mask))[None], best), p[:, None])
    most = np.take_along_axis(f, best[:, :, None], axis=2)  # (C, S, 1)
    lost, told = np.tensordot(p, most - f, 1), tell_class(p, tables)  # (S, K)
    lost_usually, told_usually = (usual * lost).sum(axis=1), (usual * told).sum(axis=1)
    cost = np.where(mask, lost**2 / np.maximum(told, NOTHING_TOLD), np.inf)
    asked = cost.argmin(axis=1)
    rows = np.arange(len(mask))
    worth = cost[rows, asked] < lost_usually**2 / np.maximum(told_usually, NOTHING_TOLD)
    return np.where(worth & (lost[rows, asked] > lost_usually), asked, NO_QUESTION)


def tell_class(p: FloatArray, tables: FloatArray) -> FloatArray:
    """Return the mutual information (S, K) of the class, by chances p (C,), and the word after each action."""
    mixed = np.tensordot(p, tables, 1)  # (S, K, W)
    logs = np.log(np.maximum(tables, NOTHING_TOLD)) - np.log(np.maximum(mixed, NOTHING_TOLD))
    return np.maximum(np.tensordot(p, (tables * logs).sum(axis=3), 1), 0.0)

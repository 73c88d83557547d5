"""k-means: centres of points, begun as k-means++ begins, each far from the others with its own chance."""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import FloatArray, IntArray

MOST_ROWS = 2_000
"""Points by which centres are found; more are sampled."""
STARTS, ROUNDS = 2, 20
"""Beginnings, and rounds of each at most."""


def nearest(points: FloatArray, centres: FloatArray) -> IntArray:
    """Return the number of the nearest centre (k, q) to each point (n, q).

    >>> nearest(np.array([[0.0], [5.0]]), np.array([[4.0], [1.0]]))
    array([1, 0])
    """
    return np.asarray(((centres**2).sum(axis=1) - 2 * points @ centres.T).argmin(axis=1))


def find_centres(points: FloatArray, number: int, generator: np.random.Generator) -> FloatArray:
    """Return so many centres (k, q) of points (n, q), or as many as there are different points; in order.

    >>> points = np.array([[0.0], [0.1], [9.0], [9.1]])
    >>> find_centres(points, 2, np.random.default_rng(0)).round(2).tolist()
    [[0.05], [9.05]]
    """
    if len(points) > MOST_ROWS:
        points = points[generator.choice(len(points), MOST_ROWS, replace=False)]
    tried = [_move(points, _scatter(points, number, generator)) for _ in range(STARTS)]
    centres = min(tried, key=lambda each: each[1])[0]
    return centres[np.lexsort(centres.T[::-1])]


def _scatter(points: FloatArray, number: int, generator: np.random.Generator) -> FloatArray:
    """Return points to begin from: each the likelier the farther it is from those before, squared."""
    chosen = [int(generator.integers(len(points)))]
    distance = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < number and distance.sum() > 0:
        chosen.append(int(generator.choice(len(points), p=distance / distance.sum())))
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return points[chosen]


def _move(points: FloatArray, centres: FloatArray) -> tuple[FloatArray, float]:
    """Return the centres after each was moved to the mean of what is nearest, until none moves, and the loss."""
    for _ in range(ROUNDS):
        own = nearest(points, centres)
        often = np.bincount(own, minlength=len(centres))
        sums = np.stack([np.bincount(own, column, len(centres)) for column in points.T], axis=1)
        moved = np.where(often[:, None] > 0, sums / np.maximum(often, 1)[:, None], centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return centres, float(((points - centres[nearest(points, centres)]) ** 2).sum())

"""Permutation tests on counts of feedback by action: does one depend on the other beyond chance?

Feedback is dealt anew among the tuples of each table, which keeps every margin, so no approximation has to hold. The
work is bounded: of places with more cells than `MOST_DEALT` those with the most tuples are tested (`largest_places`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy.special import xlogy

from tacit.base.arrays import BoolArray, FloatArray
from tacit.decoding.counts import PlaceIndex, SeenCounts, without_unmet_silence

DRAWS = 999
"""Tables dealt in a permutation test: the least p-value is a thousandth."""
SEED = 3
"""Of the permutation tests, so that a diagnosis is a function of the counts."""
MOST_DEALT = 100_000
"""Cells of all tables of a test, which bounds its time: dealt 999 times, some five seconds."""
AT_ONCE = 4_000_000
"""Rows of dealt tables held at once, which bounds its memory: 32 MB for each of a few arrays."""


def dependence_p_value(tables: FloatArray, draws: int = DRAWS) -> float:
    """Return the p-value of rows being independent of columns in all tables (T, Y, K) at once.

    The statistics are sum n log n over all cells, which with fixed margins orders tables as the likelihood ratio
    does, and its largest standardised value over the tables, for dependence that is strong in few of them.
    """
    tables = tables[dependable_tables(tables)]
    if not len(tables):
        return 1.0
    drawn = np.concatenate(
        [sum(xlogy(column, column).sum(axis=-1) for column in part) for part in deal_parts(tables, draws)]
    )
    ratios = np.vstack([xlogy(tables, tables).sum(axis=(1, 2)), drawn])  # (1 + draws, T), what was seen first
    spread = ratios.std(axis=0)
    standard = (ratios - ratios.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return min(2 * min(_upper_share(ratios.sum(axis=1)), _upper_share(standard.max(axis=1))), 1.0)


def residual_p_value(tables: FloatArray, others: FloatArray, draws: int = DRAWS) -> float:
    """Return the p-value of rows having only the two action profiles of their tables (T, Y, K) and `others` (T, K).

    Each value y counts with the likelihood ratio of its actions against the nearer of the two profiles, its own
    cluster's or the other's, for phi was fitted to the same counts and may have put a rare value wrongly.
    """
    own = np.log(_profiles(tables.sum(axis=1)))  # (T, K)
    other = np.log(_profiles(others))

    def statistic(columns: Iterable[FloatArray]) -> FloatArray:
        fit = near = far = np.zeros(1)
        for k, column in enumerate(columns):  # (..., T, Y)
            fit = fit + xlogy(column, column)
            near = near + column * own[:, k, None]
            far = far + column * other[:, k, None]
        return np.asarray((fit - np.maximum(near, far)).sum(axis=(-2, -1)))

    seen = statistic(np.moveaxis(tables, 2, 0))
    return _upper_share(np.concatenate([[seen], *map(statistic, deal_parts(tables, draws))]))


def deal_parts(tables: FloatArray, draws: int) -> Iterator[Iterator[FloatArray]]:
    """Yield `deal_columns` of as many draws at a time as memory allows: of all of them where tables are few."""
    generator = np.random.default_rng(SEED)
    most = max(AT_ONCE // (tables.shape[0] * tables.shape[1]), 1)
    for done in range(0, draws, most):
        yield deal_columns(tables, min(most, draws - done), generator)


def deal_columns(
    tables: FloatArray, draws: int, generator: np.random.Generator | None = None
) -> Iterator[FloatArray]:
    """Yield, column by column, (draws, T, Y): tables (T, Y, K) with rows dealt anew among the columns.

    Column k takes its tuples from the rows that are left, value by value: hypergeometric draws.
    """
    if generator is None:
        generator = np.random.default_rng(SEED)
    whole = np.rint(tables).astype(np.int64)
    left = np.repeat(whole.sum(axis=2)[None], draws, axis=0)  # (draws, T, Y)
    for size in whole.sum(axis=1).T:  # (T,)
        column = np.empty_like(left)
        wanted = np.repeat(size[None], draws, axis=0)
        rest = left.sum(axis=2)
        for y in range(left.shape[2]):
            rest = rest - left[:, :, y]
            column[:, :, y] = generator.hypergeometric(left[:, :, y], rest, wanted)
            wanted = wanted - column[:, :, y]
        left = left - column
        yield column.astype(np.float64)


def _upper_share(statistics: FloatArray) -> float:
    """Return the share of statistics that are no smaller than the first, itself included."""
    slack = 1e-9 * max(1.0, abs(float(statistics[0])))  # equal tables may differ by rounding
    return float(np.mean(statistics >= statistics[0] - slack))


def dependable_tables(tables: FloatArray) -> BoolArray:
    """Return which tables (T, Y, K) have two rows and two columns with tuples, (T,)."""
    rows, columns = (tables.sum(axis=2) > 0).sum(axis=1), (tables.sum(axis=1) > 0).sum(axis=1)
    return np.asarray((rows > 1) & (columns > 1))


def _profiles(actions: FloatArray) -> FloatArray:
    """Return counts of actions (T, K) as shares, half a tuple added so that none is impossible."""
    return np.asarray((actions + 0.5) / (actions + 0.5).sum(axis=1, keepdims=True))


def largest_places(counts: SeenCounts, places: Sequence[PlaceIndex], tables: int = 1) -> list[PlaceIndex]:
    """Return the places to test, with so many tables each: all, or those with the most tuples, in their order.

    How many tuples a place has says nothing of what they say, so that choosing by it keeps a test's level.

    >>> counts = SeenCounts.of_dense(np.ones((1, 2, 300, 500)))
    >>> largest_places(counts, counts.places)
    [(0, 0)]
    """
    most = max(MOST_DEALT // (tables * counts.spoken * counts.shape[3]), 1)
    if len(places) <= most:
        return list(places)
    tuples = dict(zip(counts.places, counts.tuples.tolist(), strict=True))
    return sorted(sorted(places, key=lambda place: -tuples.get(place, 0.0))[:most])


def dependable_places(counts: SeenCounts) -> list[PlaceIndex]:
    """Return the places whose tuples have two values and two actions at least."""
    V, K = counts.shape[2:]
    _, values = np.unique(np.unique(counts.cells // K) // V, return_counts=True)
    _, actions = np.unique(counts.over_values().cells // K, return_counts=True)
    return [place for place, y, a in zip(counts.places, values, actions, strict=True) if y > 1 and a > 1]


def stack_tables(counts: SeenCounts, places: Iterable[PlaceIndex]) -> FloatArray:
    """Return the tables of some places, (T, V, K); without silence where nobody was silent."""
    tables = np.array([counts.table(*place) for place in places]).reshape(-1, *counts.shape[2:])
    return without_unmet_silence(tables)

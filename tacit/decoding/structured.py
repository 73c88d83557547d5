"""The posterior of finite contexts and feedback: action frequencies, and the fit within the class of eq. 4.

Both minimise eq. 5: `frequency` over all functions of (x, y), `structured` over f and phi, a two-way clustering.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.base.validation import is_distribution
from tacit.decoding.counts import count_tuples
from tacit.decoding.posterior import check_fitted, ideal_posterior
from tacit.decoding.tuples import Tuples, counted_shape, fitted_states
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded

MOST_EXHAUSTIVE = 10
"""Feedback values up to which every two-way clustering is tried: 2^9 of them, well under a millisecond."""


@dataclass(frozen=True, eq=False)
class TablePosterior:
    """The posterior of finite contexts and feedback as a table of the (s, x, y) that were seen, uniform elsewhere.

    `rows` (m,) are flat indices of (s, x, y), ascending, and `table` (m, K) their posteriors, zero in the padding. The
    structured fit also leaves f (places, K) of each (s, x) that was seen (`places`, flat and ascending) and φ (m,)
    behind, with Σ f ≤ K/2.
    """

    name: str
    layout: Layout
    states: BoolArray
    rows: IntArray
    table: FloatArray
    places: IntArray | None = None
    f: FloatArray | None = None
    phi: FloatArray | None = None

    def predict(self, context: Encoded, feedback: Encoded, state: int) -> FloatArray:
        """Return h(x, y, s), (K_s,)."""
        check_fitted(self.layout, self.states, state)
        K = self.layout.endings.n_actions[state]
        row = self._row(context, feedback, state)
        return (self.layout.endings.uniform[state, :K] if row is None else self.table[row, :K]).copy()

    def rewards(self, context: Encoded, feedback: Encoded, state: int) -> tuple[FloatArray, float]:
        """Return f(x, s, ·) (K_s,) and φ(x, y, s) of the structured fit; 0 where nothing was seen."""
        assert self.f is not None and self.phi is not None and self.places is not None  # noqa: PT018, one rule
        row, K = self._row(context, feedback, state), self.layout.endings.n_actions[state]
        place = _find(self.places, state * counted_shape(self.layout)[1] + int(context))
        f = np.zeros(K) if place is None else self.f[place, :K].copy()
        return f, 0.0 if row is None else float(self.phi[row])

    def to_state(self) -> dict[str, Any]:
        """Return the arrays that `from_state` reads."""
        kept = {key: getattr(self, key) for key in ("name", "states", "rows", "table", "places", "f", "phi")}
        return {key: value for key, value in kept.items() if value is not None}

    @staticmethod
    def from_state(layout: Layout, state: Mapping[str, Any]) -> TablePosterior:
        """Return the posterior that `to_state` described."""
        saved = Saved.of(state)
        S, X, Y, K = counted_shape(layout)
        name, fitted = saved.choice("name", ("frequency", "structured")), saved.flags("states", (S,))
        rows, mask = saved.indices("rows", S * X * Y), layout.endings.mask
        table = saved.floats("table", (len(rows), K), 0, 1)
        saved.check(is_distribution(table, mask[rows // (X * Y)]), "table", "distributions over the actions")
        saved.check(fitted[rows // (X * Y)].all(), "states", "true where something was seen")
        if name == "frequency":
            return TablePosterior(name, layout, fitted, rows, table)
        places = saved.indices("places", S * X)
        saved.check(np.array_equal(places, np.unique(rows // Y)), "places", "those of the rows")
        f, phi = saved.floats("f", (len(places), K), 0, 1), saved.floats("phi", (len(rows),), 0, 1)
        return TablePosterior(name, layout, fitted, rows, table, places, f, phi)

    def _row(self, context: Encoded, feedback: Encoded, state: int) -> int | None:
        _, X, Y, _ = counted_shape(self.layout)
        return _find(self.rows, (state * X + int(context)) * Y + int(feedback))


def fit_frequency(layout: Layout, tuples: Tuples) -> TablePosterior:
    """Return the action frequencies of each (s, x, y): eq. 5 over all functions; uniform where never seen."""
    counts = count_tuples(layout, tuples)
    K = counts.shape[3]
    rows, row = np.unique(counts.cells // K, return_inverse=True)
    table = np.zeros((len(rows), K))
    table[row, counts.cells % K] = counts.numbers
    table /= table.sum(axis=-1, keepdims=True)
    return TablePosterior("frequency", layout, fitted_states(layout, tuples), rows, table)


def fit_structured(layout: Layout, tuples: Tuples) -> TablePosterior:
    """Return the fit of eq. 5 within the class of eq. 4, each (s, x) on its own.

    φ is a two-way clustering of the feedback values and f_a the share of φ = 1 among the tuples of action a:
    given φ its maximum likelihood (dev. 20), which uses that the actions were uniform. Feedback never seen at (s, x)
    gets φ = 0 and the uniform posterior.
    """
    counts = count_tuples(layout, tuples)
    _, X, _, K = counts.shape
    rows = np.unique(counts.cells // K)
    table, phi = np.zeros((len(rows), K)), np.zeros(len(rows))
    f, done = np.zeros((len(counts.places), K)), 0
    for place, ((s, _), numbers) in enumerate(counts.tables()):
        seen, K_s = numbers.sum(axis=1) > 0, layout.endings.n_actions[s]
        here = slice(done, done + int(np.count_nonzero(seen)))
        f[place, :K_s], phi[here] = fit_rewards(numbers[seen, :K_s])
        table[here, :K_s] = ideal_posterior(f[place, :K_s], phi[here])
        done += int(np.count_nonzero(seen))
    places = np.array([s * X + x for s, x in counts.places], dtype=np.int64)
    return TablePosterior("structured", layout, fitted_states(layout, tuples), rows, table, places, f, phi)


def fit_rewards(counts: FloatArray, most_exhaustive: int = MOST_EXHAUSTIVE) -> tuple[FloatArray, FloatArray]:
    """Return f (K,) and φ (m,) of one (s, x) from the counts (m, K) of its m seen feedback values.

    >>> fit_rewards(np.array([[9.0, 1.0, 1.0], [1.0, 9.0, 9.0]]))
    (array([0.9, 0.1, 0.1]), array([1., 0.]))
    """
    m, K = counts.shape
    candidates = _all_clusterings(m) if m <= most_exhaustive else _cuts(counts)
    phi = candidates[np.argmin(clustering_losses(counts, candidates))]
    if m > most_exhaustive:
        phi = _reassign(counts, phi)
    if _mean_rewards(counts, phi).sum() > K / 2:  # f → 1 - f, φ → 1 - φ leaves eq. 4 as it is
        phi = 1 - phi
    return _mean_rewards(counts, phi), phi


def clustering_losses(counts: FloatArray, phi: FloatArray) -> FloatArray:
    """Return the loss of eq. 5 of each clustering φ (..., m) of the feedback values, (...)."""
    f = _mean_rewards(counts, phi)
    rewarded = phi @ counts  # (..., K): tuples of each action with φ = 1
    return _loss(rewarded, ideal_posterior(f, 1.0)) + _loss(counts.sum(0) - rewarded, ideal_posterior(f, 0.0))


def _loss(counts: FloatArray, h: FloatArray) -> FloatArray:
    """Return Σ_a counts_a ‖h - e_a‖² = n ‖h‖² - 2 ⟨counts, h⟩ + n, over the last axis."""
    n = counts.sum(axis=-1)
    return np.asarray(n * (h * h).sum(axis=-1) - 2 * (counts * h).sum(axis=-1) + n)


def _mean_rewards(counts: FloatArray, phi: FloatArray) -> FloatArray:
    """Return f (..., K) given φ; an action that was never drawn gets the mean over all tuples."""
    total, rewarded = counts.sum(axis=0), phi @ counts
    pooled = rewarded.sum(axis=-1, keepdims=True) / total.sum()
    return np.asarray(np.where(total > 0, rewarded / np.maximum(total, 1), pooled))


def _all_clusterings(m: int) -> FloatArray:
    """Return every two-way clustering of m values once: the first value is always in cluster 0."""
    bits = np.arange(2 ** (m - 1))[:, None] >> np.arange(m - 1) & 1
    return np.pad(bits, ((0, 0), (1, 0))).astype(np.float64)


def _cuts(counts: FloatArray) -> FloatArray:
    """Return the m clusterings that cut the values in order along the first principal axis of their profiles.

    Under eq. 4 all profiles (rows of h) lie on one line, so the best clustering is a cut of that line.
    """
    n = counts.sum(axis=1, keepdims=True)
    centred = counts / n - counts.sum(axis=0) / n.sum()
    axis = np.linalg.svd(np.sqrt(n) * centred, full_matrices=False)[2][0]
    rank = np.argsort(np.argsort(centred @ axis, kind="stable"), kind="stable")
    return (rank[None, :] < np.arange(len(n))[:, None]).astype(np.float64)


def _reassign(counts: FloatArray, phi: FloatArray) -> FloatArray:
    """Return φ after moving each value to its nearer cluster for as long as that lowers the loss."""
    while True:
        f = _mean_rewards(counts, phi)
        gain = _loss(counts, ideal_posterior(f, 0.0)) - _loss(counts, ideal_posterior(f, 1.0))
        moved = (gain > 0).astype(np.float64)
        if clustering_losses(counts, moved) >= clustering_losses(counts, phi):
            return phi
        phi = moved


def _find(ascending: IntArray, value: int) -> int | None:
    """Return where a value stands in an ascending line, None if it does not."""
    at = int(np.searchsorted(ascending, value))
    return at if at < len(ascending) and ascending[at] == value else None

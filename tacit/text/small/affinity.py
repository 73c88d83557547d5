"""How well candidates fit what was said: by the words they share, and by what was learned to go together.

    u(s, a) = w·match(s, a) + x(s)'W z(a)

x holds leading principal components of the vectors of each thing that was said, and a 1, so that W's last row is what
a candidate is worth whoever asks; z holds those of the candidate. W is learned; w begins where words that echo the
request are likely to be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.base.arrays import Float32Array, FloatArray, IntArray
from tacit.base.saved import Saved


@dataclass(frozen=True, eq=False)
class Projection:
    """(rows - mean) @ axes: principal components, together of variance 1."""

    mean: FloatArray
    axes: FloatArray

    @property
    def size(self) -> int:
        """Return how many components there are."""
        return int(self.axes.shape[1])

    @staticmethod
    def from_state(state: Mapping[str, Any]) -> Projection:
        """Return the projection whose arrays were saved."""
        saved = Saved.of(state)
        axes = saved.floats("axes", (None, None))
        return Projection(saved.floats("mean", axes.shape[:1]), axes)

    def to_state(self) -> dict[str, Any]:
        """Return the arrays."""
        return {"mean": self.mean, "axes": self.axes}

    def components(self, rows: FloatArray | Float32Array) -> FloatArray:
        """Return the components of rows (n, D), (n, parts)."""
        return np.asarray((rows - self.mean) @ self.axes)

    def __call__(self, rows: FloatArray | Float32Array) -> FloatArray:
        """Return the components of rows (n, D) with a 1 appended for the bias, (n, parts + 1)."""
        return np.column_stack([self.components(rows), np.ones(len(rows))])


def fit_projection(rows: FloatArray | Float32Array, parts: int) -> Projection:
    """Return the projection on the first `parts` principal components of the rows, fewer where there are not as many.

    >>> project = fit_projection(np.array([[1.0, 0.0], [3.0, 0.0]]), parts=2)
    >>> abs(project(np.array([[3.0, 5.0]])))
    array([[1., 1.]])
    """
    size = rows.shape[1]
    if not len(rows):
        return Projection(np.zeros(size), np.zeros((size, 0)))
    mean = rows.mean(axis=0, dtype=np.float64)
    away = rows - mean
    variances, axes = np.linalg.eigh(away.T @ away / len(rows))
    variances, axes = variances[::-1][:parts], axes[:, ::-1][:, :parts]
    kept = variances > max(1e-8 * variances[0], 1e-16)
    spread, axes = np.sqrt(variances[kept]), axes[:, kept]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(len(spread))] < 0, -1.0, 1.0)
    return Projection(mean, axes / max(float(np.linalg.norm(spread)), 1e-12))


@dataclass(frozen=True, eq=False)
class Affinity:
    """The function u of the module's docstring: `echo` (F,) is w, `said` make x, `item` makes z, `weights` is W."""

    echo: FloatArray
    said: tuple[Projection, ...]
    item: Projection
    weights: FloatArray

    def scores(
        self,
        match: FloatArray | Float32Array,
        said: Float32Array,
        items: Float32Array,
        offer: IntArray,
    ) -> FloatArray:
        """Return u of candidates (n, K): `match` (n, K, F), `said` (n, R, D), and rows `offer` (n, K) of `items`."""
        asked = self.asked(said) @ self.weights  # (n, q)
        offered = self.item.components(items)[offer]  # (n, K, q)
        return np.asarray(match @ self.echo + np.einsum("nkq,nq->nk", offered, asked))

    def asked(self, said: Float32Array) -> FloatArray:
        """Return x of what was said (n, R, D): components of each thing, zeros for what was not said, and a 1."""
        parts = [
            project.components(said[:, role]) * said[:, role].any(axis=1, keepdims=True)
            for role, project in enumerate(self.said)
        ]
        return np.column_stack([*parts, np.ones(len(said))])

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values from which `from_state` rebuilds it."""
        said = [project.to_state() for project in self.said]
        return {"echo": self.echo, "said": said, "item": self.item.to_state(), "weights": self.weights}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Affinity:
        """Return what `to_state` described."""
        saved = Saved.of(state)
        said = tuple(Projection.from_state(part) for part in saved.parts("said"))
        item = Projection.from_state(saved.part("item"))
        sizes = (sum(project.size for project in said) + 1, item.size)
        return cls(saved.floats("echo", (None,)), said, item, saved.floats("weights", sizes))


def fit_components(
    said: Float32Array, items: Float32Array, parts: int
) -> tuple[tuple[Projection, ...], Projection]:
    """Return the projections of each thing said (n, R, D) that somebody said, and of candidates (C, D)."""
    heard = [said[:, role][said[:, role].any(axis=1)] for role in range(said.shape[1])]
    return tuple(fit_projection(rows, parts) for rows in heard), fit_projection(items, parts)

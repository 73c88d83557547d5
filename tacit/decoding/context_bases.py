"""A context that is a vector as the terms that are learned on, the first of them 1.

Features are standardised: those that do not vary and those that another one gives exactly are dropped, and what stands
far out is cut, so that neither a scale nor a slip of the pen matters. Where features are many, their principal
components stand for them. Of these, z, there are

    linear      1, z
    a pair      1, z, the sign of z_i z_j: on which side of two features together
    regions     1, how near z is to each of some centres c: exp(-|z - c|^2 / 2 h^2), divided by their sum,
                and, where they have slopes, a small multiple of z.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.decoding.centres import find_centres, nearest

FARTHEST = 4.0
"""Standard deviations from the mean at which features are cut."""
VARIES = 1e-9
"""Of the largest value: a standard deviation below this is rounding."""
SAME = 1 - 1e-9
"""The absolute correlation from which on a feature is another one's duplicate."""
MOST_FEATURES, MOST_COMPONENTS = 64, 50
"""Features that are taken as they are; of more, so many leading components."""
WIDTH = 0.5
"""Of a region, h: times the root mean square distance of contexts to their centres."""


@dataclass(frozen=True, eq=False)
class Basis:
    """z = cut((x - mean) / scale)[kept], (d,) to (P,), times the `axes` (kept, P) where there are some.

    With `centres` (J, P) nearness to them, by a `width`, stands in place of z, or beside z times `slopes`; a `pair`
    (2,) of z adds its side.
    """

    mean: FloatArray
    scale: FloatArray
    kept: IntArray
    axes: FloatArray | None = None
    centres: FloatArray | None = None
    width: float = 1.0
    pair: IntArray | None = None
    slopes: float = 0.0

    @property
    def kind(self) -> str:
        """Return "constant", "linear", "pair" or "regions"."""
        if self.centres is not None:
            return "regions"
        if self.pair is not None:
            return "pair"
        return "linear" if len(self.kept) else "constant"

    @property
    def n_components(self) -> int:
        """Return P, the length of z."""
        return len(self.kept) if self.axes is None else int(self.axes.shape[1])

    @property
    def n_regions(self) -> int:
        """Return how many regions there are, 0 where it has none."""
        return 0 if self.centres is None else len(self.centres)

    @property
    def n_terms(self) -> int:
        """Return how many terms there are."""
        if self.centres is None:
            return 1 + self.n_components + (self.pair is not None)
        return 1 + len(self.centres) + (self.n_components if self.slopes else 0)

    def standardised(self, contexts: FloatArray) -> FloatArray:
        """Return z of contexts (n, d), (n, P), or of one (d,), (P,)."""
        z = (contexts[..., self.kept] - self.mean) / self.scale
        z = np.minimum(np.maximum(z, -FARTHEST), FARTHEST)
        return z if self.axes is None else np.asarray(z @ self.axes)

    def __call__(self, contexts: FloatArray) -> FloatArray:
        """Return the terms of contexts (n, d), (n, L), or of one (d,), (L,)."""
        z, one = self.standardised(contexts), np.ones((*contexts.shape[:-1], 1))
        if self.centres is not None:
            near = nearness(z, self.centres, self.width)
            return np.concatenate([one, near, self.slopes * z] if self.slopes else [one, near], axis=-1)
        if self.pair is not None:
            return np.concatenate([one, z, side_of(z, self.pair)[..., None]], axis=-1)
        return np.concatenate([one, z], axis=-1)

    def to_state(self) -> dict[str, Any]:
        """Return arrays from which `from_state` rebuilds it."""
        return dict(vars(self))

    @staticmethod
    def from_state(state: Mapping[str, Any], dimension: int) -> Basis:
        """Return the basis of contexts (d,) that `to_state` described."""
        saved = Saved.of(state)
        kept = saved.indices("kept", dimension)
        axes = saved.floats("axes", (len(kept), None)) if saved.has("axes") else None
        P = len(kept) if axes is None else axes.shape[1]
        return Basis(
            *(saved.floats("mean", kept.shape), saved.floats("scale", kept.shape, low=1e-300), kept, axes),
            saved.floats("centres", (None, P)) if saved.has("centres") else None,
            saved.number("width", 1e-300),
            saved.indices("pair", P) if saved.has("pair") else None,
            saved.number("slopes", 0),
        )


def constant_basis() -> Basis:
    """Return the basis that knows nothing of the context: 1 alone."""
    return Basis(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))


def fit_basis(contexts: FloatArray) -> Basis:
    """Return the basis of contexts (n, d).

    >>> x = np.random.default_rng(0).normal(size=(500, 3)) * [1.0, 1e6, 0.0] + [0.0, 3e6, 5.0]
    >>> basis = fit_basis(np.column_stack([x, -2 * x[:, 0]]))
    >>> basis.kept.tolist(), basis(np.array([1.0, 4e6, 5.0, 0.0])).round().tolist()
    ([0, 1], [1.0, 1.0, 1.0])
    """
    mean, scale = contexts.mean(axis=0), contexts.std(axis=0)
    largest = np.abs(contexts).max(axis=0, initial=0.0)
    varies = np.flatnonzero(scale > VARIES * np.maximum(largest, 1e-290))
    kept = varies[_distinct((contexts[:, varies] - mean[varies]) / scale[varies])]
    basis = Basis(mean[kept], scale[kept], kept)
    if len(kept) <= MOST_FEATURES:
        return basis
    return replace(basis, axes=_leading_axes(basis(contexts)[:, 1:]))


def on_one_scale(basis: Basis, contexts: FloatArray) -> Basis:
    """Return a linear basis whose features keep their proportions, as those of pixels: all divided by one number."""
    common = np.full_like(basis.scale, np.sqrt((basis.scale**2).mean())) if len(basis.scale) else basis.scale
    plain = replace(basis, scale=common, axes=None)
    return plain if basis.axes is None else replace(plain, axes=_leading_axes(plain(contexts)[:, 1:]))


def with_regions(
    basis: Basis, contexts: FloatArray, n_regions: int, generator: np.random.Generator
) -> Basis | None:
    """Return the regions of contexts (n, d) around so many centres, None where there is nothing to be near to."""
    z = basis.standardised(contexts)
    if not z.shape[1]:
        return None
    centres = find_centres(z, n_regions, generator)
    spread = float(np.sqrt(((z - centres[nearest(z, centres)]) ** 2).sum(axis=1).mean()))
    return replace(basis, centres=centres, width=max(WIDTH * spread, 1e-9))


def recentred(basis: Basis, contexts: FloatArray) -> Basis:
    """Return a basis whose pair, if it has one, is cut at the mean of contexts (n, d): sides change nowhere else.

    Of 600 tuples two means are off by 0.04 standard deviations each, and one context in thirty is on the wrong side.

    >>> basis = replace(fit_basis(np.array([[0.0, 0.0], [2.0, 3.0], [1.0, 0.0]])), pair=np.array([0, 1]))
    >>> recentred(basis, np.array([[0.5, 0.0], [0.5, 1.0]])).mean
    array([0.5, 0.5])
    """
    return basis if basis.pair is None else replace(basis, mean=contexts[:, basis.kept].mean(axis=0))


def nearness(z: FloatArray, centres: FloatArray, width: float) -> FloatArray:
    """Return how near points (n, P), or one (P,), are to each of the centres (J, P): shares (n, J) that add up to 1."""
    logs = (2 * z @ centres.T - (centres**2).sum(axis=1)) / (2 * width**2)
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def side_of(z: FloatArray, pair: IntArray) -> FloatArray:
    """Return on which side of a pair (2,) of features points (n, P), or one (P,), are: 1, or -1.

    >>> side_of(np.array([[2.0, 5.0, -1.0], [-2.0, 5.0, -1.0]]), np.array([0, 2]))
    array([-1.,  1.])
    """
    return np.asarray(np.where(z[..., pair[0]] * z[..., pair[1]] > 0, 1.0, -1.0))


def _distinct(z: FloatArray) -> IntArray:
    """Return the columns (n, d) that no earlier one gives exactly."""
    same = np.abs(z.T @ z) >= SAME * max(len(z), 1)
    return np.asarray(np.flatnonzero(~np.triu(same, 1).any(axis=0)))


def _leading_axes(z: FloatArray) -> FloatArray:
    """Return axes (d, P) of the leading principal components, the first of variance 1."""
    values, vectors = np.linalg.eigh(z.T @ z / len(z))
    leading = np.argsort(values)[::-1][:MOST_COMPONENTS]
    return np.asarray(vectors[:, leading] / np.sqrt(values.max()))

"""What networks read: values of finite spaces as one-hot vectors, vectors standardised (appendix C.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import LARGEST, Saved
from tacit.problem.records import Space, dimension_of
from tacit.problem.spaces import Encoded, Finite


@dataclass(frozen=True)
class NetworkInputs:
    """A space as network inputs: finite values one-hot, vectors standardised."""

    mean: FloatArray
    scale: FloatArray
    finite: bool

    @staticmethod
    def fit(space: Space, values: IntArray | FloatArray) -> NetworkInputs:
        """Return the features of a space, standardised on `values` if they are vectors.

        Silence, the value after a finite space's own, is a feature where it was met.
        """
        if isinstance(space, Finite):
            size = max(space.size, int(values.max(initial=0)) + 1)
            return NetworkInputs(np.zeros(size), np.ones(size), True)
        spread = values.std(axis=0)
        return NetworkInputs(values.mean(axis=0), np.where(spread > 0, spread, 1.0), False)

    @staticmethod
    def from_state(space: Space, state: Mapping[str, Any], what: str) -> NetworkInputs:
        """Return the features of a space whose means and scales were saved under the name `what`."""
        saved, finite = Saved.of(state), isinstance(space, Finite)
        size = dimension_of(space)
        mean = saved.floats(f"{what}_mean", (None,))
        possible = size <= len(mean) <= size + (finite and what == "feedback")
        saved.check(possible, f"{what}_mean", f"{size} numbers, or one more where silence was met")
        scale = saved.floats(f"{what}_scale", mean.shape, low=1 / LARGEST)
        plain = not mean.any() and bool((scale == 1).all())
        saved.check(plain or not finite, f"{what}_mean", "0, and the scale 1, for one-hot values")
        return NetworkInputs(mean, scale, finite)

    @cached_property
    def _one_hot(self) -> FloatArray:
        return np.eye(len(self.mean))

    def knows(self, values: Encoded | IntArray) -> BoolArray:
        """Return whether there is a feature for one value () or each of many (n,): silence may never have been met."""
        given = np.asarray(values)
        return given < len(self.mean) if self.finite else np.ones(given.shape[:-1], dtype=np.bool_)

    def __call__(self, values: Encoded | IntArray) -> FloatArray:
        """Return the inputs of one value (d,) or of many (n, d)."""
        if self.finite:
            return self._one_hot[values]
        if np.isnan(values).any():
            raise ValueError(
                f"networks read vectors of {len(self.mean)} finite numbers, got NaN, which silence is among vectors; "
                "leave silent episodes out, or use finite feedback"
            )
        return np.asarray((values - self.mean) / self.scale)

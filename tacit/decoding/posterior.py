"""The posterior over the last action given context, feedback and last state: section 3.2, inverse kinematics.

Actions were drawn uniformly, so the true posterior (eq. 3) lies in the class of eq. 4,

    h_a(x, y) = f(x,a) φ(x,y) / Σᵢ f(x,i)  +  (1 - f(x,a)) (1 - φ(x,y)) / (K - Σᵢ f(x,i)),

and is fitted for each last-layer state by least squares against the one-hot action (eq. 5, Lemma 3.6):
`frequency` over all functions of finite (x, y), `structured` within the class for finite (x, y), `neural`
within the class with networks for f and φ. `tacit.decoding.inverse_kinematics` chooses among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray
from tacit.base.randomness import check_seed
from tacit.base.validation import check_choice, check_number, check_whole
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded

METHODS = ("neural", "frequency", "structured")


@dataclass(frozen=True)
class PosteriorSettings:
    """How the posterior is fitted; all but `method` and `seed` concern the networks alone.

    The paper gives no sizes or rates (dev. 30): these reach the minimum of eq. 5 on its synthetic problem in about 1 s.
    """

    method: Literal["neural", "frequency", "structured"] = "neural"
    seed: int = 0
    width: int = 16
    restarts: int = 4
    learning_rate: float = 0.01
    max_steps: int = 3000
    patience: int = 300
    """Steps without improvement after which training ends."""
    validation: float = 0.2
    """Share of the tuples that choose restart and training length."""

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        for name, most in (
            ("width", 1 << 16),
            ("restarts", 1 << 16),
            ("max_steps", 10**9),
            ("patience", 10**9),
        ):
            check_whole(name, getattr(self, name), 1, most)
        check_seed(self.seed)
        check_number("learning_rate", self.learning_rate, 0, np.inf)
        check_number("validation", self.validation, 0, 1)


class Posterior(Protocol):
    """A fitted h(x, y, s): what the decoder needs to know of it."""

    @property
    def name(self) -> str:
        """Return the method that fitted it."""

    @property
    def states(self) -> BoolArray:
        """Return which last-layer states were fitted, (S_H,)."""

    def predict(self, context: Encoded, feedback: Encoded, state: int) -> FloatArray:
        """Return the posterior over the actions of a fitted state, (K_s,), on the simplex."""

    def to_state(self) -> dict[str, Any]:
        """Return arrays and JSON scalars that `posterior_from_state` reads."""


def ideal_posterior(f: FloatArray, phi: FloatArray | float) -> FloatArray:
    """Return the member of the class of eq. 4 with rewards f (..., K) and φ (...) in [0, 1], (..., K).

    Where Σ f is 0 or K one of the two terms is 0/0; its limit is the uniform distribution.

    >>> ideal_posterior(np.array([0.9, 0.1]), 1.0)
    array([0.9, 0.1])
    """
    K = f.shape[-1]
    total, rest = f.sum(axis=-1, keepdims=True), (1 - f).sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        rewarded = np.where(total > 0, f / total, 1 / K)  # dev. 16
        unrewarded = np.where(rest > 0, (1 - f) / rest, 1 / K)
    share = np.asarray(phi)[..., None]
    return np.asarray(rewarded * share + unrewarded * (1 - share))  # eq. (4)


def check_fitted(layout: Layout, states: BoolArray, state: int) -> None:
    """Raise ValueError unless the posterior of a last-layer state was fitted."""
    if not (0 <= state < len(states) and states[state]):
        fitted = [layout.endings.name(int(s)) for s in np.flatnonzero(states)]
        raise ValueError(
            f"the posterior was fitted for the last-layer states {fitted} only, got state index {state}; "
            "collect tuples that end in it"
        )

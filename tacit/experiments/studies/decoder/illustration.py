"""Figure 1: the shape of the reward decoder J."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.decoding.decoder import LipschitzDecoder, ramp

ILLUSTRATION = {"n_actions": 3, "theta": 0.6, "M": 1.0, "c": 0.2, "kappa": 0.2}
"""The numbers of Figure 1's caption."""
FIXED = 1 / 3
"""v_3 of Figure 1; v_1 runs from 0 to 1 - v_3."""


class Illustration(NamedTuple):
    """Figure 1: over v_1, the decoder J(v, 1) and the ramp G(v_1)."""

    v: FloatArray
    decoded: FloatArray
    ramp: FloatArray


def illustrate(decoder: LipschitzDecoder, points: int = 601) -> Illustration:
    """Return Figure 1's curves for a decoder of three actions, on an even grid of v_1 with v_3 = 1/3."""
    v = np.linspace(0.0, 1 - FIXED, points)
    posteriors = np.stack([v, 1 - FIXED - v, np.full(points, FIXED)], axis=1)  # (points, 3)
    decoded = decoder.batch(posteriors, np.zeros(points, dtype=np.int64))
    return Illustration(v, decoded, ramp(v, decoder.threshold - decoder.xi, decoder.xi))


def illustrated_decoder(with_formula: bool = False) -> LipschitzDecoder:
    """Return Figure 1's decoder, with its caption's kappa or the one that Lemma 3.4's formula gives.

    >>> illustrated_decoder().kappa, round(illustrated_decoder(with_formula=True).kappa, 4)
    (0.2, 0.1333)
    """
    numbers = ILLUSTRATION
    kappa = None if with_formula else numbers["kappa"]
    return LipschitzDecoder(numbers["theta"], numbers["M"], numbers["c"], int(numbers["n_actions"]), kappa)

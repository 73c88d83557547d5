"""Inverse-gap weighting (Foster and Rakhlin, 2020): how single choices are explored, as in appendix C.3."""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.jit import kernel


@kernel
def inverse_gap_weights(scores: FloatArray, gamma: float) -> FloatArray:
    """Return p(a) = 1 / (K + gamma (max f - f(a))) of scores f (K,), the rest on the best.

    >>> inverse_gap_weights(np.array([0.9, 0.4, 0.8]), gamma=14.0).round(3)
    array([0.673, 0.1  , 0.227])
    """
    K, best = scores.shape[0], np.argmax(scores)
    weights = np.empty(K)
    rest = 1.0
    for a in range(K):
        if a != best:
            weights[a] = 1.0 / (K + gamma * (scores[best] - scores[a]))
            rest -= weights[a]
    weights[best] = rest
    return weights


def gamma_at(episode: int, n_actions: int, scale: float) -> float:
    """Return gamma_t = scale sqrt(K t), t counted from 1; the paper's is scale 1.

    >>> gamma_at(20, 5, scale=1.0)
    10.0
    """
    return float(scale * np.sqrt(n_actions * episode))

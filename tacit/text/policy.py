"""How a text agent chooses: inverse-gap weighting (Foster and Rakhlin, 2020), as in appendix C.3."""

from __future__ import annotations

import numpy as np

from tacit.layout import FloatArray


def inverse_gap_weights(scores: FloatArray, gamma: float) -> FloatArray:
    """Return the probability of each candidate, (K,): 1 / (K + gamma gap) for all but the best, which gets the rest.

    >>> inverse_gap_weights(np.array([0.9, 0.4, 0.9]), gamma=14.0).round(3)
    array([0.567, 0.1  , 0.333])
    """
    best = int(np.argmax(scores))
    weights = 1 / (len(scores) + gamma * (scores[best] - scores))
    weights[best] = 0
    weights[best] = 1 - weights.sum()
    return np.asarray(weights)


def gamma_at(episode: int, n_candidates: int, scale: float) -> float:
    """Return gamma_t = scale sqrt(K t), t counted from 1; the paper's is scale 1.

    >>> gamma_at(20, 5, scale=1.0)
    10.0
    """
    return float(scale * np.sqrt(n_candidates * episode))

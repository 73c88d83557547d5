"""Slow, obvious twins of what is computed of words: expectation maximisation, evidence, expected gains."""

import numpy as np


def climb_slowly(counts, positions, levels, rounds=60, enough=1e-5):
    """Return (gain, f, positions) of expectation maximisation, with whole arrays in place of loops."""
    counts, levels = np.asarray(counts, dtype=float), np.asarray(levels, dtype=float)
    tuples = counts.sum(axis=0)
    q = tuples / tuples.sum()
    rewarded, before = positions @ counts, -np.inf
    for _ in range(rounds):
        f = (rewarded + 0.5) / (tuples + 1.0)
        h_1, h_0 = q * f / (q @ f), q * (1 - f) / (q @ (1 - f))
        meant = (
            levels * (q @ f) / (levels * (q @ f) + (1 - levels) * (q @ (1 - f)))
        )  # Pr[r = 1 | level], (L,)
        mixed = np.outer(meant, h_1) + np.outer(1 - meant, h_0)  # Pr[a | level], (L, K)
        log_likelihood = counts @ np.log(mixed / q).T  # (Y, L)
        weights = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
        gain = (np.log(weights.mean(axis=1)) + log_likelihood.max(axis=1)).sum()
        weights = weights / weights.sum(axis=1, keepdims=True)
        positions = weights @ meant
        rewarded = np.einsum("yl,ya,la->a", weights, counts, meant[:, None] * h_1 / mixed)
        if gain - before < enough:
            break
        before = gain
    return gain, rewarded / tuples, positions


def evidence_slowly(shares, scale=0.25, points=400, widened=0.01, least_left=0.1):
    """Return the log evidence of shares over t_0 and t_1 by the midpoint rule on a fine grid."""
    K = len(shares)
    low, high = min(shares.min() + widened, 1.0), max(shares.max() - widened, 0.0)
    at = np.arange(points) + 0.5
    t_0, above = np.meshgrid(at * low / points, at * (1 - high) / points, indexing="ij")
    span = 1 - above - t_0
    f = np.clip((shares[:, None, None] - t_0) / span, 0, 1)
    top = np.maximum(f.max(axis=0), 0.01)
    left = np.maximum(1 - f / top, least_left)
    density = (4 * left**3 / top).prod(axis=0) / (4 * least_left**3 / top)  # the best has none of its own
    prior = np.exp(-(t_0 + above) / scale) / scale**2
    inside = (span > 0.05) & (f.sum(axis=0) <= K / 2)
    total = (np.where(inside, prior * density / span**K, 0.0)).sum()
    return float(np.log(total * low * (1 - high) / points**2 + 1e-12))


def gain_of_types(counts, rows):
    """Return the gain of counts (2, K) over one profile for all, words being known to be of two types."""
    tuples, total = counts.sum(axis=0), counts.sum()
    expected = np.outer(rows, tuples / total)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(counts > 0, counts * np.log(counts / expected), 0.0).sum())

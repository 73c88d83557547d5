"""A slow, obvious twin of the likelihood where contexts are vectors: one tuple after the other, by its formula."""

from __future__ import annotations

import math

import numpy as np

from tacit.base.arrays import FloatArray


def chance(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def chances(logits: FloatArray) -> list[float]:
    total = sum(math.exp(logit) for logit in logits)
    return [math.exp(logit) / total for logit in logits]


def said_slowly(linear, s, a, w, units, theta, gamma, delta):
    """Return Pr[w | x, s, a] and Pr[r = 1 | x, s, a, w] of one tuple."""
    u = np.array([*linear, *(math.tanh(unit @ linear) for unit in units)])
    f = chance(theta[s, a] @ u)
    zero, one = (
        chances([(gamma[r, v] + delta[r, s, v]) @ u for v in range(gamma.shape[1])])[w] for r in (0, 1)
    )
    likelihood = f * one + (1 - f) * zero
    return likelihood, f * one / likelihood


def shared_slowly(u, s, gamma, delta):
    """Return sum_w g_0(w) g_1(w) at an ending."""
    zero, one = (chances([(gamma[r, v] + delta[r, s, v]) @ u for v in range(gamma.shape[1])]) for r in (0, 1))
    return sum(g_0 * g_1 for g_0, g_1 in zip(zero, one, strict=True))


def cost_slowly(
    linear, endings, actions, words, mask, parameters, ridge, minority_cost, overlap_cost, rho=None
):
    """Return what parameters cost: minus the log likelihood, the minority, words of both sides, and the ridge."""
    units, theta, gamma, delta = parameters
    total = 0.0
    for i, (s, a, w) in enumerate(zip(endings, actions, words, strict=True)):
        likelihood, pleased = said_slowly(linear[i], s, a, w, units, theta, gamma, delta)
        u = np.array([*linear[i], *(math.tanh(unit @ linear[i]) for unit in units)])
        total += overlap_cost * shared_slowly(u, s, gamma, delta)
        if rho is None:
            total -= math.log(likelihood)
        else:
            total -= rho[i] * math.log(likelihood * pleased)
            total -= (1 - rho[i]) * math.log(likelihood * (1 - pleased))
        f = [chance(theta[s, b] @ u) for b in range(len(mask[s])) if mask[s, b]]
        if len(f) > 1:
            total += minority_cost * max(sum(f) / len(f) - 0.5, 0.0) ** 2
    total += 0.5 * ridge.unit * (units**2).sum()
    total += 0.5 * (ridge.constant * (theta[..., 0] ** 2).sum() + ridge.slope * (theta[..., 1:] ** 2).sum())
    return total + 0.5 * (ridge.meaning * (gamma**2).sum() + ridge.difference * (delta**2).sum())

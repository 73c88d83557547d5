"""Slow, obvious twins of the regression oracles and the transition counts: definitions, from scratch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.problem.layout import Layout


def vaw_forecast(
    examples: Sequence[tuple[FloatArray, float]], phi: FloatArray, centre: float, regularization: float
) -> float:
    """Return the Vovk-Azoury-Warmuth forecast at `phi`: the linear system built and solved anew."""
    matrix, moment = regularization * np.eye(len(phi)) + np.outer(phi, phi), np.zeros(len(phi))
    for past, reward in examples:
        matrix += np.outer(past, past)
        moment += (reward - centre) * past
    return float(np.clip(centre + moment @ np.linalg.solve(matrix, phi), 0.0, 1.0))


def aggregated(values: Sequence[float], losses: Sequence[float]) -> float:
    """Return Vovk's substitution for experts that say `values` and have lost `losses` so far, at rate 2."""
    weights = [math.exp(-2.0 * loss) / len(losses) for loss in losses]

    def generalized_loss(outcome: float) -> float:
        terms = (w * math.exp(-2.0 * (v - outcome) ** 2) for w, v in zip(weights, values, strict=True))
        return -0.5 * math.log(math.fsum(terms))

    return 0.5 + 0.5 * (generalized_loss(0.0) - generalized_loss(1.0))


def smoothed_transitions(layout: Layout, paths: Sequence[tuple[Sequence[int], Sequence[int]]]) -> FloatArray:
    """Return the estimate of Algorithm 4, line 5, from a list of all paths (states, actions)."""
    triples, pairs = Counter(), Counter()
    for states, actions in paths:
        for h in range(len(states) - 1):
            triples[h, states[h], actions[h], states[h + 1]] += 1
            pairs[h, states[h], actions[h]] += 1
    size = layout.max_states
    estimate = np.zeros((layout.horizon - 1, size, layout.max_actions, size))
    for h in range(layout.horizon - 1):
        for s in range(len(layout.states[h])):
            for a in range(len(layout.actions[h][s])):
                for z in range(len(layout.states[h + 1])):
                    n_next = len(layout.states[h + 1])
                    estimate[h, s, a, z] = (triples[h, s, a, z] + 1) / (pairs[h, s, a] + n_next)
    return estimate


def sequence_probability(n_outcomes: int, outcomes: Sequence[int]) -> tuple[int, int]:
    """Return (numerator, denominator) of (S-1)! Π n_z! / (S+B-1)!, the lemma of appendix B."""
    numerator = math.factorial(n_outcomes - 1)
    for count in Counter(outcomes).values():
        numerator *= math.factorial(count)
    return numerator, math.factorial(n_outcomes + len(outcomes) - 1)

"""Tuples from logs: the last step of each episode whose last action was random, weighted to uniform.

An action that was drawn with probability p among K counts w = 1/(K p) times, which makes the weighted tuples those of
uniform actions (Lemma 3.3). Given the action, weights change nothing by Assumption 2.1, but where p follows something
that the log does not hold they undo it. Their effective size, in unweighted tuples, is (sum w)^2 / sum w^2.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaincc, xlogy

from tacit.base.arrays import FloatArray
from tacit.logs.survey import ReadEpisode
from tacit.problem.layout import Layout

FLUSH = 50_000
"""Tuples kept as lists before they become arrays."""
MOST_TUPLES = 200_000
"""Tuples kept of logs with vectors: a uniform sample of all, so that memory is bounded."""
UNIFORM_LEVEL = 0.01
"""Of the test that actions without logged probability were uniform."""
NOT_RANDOM, UNKNOWN_PROBABILITY = "last action not random", "probability of the last action unknown"


@dataclass
class Selection:
    """Which episodes can teach what feedback means, and how much each counts.

    `left_out` counts the others by reason. With `assume_uniform`, actions without a probability count as uniform.
    """

    layout: Layout
    assume_uniform: bool = False
    left_out: Counter[str] = field(default_factory=Counter)

    def weight(self, episode: ReadEpisode) -> float | None:
        """Return the weight of an episode, 0 if its last action was not random, None if that is not known."""
        K, p = int(self.layout.n_actions[-1, episode.states[-1]]), episode.probabilities[-1]
        if p is None:
            return 1.0 if self.assume_uniform or K == 1 else None
        if p == 1 and K > 1:
            self.left_out[NOT_RANDOM] += 1
            return 0.0
        return 1 / (K * p)


def uniformity_p_value(layout: Layout, counts: FloatArray) -> float:
    """Return the p-value of last actions being uniform in each state and context, from counts (S_H, X, K).

    The likelihood-ratio test, all states and contexts with at least five tuples an action at once.
    """
    statistic, freedom = 0.0, 0
    for s, x in np.argwhere(counts.sum(axis=-1) > 0):
        K = int(layout.n_actions[-1, s])
        n = counts[s, x, :K]
        if K > 1 and n.sum() >= 5 * K:
            statistic += 2 * float(xlogy(n, n * K / n.sum()).sum())
            freedom += K - 1
    return float(gammaincc(freedom / 2, statistic / 2)) if freedom else 0.0

"""How sure a decoding is: the probability that what was decoded is the latent reward, given the tuples behind it.

For one last state and context group, with counts n(y, a) and flat priors throughout,

    homogeneous:    y ~ g,                                        g ~ Dirichlet(1)
    heterogeneous:  r ~ Bernoulli(f_a),  y ~ g_r,  phi(y) = r,    f_a ~ Uniform(0, 1),  g_0, g_1 ~ Dirichlet(1)

have closed marginal likelihoods. From them follow the probability that the place is heterogeneous (both kinds equally
likely beforehand, every clustering phi alike), and that a feedback value stands in the right cluster (against phi with
that value moved). That the clusters are the right way round is the belief sum f < K/2; what the counts leave open of it
is the posterior probability that sum f exceeds K/2. A wrong belief no confidence can show.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit, gammaln, ndtr

from tacit.base.arrays import FloatArray


class Doubt(NamedTuple):
    """Probabilities of one place: that it is heterogeneous, that each value's cluster is right, and the orientation."""

    heterogeneous: float
    cluster: FloatArray  # (Y,)
    orientation: float

    def rewarded(self, phi: FloatArray) -> FloatArray:
        """Return Pr[r = 1 | y] of a heterogeneous place for each value, (Y,)."""
        same = np.where(phi == 1, self.cluster, 1 - self.cluster)
        return same * self.orientation + (1 - same) * (1 - self.orientation)


def weigh_doubt(counts: FloatArray, phi: FloatArray, oriented: bool = False) -> Doubt:
    """Return how sure phi (Y,) is, from counts (Y, K); `oriented` says that its orientation is known.

    >>> doubt = weigh_doubt(np.array([[27.0, 3.0, 3.0], [3.0, 27.0, 27.0]]), np.array([1.0, 0.0]))
    >>> doubt.heterogeneous > 0.999, doubt.orientation > 0.999
    (True, True)
    """
    seen = counts.sum(axis=1) > 0
    table, clusters = counts[seen], phi[seen]
    cluster = np.full(len(phi), 0.5)  # a value never seen could stand in either
    if clusters.min(initial=1) == clusters.max(initial=0):  # one cluster: nothing to tell apart
        return Doubt(0.0, cluster, 0.5)
    best = log_heterogeneous(table, clusters)
    prior = (
        -math.log(2.0 ** (len(clusters) - 1) - 1)
        if len(clusters) < 60
        else -(len(clusters) - 1) * math.log(2)
    )
    cluster[seen] = [
        expit(best - log_heterogeneous(table, _moved(clusters, y))) for y in range(len(clusters))
    ]
    orientation = 1.0 if oriented else minority_probability(table, clusters)
    return Doubt(float(expit(best + prior - log_homogeneous(table))), cluster, orientation)


def log_homogeneous(counts: FloatArray) -> float:
    """Return the log marginal likelihood of feedback that does not depend on the action."""
    return _log_dirichlet(counts.sum(axis=1))


def log_heterogeneous(counts: FloatArray, phi: FloatArray) -> float:
    """Return the log marginal likelihood of a clustering phi (Y,); minus infinity if a cluster is empty."""
    one, zero = counts[phi == 1], counts[phi == 0]
    if not len(one) or not len(zero):
        return -math.inf
    n1, n0 = one.sum(axis=0), zero.sum(axis=0)  # (K,)
    tossed = gammaln(n1 + 1) + gammaln(n0 + 1) - gammaln(n1 + n0 + 2)
    return float(tossed.sum()) + _log_dirichlet(one.sum(axis=1)) + _log_dirichlet(zero.sum(axis=1))


def minority_probability(counts: FloatArray, phi: FloatArray) -> float:
    """Return Pr[sum f < K/2 | counts, phi], by the normal law with the moments of the Beta posteriors."""
    n1, n0 = counts[phi == 1].sum(axis=0) + 1, counts[phi == 0].sum(axis=0) + 1
    mean, total = n1 / (n1 + n0), n1 + n0
    spread = math.sqrt(float((mean * (1 - mean) / (total + 1)).sum()))
    return float(ndtr((len(mean) / 2 - mean.sum()) / spread))


def _log_dirichlet(totals: FloatArray) -> float:
    """Return the log marginal likelihood of counts of each value under Dirichlet(1)."""
    m = len(totals)
    return float(gammaln(m) + gammaln(totals + 1).sum() - gammaln(totals.sum() + m))


def _moved(phi: FloatArray, y: int) -> FloatArray:
    moved = phi.copy()
    moved[y] = 1 - moved[y]
    return moved

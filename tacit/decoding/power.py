"""What the data could have shown: how good the best action of a place may be although nothing was seen of it.

That feedback did not depend on the action says something only if it would have. Had one action pleased with chance
theta and the others not at all, n_a tuples of each would have gained about

    G(theta) = sum_a n_a KL(t_a || m),   t_a = o + (1 - 2 o) theta [a is the one],   m = sum_a n_a t_a / n

nats over one profile for all words, where o of each side talk like the other; some less for every word in use, whose
type has to be found (`tacit.decoding.word_types`), give or take the square root of 2 G. The largest theta whose gain
could have stayed below what the test asks for is what may be there: 1 after a few tuples, and less with every one more.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import gammainccinv

from tacit.base.arrays import FloatArray
from tacit.base.jit import kernel
from tacit.decoding.word_types import freedom

HALVINGS = 12
"""Of the search for theta: it is found to a four thousandth."""
DEVIATIONS = 1.3
"""Standard deviations by which a gain may fall short of its mean: one place in ten falls shorter."""
WORD_NATS = 0.8
"""What it costs to find the type of a word, by simulation: about log 2."""


def largest_unseen(counts: FloatArray, significance: float, overlap: float) -> float:
    """Return the largest reward that the best action of a place with counts (Y, K) may have, unseen.

    >>> largest_unseen(np.full((2, 3), 3.0), 1e-4, 0.02)
    1.0
    >>> largest_unseen(np.full((2, 3), 60.0), 1e-4, 0.02) < 0.35
    True
    """
    tuples = counts.sum(axis=0)
    largest: float = _largest(
        tuples, gain_wanted(len(tuples), effective_words(counts), significance), overlap
    )
    return largest


def tuples_to_see(theta: float, counts: FloatArray, significance: float, overlap: float) -> float:
    """Return how many tuples of each action would show a best action that pleases with chance theta."""
    K = counts.shape[1]
    each = expected_gain(np.ones(K), max(theta, 0.01), overlap)
    return float(gain_wanted(K, effective_words(counts), significance) / max(each, 1e-12))


def gain_wanted(n_actions: int, words: float, significance: float) -> float:
    """Return the expected gain, in nats, that would hardly ever have stayed below what the test asks for."""
    asked = least_gain(n_actions, significance) + words * WORD_NATS
    half = DEVIATIONS / math.sqrt(2)  # G - DEVIATIONS sqrt(2 G) = asked, solved for sqrt G
    return (half + math.sqrt(half**2 + asked)) ** 2


@lru_cache(maxsize=1024)
def least_gain(n_actions: int, significance: float) -> float:
    """Return the gain from which on feedback counts as dependent on the action."""
    return float(gammainccinv(freedom(n_actions) / 2, significance))


@kernel
def expected_gain(tuples: FloatArray, theta: float, overlap: float) -> float:
    """Return G(theta), of the action with the fewest tuples, for which it is least."""
    one, total = tuples.min(), tuples.sum()
    if one == total:  # one action has them all: nothing could differ from it
        return 0.0
    standing, others = overlap + (1 - 2 * overlap) * theta, overlap
    mean = (one * standing + (total - one) * others) / max(total, 1e-12)
    gain: float = one * _divergence(standing, mean) + (total - one) * _divergence(others, mean)
    return gain


@kernel
def _largest(tuples: FloatArray, wanted: float, overlap: float) -> float:
    """Return the least theta whose expected gain is what is wanted, 1 if there is none."""
    if expected_gain(tuples, 1.0, overlap) < wanted:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if expected_gain(tuples, middle, overlap) < wanted:
            low = middle
        else:
            high = middle
    return high


@kernel
def _divergence(p: float, q: float) -> float:
    """Return KL(p || q) of two coins."""
    one = p * math.log(p / q) if p > 0 else 0.0
    return one + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0)


def effective_words(counts: FloatArray) -> float:
    """Return how many words are in use beyond the first two, each as often as the others: exp of their entropy.

    >>> effective_words(np.array([[5.0, 5.0], [10.0, 0.0], [0.0, 0.0]]))
    0.0
    """
    totals = counts.sum(axis=1)
    shares = totals[totals > 0] / max(totals.sum(), 1e-12)
    return max(math.exp(float(-(shares * np.log(shares)).sum())) - 2.0, 0.0)

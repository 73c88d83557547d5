"""What the data could have shown: how good the best action of a place may be although nothing was seen of it.

That feedback did not depend on the action says something only if it would have. Had one action pleased with chance
theta and the others not at all, and did every word belong to one side, n_a tuples of each would have gained about

    G(theta) = sum_a n_a KL(t_a || m),   t_a = theta [a is the one],   m = sum_a n_a t_a / n

nats over one profile for all words; some less for every word in use, whose type has to be found
(`tacit.decoding.word_types`), give or take the square root of 2 G. Where words overlap, or most people say nothing, it
is a part of that, which those places show in which something was found: `telling` is what they gained against G of a
good action, or, where words are exclusive, against that of their own f: one that pleases few tells no less for that.
The largest theta whose gain could have stayed below what the test asks for is what may be there: 1 after a few tuples,
and less with every one more. Where feedback is faint, what was seen takes the place of what the test asks for, so that
places that nearly were found are looked at first.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammainccinv

from tacit.base.arrays import FloatArray
from tacit.base.jit import kernel
from tacit.decoding.word_types import Readings, freedom

HALVINGS = 12
"""Of the search for theta: it is found to a four thousandth."""
DEVIATIONS = 1.3
"""Standard deviations by which a gain may fall short of its mean: one place in ten falls shorter."""
GOOD = 0.7
"""What the best action of a place in which something was found is taken to earn at least."""
LEAST_TELLING = 1 / 64
"""The least that feedback is taken to tell: nobody would wait for less."""
FAINT_TELLING = 1 / 8
"""Feedback that tells no more than this is faint: what was seen of a place so far counts then, for finding one takes
thousands of tuples. Where it tells more, that leaves places alone too soon (overlap of a fifth: 0.95, not 0.99)."""
NEARLY = 0.01
"""Where feedback tells nothing, one place in a hundred seems to have been nearly found at this p-value."""
WORD_NATS = 0.8
"""What it costs to find the type of a word, by simulation: about log 2."""


class Hidden(NamedTuple):
    """What a place may hide in which nothing was found: the most its best action may be worth, and what it needs.

    `needs` are the nats that words of one side alone would have to show, where feedback is faint.
    """

    hope: float
    needs: float


def what_may_hide(counts: FloatArray, gain: float, significance: float, telling: tuple[float, ...]) -> Hidden:
    """Return what counts (Y, K) may hide that gained too little, if feedback tells one of these parts.

    Where it may be faint, what was gained so far counts: it promises more where it nearly was enough.
    """
    K = counts.shape[1]
    if K < 2:  # one action: no other could be better
        return Hidden(0.0, 0.0)
    seen = max(gain, freedom(K) / 2)  # no less than chance shows
    tuples, words = counts.sum(axis=0), effective_words(counts)
    whole = gain_wanted(K, words, significance)
    hopes = {1.0: _largest(tuples, whole)}
    for part in {telling[0], telling[-1]} - {1.0}:
        wanted = gain_wanted(K, words, significance, seen) if is_faint(part) else whole
        hopes[part] = max(_largest(tuples, wanted / part), hopes[1.0])
    first, last = hopes[telling[0]], hopes[telling[-1]]
    hope = first + promise(gain, K) * (last - first)
    return Hidden(hope, whole / telling[0] if is_faint(telling[0]) else 0.0)


def nearly_found(readings: Readings) -> float:
    """Return what the best action of a place may be worth in which something was nearly found, otherwise 0.

    It is what it seems to be, times how likely feedback depends on the action there.

    >>> from tacit.decoding.word_types import read_both_ways
    >>> nearly, hardly = np.array([[22.0, 9.0], [8.0, 21.0]]), np.array([[15.0, 14.0], [15.0, 16.0]])
    >>> [round(nearly_found(read_both_ways(counts, NEARLY)), 2) for counts in (nearly, hardly)]
    [0.67, 0.0]
    """
    likely = likely_found(readings.types.p_value)
    if not likely:
        return 0.0
    f = readings.choose().f
    return likely * float(f.max() if f.sum() <= len(f) / 2 else 1 - f.min())


def likely_found(p: float) -> float:
    """Return how likely feedback depends on the action of a place where something was nearly found, otherwise 0.

    A p-value p speaks for that by at most 1 to -e p log p (Sellke, Bayarri and Berger 2001).
    """
    if p >= NEARLY:
        return 0.0
    return 1 + math.e * p * math.log(p) if p > 0 else 1.0


def is_faint(telling: float) -> bool:
    """Return whether feedback that tells such a part is faint."""
    return telling <= FAINT_TELLING


def promise(gain: float, n_actions: int) -> float:
    """Return how likely a gain comes of feedback that tells little, and not of none: half, or more.

    >>> [round(promise(gain, 3), 2) for gain in (0.0, 3.0, 8.0)]
    [0.5, 0.87, 1.0]
    """
    return max(0.5, 1 / (1 + math.exp(freedom(n_actions) / 2 - gain)))


def top_of(f: FloatArray) -> float:
    """Return what any action can be worth on the scale of f (K,), which is known up to an affine map.

    The best one is taken to be good, and the worst to please nobody.

    >>> round(top_of(np.array([0.3, 0.51, 0.3])), 2)
    0.6
    """
    low = float(f.min())
    return min(low + (float(f.max()) - low) / GOOD, 1.0)


def largest_unseen(counts: FloatArray, significance: float, telling: float, gain: float = math.inf) -> float:
    """Return the largest reward that the best action of a place with counts (Y, K) may have, unseen.

    It is what could have stayed below what the test asks for; below a `gain`, if that was seen and is less.

    >>> largest_unseen(np.full((2, 3), 3.0), 1e-4, 1.0)
    1.0
    >>> largest_unseen(np.full((2, 3), 60.0), 1e-4, 1.0) < 0.35
    True
    """
    tuples = counts.sum(axis=0)
    if len(tuples) < 2:  # nothing to tell apart
        return 0.0
    wanted = gain_wanted(len(tuples), effective_words(counts), significance, gain)
    largest: float = _largest(tuples, wanted / telling)
    return largest


def telling_of(gain: float, tuples: FloatArray, f: FloatArray) -> float:
    """Return what part a gain is of what words of one side each would have shown of an action that stands out in f.

    The others are taken to please nobody; and the one to be good, as f is understated where words overlap.
    """
    best = int(np.abs(f - f.mean()).argmax())
    theta = max(float(f[best]), 1 - float(f[best]), GOOD)
    return min(max(gain / expected_gain(tuples, theta, best), LEAST_TELLING), 1.0)


def telling_alone(gain: float, tuples: FloatArray, f: FloatArray) -> float:
    """Return what part a gain is of what words of one side each would have shown of f (K,) as it is.

    Where words are exclusive f is not understated: a place that pleases few tells no less for that.

    >>> round(telling_alone(5.0, np.array([50.0, 50.0]), np.array([0.4, 0.0])), 2)
    0.31
    """
    mean = float(f @ tuples / tuples.sum())
    shown = sum(n * _divergence(one, mean) for n, one in zip(tuples, f, strict=True)) if 0 < mean < 1 else 0.0
    return float(min(max(gain / max(shown, 1e-12), LEAST_TELLING), 1.0))


def gain_wanted(n_actions: int, words: float, significance: float, gain: float = math.inf) -> float:
    """Return the expected gain, in nats, that would hardly ever have stayed below what the test asks for, or a gain."""
    asked = min(least_gain(n_actions, significance), gain) + words * WORD_NATS
    half = DEVIATIONS / math.sqrt(2)  # G - DEVIATIONS sqrt(2 G) = asked, solved for sqrt G
    return (half + math.sqrt(half**2 + asked)) ** 2


@lru_cache(maxsize=1024)
def least_gain(n_actions: int, significance: float) -> float:
    """Return the gain from which on feedback counts as dependent on the action."""
    return float(gammainccinv(freedom(n_actions) / 2, significance))


@kernel
def expected_gain(tuples: FloatArray, theta: float, best: int) -> float:
    """Return G(theta) of the action `best`."""
    one, total = tuples[best], tuples.sum()
    if one == total:  # it has them all: there is nothing that it could differ from
        return 0.0
    mean = one * theta / max(total, 1e-12)
    gain: float = one * _divergence(theta, mean) + (total - one) * _divergence(0.0, mean)
    return gain


@kernel
def _largest(tuples: FloatArray, wanted: float) -> float:
    """Return the least theta whose expected gain is what is wanted, of the action with the fewest tuples; at most 1."""
    best = int(np.argmin(tuples))
    if expected_gain(tuples, 1.0, best) < wanted:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if expected_gain(tuples, middle, best) < wanted:
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

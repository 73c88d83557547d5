"""Notices that what is seen in a place is not what it was: a sequential detector with a bound on false alarms.

What is watched is a row of draws (a, y): an action, chosen in whatever way from what came before, and a value (a word,
a type of words, a next state) that follows p_a as long as nothing changes. For a change after n_i draws, n_i = 4 i,

    E_i = prod_a (1 - 1/K + Q_a(draws up to n_i) Q_a(draws after n_i) / (K max_p p(draws of a))),

with Q_a the chance that a Dirichlet mixture gives the values of action a: the likelihood of "a has changed" over the
largest likelihood of "a has not", for each action that may be among the changed ones. An alarm is raised when

    sum_i w_i E_i >= 1 / alpha,        w_i = F / ((F + i - 1) (F + i)),  i = 1, 2, ...,  which add up to 1.

While nothing changes that happens with probability alpha at most, however long the row is and whatever the p_a are:
with the true p_a in place of the largest likelihood each ratio is a martingale that begins at 1, so is each product,
for a draw concerns one factor, and so is the sum; it is never smaller than ours, and Ville's inequality bounds its
largest value.
Leaving out changes i only lowers the sum, so those long past are thinned out: memory and time grow with the logarithm.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.jit import kernel

BETA = 0.25
"""Of the Dirichlet mixture: between a half, best where every value comes up, and less, best where few of many do."""
SPACING = 4
"""Draws from one possible change to the next: what that costs in delay it saves in the prior of each."""
FLAT = 64
"""F: as many terms of a sum that runs forever weigh about the same."""
LIVES = 4
"""A possible change whose number is an odd multiple of 2^v is kept for LIVES 2^v more: about 2 of each v are there."""
SURE = 30.0
"""A log ratio from which the rest of its factor is lost in rounding."""

Counts = NDArray[np.int32]
"""Numbers of draws: a place has fewer than two thousand million."""


class PlaceWatch(NamedTuple):
    """What is kept of the draws of one place, with K actions and m values, and C - 1 possible changes.

    Row 0 stands for no change: nothing came before it.
    """

    times: IntArray
    """(C, 2), after how many draws, and in which episode, each change would have come, ascending; row 0 is 0."""
    counts: Counts
    """(C + 1, K, m), what had been drawn by then; the last is what has been drawn by now."""
    scores: FloatArray
    """(C, K), log Q_a of what came before and of what came after."""


class ChangeEvidence(NamedTuple):
    """Log sum_i w_i E_i, and where its largest term is: the row, the episode, and how many draws came after it."""

    log_e: float
    row: int
    episode: int
    draws: int


def begin_watch(n_actions: int, n_values: int) -> PlaceWatch:
    """Return the watch over a place in which nothing was drawn yet."""
    counts = np.zeros((2, n_actions, n_values), dtype=np.int32)
    return PlaceWatch(np.zeros((1, 2), dtype=np.int64), counts, np.zeros((1, n_actions)))


def observe(watch: PlaceWatch, action: int, value: int, episode: int) -> tuple[PlaceWatch, ChangeEvidence]:
    """Return the watch after one draw more, and what speaks for a change; the watch that is given stays as it is.

    >>> watch = begin_watch(n_actions=1, n_values=2)
    >>> for t in range(200):
    ...     watch, evidence = observe(watch, action=0, value=int(t >= 150), episode=t)
    >>> evidence.log_e > math.log(1000), evidence.episode, watch.counts[-1].tolist()
    (True, 143, [[150, 50]])
    """
    times, counts, scores, log_e, row, change, draws = _observe(*watch, action, value, episode)
    return PlaceWatch(times, counts, scores), ChangeEvidence(log_e, row, change, draws)


def prior_weight(number: int) -> float:
    """Return w_i, the share of the i-th of a sum that runs forever, i = 1, 2, ...

    >>> round(sum(prior_weight(i) for i in range(1, 100_000)), 3)
    0.999
    """
    return FLAT / ((FLAT + number - 1.0) * (FLAT + number))


def log_mixture(counts: Counts) -> FloatArray:
    """Return log Q of counts (..., m), (...): the chance of draws in one order, if p is Dirichlet(beta, ..., beta)."""
    mass = BETA * counts.shape[-1]
    each = (gammaln(counts + BETA) - gammaln(BETA)).sum(axis=-1)
    return np.asarray(each - gammaln(counts.sum(axis=-1) + mass) + gammaln(mass))


@kernel
def _observe(
    times: IntArray, counts: Counts, scores: FloatArray, action: int, value: int, episode: int
) -> tuple[IntArray, Counts, FloatArray, float, int, int, int]:
    """Return what is kept, and the evidence."""
    counts, scores = counts.copy(), scores.copy()
    seen = counts[-1]
    for i in range(len(times)):
        after = 0
        for y in range(seen.shape[1]):
            after += seen[action, y] - counts[i, action, y]
        same = seen[action, value] - counts[i, action, value]
        scores[i, action] += math.log((same + BETA) / (after + BETA * seen.shape[1]))
    seen[action, value] += 1
    draws = int(seen.sum())
    log_e, row = _weigh(seen, times, scores)
    change, since = times[row, 1], draws - times[row, 0]
    if draws % SPACING == 0:
        kept = _kept(times, draws)
        row = int(kept[:row].sum())
        times = np.concatenate((times[kept], np.array([[draws, episode]])))
        counts = np.concatenate((counts[:-1][kept], counts[-1:], counts[-1:]))
        scores = np.concatenate((scores[kept], scores[:1]))
    return times, counts, scores, log_e, row, change, since


@kernel
def _weigh(seen: Counts, times: IntArray, scores: FloatArray) -> tuple[float, int]:
    """Return log sum_i w_i E_i and the row with the largest term; row 0 without any."""
    K = seen.shape[0]
    largest = np.empty(K)
    for a in range(K):
        largest[a] = _log_largest(seen[a])
    terms = np.full(len(times), -np.inf)
    for i in range(1, len(times)):
        number = times[i, 0] // SPACING
        terms[i] = math.log(FLAT / ((FLAT + number - 1.0) * (FLAT + number)))
        for a in range(K):
            ratio = scores[i, a] - largest[a]
            if ratio > SURE:
                terms[i] += ratio - math.log(K)
            else:
                terms[i] += math.log1p((math.exp(ratio) - 1.0) / K)
    best = int(np.argmax(terms))
    if best == 0:
        return -np.inf, 0
    return terms[best] + math.log(np.exp(terms - terms[best]).sum()), best


@kernel
def _log_largest(counts: Counts) -> float:
    """Return max_p log p of draws with these counts."""
    total, logs = 0, 0.0
    for n in counts:
        total += n
        if n > 0:
            logs += n * math.log(n)
    return logs - total * math.log(total) if total > 0 else 0.0


@kernel
def _kept(times: IntArray, draws: int) -> BoolArray:
    """Return which rows stay when there have been so many draws, (C,)."""
    kept = np.ones(len(times), dtype=np.bool_)
    for i in range(1, len(times)):
        number = times[i, 0] // SPACING
        kept[i] = draws // SPACING - number < LIVES * (number & -number)
    return kept

"""The arithmetic of `tacit.text.small.likelihood`, compiled: a fit to few reactions evaluates it ten thousand times.

Arrays are those of a `Design`; `fitting` are the weights of match, W and state, `meaning` those of feedback, profile
and remarks that are heard again.
"""

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.jit import kernel
from tacit.text.small.posterior import LARGEST_RATIO

NEAR, MOST_HALVED = 1e-12, 100
"""How near the share of kind remarks is found, and the steps that may take: bisections, most of them Newton's."""


@kernel
def explain_by_all(
    match: FloatArray,
    mask: BoolArray,
    asked: FloatArray,
    offered: FloatArray,
    state: FloatArray,
    taken: IntArray,
    reading: FloatArray,
    profile: FloatArray,
    profiled: BoolArray,
    known: FloatArray,
    weights: FloatArray,
) -> tuple[float, FloatArray]:
    """Return the log-likelihood of feedback, and its slopes in all weights but those of remarks heard again: 0."""
    meant = reading.shape[1] + profile.shape[1] + known.shape[1]
    fitting, meaning = weights[: len(weights) - meant], weights[len(weights) - meant :]
    fits, good = believe_fits(match, mask, asked, offered, state, fitting)
    t, plain = believe_meaning(reading, profile, profiled, known, meaning)
    f = take_rewards(fits, good, taken)
    value, in_q, in_t = weigh_feedback(f * plain + (1 - f) * (1 - plain), t)
    in_log = f * in_q * (2 * plain - 1)
    in_fitting = slopes_of_rewards(match, asked, offered, state, taken, fits, good, in_log)
    in_meaning = slopes_of_meaning(reading, profile, profiled, f, plain, in_q, in_t)
    return value, np.concatenate((in_fitting, in_meaning, np.zeros(known.shape[1])))


@kernel
def explain_by_fitting(
    match: FloatArray,
    mask: BoolArray,
    asked: FloatArray,
    offered: FloatArray,
    state: FloatArray,
    taken: IntArray,
    t: FloatArray,
    plain: FloatArray,
    fitting: FloatArray,
) -> tuple[float, FloatArray]:
    """Return the same where t and P (n,) are known, and its slopes in `fitting`."""
    fits, good = believe_fits(match, mask, asked, offered, state, fitting)
    f = take_rewards(fits, good, taken)
    value, in_q, _ = weigh_feedback(f * plain + (1 - f) * (1 - plain), t)
    in_log = f * in_q * (2 * plain - 1)
    return value, slopes_of_rewards(match, asked, offered, state, taken, fits, good, in_log)


@kernel
def explain_by_meaning(
    reading: FloatArray,
    profile: FloatArray,
    profiled: BoolArray,
    known: FloatArray,
    f: FloatArray,
    meaning: FloatArray,
) -> tuple[float, FloatArray]:
    """Return the same where f (n,) is known, and its slopes in `meaning`."""
    t, plain = believe_meaning(reading, profile, profiled, known, meaning)
    value, in_q, in_t = weigh_feedback(f * plain + (1 - f) * (1 - plain), t)
    in_meaning = slopes_of_meaning(reading, profile, profiled, f, plain, in_q, in_t)
    return value, np.concatenate((in_meaning, in_t @ known))


@kernel
def believe_fits(
    match: FloatArray,
    mask: BoolArray,
    asked: FloatArray,
    offered: FloatArray,
    state: FloatArray,
    fitting: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return fits (n, K) and g (n,)."""
    F, x, q = match.shape[2], asked.shape[1], offered.shape[2]
    echo, W = fitting[:F], fitting[F : F + x * q].reshape((x, q))
    scores = score_candidates(match, offered, echo, asked @ W)
    return softmax_of(scores, mask), sigmoid(state @ fitting[F + x * q :])


@kernel
def score_candidates(
    match: FloatArray, offered: FloatArray, echo: FloatArray, wanted: FloatArray
) -> FloatArray:
    """Return u of each candidate, (n, K), `wanted` (n, q) being x(s)'W."""
    scores = np.empty(match.shape[:2])
    for i, k in np.ndindex(match.shape[:2]):
        score = 0.0
        for j in range(len(echo)):
            score += match[i, k, j] * echo[j]
        for j in range(wanted.shape[1]):
            score += offered[i, k, j] * wanted[i, j]
        scores[i, k] = score
    return scores


@kernel
def softmax_of(scores: FloatArray, mask: BoolArray) -> FloatArray:
    """Return the softmax over the candidates that there are, (n, K)."""
    fits = np.zeros(scores.shape)
    for i in range(len(scores)):
        highest, total = -np.inf, 0.0
        for k in range(scores.shape[1]):
            if mask[i, k]:
                highest = max(highest, scores[i, k])
        for k in range(scores.shape[1]):
            if mask[i, k]:
                fits[i, k] = np.exp(scores[i, k] - highest)
                total += fits[i, k]
        for k in range(scores.shape[1]):
            fits[i, k] /= total
    return fits


@kernel
def sigmoid(odds: FloatArray) -> FloatArray:
    """Return probabilities of log-odds, however large, (n,)."""
    less = np.exp(-np.abs(odds))
    probable: FloatArray = np.where(odds < 0, less, 1.0) / (1 + less)
    return probable


@kernel
def believe_meaning(
    reading: FloatArray, profile: FloatArray, profiled: BoolArray, known: FloatArray, meaning: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return t and P of each row, (n,) each."""
    E, own = reading.shape[1], reading.shape[1] + profile.shape[1]
    t = np.clip(reading @ meaning[:E] + known @ meaning[own:], -LARGEST_RATIO, LARGEST_RATIO)
    odds = np.clip(profile @ meaning[E:own], -LARGEST_RATIO, LARGEST_RATIO)
    return t, sigmoid(np.where(profiled, odds, LARGEST_RATIO))


@kernel
def take_rewards(fits: FloatArray, good: FloatArray, taken: IntArray) -> FloatArray:
    """Return f of the candidates that were taken, (n,)."""
    f = np.empty(len(taken))
    for i in range(len(taken)):
        f[i] = good[i] * fits[i, taken[i]]
    return f


@kernel
def weigh_feedback(q: FloatArray, t: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return the log-likelihood given q and t, (n,) each, and its slopes in them; that c moves does not count."""
    ratio, share = np.exp(t), share_of_kind(t)
    more = ratio - 1
    own, pooled = 1 + q * more, 1 + share * more
    return (np.log(own) - np.log(pooled)).sum(), more / own, ratio * (q / own - share / pooled)


@kernel
def share_of_kind(t: FloatArray) -> float:
    """Return c, in [0, 1], by which remarks of log-odds t (n,) are likeliest: sum log(1 + c (e^t - 1)) is largest."""
    more = np.exp(t) - 1
    if more.sum() <= 0:
        return 0.0
    if (more / (1 + more)).sum() >= 0:
        return 1.0
    low, high, share = 0.0, 1.0, 0.5
    for _ in range(MOST_HALVED):
        each = more / (1 + share * more)
        slope = each.sum()
        low, high = (share, high) if slope > 0 else (low, share)
        step = slope / (each * each).sum()
        if abs(step) <= NEAR:
            break
        share = share + step if low < share + step < high else (low + high) / 2
    return share


@kernel
def slopes_of_rewards(
    match: FloatArray,
    asked: FloatArray,
    offered: FloatArray,
    state: FloatArray,
    taken: IntArray,
    fits: FloatArray,
    good: FloatArray,
    in_log: FloatArray,
) -> FloatArray:
    """Return slopes in the weights of match, W and state, from those in log f of the candidates taken, (n,)."""
    in_echo, in_wanted = np.zeros(match.shape[2]), np.zeros((len(offered), offered.shape[2]))
    for i, k in np.ndindex(fits.shape):
        in_score = in_log[i] * ((k == taken[i]) - fits[i, k])
        for j in range(len(in_echo)):
            in_echo[j] += in_score * match[i, k, j]
        for j in range(in_wanted.shape[1]):
            in_wanted[i, j] += in_score * offered[i, k, j]
    in_W = asked.T @ in_wanted
    return np.concatenate((in_echo, in_W.ravel(), state.T @ (in_log * (1 - good))))


@kernel
def slopes_of_meaning(
    reading: FloatArray,
    profile: FloatArray,
    profiled: BoolArray,
    f: FloatArray,
    plain: FloatArray,
    in_q: FloatArray,
    in_t: FloatArray,
) -> FloatArray:
    """Return slopes in the weights of feedback and profile, from those in q and t, (n,) each."""
    in_k = in_q * (2 * f - 1) * plain * (1 - plain) * profiled
    return np.concatenate((reading.T @ in_t, profile.T @ in_k))

"""Slow, obvious twins of the kernels of the small model's likelihood: whole arrays in place of loops."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, softmax

from tacit.text.small.posterior import LARGEST_RATIO


def believe_slowly(design, weights):
    """Return fits (n, K), g, t and P (n,)."""
    echo, W, state, feedback, profile, own = design.split(weights)
    wanted = design.asked @ W.reshape(design.asked.shape[1], -1)
    scores = design.match @ echo + np.einsum("nkq,nq->nk", design.offered, wanted)
    fits = softmax(np.where(design.mask, scores, -np.inf), axis=1)
    odds = np.where(design.profiled, clip(design.profile @ profile), LARGEST_RATIO)
    t = clip(design.reading @ feedback + design.known @ own)
    return fits, expit(design.state @ state), t, expit(odds)


def clip(odds):
    return np.clip(odds, -LARGEST_RATIO, LARGEST_RATIO)


def explain_slowly(design, weights):
    """Return the log-likelihood of feedback, and its slopes in all weights."""
    fits, good, t, plain = believe_slowly(design, weights)
    f = good * fits[np.arange(len(design)), design.taken]
    q, more, share = f * plain + (1 - f) * (1 - plain), np.exp(t) - 1, share_slowly(t)
    own, pooled = 1 + q * more, 1 + share * more
    in_q = more / own
    in_t = np.exp(t) * (q / own - share / pooled)
    in_log, in_k = f * in_q * (2 * plain - 1), in_q * (2 * f - 1) * plain * (1 - plain) * design.profiled
    in_fitting = slopes_slowly(design, fits, good, in_log)
    slopes = [in_fitting, design.reading.T @ in_t, design.profile.T @ in_k, design.known.T @ in_t]
    return (np.log(own) - np.log(pooled)).sum(), np.concatenate(slopes)


def share_slowly(t):
    """Return the share of kind remarks in [0, 1] by which remarks of log-odds t (n,) are likeliest."""

    def slope(share):
        return (np.expm1(t) / (1 + share * np.expm1(t))).sum()

    if slope(0.0) <= 0:
        return 0.0
    return 1.0 if slope(1.0) >= 0 else brentq(slope, 0, 1, xtol=1e-15, rtol=1e-14)


def slopes_slowly(design, fits, good, in_log):
    """Return slopes in the weights of match, W and state, from those in log f of the candidates taken, (n,)."""
    in_scores = in_log[:, None] * (np.arange(fits.shape[1]) == design.taken[:, None]) - in_log[:, None] * fits
    in_echo = np.einsum("nk,nkf->f", in_scores, design.match)
    in_W = np.einsum("nk,nx,nkq->xq", in_scores, design.asked, design.offered)
    return np.concatenate([in_echo, in_W.ravel(), design.state.T @ (in_log * (1 - good))])

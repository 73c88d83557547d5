"""Slow, obvious twins of the kernels of the small model's likelihood: whole arrays in place of loops."""

import numpy as np
from scipy.special import expit, softmax

from tacit.text.small.posterior import LARGEST_RATIO


def believe_slowly(design, weights):
    """Return fits (n, K), g, t and P (n,)."""
    echo, W, state, feedback, profile = design.split(weights)
    wanted = design.asked @ W.reshape(design.asked.shape[1], -1)
    scores = design.match @ echo + np.einsum("nkq,nq->nk", design.offered, wanted)
    fits = softmax(np.where(design.mask, scores, -np.inf), axis=1)
    odds = np.where(design.profiled, clip(design.profile @ profile), LARGEST_RATIO)
    return fits, expit(design.state @ state), clip(design.reading @ feedback), expit(odds)


def clip(odds):
    return np.clip(odds, -LARGEST_RATIO, LARGEST_RATIO)


def explain_slowly(design, weights):
    """Return the log-likelihood of feedback, and its slopes in all weights."""
    fits, good, t, plain = believe_slowly(design, weights)
    f = good * fits[np.arange(len(design)), design.taken]
    q, more = f * plain + (1 - f) * (1 - plain), np.exp(t) - 1
    own, pooled = 1 + q * more, 1 + q.mean() * more
    in_q = more / own - (more / pooled).mean()
    in_t = np.exp(t) * (q / own - q.mean() / pooled)
    in_log, in_k = f * in_q * (2 * plain - 1), in_q * (2 * f - 1) * plain * (1 - plain) * design.profiled
    slopes = [slopes_slowly(design, fits, good, in_log), design.reading.T @ in_t, design.profile.T @ in_k]
    return (np.log(own) - np.log(pooled)).sum(), np.concatenate(slopes)


def slopes_slowly(design, fits, good, in_log):
    """Return slopes in the weights of match, W and state, from those in log f of the candidates taken, (n,)."""
    in_scores = in_log[:, None] * (np.arange(fits.shape[1]) == design.taken[:, None]) - in_log[:, None] * fits
    in_echo = np.einsum("nk,nkf->f", in_scores, design.match)
    in_W = np.einsum("nk,nx,nkq->xq", in_scores, design.asked, design.offered)
    return np.concatenate([in_echo, in_W.ravel(), design.state.T @ (in_log * (1 - good))])

"""Slow, obvious twins of decoder and posterior (equations 4 to 6), and tuples of which the truth is known."""

from itertools import product

import numpy as np

from tacit.decoding.tuples import Tuples
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite

SYNTHETIC = Layout.regular([1, 2], n_actions=5, n_contexts=2, n_feedback=2)
RAGGED = Layout(
    states=((0,), ("five", "three", "never")),
    actions=((("go",),), (tuple("abcde"), tuple("abc"), tuple("ab"))),
    contexts=Finite((False, True)),
    feedback=Finite(("left", "smile", "right", "frown", "other")),
)


def ramp(alpha, beta, width):
    if alpha >= beta + width:
        return 1.0
    if alpha >= beta:
        return (alpha - beta) / width
    return 0.0


def decode(v, a, theta, M, c, kappa=None):
    """Eq. 6."""
    K = len(v)
    kappa = (K * theta - M) / (K * (K - M)) if kappa is None else kappa
    xi = 0.5 * (theta / M - 1 / (K - M))
    delta = max(abs(p - 1 / K) for p in v)
    G = ramp(v[a], theta / M - xi, xi)
    if delta <= kappa / 2:
        return c
    if delta < kappa:
        return (2 * c * (kappa - delta) + (2 * delta - kappa) * G) / kappa
    return G


def posterior(f, phi):
    """Eq. 4 for 0 < sum f < K."""
    K, total = len(f), sum(f)
    return np.array([fa * phi / total + (1 - fa) * (1 - phi) / (K - total) for fa in f])


def erm_loss(h, actions):
    """Eq. 5 for the posteriors h (n, K) at n tuples."""
    loss = 0.0
    for v, a in zip(h, actions, strict=True):
        one_hot = np.zeros(len(v))
        one_hot[a] = 1.0
        loss += float(((v - one_hot) ** 2).sum())
    return loss


def best_clustering(counts):
    """The least loss of eq. 5 over all two-way clusterings of the feedback values, f being the mean."""
    m, K = counts.shape
    feedback, actions = (np.repeat(i.ravel(), counts.astype(int).ravel()) for i in np.indices((m, K)))
    losses = {}
    for phi in product((0.0, 1.0), repeat=m):
        reward = np.array(phi)[feedback]
        f = [reward[actions == a].mean() for a in range(K)]
        if 0 < sum(f) < K:
            losses[phi] = erm_loss([posterior(f, r) for r in reward], actions)
    best = min(losses, key=losses.get)
    return losses[best], np.array(best)


def synthetic_tuples(seed, n=5000, homogeneous=0.0):
    """The paper's two last states, n tuples each: good (0.9, 0.1, ...) and bad; context 1 flips y."""
    rng = np.random.default_rng(seed)
    states, contexts = np.repeat([0, 1], n), (rng.random(2 * n) < 0.3).astype(np.int64)
    actions = rng.integers(5, size=2 * n)
    f = np.where(states == 1, homogeneous, np.where(actions == 0, 0.9, 0.1))
    rewards = (rng.random(2 * n) < f).astype(np.int64)
    return Tuples(contexts, states, actions, rewards ^ contexts)


def ragged_tuples(seed, n):
    """States with 5 and 3 actions, 4 of 5 feedback values: two for each reward, swapped by the context."""
    rng = np.random.default_rng(seed)
    states, contexts = np.repeat([0, 1], n), rng.integers(2, size=2 * n)
    actions = rng.integers(np.where(states == 0, 5, 3))
    rewards = rng.random(2 * n) < ragged_rewards(states, contexts)[np.arange(2 * n), actions]
    return Tuples(contexts, states, actions, 2 * rng.integers(2, size=2 * n) + (rewards ^ contexts))


def ragged_rewards(states, contexts):
    """The best action is the context in state 0 and action 2 in state 1."""
    best = np.where(np.asarray(states) == 0, contexts, 2)
    return np.where(np.arange(5) == best[:, None], 0.8, 0.15)

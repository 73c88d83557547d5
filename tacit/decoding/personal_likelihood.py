"""How likely what people said is, where what pleases and what words mean depend on the context, a vector.

Given the context x, the ending s and whether the person is pleased, a word does not depend on the action
(Assumption 2.1), whatever rule drew it:

    Pr[w | x, s, a] = f(x, s, a) g_1(w | x, s) + (1 - f(x, s, a)) g_0(w | x, s),
    f = sigmoid(theta_{s,a} u(x)),      g_r = softmax_w((Gamma_{r,w} + Delta_{r,s,w}) u(x)),

with u(x) = (1, z, tanh(A (1, z))) of the standardised context z (`tacit.decoding.context_bases`). Gamma is what words
mean everywhere, Delta how that differs at an ending; the units A serve both sides. Within a context (f, g_1, g_0) and
(1 - f, g_0, g_1) are equally likely. The belief that rewarding actions are the minority tells them apart: it costs
where mean_a f(x_i, s_i, a) > 1/2. Nor does likelihood tell f = 1/2 of which half the pleased say one word from f = 1 of
whom half say another where no other action is taken: it costs a little where both sides say the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit, log_softmax

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.descent import minimise
from tacit.base.jit import kernel

MINORITY_COST = 100.0
"""Nats a tuple, times the square of how far mean f is above a half; with a tenth of it regions stayed upside down."""
OVERLAP_COST = 0.05
"""Nats a tuple, times sum_w g_0(w) g_1(w): where tuples leave open how many words both sides say, few. It decides where
other actions are hardly taken, and shifts little where they are."""
LEAST_GAIN = 1e-6
"""The share of the cost that a step must gain."""
LEAST = 1e-12
"""Chances of words and of pleasing are no smaller, so that logarithms are finite."""


class Ridge(NamedTuple):
    """Half of these times their squares is what parameters cost: of f its constant and slopes, Gamma, Delta, units.

    `lean` is what Gamma and Delta cost besides along features, z, but for the last `sides` of these.
    """

    constant: float = 0.05
    slope: float = 1.0
    meaning: float = 0.3
    difference: float = 1.0
    unit: float = 2.0
    lean: float = 0.0
    sides: int = 0


class Heard(NamedTuple):
    """Tuples in the order of their endings, which `bounds` (S + 1,) part.

    `linear` (n, 1 + P) are the contexts as (1, z), `actions` (n,) and `words` (n,) indices.
    """

    linear: FloatArray
    actions: IntArray
    words: IntArray
    bounds: IntArray


class Parameters(NamedTuple):
    """Of the likelihood: `units` (M, 1 + P), `theta` (S, K, D), `gamma` (2, W, D) and `delta` (2, S, W, D).

    D = 1 + P + M; delta is zero where there is one ending.
    """

    units: FloatArray
    theta: FloatArray
    gamma: FloatArray
    delta: FloatArray

    def flat(self) -> FloatArray:
        """Return them one after the other; delta only where there are several endings."""
        return np.concatenate([part.ravel() for part in (self if len(self.theta) > 1 else self[:3])])

    def like(self, flat: FloatArray) -> Parameters:
        """Return parameters of these shapes from a flat vector."""
        units, theta, gamma, delta = self
        i, j = units.size, units.size + theta.size
        k = j + gamma.size
        rest = flat[k:] if len(theta) > 1 else np.zeros(delta.size)
        return Parameters(
            flat[:i].reshape(units.shape),
            flat[i:j].reshape(theta.shape),
            flat[j:k].reshape(gamma.shape),
            rest.reshape(delta.shape),
        )

    def joined(self, s: int) -> FloatArray:
        """Return what is multiplied by u(x) at an ending: theta, and the two meanings of words, (K + 2 W, D)."""
        return np.concatenate([self.theta[s], *(self.gamma + self.delta[:, s])])

    def all_joined(self) -> FloatArray:
        """Return that of all endings, (S, K + 2 W, D)."""
        S, K, D = self.theta.shape
        weights = np.empty((S, K + 2 * self.gamma.shape[1], D))
        weights[:, :K] = self.theta
        words = weights[:, K:].reshape(S, *self.gamma.shape)  # a view
        np.add(self.gamma, self.delta.swapaxes(0, 1), out=words)
        return weights

    def slopes(self, units: FloatArray, joined: FloatArray) -> Parameters:
        """Return the gradient, by that for `units` and for what is joined, (S, K + 2 W, D)."""
        S, K, _ = self.theta.shape
        words = joined[:, K:].reshape(S, *self.gamma.shape)
        return Parameters(units, joined[:, :K], words.sum(axis=0), words.swapaxes(0, 1))


class Fitted(NamedTuple):
    """Where a climb came to, and what that costs: minus the log likelihood, and what is believed beforehand."""

    parameters: Parameters
    cost: float


def no_parameters(mask: BoolArray, words: int, linear: int, units: FloatArray) -> Parameters:
    """Return parameters that are all zero, but for the units (M, 1 + P)."""
    D, S = linear + len(units), len(mask)
    return Parameters(units, np.zeros((*mask.shape, D)), np.zeros((2, words, D)), np.zeros((2, S, words, D)))


def hear(
    linear: FloatArray, endings: IntArray, actions: IntArray, words: IntArray, n_endings: int
) -> tuple[Heard, IntArray]:
    """Return tuples in the order of their endings, and that order, (n,)."""
    order = np.argsort(endings, kind="stable")
    bounds = np.searchsorted(endings[order], np.arange(n_endings + 1))
    heard = Heard(np.ascontiguousarray(linear[order]), actions[order], words[order], np.asarray(bounds))
    return heard, np.asarray(order)


def with_units(linear: FloatArray, units: FloatArray) -> FloatArray:
    """Return u(x) = (1, z, tanh(A (1, z))) of contexts (n, 1 + P) or of one (1 + P,)."""
    if not len(units):
        return linear
    return np.concatenate([linear, np.tanh(linear @ units.T)], axis=-1)


def climb_likelihood(
    heard: Heard, mask: BoolArray, start: Parameters, ridge: Ridge, steps: int, rho: FloatArray | None = None
) -> Fitted:
    """Return what `steps` of L-BFGS from `start` lead to; with `rho` (n,), who was pleased is taken as known so far."""
    costs, n = TupleCosts(heard, mask, start, ridge, rho), max(len(heard.words), 1)

    def cost(flat: FloatArray) -> tuple[float, FloatArray]:
        value, slopes = costs(flat)
        slopes /= n
        return value / n, slopes

    found = minimise(cost, start.flat(), steps, LEAST_GAIN)
    return Fitted(start.like(found.at), found.cost * n)


def penalised_cost(
    heard: Heard, mask: BoolArray, at: Parameters, ridge: Ridge, rho: FloatArray | None = None
) -> tuple[float, Parameters]:
    """Return what parameters cost and its gradient."""
    value, slopes = TupleCosts(heard, mask, at, ridge, rho)(at.flat())
    return value, at.like(slopes)


class TupleCosts:
    """What parameters cost by some tuples, and by themselves; what does not depend on them is made once.

    With rho_i = Pr[r_i = 1 | x_i, s_i, a_i, w_i] the gradient of the log likelihood is rho_i - f_i for the logit of
    f and rho_i (1[w = w_i] - g_1), (1 - rho_i) (1[w = w_i] - g_0) for those of words.
    """

    def __init__(
        self, heard: Heard, mask: BoolArray, like: Parameters, ridge: Ridge, rho: FloatArray | None
    ) -> None:
        (S, K), W, n = mask.shape, like.gamma.shape[1], len(heard.words)
        self._heard, self._mask, self._like, self._known = heard, mask, like, rho
        self._rows = [slice(*heard.bounds[s : s + 2]) for s in range(S)]
        self._u = heard.linear
        if len(like.units):
            self._u = np.concatenate([heard.linear, np.empty((n, len(like.units)))], axis=1)
        self._logits, self._back = np.empty((2, n, K + 2 * W))
        self._kinds, self._above = np.empty((5, n)), np.empty(n)
        self._strengths = _spread_ridge(like, ridge).flat()

    def __call__(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Return what parameters (N,) cost and its gradient."""
        at, u, z = self._like.like(flat), self._u, self._heard.linear
        weights, L = at.all_joined(), z.shape[1]
        if len(at.units):
            np.tanh(z @ at.units.T, out=u[:, L:])
        for rows, own in zip(self._rows, weights, strict=True):
            np.matmul(u[rows], own.T, out=self._logits[rows])
        total = self._cost_of_logits()
        slope = np.stack([self._back[rows].T @ u[rows] for rows in self._rows])  # (S, K + 2 W, D)
        units = np.zeros_like(at.units)
        if len(at.units):
            for rows, own in zip(self._rows, weights, strict=True):
                units += ((self._back[rows] @ own[:, L:]) * (1 - u[rows, L:] ** 2)).T @ z[rows]
        pulled = self._strengths * flat
        return total + 0.5 * float(pulled @ flat), at.slopes(units, slope).flat() + pulled

    def _cost_of_logits(self) -> float:
        """Return the cost of tuples with these logits of f, g_0 and g_1, whose gradient is written to `back`."""
        logits, back, kinds, above = self._logits, self._back, self._kinds, self._above
        known = np.zeros(0) if self._known is None else self._known
        lower(logits, self._mask.shape[1], back)
        np.exp(back, out=back)
        _, actions, words, bounds = self._heard
        turn_all(logits, back, actions, words, bounds, self._mask, known, kinds, above)
        f, one, zero, rho, shared = kinds
        cost = MINORITY_COST * float(above @ above) + OVERLAP_COST * float(shared.sum())
        if self._known is None:
            return cost - float(np.log(f * one + (1 - f) * zero).sum())
        return cost - float((rho * np.log(f * one) + (1 - rho) * np.log((1 - f) * zero)).sum())


def slope_ridge(ridge: Ridge, terms: int) -> FloatArray:
    """Return the ridge of each of the terms of f, (D,)."""
    weights = np.full(terms, ridge.slope)
    weights[0] = ridge.constant
    return weights


def _spread_ridge(like: Parameters, ridge: Ridge) -> Parameters:
    """Return the ridge of each parameter."""
    of_f = slope_ridge(ridge, like.theta.shape[2])
    strengths: tuple[float | FloatArray, ...] = (ridge.unit, of_f, ridge.meaning, ridge.difference)
    spread = Parameters(*(np.zeros(part.shape) + own for part, own in zip(like, strengths, strict=True)))
    for words in (spread.gamma, spread.delta):
        words[..., 1 : like.units.shape[1] - ridge.sides] += ridge.lean
    return spread


@kernel
def lower(logits: FloatArray, K: int, shifted: FloatArray) -> None:
    """Write what is exponentiated: minus the absolute logits of f, and how far words are below the likeliest."""
    W = (logits.shape[1] - K) // 2
    for i in range(len(logits)):
        for a in range(K):
            shifted[i, a] = -abs(logits[i, a])
        for begin in (K, K + W):
            top = logits[i, begin]
            for w in range(begin + 1, begin + W):
                top = max(top, logits[i, w])
            for w in range(begin, begin + W):
                shifted[i, w] = logits[i, w] - top


@kernel
def turn_to_gradient(
    logits: FloatArray,
    back: FloatArray,
    actions: IntArray,
    words: IntArray,
    allowed: BoolArray,
    known: FloatArray,
    kinds: FloatArray,
    above: FloatArray,
) -> None:
    """Turn exponentials (n, K + 2 W) into the gradient.

    Write f, g_1(w_i), g_0(w_i), rho and sum_w g_0(w) g_1(w) into `kinds`, and mean f above 1/2 into `above`.
    """
    K, count = len(allowed), max(allowed.sum(), 1)
    W, chances = (logits.shape[1] - K) // 2, np.zeros(K)
    for i in range(len(words)):
        mean, taken, said = 0.0, actions[i], words[i]
        for a in range(K):
            chances[a] = (1.0 if logits[i, a] > 0 else back[i, a]) / (1 + back[i, a])
            mean += chances[a] / count if allowed[a] else 0.0
            back[i, a] = 0.0
        for begin in (K, K + W):
            mass = 0.0
            for w in range(begin, begin + W):
                mass += back[i, w]
            for w in range(begin, begin + W):
                back[i, w] /= mass
        f = min(max(chances[taken], LEAST), 1 - LEAST)
        zero, one = max(back[i, K + said], LEAST), max(back[i, K + W + said], LEAST)
        rho = known[i] if len(known) else f * one / (f * one + (1 - f) * zero)
        shared = 0.0
        for w in range(W):
            shared += back[i, K + w] * back[i, K + W + w]
        for w in range(W):
            g_0, g_1 = back[i, K + w], back[i, K + W + w]
            back[i, K + w] = g_0 * (1 - rho + OVERLAP_COST * (g_1 - shared))
            back[i, K + W + w] = g_1 * (rho + OVERLAP_COST * (g_0 - shared))
        back[i, K + said] -= 1 - rho
        back[i, K + W + said] -= rho
        back[i, taken] = f - rho
        above[i] = max(mean - 0.5, 0.0) if count > 1 else 0.0
        if above[i] > 0:
            for a in range(K):
                slope = chances[a] * (1 - chances[a]) if allowed[a] else 0.0
                back[i, a] += 2 * MINORITY_COST / count * above[i] * slope
        kinds[0, i], kinds[1, i], kinds[2, i], kinds[3, i], kinds[4, i] = f, one, zero, rho, shared


@kernel
def turn_all(
    logits: FloatArray,
    back: FloatArray,
    actions: IntArray,
    words: IntArray,
    bounds: IntArray,
    mask: BoolArray,
    known: FloatArray,
    kinds: FloatArray,
    above: FloatArray,
) -> None:
    """Turn exponentials of all endings into the gradient; see `turn_to_gradient`."""
    for s in range(len(mask)):
        i, j = bounds[s], bounds[s + 1]
        turn_to_gradient(
            logits[i:j],
            back[i:j],
            actions[i:j],
            words[i:j],
            mask[s],
            known[i:j],
            kinds[:, i:j],
            above[i:j],
        )


class Told(NamedTuple):
    """Of each tuple, all (n,): its log likelihood, rho = Pr[r = 1 | x, s, a, w], and f(x, s, a)."""

    logs: FloatArray
    rho: FloatArray
    f: FloatArray


def tell(heard: Heard, at: Parameters) -> Told:
    """Return what parameters say of each tuple."""
    told, W = Told(*np.zeros((3, len(heard.words)))), at.gamma.shape[1]
    for s in range(len(at.theta)):
        rows = slice(*heard.bounds[s : s + 2])
        u, words = with_units(heard.linear[rows], at.units), heard.words[rows]
        logits, here = u @ at.joined(s).T, np.arange(len(u))
        eta = logits[here, heard.actions[rows]]
        one = log_expit(eta) + log_softmax(logits[:, -W:], axis=1)[here, words]
        zero = log_expit(-eta) + log_softmax(logits[:, -2 * W : -W], axis=1)[here, words]
        told.logs[rows], told.rho[rows], told.f[rows] = np.logaddexp(one, zero), expit(one - zero), expit(eta)
    return told


def mean_rewards(heard: Heard, mask: BoolArray, at: Parameters) -> FloatArray:
    """Return the mean of f over the actions that there are in the context and ending of each tuple, (n,)."""
    means = np.zeros(len(heard.words))
    for s, allowed in enumerate(mask):
        rows = slice(*heard.bounds[s : s + 2])
        logits = with_units(heard.linear[rows], at.units) @ at.theta[s][allowed].T
        means[rows] = expit(logits).mean(axis=1)
    return means

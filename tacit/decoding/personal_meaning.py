"""What pleases and what words mean for people who are known by a vector: the fitted model, and how sure it is.

The likelihood is that of `tacit.decoding.personal_likelihood`; `tacit.decoding.personal_fit` fits it. How sure f is,
Laplace says: for each ending and action the precision of theta is the ridge plus sum_i (rho_i - f_i)^2 u_i u_i^T over
its tuples, which counts words that tell little for little. How much an action pleases is read so that the two sides
share as few words as they may (`tacit.decoding.fewest_shared`): tuples alone do not tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax, softmax

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.decoding.context_bases import Basis
from tacit.decoding.fewest_shared import find_stretches, stretch_pleased
from tacit.decoding.personal_likelihood import Heard, Parameters, Ridge, slope_ridge, tell, with_units

TELLING_NATS = 1.0
"""Nats that held-out tuples of one ending gain from which on words tell actions apart there. Where nothing is told they
gain none (-0.2 to 0.1 on pictures of digits); where a little was, of 20 features, 1.8 and 2.9 passed for nothing."""


@dataclass(frozen=True, eq=False)
class PersonalMeaning:
    """What pleases and what words mean by context; `mask` (S, K) says which actions an ending has.

    `covariances` (S, K, D, D) are those of theta, `form` names its terms (`tacit.decoding.personal_forms`).
    `gains` (S,) are by how many nats tuples that the fit had not seen are likelier than if words did not depend on the
    action, and `z` how many standard errors all of them are. `chosen_at` is the number of tuples at which the form was
    last chosen, `looked` (S,) those of uniform actions at which it was from the beginning, and `steady` whether what
    was known then hardly lost by it. `doubt` is how far words leave open whether somebody is pleased, the mean of
    4 rho (1 - rho) where they tell at all.
    """

    dimension: int
    basis: Basis
    parameters: Parameters
    covariances: FloatArray
    mask: BoolArray
    ridge: Ridge
    form: str
    gains: FloatArray
    z: float
    chosen_at: int
    looked: IntArray
    steady: bool
    doubt: float

    @property
    def kind(self) -> str:
        """Return on what it all depends: "constant", "linear", a "pair", "regions", or "units" of a network."""
        return "units" if len(self.parameters.units) else self.basis.kind

    @property
    def gain(self) -> float:
        """Return the gain of all endings."""
        return float(self.gains.sum())

    @property
    def telling(self) -> BoolArray:
        """Return the endings in which words tell actions apart, (S,)."""
        return find_telling(self.gains)

    @property
    def n_words(self) -> int:
        """Return how many words there are."""
        return int(self.parameters.gamma.shape[1])

    def terms(self, contexts: FloatArray) -> FloatArray:
        """Return u(x) of contexts (n, d), (n, D), or of one (d,), (D,)."""
        return with_units(self.basis(contexts), self.parameters.units)

    def logits(self, context: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the logits of f (S, K) in a context (d,) and their standard errors; -inf and 0 where no action is."""
        u, (S, K) = self.terms(context), self.mask.shape
        variances = (self.covariances.reshape(-1, len(u)) @ u).reshape(S, K, -1) @ u
        mean = np.where(self.mask, self.parameters.theta @ u, -np.inf)
        return mean, np.sqrt(np.maximum(variances, 0.0)) * self.mask

    def stretches(self, context: FloatArray) -> FloatArray:
        """Return by what f is divided in each ending of a context (d,), (S, 1)."""
        g = word_chances(self.parameters, self.terms(context)[None])
        return find_stretches(g[0, 0], g[1, 0])[:, None]

    def rewards(self, context: FloatArray) -> FloatArray:
        """Return f (S, K) in a context (d,); 0 where there is no action."""
        f = expit(self.parameters.theta @ self.terms(context)) * self.mask
        return np.asarray(f / self.stretches(context))

    def rewards_many(self, contexts: FloatArray) -> FloatArray:
        """Return f (n, S, K) in contexts (n, d)."""
        return rewards_by(self.basis, self.parameters, contexts) * self.mask

    def meanings(self, context: FloatArray, ending: int) -> FloatArray:
        """Return g_0 and g_1 (2, W): what is said by those who are not pleased, and by those who are."""
        weights = self.parameters.gamma + self.parameters.delta[:, ending]
        other, pleased = softmax(weights @ self.terms(context), axis=1)
        stretch = float(find_stretches(other[None], pleased[None])[0])
        return np.stack([other, stretch_pleased(other, pleased, stretch)])

    def like_rewards(self, contexts: FloatArray, endings: IntArray, words: IntArray) -> BoolArray:
        """Return whether those who are pleased say each word more often than the others, (n,)."""
        u, like = self.terms(contexts), np.zeros(len(words), dtype=np.bool_)
        for s in np.unique(endings):
            here = np.flatnonzero(endings == s)
            weights = self.parameters.gamma + self.parameters.delta[:, s]  # (2, W, D)
            other, pleased = (log_softmax(u[here] @ part.T, axis=1) for part in weights)
            said = np.arange(len(here)), words[here]
            like[here] = pleased[said] > other[said]
        return like

    def told(self, context: FloatArray, ending: int, action: int, word: int) -> float:
        """Return Pr[r = 1 | x, s, a, w]: whether a person who said this was pleased."""
        g = self.meanings(context, ending)[:, word]
        f = float(self.rewards(context)[ending, action])
        pleased, other = f * g[1], (1 - f) * g[0]
        return float(pleased / (pleased + other)) if pleased + other > 0 else f

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values from which `from_state` rebuilds it bit for bit."""
        plain = (
            "dimension",
            "covariances",
            "mask",
            "form",
            "gains",
            "z",
            "chosen_at",
            "looked",
            "steady",
            "doubt",
        )
        return {
            **{name: getattr(self, name) for name in plain},
            "basis": self.basis.to_state(),
            "parameters": self.parameters._asdict(),
            "ridge": self.ridge._asdict(),
        }

    @staticmethod
    def from_state(state: Mapping[str, Any]) -> PersonalMeaning:
        """Return the model that `to_state` described."""
        saved = Saved.of(state)
        dimension, mask = saved.whole("dimension"), saved.flags("mask", (None, None))
        basis = Basis.from_state(saved.part("basis"), dimension)
        parameters = _restore_parameters(saved.part("parameters"), mask, basis.n_terms)
        D = parameters.theta.shape[2]
        return PersonalMeaning(
            *(dimension, basis, parameters, saved.floats("covariances", (*mask.shape, D, D)), mask),
            _restore_ridge(saved.part("ridge")),
            saved.text("form"),
            saved.floats("gains", (len(mask),)),
            saved.number("z"),
            saved.whole("chosen_at"),
            saved.wholes("looked", (len(mask),)),
            saved.flag("steady"),
            saved.number("doubt", 0, 1),
        )


def find_telling(gains: FloatArray) -> BoolArray:
    """Return the endings (S,) whose held-out tuples gain enough by words that depend on the action; all if none."""
    telling = gains >= TELLING_NATS
    return telling if telling.any() else np.ones(len(gains), dtype=np.bool_)


def rewards_by(basis: Basis, parameters: Parameters, contexts: FloatArray) -> FloatArray:
    """Return f (n, S, K) in contexts (n, d)."""
    S, K, D = parameters.theta.shape
    u = with_units(basis(contexts), parameters.units)
    f = expit(u @ parameters.theta.reshape(S * K, D).T).reshape(-1, S, K)
    g = word_chances(parameters, u).reshape(2, len(u) * S, -1)
    return np.asarray(f / find_stretches(g[0], g[1]).reshape(-1, S, 1))


def word_chances(parameters: Parameters, u: FloatArray) -> FloatArray:
    """Return g_0 and g_1 of each ending, (2, n, S, W), in contexts whose terms are u (n, D)."""
    weights = parameters.gamma[:, None] + parameters.delta  # (2, S, W, D)
    return np.asarray(softmax(np.einsum("rswd,nd->rnsw", weights, u), axis=3))


def _restore_ridge(saved: Saved) -> Ridge:
    constant, slope, meaning, difference, unit, lean = (saved.number(name, 0) for name in Ridge._fields[:-1])
    return Ridge(constant, slope, meaning, difference, unit, lean, saved.whole("sides"))


def _restore_parameters(saved: Saved, mask: BoolArray, linear: int) -> Parameters:
    units = saved.floats("units", (None, linear))
    D = linear + len(units)
    gamma = saved.floats("gamma", (2, None, D))
    theta = saved.floats("theta", (*mask.shape, D))
    return Parameters(units, theta, gamma, saved.floats("delta", (2, len(mask), gamma.shape[1], D)))


def estimate_doubt(heard: Heard, at: Parameters, telling: BoolArray) -> float:
    """Return the mean of 4 rho (1 - rho) over the tuples of telling endings (S,): 0 if words leave nothing open."""
    endings = np.repeat(np.arange(len(telling)), np.diff(heard.bounds))
    rho = tell(heard, at).rho[telling[endings]]
    return float((4 * rho * (1 - rho)).mean()) if len(rho) else 1.0


def estimate_covariances(heard: Heard, at: Parameters, ridge: Ridge) -> FloatArray:
    """Return Laplace's covariances of theta, (S, K, D, D)."""
    S, K, D = at.theta.shape
    told, precision = tell(heard, at), np.zeros((S, K, D, D)) + np.diag(slope_ridge(ridge, D))
    for s in range(S):
        rows = np.arange(*heard.bounds[s : s + 2])
        for a in range(K):
            own = rows[heard.actions[rows] == a]
            u = with_units(heard.linear[own], at.units) * (told.rho[own] - told.f[own])[:, None]
            precision[s, a] += u.T @ u
    return np.asarray(np.linalg.inv(precision))

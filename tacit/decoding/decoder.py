"""The Lipschitz reward decoder J(v, a): from a posterior over actions to a reward (section 3.3).

With Δ(v) = ‖v - 1/K‖∞ and the ramp G (eq. 6, Lemmas 3.4, 3.7):

    J(v, a) = c                                                       if Δ(v) ≤ κ/2     (homogeneous)
            = (2c (κ - Δ(v)) + (2Δ(v) - κ) G(v_a, θ/M - ξ, ξ)) / κ    if κ/2 < Δ(v) < κ
            = G(v_a, θ/M - ξ, ξ)                                      otherwise         (heterogeneous)

    κ = (Kθ - M) / (K(K - M)),    ξ = (θ/M - 1/(K - M)) / 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NoReturn

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.validation import LEAST, SIMPLEX_TOLERANCE, check_number, is_numeric
from tacit.decoding.posterior import Posterior
from tacit.decoding.tuples import Tuples, counted_shape, is_finite
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded

MOST_TABULATED = 100_000
"""Triples (s, x, y) up to which a finite decoder is tabulated: at most some 10 s at construction."""


def ramp(alpha: FloatArray | float, beta: float, width: float) -> FloatArray:
    """Return G(alpha, beta, width): 0 below beta, (alpha - beta)/width up to beta + width, then 1.

    >>> ramp(np.array([0.1, 0.25, 0.3, 0.9]), beta=0.2, width=0.1).round(12)
    array([0. , 0.5, 1. , 1. ])
    """
    return np.asarray(np.clip((np.asarray(alpha) - beta) / width, 0.0, 1.0))


@dataclass(frozen=True, init=False)
class LipschitzDecoder:
    """J(v, a) of eq. 6 for a state with K actions, under Assumption 2.3 with constants θ, M and c.

    κ follows from the constants (Lemma 3.4) unless it is given (dev. 2): Figure 1 gives a larger one, under
    which Lemma 3.7 no longer holds.

    >>> decoder = LipschitzDecoder(theta=0.9, M=1.3, c=0.0, n_actions=5)
    >>> decoder([0.7, 0.1, 0.1, 0.05, 0.05], 0), decoder([0.03, 0.25, 0.24, 0.24, 0.24], 1)
    (1.0, 0.0)
    """

    theta: float
    M: float
    c: float
    n_actions: int
    kappa: float

    def __init__(self, theta: float, M: float, c: float, n_actions: int, kappa: float | None = None) -> None:
        check_constants(theta, M, c, n_actions, kappa)
        formula = (n_actions * theta - M) / (n_actions * (n_actions - M))  # Lemma 3.4
        values = (theta, M, c, n_actions, formula if kappa is None else kappa)
        for name, value in zip(("theta", "M", "c", "n_actions", "kappa"), values, strict=True):
            object.__setattr__(self, name, value)

    @cached_property
    def threshold(self) -> float:
        """Return θ/M, the posterior from which an action counts as rewarded."""
        return self.theta / self.M

    @cached_property
    def sigma(self) -> float:
        """Return θ(K - M)/M, how clearly heterogeneous states differ from homogeneous ones."""
        return self.theta * (self.n_actions - self.M) / self.M

    @cached_property
    def xi(self) -> float:
        """Return ξ = (θ/M - 1/(K - M))/2, the width of the ramp."""
        return (self.threshold - 1 / (self.n_actions - self.M)) / 2

    @cached_property
    def lipschitz(self) -> float:
        """Return L = 4/κ + 1/ξ, the Lipschitz constant of J in the maximum norm (Lemma 3.7)."""
        return 4 / self.kappa + 1 / self.xi

    def __call__(self, posterior: FloatArray | list[float], action: int) -> float:
        """Return J(v, a) of one posterior (K,) and one action."""
        return float(self.batch(np.asarray(posterior)[None], np.array([action]))[0])

    def batch(self, posteriors: FloatArray, actions: IntArray) -> FloatArray:
        """Return J(v, a) of posteriors (n, K) and actions (n,), as (n,).

        >>> LipschitzDecoder(0.9, 1.3, 0.5, n_actions=5).batch(np.full((2, 5), 0.2), np.array([0, 4]))
        array([0.5, 0.5])
        """
        check_posteriors(posteriors, self.n_actions)
        check_actions(actions, len(posteriors), self.n_actions)
        distance = np.abs(posteriors - 1 / self.n_actions).max(axis=1)  # Δ(v)
        reward = ramp(posteriors[np.arange(len(actions)), actions], self.threshold - self.xi, self.xi)
        weight = ramp(distance, self.kappa / 2, self.kappa / 2)  # (2Δ - κ)/κ between κ/2 and κ
        return np.asarray((1 - weight) * self.c + weight * reward)  # eq. (6)


@dataclass(frozen=True)
class ConstantDecoder:
    """The decoder of a state with a single action: it is homogeneous by definition, and its reward is c."""

    c: float

    def __post_init__(self) -> None:
        check_c(self.c)

    def batch(self, posteriors: FloatArray, actions: IntArray) -> FloatArray:
        """Return c for each action."""
        return np.full(len(actions), self.c)


Decoder = LipschitzDecoder | ConstantDecoder


@dataclass(frozen=True)
class DecoderSettings:
    """The constants of Assumption 2.3; κ follows from them unless it is given.

    θ and M may be left out where they are estimated (`tacit.decoding.judgement`); c, what a homogeneous state is worth,
    nothing in the data can tell.
    """

    theta: float | None = None
    M: float | None = None
    c: float = 0.0
    kappa: float | None = None

    def __post_init__(self) -> None:
        if self.theta is not None:
            check_theta(self.theta)
        if self.M is not None:
            check_number("M", self.M, 0, np.inf)
        if self.theta is not None and self.M is not None:
            check_order(self.theta, self.M)
        check_c(self.c)
        check_kappa(self.kappa)

    def build(self, n_actions: int) -> LipschitzDecoder:
        """Return the decoder for a state with that many actions; refuse where a constant is missing or wrong."""
        if self.theta is None or self.M is None:
            raise ValueError(
                f"the paper's recipe must be told theta and M, got theta = {self.theta} and M = {self.M}; give both, "
                "or leave them to be estimated with recipe='fast'"
            )
        return LipschitzDecoder(self.theta, self.M, self.c, n_actions, self.kappa)


@dataclass(frozen=True, eq=False)
class RewardDecoder:
    """The decoded reward J(h(x, y, s), a) that policy learning uses; no posterior, no decoder (None).

    For finite contexts and feedback J is tabulated once, (S_H, X, Y + 1, K), silence last; NaN where there is none.
    """

    layout: Layout
    posterior: Posterior
    decoders: tuple[Decoder | None, ...]
    table: FloatArray | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", self._tabulate())

    @cached_property
    def decodable(self) -> BoolArray:
        """Return which last-layer states have a decoder, (S_H,)."""
        return np.array([decoder is not None for decoder in self.decoders])

    def decode(self, context: Encoded, feedback: Encoded, state: int, action: int) -> float:
        """Return J(h(x, y, s), a); all four as the layout encodes them."""
        if self.table is None:
            rewards = self._rewards(context, feedback, state)
            return float(rewards[action]) if action < len(rewards) else self._refuse(state, action)
        reward = float(self.table[state, context, feedback, action])
        return reward if reward == reward else self._refuse(state, action)  # NaN is not equal to itself

    def is_constant(self, tuples: Tuples) -> bool:
        """Return whether the tuples all decode to c whatever the action: then there is nothing to learn."""
        seen = zip(tuples.contexts, tuples.feedback, tuples.states, strict=True)
        triples = list(seen) if self.table is None else sorted({tuple(map(int, each)) for each in seen})
        for context, feedback, state in triples:
            decoder = self.decoders[state]
            if decoder is not None and np.any(self._rewards(context, feedback, int(state)) != decoder.c):
                return False
        return True

    def _rewards(self, context: Encoded, feedback: Encoded, state: int) -> FloatArray:
        """Return J(h(x, y, s), ·) of all actions, (K_s,); nothing if the state has no decoder."""
        decoder = self.decoders[state]
        if decoder is None:
            return np.empty(0)
        posterior = self.posterior.predict(context, feedback, state)
        K = len(posterior)
        return decoder.batch(np.broadcast_to(posterior, (K, K)), np.arange(K))

    def _tabulate(self) -> FloatArray | None:
        if not is_finite(self.layout):
            return None
        shape = counted_shape(self.layout)[:3]
        if np.prod(shape) > MOST_TABULATED:
            return None
        table = np.full((*shape, self.layout.max_actions), np.nan)
        for s, x, y in np.ndindex(*shape):
            rewards = self._rewards(x, y, s)
            table[s, x, y, : len(rewards)] = rewards
        return table

    def _refuse(self, state: int, action: int) -> NoReturn:
        names = [self.layout.endings.name(int(s)) for s in np.flatnonzero(self.decodable)]
        raise ValueError(
            f"rewards are decoded for the actions of the last-layer states {names}, got state index {state} "
            f"and action index {action}; collect tuples of the state before learning from it"
        )


def build_decoder(layout: Layout, posterior: Posterior, settings: DecoderSettings) -> RewardDecoder:
    """Return the reward decoder of every last-layer state that has a posterior, each with its own K.

    >>> from tacit.decoding.inverse_kinematics import fit_posterior
    >>> from tacit.decoding.posterior import PosteriorSettings
    >>> from tacit.decoding.tuples import Tuples
    >>> layout = Layout.regular([1], n_actions=3, n_contexts=1, n_feedback=2)
    >>> tuples = Tuples(*np.array([[0] * 3, [0] * 3, [0, 1, 2], [1, 0, 0]]))
    >>> posterior = fit_posterior(layout, tuples, PosteriorSettings("structured"))
    >>> build_decoder(layout, posterior, DecoderSettings(theta=0.9, M=1.0)).decode(0, 1, 0, 0)
    1.0
    """
    return RewardDecoder(
        layout,
        posterior,
        tuple(
            _state_decoder(layout, s, settings) if fitted else None
            for s, fitted in enumerate(posterior.states)
        ),
    )


def _state_decoder(layout: Layout, state: int, settings: DecoderSettings) -> Decoder:
    K = int(layout.endings.n_actions[state])
    if K == 1:
        return ConstantDecoder(settings.c)  # dev. 17
    try:
        return settings.build(K)
    except ValueError as error:
        raise ValueError(f"state {layout.endings.name(state)!r}: {error}") from None


def check_settings(layout: Layout, settings: DecoderSettings) -> None:
    """Raise ValueError, naming the state, unless Assumption 2.3 can hold in every last-layer state."""
    for state in range(layout.endings.size):
        _state_decoder(layout, state, settings)


def check_constants(theta: float, M: float, c: float, n_actions: int, kappa: float | None) -> None:
    """Raise ValueError unless the constants satisfy Assumption 2.3 for a state with `n_actions` actions."""
    if n_actions < 2:
        raise ValueError(f"a decoder needs at least 2 actions to tell apart, got n_actions = {n_actions}")
    check_theta(theta)
    if not 0 < M < n_actions / 2:
        raise ValueError(
            f"M must be in (0, K/2) = (0, {n_actions / 2}), got {M}; rewarding actions must be the minority, "
            "so lower M if the sum of the rewards allows, or offer more actions"
        )
    check_order(theta, M)
    if not theta * (n_actions - M) / M > 1:
        raise ValueError(
            f"sigma = theta (K - M) / M must exceed 1, got {theta * (n_actions - M) / M:.4g} from theta = "
            f"{theta}, M = {M}, K = {n_actions}; raise theta or lower M if the rewards allow it"
        )
    check_c(c)
    check_kappa(kappa)


def check_theta(theta: float) -> None:
    """Raise ValueError unless theta is a reward above 0 (dev. 26)."""
    if not (is_numeric(theta) and 0 < theta <= 1):
        raise ValueError(f"theta must be in (0, 1], got {theta!r}; it is the least reward of the best action")


def check_order(theta: float, M: float) -> None:
    """Raise ValueError unless the sum of rewards is at least the largest of them."""
    if theta > M:
        raise ValueError(
            f"M must be at least theta, as the sum of rewards bounds the largest, got M = {M} and "
            f"theta = {theta}; raise M or lower theta"
        )


def check_c(c: float) -> None:
    """Raise ValueError unless c is a reward."""
    if not (is_numeric(c) and 0 <= c <= 1):
        raise ValueError(f"c must be in [0, 1], got {c!r}; it is the expected reward of homogeneous states")


def check_kappa(kappa: float | None) -> None:
    """Raise ValueError unless kappa is left out or a positive number, which can be divided by."""
    if kappa is not None and not (is_numeric(kappa) and LEAST <= kappa < np.inf):
        raise ValueError(f"kappa must be positive and finite, got {kappa!r}; leave it out to use Lemma 3.4's")


def check_posteriors(posteriors: FloatArray, n_actions: int) -> None:
    """Raise ValueError unless every row is a distribution over the actions."""
    if posteriors.ndim != 2 or posteriors.shape[1] != n_actions:
        raise ValueError(
            f"a posterior must have {n_actions} entries, got shape {posteriors.shape[1:]}; "
            "use the decoder of the state that the posterior belongs to"
        )
    wrong = np.abs(posteriors.sum(axis=1) - 1) + np.maximum(-posteriors, 0).sum(axis=1)
    if not np.all(wrong <= SIMPLEX_TOLERANCE):
        worst = posteriors[np.argmax(np.nan_to_num(wrong, nan=np.inf))]
        raise ValueError(f"a posterior must be non-negative and sum to 1, got {worst}; normalise it first")


def check_actions(actions: IntArray, n: int, n_actions: int) -> None:
    """Raise ValueError unless there is one action index for every posterior."""
    if (
        actions.shape != (n,)
        or actions.dtype.kind not in "iu"
        or not np.all((actions >= 0) & (actions < n_actions))
    ):
        raise ValueError(
            f"actions must be one index from 0 to {n_actions - 1} for each posterior, got {actions}; "
            "encode them with the layout"
        )

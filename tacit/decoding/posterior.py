"""The posterior over the last action given context, feedback and last state: section 3.2, inverse kinematics.

Actions were drawn uniformly, so the true posterior (eq. 3) lies in the class of eq. 4,

    h_a(x, y) = f(x,a) φ(x,y) / Σᵢ f(x,i)  +  (1 - f(x,a)) (1 - φ(x,y)) / (K - Σᵢ f(x,i)),

and is fitted for each last-layer state by least squares against the one-hot action (eq. 5, Lemma 3.6):
`frequency` over all functions of finite (x, y), `structured` within the class for finite (x, y), `neural`
within the class with networks for f and φ (`tacit.decoding.networks`).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.randomness import check_seed
from tacit.base.validation import check_number, check_whole
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded, Finite, Space

METHODS = ("neural", "frequency", "structured")
MOST_EXHAUSTIVE = 10
"""Feedback values up to which every two-way clustering is tried: 2^9 of them, well under a millisecond."""


@dataclass(frozen=True)
class Tuples:
    """Context, last state, uniform action and feedback of n episodes (Algorithm 3).

    States are indices in the last layer. Contexts and feedback are (n,) indices or (n, d) vectors.

    >>> tuples = Tuples(np.array([0, 1]), np.array([0, 0]), np.array([2, 0]), np.array([1, 1]))
    >>> len(tuples), len(tuples.of_state(1))
    (2, 0)
    """

    contexts: IntArray | FloatArray
    states: IntArray
    actions: IntArray
    feedback: IntArray | FloatArray

    def __post_init__(self) -> None:
        lengths = [len(a) for a in (self.contexts, self.states, self.actions, self.feedback)]
        if len(set(lengths)) > 1 or self.states.ndim != 1 or self.actions.ndim != 1:
            raise ValueError(
                "tuples need one context, state, action and feedback for each episode, "
                f"got arrays of lengths {lengths}; drop the episodes that are incomplete"
            )

    def __len__(self) -> int:
        return len(self.states)

    def of_state(self, state: int) -> Tuples:
        """Return the tuples of one last-layer state: D_s."""
        here = self.states == state
        return Tuples(self.contexts[here], self.states[here], self.actions[here], self.feedback[here])


@dataclass(frozen=True)
class PosteriorSettings:
    """How the posterior is fitted; all but `method` and `seed` concern the networks alone.

    The paper gives no sizes or rates (dev. 30): these reach the minimum of eq. 5 on its synthetic problem in about 1 s.
    """

    method: Literal["neural", "frequency", "structured"] = "neural"
    seed: int = 0
    width: int = 16
    restarts: int = 4
    learning_rate: float = 0.01
    max_steps: int = 3000
    patience: int = 300
    """Steps without improvement after which training ends."""
    validation: float = 0.2
    """Share of the tuples that choose restart and training length."""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {METHODS}, got {self.method!r}")
        for name in ("width", "restarts", "max_steps", "patience"):
            check_whole(name, getattr(self, name), 1)
        check_seed(self.seed)
        check_number("learning_rate", self.learning_rate, 0, np.inf)
        check_number("validation", self.validation, 0, 1)


class Posterior(Protocol):
    """A fitted h(x, y, s): what the decoder needs to know of it."""

    @property
    def name(self) -> str:
        """Return the method that fitted it."""

    @property
    def states(self) -> BoolArray:
        """Return which last-layer states were fitted, (S_H,)."""

    def predict(self, context: Encoded, feedback: Encoded, state: int) -> FloatArray:
        """Return the posterior over the actions of a fitted state, (K_s,), on the simplex."""

    def to_state(self) -> dict[str, Any]:
        """Return arrays and JSON scalars that `posterior_from_state` reads."""


def fit_posterior(layout: Layout, tuples: Tuples, settings: PosteriorSettings) -> Posterior:
    """Return the posterior that minimises eq. 5 on each state's tuples; states without tuples are not fitted.

    >>> layout = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    >>> tuples = Tuples(*np.array([[0] * 4, [0] * 4, [0, 1, 0, 1], [1, 0, 1, 1]]))
    >>> fit_posterior(layout, tuples, PosteriorSettings("frequency")).predict(0, 1, 0).round(2)
    array([0.67, 0.33])
    >>> fit_posterior(layout, tuples, PosteriorSettings("structured")).predict(0, 1, 0).round(2)
    array([0.67, 0.33])
    """
    check_tuples(layout, tuples)
    check_method(layout, settings)
    if settings.method == "neural":
        from tacit.decoding.networks import fit_neural  # here, because that module builds on this one

        return fit_neural(layout, tuples, settings)
    return fit_frequency(layout, tuples) if settings.method == "frequency" else fit_structured(layout, tuples)


def posterior_from_state(layout: Layout, state: Mapping[str, Any]) -> Posterior:
    """Return the posterior that `to_state` described, the same to the last bit."""
    if state["name"] == "neural":
        from tacit.decoding.networks import NeuralPosterior

        return NeuralPosterior.from_state(layout, state)
    return TablePosterior.from_state(layout, state)


def ideal_posterior(f: FloatArray, phi: FloatArray | float) -> FloatArray:
    """Return the member of the class of eq. 4 with rewards f (..., K) and φ (...) in [0, 1], (..., K).

    Where Σ f is 0 or K one of the two terms is 0/0; its limit is the uniform distribution.

    >>> ideal_posterior(np.array([0.9, 0.1]), 1.0)
    array([0.9, 0.1])
    """
    K = f.shape[-1]
    total, rest = f.sum(axis=-1, keepdims=True), (1 - f).sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        rewarded = np.where(total > 0, f / total, 1 / K)  # dev. 16
        unrewarded = np.where(rest > 0, (1 - f) / rest, 1 / K)
    share = np.asarray(phi)[..., None]
    return np.asarray(rewarded * share + unrewarded * (1 - share))  # eq. (4)


@dataclass(frozen=True, eq=False)
class TablePosterior:
    """The posterior of finite contexts and feedback as a table (S_H, X, Y, K), zero in the padding.

    The structured fit also leaves f (S_H, X, K) and φ (S_H, X, Y) behind, with Σ f ≤ K/2.
    """

    name: str
    layout: Layout
    states: BoolArray
    table: FloatArray
    f: FloatArray | None = None
    phi: FloatArray | None = None

    def predict(self, context: Encoded, feedback: Encoded, state: int) -> FloatArray:
        """Return h(x, y, s), (K_s,)."""
        check_fitted(self.layout, self.states, state)
        return self.table[state, context, feedback, : self.layout.n_actions[-1, state]].copy()

    def to_state(self) -> dict[str, Any]:
        """Return the arrays that `from_state` reads."""
        state = {"name": self.name, "states": self.states, "table": self.table}
        return state if self.f is None else state | {"f": self.f, "phi": self.phi}

    @staticmethod
    def from_state(layout: Layout, state: Mapping[str, Any]) -> TablePosterior:
        """Return the posterior that `to_state` described."""
        return TablePosterior(
            state["name"], layout, state["states"], state["table"], state.get("f"), state.get("phi")
        )


def fit_frequency(layout: Layout, tuples: Tuples) -> TablePosterior:
    """Return the action frequencies of each (s, x, y): eq. 5 over all functions; uniform where never seen."""
    counts = count_tuples(layout, tuples)
    table = np.broadcast_to(_uniform(layout)[:, None, None, :], counts.shape).copy()
    seen = counts.sum(axis=-1) > 0
    table[seen] = counts[seen] / counts[seen].sum(axis=-1, keepdims=True)
    return TablePosterior("frequency", layout, fitted_states(layout, tuples), table)


def fit_structured(layout: Layout, tuples: Tuples) -> TablePosterior:
    """Return the fit of eq. 5 within the class of eq. 4, each (s, x) on its own.

    φ is a two-way clustering of the feedback values and f_a the share of φ = 1 among the tuples of action a:
    given φ its maximum likelihood (dev. 20), which uses that the actions were uniform. Feedback never seen at (s, x)
    gets φ = 0 and the uniform posterior.
    """
    counts = count_tuples(layout, tuples)
    table = np.broadcast_to(_uniform(layout)[:, None, None, :], counts.shape).copy()
    f, phi = np.zeros((*counts.shape[:2], counts.shape[3])), np.zeros(counts.shape[:3])
    for s, x in np.argwhere(counts.sum(axis=(2, 3)) > 0):
        seen, K = counts[s, x].sum(axis=1) > 0, layout.n_actions[-1, s]
        f[s, x, :K], phi[s, x, seen] = fit_rewards(counts[s, x, seen, :K])
        table[s, x, seen, :K] = ideal_posterior(f[s, x, :K], phi[s, x, seen])
    return TablePosterior("structured", layout, fitted_states(layout, tuples), table, f, phi)


def fit_rewards(counts: FloatArray, most_exhaustive: int = MOST_EXHAUSTIVE) -> tuple[FloatArray, FloatArray]:
    """Return f (K,) and φ (m,) of one (s, x) from the counts (m, K) of its m seen feedback values.

    >>> fit_rewards(np.array([[9.0, 1.0, 1.0], [1.0, 9.0, 9.0]]))
    (array([0.9, 0.1, 0.1]), array([1., 0.]))
    """
    m, K = counts.shape
    candidates = _all_clusterings(m) if m <= most_exhaustive else _cuts(counts)
    phi = candidates[np.argmin(clustering_losses(counts, candidates))]
    if m > most_exhaustive:
        phi = _reassign(counts, phi)
    if _mean_rewards(counts, phi).sum() > K / 2:  # f → 1 - f, φ → 1 - φ leaves eq. 4 as it is
        phi = 1 - phi
    return _mean_rewards(counts, phi), phi


def clustering_losses(counts: FloatArray, phi: FloatArray) -> FloatArray:
    """Return the loss of eq. 5 of each clustering φ (..., m) of the feedback values, (...)."""
    f = _mean_rewards(counts, phi)
    rewarded = phi @ counts  # (..., K): tuples of each action with φ = 1
    return _loss(rewarded, ideal_posterior(f, 1.0)) + _loss(counts.sum(0) - rewarded, ideal_posterior(f, 0.0))


def _loss(counts: FloatArray, h: FloatArray) -> FloatArray:
    """Return Σ_a counts_a ‖h - e_a‖² = n ‖h‖² - 2 ⟨counts, h⟩ + n, over the last axis."""
    n = counts.sum(axis=-1)
    return np.asarray(n * (h * h).sum(axis=-1) - 2 * (counts * h).sum(axis=-1) + n)


def _mean_rewards(counts: FloatArray, phi: FloatArray) -> FloatArray:
    """Return f (..., K) given φ; an action that was never drawn gets the mean over all tuples."""
    total, rewarded = counts.sum(axis=0), phi @ counts
    pooled = rewarded.sum(axis=-1, keepdims=True) / total.sum()
    return np.asarray(np.where(total > 0, rewarded / np.maximum(total, 1), pooled))


def _all_clusterings(m: int) -> FloatArray:
    """Return every two-way clustering of m values once: the first value is always in cluster 0."""
    bits = np.arange(2 ** (m - 1))[:, None] >> np.arange(m - 1) & 1
    return np.pad(bits, ((0, 0), (1, 0))).astype(np.float64)


def _cuts(counts: FloatArray) -> FloatArray:
    """Return the m clusterings that cut the values in order along the first principal axis of their profiles.

    Under eq. 4 all profiles (rows of h) lie on one line, so the best clustering is a cut of that line.
    """
    n = counts.sum(axis=1, keepdims=True)
    centred = counts / n - counts.sum(axis=0) / n.sum()
    axis = np.linalg.svd(np.sqrt(n) * centred, full_matrices=False)[2][0]
    rank = np.argsort(np.argsort(centred @ axis, kind="stable"), kind="stable")
    return (rank[None, :] < np.arange(len(n))[:, None]).astype(np.float64)


def _reassign(counts: FloatArray, phi: FloatArray) -> FloatArray:
    """Return φ after moving each value to its nearer cluster for as long as that lowers the loss."""
    while True:
        f = _mean_rewards(counts, phi)
        gain = _loss(counts, ideal_posterior(f, 0.0)) - _loss(counts, ideal_posterior(f, 1.0))
        moved = (gain > 0).astype(np.float64)
        if clustering_losses(counts, moved) >= clustering_losses(counts, phi):
            return phi
        phi = moved


def count_tuples(layout: Layout, tuples: Tuples) -> FloatArray:
    """Return how many tuples each (s, x, y, a) has, (S_H, X, Y, K)."""
    check_finite(layout, "counting")
    assert isinstance(layout.contexts, Finite)
    assert isinstance(layout.feedback, Finite)
    shape = int(layout.n_states[-1]), layout.contexts.size, layout.feedback.size, layout.max_actions
    contexts, feedback = tuples.contexts.astype(np.int64), tuples.feedback.astype(np.int64)
    counts = np.zeros(shape)
    np.add.at(counts, (tuples.states, contexts, feedback, tuples.actions), 1)
    return counts


def balanced_weights(layout: Layout, tuples: Tuples) -> FloatArray:
    """Return a weight for each tuple, (n,), that gives every action of a state the same total (dev. 7).

    Actions were uniform, but a sample holds some a little more often than others; the weights n / (K n_a),
    taken within each context where contexts are finite, remove that part of the noise. An action that a group
    lacks leaves the others as they are.

    >>> layout = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    >>> balanced_weights(layout, Tuples(*np.array([[0] * 4, [0] * 4, [0, 0, 0, 1], [0] * 4]))).round(3)
    array([0.667, 0.667, 0.667, 2.   ])
    """
    groups = tuples.states[:, None]
    if isinstance(layout.contexts, Finite):
        groups = np.column_stack((tuples.states, tuples.contexts))
    _, owner = np.unique(groups, axis=0, return_inverse=True)
    counts = np.zeros((owner.max() + 1, layout.max_actions))
    np.add.at(counts, (owner, tuples.actions), 1)
    share = counts.sum(axis=1) / (counts > 0).sum(axis=1)  # n / K of each group
    return np.asarray(share[owner] / counts[owner, tuples.actions])


def fitted_states(layout: Layout, tuples: Tuples) -> BoolArray:
    """Return which last-layer states have tuples, (S_H,)."""
    return np.bincount(tuples.states, minlength=int(layout.n_states[-1])) > 0


def _uniform(layout: Layout) -> FloatArray:
    return layout.uniform_policy[-1, : layout.n_states[-1]]  # (S_H, K)


def check_fitted(layout: Layout, states: BoolArray, state: int) -> None:
    """Raise ValueError unless the posterior of a last-layer state was fitted."""
    if not (0 <= state < len(states) and states[state]):
        fitted = [layout.name(layout.horizon - 1, int(s)) for s in np.flatnonzero(states)]
        raise ValueError(
            f"the posterior was fitted for the last-layer states {fitted} only, got state index {state}; "
            "collect tuples that end in it"
        )


def check_method(layout: Layout, settings: PosteriorSettings) -> None:
    """Raise unless the method can be fitted on this layout and on this machine."""
    if settings.method != "neural":
        check_finite(layout, settings.method)
    elif importlib.util.find_spec("torch") is None:
        raise ImportError(
            "the neural posterior needs torch to train, and it is not installed; install tacit[neural], or "
            "use method 'structured' if contexts and feedback are finite"
        )


def check_finite(layout: Layout, method: str) -> None:
    """Raise ValueError unless contexts and feedback are finite."""
    for what, space in (("contexts", layout.contexts), ("feedback", layout.feedback)):
        if not isinstance(space, Finite):
            raise ValueError(
                f"{method} needs finite {what}, got vectors of {space.dimension}; use method 'neural'"
            )


def check_tuples(layout: Layout, tuples: Tuples) -> None:
    """Raise ValueError unless there are tuples and all of them fit the layout."""
    if not len(tuples):
        raise ValueError("a posterior needs at least one tuple, got none; collect tuples first")
    _check_range("state", tuples.states, int(layout.n_states[-1]))
    _check_range("action", tuples.actions, layout.n_actions[-1, tuples.states])
    _check_space("contexts", tuples.contexts, layout.contexts)
    _check_space("feedback", tuples.feedback, layout.feedback)


def _check_range(what: str, values: IntArray | FloatArray, size: int | IntArray) -> None:
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
        raise ValueError(
            f"{what} must be a line of integer indices, got shape {values.shape} of {values.dtype}"
        )
    wrong = np.flatnonzero((values < 0) | (values >= size))
    if len(wrong):
        most = int(np.broadcast_to(size, values.shape)[wrong[0]]) - 1
        raise ValueError(
            f"{what} of tuple {wrong[0]} must be an index from 0 to {most}, got {values[wrong[0]]}; "
            "encode the tuples with the layout"
        )


def _check_space(what: str, values: IntArray | FloatArray, space: Space) -> None:
    if isinstance(space, Finite):
        _check_range(what, values, space.size)
    elif values.shape[1:] != (space.dimension,) or not np.all(np.isfinite(values)):
        raise ValueError(
            f"{what} must be rows of {space.dimension} finite numbers, got shape {values.shape} with "
            f"{np.count_nonzero(~np.isfinite(values))} entries that are NaN or infinite; remove those tuples"
        )

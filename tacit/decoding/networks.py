"""The neural posterior: two-layer networks for f and φ of eq. 4, trained on eq. 5 (appendix C.1).

    f_s(x, ·) = sigmoid(W₂ tanh(W₁ x + b₁) + b₂),    φ_s(x, y) = sigmoid(V₂ tanh(V₁ [x, y] + d₁) + d₂).

Every last-layer state, and several restarts of each, train in one batched pass over (state, restart, row,
feature). Tuples with the same (x, y) are one row with a count for each action, so finite problems train in
a time that does not depend on the number of tuples. Torch is needed to train, not to use what was trained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.decoding.network_inputs import NetworkInputs
from tacit.decoding.posterior import PosteriorSettings, check_fitted, ideal_posterior
from tacit.decoding.tuples import (
    Tuples,
    balanced_weights,
    check_tuples,
    counted_shape,
    fitted_states,
    is_finite,
)
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded

if TYPE_CHECKING:
    import torch

CHECK_EVERY = 20
"""Steps between two looks at the losses: a look copies weights, which costs about as much as a step."""
LEAST_IMPROVEMENT = 1e-6
"""Gain in loss that counts as improvement: a change of h by 0.001."""
PLENTIFUL = 20
"""Tuples for each distinct (x, y) from which eq. 5 is minimised to the end, as it can no longer overfit (dev. 6)."""
FLOOR = 1e-12
"""Least Σ f and K - Σ f in training, where saturated sigmoids would make eq. 4 0/0."""


class Weights(NamedTuple):
    """Weights with the bias as last row; a leading axis for states, in training one more for restarts."""

    f_hidden: FloatArray  # (S_H, d_x + 1, width)
    f_output: FloatArray  # (S_H, width + 1, K)
    phi_hidden: FloatArray  # (S_H, d_x + d_y + 1, width)
    phi_output: FloatArray  # (S_H, width + 1, 1)


class Rows(NamedTuple):
    """Distinct (x, y) of each fitted state and the weight of their tuples by action; padded with zeros."""

    contexts: FloatArray  # (S, n, d_x)
    feedback: FloatArray  # (S, n, d_y)
    train: FloatArray  # (S, n, K)
    valid: FloatArray  # (S, n, K)
    mask: FloatArray  # (S, K): 1 where the state has the action


class Run(NamedTuple):
    """The best weights that a training run saw, and its history."""

    weights: Weights  # (S, R, ...)
    loss: FloatArray  # (S, R): watched loss of the best weights
    step: IntArray  # (S, R): when they were reached
    curves: FloatArray  # (checks, 2, S, R): fitted and watched loss


@dataclass(frozen=True, eq=False)
class NeuralPosterior:
    """The posterior given by networks for f and φ; `curves` (S_H, checks, 2): training, validation loss.

    Finite pairs (x, y) that a state never saw, where the networks are arbitrary, get the uniform posterior; so does
    silence that nobody met.
    """

    layout: Layout
    states: BoolArray
    contexts: NetworkInputs
    feedback: NetworkInputs
    weights: Weights
    seen: BoolArray | None
    curves: FloatArray

    name = "neural"

    def predict(self, context: Encoded, feedback: Encoded, state: int) -> FloatArray:
        """Return h(x, y, s), (K_s,)."""
        check_fitted(self.layout, self.states, state)
        seen = self.seen is None or self.seen[state, context, feedback]
        if not (seen and self.feedback.knows(feedback)):
            K = int(self.layout.endings.n_actions[state])
            return np.full(K, 1 / K)  # dev. 15
        return ideal_posterior(*self._networks(context, feedback, state))

    def rewards(self, context: Encoded, feedback: Encoded, state: int) -> tuple[FloatArray, float]:
        """Return f(x, s, ·) (K_s,) and φ(x, y, s), of the two equal descriptions that with Σ f ≤ K/2."""
        f, phi = self._networks(context, feedback, state)
        return (f, phi) if f.sum() <= len(f) / 2 else (1 - f, 1 - phi)

    def _networks(self, context: Encoded, feedback: Encoded, state: int) -> tuple[FloatArray, float]:
        check_fitted(self.layout, self.states, state)
        K = self.layout.endings.n_actions[state]
        weights, x, y = self.weights, self.contexts(context), self.feedback(feedback)
        f = _network(x, weights.f_hidden[state], weights.f_output[state])[:K]
        phi = _network(np.concatenate((x, y)), weights.phi_hidden[state], weights.phi_output[state])
        return f, float(phi[0])

    def to_state(self) -> dict[str, Any]:
        """Return the arrays that `from_state` reads."""
        state = {"name": self.name, "states": self.states, "curves": self.curves, **self.weights._asdict()}
        for what, features in (("contexts", self.contexts), ("feedback", self.feedback)):
            state |= {f"{what}_mean": features.mean, f"{what}_scale": features.scale}
        return state if self.seen is None else state | {"seen": self.seen}

    @staticmethod
    def from_state(layout: Layout, state: Mapping[str, Any]) -> NeuralPosterior:
        """Return the posterior that `to_state` described."""
        saved, S = Saved.of(state), layout.endings.size
        saved.choice("name", (NeuralPosterior.name,))
        contexts = NetworkInputs.from_state(layout.contexts, saved, "contexts")
        feedback = NetworkInputs.from_state(layout.feedback, saved, "feedback")
        weights = _restore_weights(saved, S, len(contexts.mean), len(feedback.mean), layout.max_actions)
        seen = None
        if is_finite(layout):
            seen = saved.flags("seen", counted_shape(layout)[:3])
            known = feedback.knows(np.arange(seen.shape[2]))
            saved.check(
                not seen[:, :, ~known].any(), "seen", "false for silence, which the networks never met"
            )
        curves = saved.floats("curves", (S, None, 2))
        return NeuralPosterior(layout, saved.flags("states", (S,)), contexts, feedback, weights, seen, curves)


def _restore_weights(saved: Saved, S: int, d_x: int, d_y: int, K: int) -> Weights:
    """Return the saved weights, of any width that all layers of a network share."""
    f_hidden = saved.floats("f_hidden", (S, d_x + 1, None))
    phi_hidden = saved.floats("phi_hidden", (S, d_x + d_y + 1, None))
    return Weights(
        f_hidden,
        saved.floats("f_output", (S, f_hidden.shape[2] + 1, K)),
        phi_hidden,
        saved.floats("phi_output", (S, phi_hidden.shape[2] + 1, 1)),
    )


def _network(inputs: FloatArray, hidden: FloatArray, output: FloatArray) -> FloatArray:
    logits = np.tanh(inputs @ hidden[:-1] + hidden[-1]) @ output[:-1] + output[-1]
    return np.asarray(0.5 * (1 + np.tanh(0.5 * logits)))  # the sigmoid, which cannot overflow


def fit_neural(layout: Layout, tuples: Tuples, settings: PosteriorSettings) -> NeuralPosterior:
    """Return the networks that minimise eq. 5, chosen among restarts by validation loss."""
    check_tuples(layout, tuples)
    states = fitted_states(layout, tuples)
    contexts = NetworkInputs.fit(layout.contexts, tuples.contexts)
    feedback = NetworkInputs.fit(layout.feedback, tuples.feedback)
    rows = merge_rows(layout, tuples, contexts, feedback, settings)
    weights, curves = train_networks(rows, settings)

    def scatter(values: FloatArray) -> FloatArray:
        full = np.zeros((len(states), *values.shape[1:]))  # states that were not fitted stay zero
        full[states] = values
        return full

    weights, seen = Weights(*(scatter(array) for array in weights)), _seen(layout, tuples)
    return NeuralPosterior(layout, states, contexts, feedback, weights, seen, scatter(curves))


def merge_rows(
    layout: Layout,
    tuples: Tuples,
    contexts: NetworkInputs,
    feedback: NetworkInputs,
    settings: PosteriorSettings,
) -> Rows:
    """Return the distinct rows of the S fitted states, with the tuples split into training and validation."""
    states, owner = np.unique(tuples.states, return_inverse=True)
    inputs = np.column_stack((owner, contexts(tuples.contexts), feedback(tuples.feedback)))
    distinct, row = np.unique(inputs, axis=0, return_inverse=True)
    state = distinct[:, 0].astype(np.int64)
    place = np.arange(len(state)) - np.searchsorted(state, state)  # of a distinct row among its state's
    batch = np.zeros((len(states), place.max() + 1, inputs.shape[1] - 1))
    batch[state, place] = distinct[:, 1:]
    counts = np.zeros((2, *batch.shape[:2], layout.max_actions))
    part, weights = _validates(owner, settings).astype(np.int64), balanced_weights(layout, tuples)
    np.add.at(counts, (part, owner, place[row], tuples.actions), weights)
    d = len(contexts.mean)
    mask = layout.endings.mask[states].astype(np.float64)
    return Rows(batch[..., :d], batch[..., d:], counts[0], counts[1], mask)


def _validates(owner: IntArray, settings: PosteriorSettings) -> BoolArray:
    """Return which tuples validate, (n,): the same share of each state's, chosen at random."""
    order = np.lexsort((np.random.default_rng([settings.seed, 0]).random(len(owner)), owner))
    place = np.empty(len(owner), dtype=np.int64)
    place[order] = np.arange(len(owner)) - np.searchsorted(owner[order], owner[order])
    return np.asarray(place < settings.validation * np.bincount(owner)[owner])


def _seen(layout: Layout, tuples: Tuples) -> BoolArray | None:
    """Return which finite (s, x, y) occur in the tuples; None if contexts or feedback are vectors."""
    if not is_finite(layout):
        return None
    seen = np.zeros(counted_shape(layout)[:3], dtype=np.bool_)
    seen[tuples.states, tuples.contexts, tuples.feedback] = True
    return seen


def initial_weights(rows: Rows, settings: PosteriorSettings) -> Weights:
    """Return random weights (S, R, ...) under which every hidden unit sees inputs of about unit size.

    Outputs then start away from f = φ = 1/2, the saddle of eq. 4 at which all gradients vanish.
    """
    rng = np.random.default_rng([settings.seed, 1])
    (S, K), width = rows.mask.shape, settings.width

    def draw(n_in: int, n_out: int, size: float) -> FloatArray:
        return rng.normal(size=(S, settings.restarts, n_in, n_out)) / size

    def hidden(*inputs: FloatArray) -> FloatArray:
        sizes = [max(1.0, np.sqrt((z**2).sum(axis=-1).mean())) for z in inputs]
        blocks = [draw(z.shape[-1], width, size) for z, size in zip(inputs, sizes, strict=True)]
        return np.concatenate((*blocks, draw(1, width, 2.0)), axis=2)

    def output(n: int) -> FloatArray:
        return np.concatenate((draw(width, n, np.sqrt(width)), 0 * draw(1, n, 1.0)), axis=2)

    f_hidden, phi_hidden = hidden(rows.contexts), hidden(rows.contexts, rows.feedback)
    return Weights(f_hidden, output(K), phi_hidden, output(1))


def train_networks(rows: Rows, settings: PosteriorSettings) -> tuple[Weights, FloatArray]:
    """Return the weights (S, ...) that minimise eq. 5 and the curves (S, checks, 2) of the chosen restarts.

    Every restart trains on the training part until validation stops improving; the restart with the least
    validation loss is then fitted to all tuples. Where tuples are plentiful that goes on to the minimum of
    eq. 5, since stopping early pulls h towards uniform; elsewhere it takes as many steps as validation chose.
    """
    every, plenty = rows.train + rows.valid, plentiful(rows)
    with _one_thread():
        start = initial_weights(rows, settings)
        limit = np.full(start.f_hidden.shape[:2], settings.max_steps)  # (S, R)
        search = descend(start, rows, rows.train, rows.valid, limit, settings)
        chosen = np.arange(len(limit)), search.loss.argmin(axis=1)
        pairs = zip(search.weights, start, strict=True)
        begin = Weights(*(np.where(plenty[:, None, None], a[chosen], b[chosen])[:, None] for a, b in pairs))
        limit = np.where(plenty, settings.max_steps, search.step[chosen])[:, None]
        refit = descend(begin, rows, every, every, limit, settings)
    curves = np.moveaxis(search.curves, (2, 3), (0, 1))[chosen]
    return Weights(*(array[:, 0] for array in refit.weights)), curves


def plentiful(rows: Rows) -> BoolArray:
    """Return the states whose distinct rows have many tuples each, (S,)."""
    counts = (rows.train + rows.valid).sum(axis=2)  # (S, n)
    return np.asarray(counts.sum(axis=1) >= PLENTIFUL * (counts > 0).sum(axis=1))


def descend(
    start: Weights,
    rows: Rows,
    fit: FloatArray,
    watch: FloatArray,
    limit: IntArray,
    settings: PosteriorSettings,
) -> Run:
    """Return the weights of least loss on the counts `watch` that Adam meets while it lowers that on `fit`.

    Elements of the batch do not touch each other; each ends after `limit` (S, R) steps or when its watched
    loss has not improved for `settings.patience` steps.
    """
    import torch

    weights = [torch.tensor(array, requires_grad=True) for array in start]
    optimiser = torch.optim.Adam(weights, lr=settings.learning_rate)
    h = _batched_posterior(rows, weights)
    fit_counts, watch_counts = torch.tensor(fit)[:, None], torch.tensor(watch)[:, None]
    losses, steps, curves = np.full(limit.shape, np.inf), np.zeros_like(limit), []
    best = Run(Weights(*(array.copy() for array in start)), losses, steps, np.empty(0))
    for step in range(limit.max() + 1):
        posterior = h()
        loss = mean_loss(posterior, fit_counts)
        if step % CHECK_EVERY == 0:
            watched = mean_loss(posterior, watch_counts).detach().numpy()
            curves.append((loss.detach().numpy().copy(), watched))
            alive = (step <= limit) & (step - best.step <= settings.patience)
            if not alive.any():
                break
            _keep_better(best, alive, step, watched, [tensor.detach().numpy() for tensor in weights])
        optimiser.zero_grad()
        loss.sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return best._replace(curves=np.array(curves))


def _keep_better(best: Run, alive: BoolArray, step: int, loss: FloatArray, weights: list[FloatArray]) -> None:
    """Write into `best` the elements that improved."""
    better = alive & (loss < best.loss - LEAST_IMPROVEMENT)
    best.loss[better] = loss[better]
    best.step[better] = step
    for kept, new in zip(best.weights, weights, strict=True):
        kept[better] = new[better]


def _batched_posterior(rows: Rows, weights: list[torch.Tensor]) -> Callable[[], torch.Tensor]:
    """Return a function that computes eq. 4 at every row from the current weights, (S, R, n, K)."""
    import torch

    contexts = torch.tensor(rows.contexts)[:, None]
    pairs = torch.tensor(np.concatenate((rows.contexts, rows.feedback), axis=-1))[:, None]
    mask = torch.tensor(rows.mask)[:, None, None, :]

    def network(inputs: torch.Tensor, hidden: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        units = torch.tanh(inputs @ hidden[..., :-1, :] + hidden[..., -1:, :])
        return torch.sigmoid(units @ output[..., :-1, :] + output[..., -1:, :])

    def posterior() -> torch.Tensor:
        f = network(contexts, weights[0], weights[1]) * mask
        phi = network(pairs, weights[2], weights[3])
        rewarded = f / f.sum(-1, keepdim=True).clamp(min=FLOOR)
        unrewarded = (mask - f) / (mask - f).sum(-1, keepdim=True).clamp(min=FLOOR)
        return rewarded * phi + unrewarded * (1 - phi)  # eq. (4)

    return posterior


def mean_loss(h: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """Return eq. 5 divided by the number of tuples: h and counts (..., n, K) give (...)."""
    n = counts.sum(-1)
    loss = n * (h * h).sum(-1) - 2 * (counts * h).sum(-1) + n
    return loss.sum(-1) / n.sum(-1).clamp(min=1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch add in one order only, so that the same seed gives the same bits; restored afterwards."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)

"""Heads on a language model's states, added to what the small model says: the structured class of eq. 4.

    u(s, a) = c u0(s, a) + w·z(s, a)        z: the state after conversation and candidate, against the other candidates'
    g(s)    = sigmoid(c g0 + w·z(s) + b)    z: the state after the conversation
    t(y)    = c t0 + w·z(y) + b             z: the state after the remark
    k(x)    = c k0 + w·z(x) + b             z: the state after the profile

u0, g0, t0, k0 are what the fitted small model says (`tacit.text.small.posterior`), and so is all with c = 1, w = b = 0,
where a fit begins. f, q and h follow from u, g, t, k as there. z are leading principal components of the states that
the model has before it learns. The weights stand in one row, in the order of `tacit.text.small.likelihood.Design`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.special import logit

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.text.conversation import Reaction
from tacit.text.small.affinity import Projection, fit_projection
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.likelihood import SURE, Believed, Design
from tacit.text.small.model import SmallModel
from tacit.text.small.posterior import LARGEST_RATIO, bayes, log_ratio
from tacit.text.small.sampling import uniform_weights


@dataclass(frozen=True, eq=False)
class Begun:
    """What the small model says of reactions, and what was done: u0 (n, K) with its mask, g0, t0, k0 and more (n,)."""

    fits: FloatArray
    mask: BoolArray
    good: FloatArray
    kind: FloatArray
    plain: FloatArray
    profiled: BoolArray
    taken: IntArray
    chance: FloatArray
    weights: FloatArray

    def __len__(self) -> int:
        return len(self.taken)

    def part(self, rows: IntArray) -> Begun:
        """Return some reactions."""
        return Begun(**{name: each[rows] for name, each in vars(self).items()})


def begin_with(small: SmallModel, reactions: Sequence[Reaction]) -> Begun:
    """Return what a fitted small model says of reactions."""
    assert small.fitted is not None
    sample, posterior = small.sample(reactions), small.fitted.leading.as_fitted
    fits = np.log(np.maximum(posterior.fits(sample), SURE))
    return Begun(
        np.where(sample.mask, fits, 0.0),
        sample.mask,
        logit(np.clip(posterior.goodness(sample), SURE, 1 - SURE)),
        posterior.kindness(sample),
        posterior.plainness(sample),
        sample.profiled,
        sample.taken,
        sample.chance,
        uniform_weights(reactions),
    )


class States(NamedTuple):
    """States of reactions: of choices (n, K + 1, d), conversation first, of remarks and of profiles (n, d)."""

    choice: torch.Tensor
    remark: torch.Tensor
    profile: torch.Tensor


class HeadBasis(NamedTuple):
    """The projections that make z of states."""

    candidate: Projection
    state: Projection
    remark: Projection
    profile: Projection

    def to_state(self) -> dict[str, Any]:
        """Return arrays from which `from_state` rebuilds it."""
        return {name: projection.to_state() for name, projection in self._asdict().items()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], size: int) -> HeadBasis:
        """Return the basis that `to_state` described, of states of that size."""
        saved = Saved.of(state)
        found = cls(*(Projection.from_state(saved.part(name)) for name in cls._fields))
        saved.check({len(each.mean) for each in found} == {size}, "candidate", f"of states of {size} numbers")
        return found

    @property
    def sizes(self) -> list[int]:
        """Return how many weights u, of the small model and of z, and g, t and k have."""
        return [1, self.candidate.size, *(each.size + 2 for each in self[1:])]

    @property
    def start(self) -> FloatArray:
        """Return the weights with which all is what the small model says."""
        weights = [np.zeros(size) for size in self.sizes]
        for n in (0, 2, 3, 4):
            weights[n][0] = 1.0
        return np.concatenate(weights)


def fit_head_basis(states: States, begun: Begun, settings: FittingSettings) -> HeadBasis:
    """Return the leading components of states."""
    candidates = against(states.choice[:, 1:], begun.mask).numpy()[begun.mask]
    return HeadBasis(
        fit_projection(candidates, settings.said_parts),
        fit_projection(states.choice[:, 0].numpy(), settings.state_parts),
        fit_projection(states.remark.numpy(), settings.feedback_parts),
        fit_projection(states.profile.numpy()[begun.profiled], settings.profile_parts),
    )


def fit_candidates(states: Sequence[torch.Tensor], settings: FittingSettings) -> Projection:
    """Return the leading components of states of choices, (K + 1, d) each, conversation first."""
    away = [each[1:] - each[1:].mean(0) for each in states]
    return fit_projection(torch.cat(away).numpy(), settings.said_parts)


def against(states: torch.Tensor, mask: BoolArray) -> torch.Tensor:
    """Return states of candidates (n, K, d) less their mean over those on offer."""
    there = torch.tensor(mask, device=states.device)[..., None]
    mean = (states * there).sum(1, keepdim=True) / there.sum(1, keepdim=True)
    return (states - mean) * there


class Features(NamedTuple):
    """What weights multiply: of u (n, K, 1) and (n, K, p), of g, t and k (n, parts + 2)."""

    fits: torch.Tensor
    candidate: torch.Tensor
    state: torch.Tensor
    remark: torch.Tensor
    profile: torch.Tensor


def make_features(basis: HeadBasis, begun: Begun, states: States) -> Features:
    """Return what weights multiply; slopes go through to the states."""

    def with_small(said: FloatArray, projection: Projection, rows: torch.Tensor) -> torch.Tensor:
        first = torch.tensor(said, dtype=torch.float32, device=rows.device)[:, None]
        return torch.cat([first, project(projection, rows), torch.ones_like(first)], 1)

    candidates = against(states.choice[:, 1:], begun.mask)
    return Features(
        torch.tensor(begun.fits, dtype=torch.float32, device=candidates.device)[..., None],
        project(basis.candidate, candidates),
        with_small(begun.good, basis.state, states.choice[:, 0]),
        with_small(begun.kind, basis.remark, states.remark),
        with_small(begun.plain, basis.profile, states.profile),
    )


def project(projection: Projection, rows: torch.Tensor) -> torch.Tensor:
    """Return the components of rows (..., d)."""
    mean, axes = (
        torch.tensor(each, dtype=torch.float32, device=rows.device)
        for each in (projection.mean, projection.axes)
    )
    return (rows - mean) @ axes


def make_head_design(features: Features, begun: Begun) -> Design:
    """Return the features as the design whose likelihood the small model climbs."""
    fits, candidate, state, remark, profile = (each.numpy().astype(np.float64) for each in features)
    one = np.ones((len(begun), 1))
    return Design(
        fits,
        begun.mask,
        one,
        candidate,
        state,
        remark,
        profile,
        begun.profiled,
        begun.taken,
        begun.chance,
        np.zeros(len(begun)),
        np.zeros((len(begun), 0)),  # what is heard again has its value in the small model
    )


class BelievedTensors(NamedTuple):
    """What weights say of each reaction, with slopes: fits (n, K), g, t and P (n,), as in `Believed`."""

    fits: torch.Tensor
    good: torch.Tensor
    ratio: torch.Tensor
    plain: torch.Tensor

    def numpy(self) -> Believed:
        """Return it as arrays."""
        return Believed(*(each.detach().cpu().numpy().astype(np.float64) for each in self))


def believe_heads(
    weights: torch.Tensor, features: Features, begun: Begun, sizes: Sequence[int]
) -> BelievedTensors:
    """Return what weights say: `tacit.text.small.likelihood.believed_of`, with slopes."""
    fits, candidate, state, remark, profile = torch.split(weights, list(sizes))
    device = weights.device
    scores = features.fits @ fits + features.candidate @ candidate
    scores = scores.masked_fill(~torch.tensor(begun.mask, device=device), -torch.inf)
    odds = (features.profile @ profile).clamp(-LARGEST_RATIO, LARGEST_RATIO)
    odds = torch.where(torch.tensor(begun.profiled, device=device), odds, LARGEST_RATIO)
    return BelievedTensors(
        torch.softmax(scores, 1),
        torch.sigmoid(features.state @ state),
        (features.remark @ remark).clamp(-LARGEST_RATIO, LARGEST_RATIO),
        torch.sigmoid(odds),
    )


def kind_of(believed: BelievedTensors, taken: IntArray) -> torch.Tensor:
    """Return q, how likely the remarks on what was taken are kind, (n,)."""
    rows = torch.arange(len(taken), device=believed.fits.device)
    f = believed.good * believed.fits[rows, torch.tensor(taken, device=rows.device)]
    return f * believed.plain + (1 - f) * (1 - believed.plain)


def ratio_of(believed: Believed) -> FloatArray:
    """Return l(x, y), (n,)."""
    return log_ratio(believed.ratio, logit(np.clip(believed.plain, SURE, 1 - SURE)))


def posterior_of(believed: Believed, mask: BoolArray) -> FloatArray:
    """Return h(x, y, s), (n, K) (eq. 3)."""
    return bayes(believed.good[:, None] * believed.fits, ratio_of(believed), mask)


def squared_losses(believed: Believed, begun: Begun) -> FloatArray:
    """Return ‖h(x, y, s) - e_a‖² of each reaction, (n,), its terms of eq. 5."""
    h = posterior_of(believed, begun.mask)
    return np.asarray((h * h).sum(axis=1) - 2 * h[np.arange(len(begun)), begun.taken] + 1)


def held_out_loss(believed: Believed, begun: Begun) -> float:
    """Return the mean squared loss among uniform choices: each reaction counts by its logged probability."""
    return float(np.average(squared_losses(believed, begun), weights=begun.weights))

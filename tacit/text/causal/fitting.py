"""Fitting a language model's posterior: from the small model's solution to heads on frozen states, then to adapters.

The likelihood is the small model's (`tacit.text.small.likelihood`), whoever chose. With t of all reactions known, and
so the share c of kind remarks, its slopes in those of one are those of

    log(1 + q (e^t - 1)) - log(1 + c (e^t - 1))

so that steps can be made on some reactions at a time; t of the others is that of when they were last met. Each
reaction left out counts by its logged probability, and the steps that foretell those best are kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch

from tacit.base.arrays import FloatArray, IntArray
from tacit.base.validation import check_number, check_whole
from tacit.text.causal.flat import Array32, Moments, adamw, flatten
from tacit.text.causal.heads import (
    Begun,
    HeadBasis,
    begin_with,
    believe_heads,
    fit_head_basis,
    held_out_loss,
    kind_of,
    make_features,
    make_head_design,
)
from tacit.text.causal.packing import Packer, token_batches
from tacit.text.causal.reader import StateReader
from tacit.text.causal.texts import TextReading, read_reactions
from tacit.text.causal.unfinished import Reached, Unfinished
from tacit.text.conversation import Reaction
from tacit.text.model import FitProgress
from tacit.text.small.climbing import FittingSettings, climb_weights, hold_of
from tacit.text.small.likelihood import Believed, Design, believed_of
from tacit.text.small.likelihood_kernels import share_of_kind
from tacit.text.small.model import SmallModel
from tacit.text.small.starts import Start

LEAST_IMPROVEMENT = 1e-4
"""Gain in the loss of reactions left out that counts as improvement."""
HOLDS = (1.0, 5.0, 25.0)
"""How many times as strongly as the small model's own weights heads are held; reactions left out choose."""
HEAD_RIDGE = 0.2
"""Of the heads on candidates: the strongest of those that the small model chooses from."""


@dataclass(frozen=True)
class LanguageModelSettings:
    """How a language model learns; the batch is the paper's (appendix C.3), the rest it does not name.

    Adapters are on the last `layers` that are read. A share `held_out` of the reactions is kept for validation; the
    posterior is that of the epoch with the least loss there, and training ends after `patience` epochs without a better
    one. `window` is the number of episodes that REINFORCE's baseline is a mean over.
    """

    batch: int = 16
    rank: int = 8
    layers: int = 2
    epochs: int = 6
    patience: int = 2
    held_out: float = 0.2
    window: int = 100
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        for name in ("batch", "rank", "layers", "epochs", "patience", "window", "max_tokens"):
            check_whole(name, getattr(self, name), 1)
        check_number("held_out", self.held_out, 0, 1)


class Losses(NamedTuple):
    """Mean squared losses (eq. 5) on reactions left out: of a uniform guess, the small model, heads, each epoch."""

    uniform: float
    small: float
    heads: float
    epochs: tuple[float, ...]


class FittedHeads(NamedTuple):
    """What a fit leaves: the small model that it began with, the basis of the heads, adapter and heads, the losses."""

    small: SmallModel
    basis: HeadBasis
    adapter: Array32
    heads: Array32
    losses: Losses


def fit_language_model(
    reader: StateReader,
    packer: Packer,
    small: SmallModel,
    reactions: Sequence[Reaction],
    settings: LanguageModelSettings,
    rate: float,
    seed: int,
    unfinished: Unfinished,
    progress: FitProgress | None = None,
) -> FittedHeads:
    """Return heads and adapter learned from reactions; the reader begins with the weights that it holds."""
    generator = np.random.default_rng((seed, len(reactions)))
    order, n = hold_out(len(reactions), settings.held_out, generator)
    reactions = [reactions[i] for i in order]  # those left out come first
    small = small.fit(reactions[n:], progress)
    begun = begin_with(small, reactions)
    reading = read_reactions(reader, packer, reactions, progress)
    fit = Fit(reader, reading, begun, n, small.settings.fitting, settings, rate, seed)
    reached = unfinished.load(fit.first())
    unfinished.keep(reached)
    while reached.epoch < settings.epochs and reached.epoch - reached.best_epoch < settings.patience:
        reached = fit.epoch(reached, progress)
        unfinished.keep(reached)
    unfinished.remove()
    losses = Losses(fit.uniform, fit.small, reached.losses[0], reached.losses[1:])
    if progress is not None:
        total = fit.steps * settings.epochs
        progress(total, total, f"posterior fitted: loss {min(reached.losses):.3f} on reactions left out")
    return FittedHeads(small, fit.basis, reached.best_adapter, reached.best_heads, losses)


def hold_out(n: int, share: float, generator: np.random.Generator) -> tuple[list[int], int]:
    """Return a random order of n reactions, and how many of the first are left out: a share, at least one."""
    if n < 2:
        raise ValueError(
            f"the posterior needs at least 2 reactions, one of them to validate on, got {n}; "
            "explore for more episodes"
        )
    return generator.permutation(n).tolist(), min(max(1, round(share * n)), n - 1)


class Fit:
    """What stays the same during a fit; `first` and `epoch` say how far it has come. The first n are left out."""

    def __init__(
        self,
        reader: StateReader,
        reading: TextReading,
        begun: Begun,
        n: int,
        small: FittingSettings,
        settings: LanguageModelSettings,
        rate: float,
        seed: int,
    ) -> None:
        self.reader, self.reading, self.begun = reader, reading, begun
        self.settings, self.rate, self.seed = settings, rate, seed
        self.left_out, self.rows = np.arange(n), np.arange(n, len(begun))
        self.start = reader.weights
        states = reading.all_states()
        self.basis = fit_head_basis(
            type(states)(*(each[n:] for each in states)), begun.part(self.rows), small
        )
        self.design = make_head_design(make_features(self.basis, begun, states), begun)
        self.centre = self.basis.start
        left_out = begun.part(self.left_out)
        even = 1 - 1 / left_out.mask.sum(axis=1)
        self.uniform = float(np.average(even, weights=left_out.weights))
        self.small = self._loss(believed_of(self.design.part(self.left_out), self.centre))
        self.heads, self.hold = self._fit_heads(self.design.part(self.rows), small)

    @property
    def steps(self) -> int:
        """Return how many steps an epoch has."""
        return math.ceil(len(self.rows) / self.settings.batch)

    def first(self) -> Reached:
        """Return heads on frozen states, and adapters that change nothing yet."""
        believed = believed_of(self.design, self.heads)
        loss = self._loss(Believed(*(each[self.left_out] for each in believed)))
        heads = self.heads.astype(np.float32)
        return Reached(0, self.start, heads, Moments(), believed.ratio, (loss,), 0, self.start, heads)

    def epoch(self, reached: Reached, progress: FitProgress | None = None) -> Reached:
        """Return what an epoch more comes to: every reaction is met once, in an order of the epoch's own."""
        epoch = reached.epoch + 1
        self.reader.hold(reached.adapter)
        self.reader.release()
        heads = torch.tensor(reached.heads, device=self.reader.parameters[0].device, requires_grad=True)
        weights = [*self.reader.parameters, heads]
        optimiser = adamw(weights, self.rate)
        reached.moments.write(optimiser, weights)
        t = reached.t.copy()
        order = np.random.default_rng((self.seed, len(self.rows), epoch)).permutation(self.rows)
        for step, start in enumerate(range(0, len(order), self.settings.batch)):
            optimiser.zero_grad()
            self._descend(order[start : start + self.settings.batch], heads, t)
            optimiser.step()
            if progress is not None:
                what = f"fitting the posterior: epoch {epoch}, loss {reached.losses[-1]:.3f} on reactions left out"
                progress((epoch - 1) * self.steps + step + 1, self.steps * self.settings.epochs, what)
        loss = self._validate(heads)
        adapter, learned = self.reader.weights, flatten([heads])
        after = reached._replace(
            epoch=epoch,
            adapter=adapter,
            heads=learned,
            moments=Moments.read(optimiser, weights),
            t=t,
            losses=(*reached.losses, loss),
        )
        if loss < reached.losses[reached.best_epoch] - LEAST_IMPROVEMENT:
            after = after._replace(best_epoch=epoch, best_adapter=adapter, best_heads=learned)
        return after

    def _descend(self, rows: IntArray, heads: torch.Tensor, t: FloatArray) -> None:
        """Add up the slopes of a batch, a few reactions at a time so that little is in memory; note their t."""
        share = float(share_of_kind(t[self.rows]))
        packs = [self.reading.choice.pack(int(row)) for row in rows]
        for some in token_batches(packs):
            part = rows[some]
            begun = self.begun.part(part)
            features = make_features(self.basis, begun, self.reading.states(part))
            believed = believe_heads(heads, features, begun, self.basis.sizes)
            kind, more_of = kind_of(believed, begun.taken), torch.expm1(believed.ratio)
            gain = torch.log1p(kind * more_of) - torch.log1p(share * more_of)
            (-gain.sum() / len(rows)).backward()  # type: ignore[no-untyped-call]
            t[part] = believed.ratio.detach().cpu().numpy()
        away = heads - torch.tensor(self.centre, dtype=torch.float32, device=heads.device)
        hold = torch.tensor(self.hold / len(self.rows), dtype=torch.float32, device=heads.device)
        (hold * away * away).sum().backward()  # type: ignore[no-untyped-call]

    def _validate(self, heads: torch.Tensor) -> float:
        """Return the loss on reactions left out."""
        found: list[tuple[int, Believed]] = []
        with torch.no_grad():
            for some in token_batches([self.reading.choice.pack(row) for row in range(len(self.left_out))]):
                begun = self.begun.part(np.array(some))
                features = make_features(self.basis, begun, self.reading.states(some))
                believed = believe_heads(heads, features, begun, self.basis.sizes).numpy()
                found += zip(some, (Believed(*one) for one in zip(*believed, strict=True)), strict=True)
        ordered = [each for _, each in sorted(found, key=lambda pair: pair[0])]
        return self._loss(Believed(*(np.array(each) for each in zip(*ordered, strict=True))))

    def _loss(self, believed: Believed) -> float:
        """Return the loss of what is believed of the reactions left out."""
        return held_out_loss(believed, self.begun.part(self.left_out))

    def _fit_heads(self, design: Design, small: FittingSettings) -> tuple[FloatArray, FloatArray]:
        """Return heads on frozen states and how they are held, the small model's own solution if none is better."""
        names = ("match_ridge", "state_ridge", "feedback_ridge", "profile_ridge")
        left_out = self.design.part(self.left_out)
        best, loss, kept = self.centre, self.small, HOLDS[-1]
        for times in HOLDS:
            held = replace(small, **{name: times * getattr(small, name) for name in names})
            start = Start(self.centre, self.centre)
            found = climb_weights(design, start, times * HEAD_RIDGE, small.steps, held, None)
            if (reached := self._loss(believed_of(left_out, found))) < loss - LEAST_IMPROVEMENT:
                best, loss, kept = found, reached, times
        held = replace(small, **{name: kept * getattr(small, name) for name in names})
        return best, hold_of(design, kept * HEAD_RIDGE, held)

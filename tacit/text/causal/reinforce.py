"""REINFORCE for a language model's policy: a head on its states, added to the scores that it begins with.

    l_a = logit(score_a) + w·z(s, a)        score: what the policy begins with; w = 0 at first
    ∇ of -(r - b) Σ_choices log π(a),       π = softmax of l over the candidates of the choice

every `batch` episodes make a step of AdamW. The baseline b is the mean of the rewards of earlier episodes, the older
ones fading after `window`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.special import logit

from tacit.base.arrays import FloatArray
from tacit.base.saved import Saved
from tacit.text.causal.fitting import LanguageModelSettings
from tacit.text.causal.flat import NONE, Array32, Moments, adamw, flatten, split_like
from tacit.text.causal.heads import against, project
from tacit.text.causal.packing import Packer
from tacit.text.causal.reader import StateReader
from tacit.text.causal.texts import pack_choice
from tacit.text.conversation import Choice
from tacit.text.small.affinity import Projection
from tacit.text.small.likelihood import SURE

Scores = Callable[[Choice], FloatArray]
"""The scores that a policy begins with, of the candidates of a choice, (K,)."""


class Reinforced(NamedTuple):
    """What REINFORCE has made of a policy: adapter and head, AdamW's moments, and a gradient that waits.

    `pending` episodes are in the gradient, the baseline is of `episodes`. Arrays are flat, empty where there is none.
    """

    adapter: Array32
    head: Array32
    moments: Moments = Moments()
    gradient: Array32 = NONE
    pending: int = 0
    episodes: int = 0
    baseline: float = 0.0

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values from which `from_state` rebuilds it."""
        return self._asdict() | {"moments": self.moments._asdict()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], shape: tuple[int, int], batch: int) -> Reinforced:
        """Return what `to_state` described, of an adapter and a head of this many weights."""
        saved, size = Saved.of(state), sum(shape)
        pending, gradient = saved.whole("pending", most=batch - 1), saved.single_floats("gradient", (None,))
        saved.check(len(gradient) in (0, size), "gradient", f"none, or {size} numbers")
        return cls(
            saved.single_floats("adapter", shape[:1]),
            saved.single_floats("head", shape[1:]),
            Moments.from_state(saved.part("moments"), size),
            gradient,
            pending,
            saved.whole("episodes", pending),
            saved.number("baseline", 0, 1),
        )


class ReinforcedPolicy:
    """A language model that scores candidates: what is learned is handed in with every call."""

    def __init__(
        self, reader: StateReader, packer: Packer, rate: float, settings: LanguageModelSettings
    ) -> None:
        self.reader, self.packer = reader, packer
        self._rate, self._settings = rate, settings

    def scores(self, learned: Reinforced, basis: Projection, choice: Choice, scores: Scores) -> FloatArray:
        """Return sigmoid(l_a) of the candidates of a choice, (K,)."""
        self.reader.hold(learned.adapter)
        with torch.no_grad():
            log_odds = self._log_odds(torch.tensor(learned.head), basis, choice, scores)
        return torch.sigmoid(log_odds).numpy()

    def learn(
        self, learned: Reinforced, basis: Projection, choices: Sequence[Choice], reward: float, scores: Scores
    ) -> Reinforced:
        """Return what an episode with these choices and this reward leaves."""
        episodes, advantage = learned.episodes + 1, reward - learned.baseline
        after = learned._replace(
            gradient=self._add_gradient(learned, basis, choices if advantage else (), advantage, scores),
            pending=learned.pending + 1,
            episodes=episodes,
            baseline=learned.baseline + advantage / min(episodes, self._settings.window),
        )
        return self._step(after) if after.pending == self._settings.batch else after

    def _add_gradient(
        self,
        learned: Reinforced,
        basis: Projection,
        choices: Sequence[Choice],
        advantage: float,
        scores: Scores,
    ) -> Array32:
        """Return the gradient that waits, with that of these choices added, one after the other."""
        weights = self._hold(learned)
        write_gradient(weights, learned.gradient)
        for choice in choices:
            log_odds = self._log_odds(weights[-1], basis, choice, scores)
            log_probability = torch.log_softmax(log_odds, 0)[choice.action]
            (-advantage / self._settings.batch * log_probability).backward()  # type: ignore[no-untyped-call]
        return flatten([weight.grad for weight in weights if weight.grad is not None])

    def _step(self, learned: Reinforced) -> Reinforced:
        """Return what a step of AdamW along the gradient leaves."""
        weights = self._hold(learned)
        optimiser = adamw(weights, self._rate)
        learned.moments.write(optimiser, weights)
        write_gradient(weights, learned.gradient)
        self.reader.release()
        optimiser.step()
        return learned._replace(
            adapter=self.reader.weights,
            head=flatten(weights[-1:]),
            moments=Moments.read(optimiser, weights),
            gradient=NONE,
            pending=0,
        )

    def _hold(self, learned: Reinforced) -> list[torch.Tensor]:
        """Return all weights as tensors, the head last."""
        self.reader.hold(learned.adapter)
        device = self.reader.parameters[0].device
        return [*self.reader.parameters, torch.tensor(learned.head, device=device, requires_grad=True)]

    def _log_odds(
        self, head: torch.Tensor, basis: Projection, choice: Choice, scores: Scores
    ) -> torch.Tensor:
        """Return l of the module's docstring, (K,)."""
        states = self.reader.read_one(pack_choice(self.packer, choice))[None, 1:]
        z = project(basis, against(states, np.ones((1, len(choice.candidates)), np.bool_)))[0]
        first = torch.tensor(logit(np.clip(scores(choice), SURE, 1 - SURE)), device=z.device)
        return first + (z @ head.to(z.device)).double()


def write_gradient(weights: Sequence[torch.Tensor], gradient: Array32) -> None:
    """Let the weights' gradient be this; none if it is empty."""
    parts = split_like(gradient, weights) if len(gradient) else [None] * len(weights)
    for weight, part in zip(weights, parts, strict=True):
        weight.grad = part

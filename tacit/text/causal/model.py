"""A causal language model as text model: Yes or No about each candidate, low-rank adapters (appendix C.3).

With l_a = log P(Yes) - log P(No) of the token that follows the prompt about candidate a:

    posterior  h_a = exp(l_a) / Σ_b exp(l_b)                   fitted by ERM to the candidate that was taken (eq. 5)
    score      P(Yes) / (P(Yes) + P(No)) = 1 / (1 + exp(-l_a))
    REINFORCE  ∇ of -(r - b) Σ_choices log π(a), π = softmax of l over the candidates of the choice

The posterior and the policy have an adapter each, on one base model or on two. Where a prompt is longer than the
model reads, the oldest part of the conversation is left out; never the candidate, the feedback or the profile.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import torch

from tacit.base.arrays import FloatArray
from tacit.base.randomness import check_seed
from tacit.base.saved import Saved
from tacit.base.validation import check_number, check_whole
from tacit.text.causal.adapter import Adapter, flatten, split_like
from tacit.text.causal.presets import BaseModel, Preset, check_memory, find_preset
from tacit.text.causal.prompts import policy_prompt, posterior_prompt
from tacit.text.conversation import Choice, Conversation, Reaction, check_candidates
from tacit.text.evidence import Evidence, remarks_on
from tacit.text.model import FitProgress

LEAST_IMPROVEMENT = 1e-4
"""Gain in validation loss that counts as improvement."""


@dataclass(frozen=True)
class LanguageModelSettings:
    """How the adapters learn; the batch is the paper's (appendix C.3), the rest it does not name.

    A share `held_out` of the reactions is kept for validation; the posterior is that of the epoch with the
    least loss there, and training ends after `patience` epochs without a better one. `window` is the number of
    episodes that REINFORCE's baseline is a mean over.
    """

    batch: int = 16
    rank: int = 8
    epochs: int = 10
    patience: int = 3
    held_out: float = 0.2
    window: int = 100
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        for name in ("batch", "rank", "epochs", "patience", "window", "max_tokens"):
            check_whole(name, getattr(self, name), 1)
        check_number("held_out", self.held_out, 0, 1)


class CausalLM:
    """A text model that asks a causal language model; see the module for what it computes.

    The same seed and the same calls give the same weights, bit for bit, on one machine with one number of threads.
    """

    name: ClassVar[str] = "causal"

    def __init__(
        self, preset: Preset | str = "smol", settings: LanguageModelSettings | None = None, seed: int = 0
    ) -> None:
        self.preset = find_preset(preset) if isinstance(preset, str) else preset
        self.settings = settings or LanguageModelSettings()
        self.seed = check_seed(seed)
        self.losses: tuple[float, ...] = ()
        self.evidence: Evidence | None = None
        check_memory(self.preset)
        self._posterior, self._policy = (
            Adapter(base, self.settings.rank, self.settings.max_tokens, self.seed)
            for base in (self.preset.posterior, self.preset.policy)
        )
        self._start = self._posterior.weights
        self._optimiser = adamw(self._policy, self.preset.policy_rate)
        self._pending = 0  # episodes whose gradient waits for the next step
        self._episodes = 0
        self._baseline = 0.0

    def score(self, conversation: Conversation, candidates: Sequence[str]) -> FloatArray:
        """Return P(Yes) / (P(Yes) + P(No)) of the policy for each candidate, (K,)."""
        log_odds = self._policy.predict(policy_prompt(conversation), check_candidates(candidates))
        return np.asarray(1 / (1 + np.exp(-log_odds)))

    def posterior(self, conversation: Conversation, candidates: Sequence[str], feedback: str) -> FloatArray:
        """Return h(x, y, s), the softmax of the posterior's log-odds, (K,)."""
        prompt = posterior_prompt(conversation, feedback)
        return softmax(self._posterior.predict(prompt, check_candidates(candidates)))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what the user must be told of the last fit: that it learned nothing, if it did not."""
        return () if self.evidence is None else remarks_on(self.evidence)

    def fit(
        self,
        reactions: Sequence[Reaction],
        progress: FitProgress | None = None,
        rewards: Sequence[float] | None = None,
    ) -> None:
        """Learn the posterior anew from these reactions; `losses` then has the validation losses, epoch by epoch.

        The first of them is from before any learning. With known `rewards` there is nothing to decode, and no fit.
        """
        if rewards is not None:
            return
        generator = np.random.default_rng((self.seed, len(reactions)))
        train, valid = hold_out(reactions, self.settings.held_out, generator)
        self._posterior.weights = best = self._start
        optimiser = adamw(self._posterior, self.preset.posterior_rate)
        report = FitReport(progress, self.settings.epochs * math.ceil(len(train) / self.settings.batch))
        found = self._validate(valid)
        losses, best_epoch = [float(found.mean())], 0
        for epoch in range(1, self.settings.epochs + 1):
            order = generator.permutation(len(train))
            for start in range(0, len(train), self.settings.batch):
                self._descend([train[i] for i in order[start : start + self.settings.batch]], optimiser)
                report.step(f"fitting the posterior: epoch {epoch}, validation loss {losses[-1]:.3f}")
            last = self._validate(valid)
            losses.append(float(last.mean()))
            if losses[-1] < losses[best_epoch] - LEAST_IMPROVEMENT:
                best, best_epoch, found = self._posterior.weights, epoch, last
            elif epoch - best_epoch >= self.settings.patience:
                break
        self._posterior.weights = best
        self.losses, self.evidence = tuple(losses), weigh(valid, found)
        report.end(f"posterior fitted: validation loss {losses[best_epoch]:.3f} after epoch {best_epoch}")

    def reinforce(self, choices: Sequence[Choice], reward: float) -> None:
        """Add the gradient of one episode; every `batch` episodes they make a step of AdamW.

        The baseline is the mean of the rewards of earlier episodes, the older ones fading after `window`.
        """
        check_number("reward", reward, -math.inf, math.inf)
        advantage = reward - self._baseline
        for choice in choices if advantage else ():
            log_odds = self._policy.log_odds(policy_prompt(choice.conversation), choice.candidates)
            log_probability = torch.log_softmax(log_odds, 0)[choice.action]
            (-advantage / self.settings.batch * log_probability).backward()  # type: ignore[no-untyped-call]
        self._episodes += 1
        self._baseline += advantage / min(self._episodes, self.settings.window)
        self._pending += 1
        if self._pending == self.settings.batch:
            self._optimiser.step()
            self._optimiser.zero_grad()
            self._pending = 0

    def to_state(self) -> dict[str, Any]:
        """Return the adapters, AdamW's moments, the gradient that waits, and the base models' names."""
        return {
            "preset": asdict(self.preset),
            "settings": asdict(self.settings),
            "seed": self.seed,
            "bases": [self._posterior.fingerprint, self._policy.fingerprint],
            "losses": list(self.losses),
            "evidence": None if self.evidence is None else list(self.evidence),
            "posterior": self._posterior.weights,
            "policy": self._policy.weights,
            "optimiser": read_optimiser(self._optimiser, self._policy.parameters),
            "pending": self._pending,
            "episodes": self._episodes,
            "baseline": self._baseline,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> CausalLM:
        """Return the model that `to_state` described, on base models read anew."""
        saved = Saved.of(state)
        chosen, settings = saved.part("preset"), saved.part("settings").make(LanguageModelSettings)
        bases = {role: chosen.part(role).make(BaseModel) for role in ("posterior", "policy")}
        model = cls(chosen.make(Preset, **bases), settings, saved["seed"])
        prints, losses = saved.entries("bases"), saved.entries("losses")
        for name, adapter in zip("01", (model._posterior, model._policy), strict=True):
            adapter.check_base(prints.whole(name))
        model._posterior.weights = saved.single_floats("posterior", (model._start.size,))
        model._policy.weights = saved.single_floats("policy", (model._policy.weights.size,))
        write_optimiser(model._optimiser, model._policy.parameters, saved.part("optimiser"))
        model.losses = tuple(losses.number(i) for i in losses)
        model.evidence = Evidence.from_state(saved, "evidence")
        model._pending = saved.whole("pending", most=settings.batch - 1)
        model._episodes, model._baseline = (
            saved.whole("episodes", model._pending),
            saved.number("baseline", 0, 1),
        )
        return model

    def _descend(self, reactions: Sequence[Reaction], optimiser: torch.optim.AdamW) -> None:
        """Make one step on the mean loss of a batch, one reaction after the other so that little is in memory."""
        optimiser.zero_grad()
        for reaction in reactions:
            (self._loss(reaction) / len(reactions)).backward()  # type: ignore[no-untyped-call]
        optimiser.step()

    def _validate(self, reactions: Sequence[Reaction]) -> FloatArray:
        """Return the loss of each reaction, (n,)."""
        with torch.no_grad():
            return np.array([float(self._loss(reaction)) for reaction in reactions])

    def _loss(self, reaction: Reaction) -> torch.Tensor:
        """Return ‖h(x, y, s) - e_a‖², the term of one reaction in eq. 5."""
        choice = reaction.choice
        prompt = posterior_prompt(choice.conversation, reaction.feedback)
        h = torch.softmax(self._posterior.log_odds(prompt, choice.candidates), 0)
        return (h * h).sum() - 2 * h[choice.action] + 1


class FitReport:
    """Tells a progress function, if there is one, of steps done out of `total`."""

    def __init__(self, progress: FitProgress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def step(self, what: str) -> None:
        """Count one step more."""
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total, what)

    def end(self, what: str) -> None:
        """Count all steps as done, also those that early stopping left out."""
        if self._progress is not None:
            self._progress(self._total, self._total, what)


def hold_out(
    reactions: Sequence[Reaction], share: float, generator: np.random.Generator
) -> tuple[list[Reaction], list[Reaction]]:
    """Return the reactions to learn from, and those to validate on: a random share, at least one."""
    if len(reactions) < 2:
        raise ValueError(
            f"the posterior needs at least 2 reactions, one of them to validate on, got {len(reactions)}; "
            "explore for more episodes"
        )
    n = min(max(1, round(share * len(reactions))), len(reactions) - 1)
    order = generator.permutation(len(reactions))
    return [reactions[i] for i in order[n:]], [reactions[i] for i in order[:n]]


def weigh(reactions: Sequence[Reaction], losses: FloatArray) -> Evidence:
    """Return how far below the uniform posterior's loss, 1 - 1/K, the losses (n,) are, with the standard error."""
    gains = np.array([1 - 1 / len(reaction.choice.candidates) for reaction in reactions]) - losses
    error = float(gains.std(ddof=1)) / math.sqrt(len(gains)) if len(gains) > 1 else math.inf
    return Evidence(float(gains.mean()), error)


def softmax(logits: FloatArray) -> FloatArray:
    """Return exp(l_a) / Σ_b exp(l_b).

    >>> softmax(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    odds = np.exp(logits - logits.max())
    return np.asarray(odds / odds.sum())


def adamw(adapter: Adapter, rate: float) -> torch.optim.AdamW:
    """Return a new optimiser of an adapter's weights; all but its rate are torch's defaults."""
    return torch.optim.AdamW(adapter.parameters, lr=rate)


def read_optimiser(optimiser: torch.optim.AdamW, weights: Sequence[torch.Tensor]) -> dict[str, Any]:
    """Return AdamW's number of steps, both moments and the gradient so far; empty where there is none."""
    steps = [optimiser.state[weight] for weight in weights] if optimiser.state else []
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    return {
        "steps": int(steps[0]["step"]) if steps else 0,
        "first": flatten([each["exp_avg"] for each in steps]),
        "second": flatten([each["exp_avg_sq"] for each in steps]),
        "gradient": flatten(gradients),
    }


def write_optimiser(
    optimiser: torch.optim.AdamW, weights: Sequence[torch.Tensor], state: Mapping[str, Any]
) -> None:
    """Put back what `read_optimiser` returned."""
    saved, size = Saved.of(state), sum(weight.numel() for weight in weights)
    steps, gradients = saved.whole("steps"), saved.single_floats("gradient", (None,))
    each = (size if steps else 0,)
    first = saved.single_floats("first", each)
    second = saved.single_floats("second", each, low=0)
    if steps:
        moments = (split_like(moment, weights) for moment in (first, second))
        for weight, one, two in zip(weights, *moments, strict=True):
            step = torch.tensor(float(steps))
            optimiser.state[weight] = {"step": step, "exp_avg": one, "exp_avg_sq": two}
    if len(gradients):
        for weight, gradient in zip(weights, split_like(gradients, weights), strict=True):
            weight.grad = gradient

"""A causal language model as text model: Yes or No about each candidate, low-rank adapters (appendix C.3).

With l_a = log P(Yes) - log P(No) of the token that follows the prompt about candidate a:

    posterior  h_a = exp(l_a) / Σ_b exp(l_b)                   fitted by ERM to the candidate that was taken (eq. 5)
    score      P(Yes) / (P(Yes) + P(No)) = 1 / (1 + exp(-l_a))
    REINFORCE  ∇ of -(r - b) Σ_choices log π(a), π = softmax of l over the candidates of the choice

The posterior and the policy have an adapter each, on one base model or on two. Where a prompt is longer than the
model reads, the oldest part of the conversation is left out; never the candidate, the feedback or the profile.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch

from tacit.base.arrays import FloatArray
from tacit.base.changes import Changes, assign
from tacit.base.randomness import check_seed
from tacit.base.saved import Saved
from tacit.base.validation import check_number, check_whole
from tacit.decoding.decoder import DecoderSettings
from tacit.text.causal.adapter import Adapter, Array32, flatten, split_like
from tacit.text.causal.presets import BaseModel, Preset, check_memory, find_preset
from tacit.text.causal.prompts import policy_prompt, posterior_prompt
from tacit.text.conversation import Choice, Conversation, Reaction, check_candidates
from tacit.text.evidence import Evidence, remarks_on
from tacit.text.model import FitProgress, decode_posterior

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


class Reinforced(NamedTuple):
    """What REINFORCE has made of the policy: its weights, AdamW's steps and moments, and a gradient that waits.

    `pending` episodes are in the gradient, the baseline is of `episodes`. Arrays are flat, empty where there is none.
    """

    weights: Array32
    steps: int = 0
    first: Array32 = np.empty(0, np.float32)
    second: Array32 = np.empty(0, np.float32)
    gradient: Array32 = np.empty(0, np.float32)
    pending: int = 0
    episodes: int = 0
    baseline: float = 0.0


class CausalLM:
    """A text model that asks a causal language model; see the module for what it computes.

    The same seed and the same calls give the same weights, bit for bit, on one machine with one number of threads.
    """

    name: ClassVar[str] = "causal"
    refits: ClassVar[bool] = False

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
        self._start = self._fitted = self._posterior.weights
        self._learned = Reinforced(self._policy.weights)

    def score(self, conversation: Conversation, candidates: Sequence[str]) -> FloatArray:
        """Return P(Yes) / (P(Yes) + P(No)) of the policy for each candidate, (K,)."""
        self._policy.hold(self._learned.weights)
        log_odds = self._policy.predict(policy_prompt(conversation), check_candidates(candidates))
        return np.asarray(1 / (1 + np.exp(-log_odds)))

    def posterior(self, conversation: Conversation, candidates: Sequence[str], feedback: str) -> FloatArray:
        """Return h(x, y, s), the softmax of the posterior's log-odds, (K,)."""
        self._posterior.hold(self._fitted)
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
    ) -> CausalLM:
        """Return the model with the posterior learned anew from these reactions, on the same base models.

        Its `losses` are the validation losses, epoch by epoch; the first of them is from before any learning. With
        known `rewards` there is nothing to decode, and no fit.
        """
        if rewards is not None:
            return copy.copy(self)
        generator = np.random.default_rng((self.seed, len(reactions)))
        train, valid = hold_out(reactions, self.settings.held_out, generator)
        best = self._start
        self._posterior.hold(best)
        self._posterior.release()
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
        report.end(f"posterior fitted: validation loss {losses[best_epoch]:.3f} after epoch {best_epoch}")
        self._posterior.hold(best)
        model = copy.copy(self)
        model._fitted, model.losses, model.evidence = best, tuple(losses), weigh(valid, found)
        return model

    def decode(self, reaction: Reaction, decoder: DecoderSettings) -> float:
        """Return J of its posterior."""
        return decode_posterior(self, reaction, decoder)

    def reinforce(self, choices: Sequence[Choice], reward: float) -> Changes:
        """Return the gradient with that of one episode; every `batch` episodes they make a step of AdamW.

        The baseline is the mean of the rewards of earlier episodes, the older ones fading after `window`.
        """
        check_number("reward", reward, -math.inf, math.inf)
        now, episodes = self._learned, self._learned.episodes + 1
        advantage = reward - now.baseline
        after = now._replace(
            gradient=self._add_gradient(choices if advantage else (), advantage),
            pending=now.pending + 1,
            episodes=episodes,
            baseline=now.baseline + advantage / min(episodes, self.settings.window),
        )
        if after.pending == self.settings.batch:
            after = self._step(after)
        return (assign(self, "_learned", after),)

    def to_state(self) -> dict[str, Any]:
        """Return the adapters, AdamW's moments, the gradient that waits, and the base models' names."""
        learned = self._learned._asdict()
        return {
            "preset": asdict(self.preset),
            "settings": asdict(self.settings),
            "seed": self.seed,
            "bases": [self._posterior.fingerprint, self._policy.fingerprint],
            "losses": list(self.losses),
            "evidence": None if self.evidence is None else list(self.evidence),
            "posterior": self._fitted,
            "policy": learned.pop("weights"),
            "optimiser": {name: learned.pop(name) for name in ("steps", "first", "second", "gradient")},
            **learned,
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
        model._fitted = saved.single_floats("posterior", (model._start.size,))
        model._learned = read_reinforced(saved, model._learned.weights.size, settings)
        model._posterior.hold(model._fitted)
        model._policy.hold(model._learned.weights)
        model.losses = tuple(losses.number(i) for i in losses)
        model.evidence = Evidence.from_state(saved, "evidence")
        return model

    def _add_gradient(self, choices: Sequence[Choice], advantage: float) -> Array32:
        """Return the gradient that waits, with that of these choices added, one after the other."""
        self._policy.hold(self._learned.weights)
        write_gradient(self._policy.parameters, self._learned.gradient)
        for choice in choices:
            log_odds = self._policy.log_odds(policy_prompt(choice.conversation), choice.candidates)
            log_probability = torch.log_softmax(log_odds, 0)[choice.action]
            (-advantage / self.settings.batch * log_probability).backward()  # type: ignore[no-untyped-call]
        return flatten([weight.grad for weight in self._policy.parameters if weight.grad is not None])

    def _step(self, learned: Reinforced) -> Reinforced:
        """Return what a step of AdamW along the gradient leaves."""
        policy, weights = self._policy, self._policy.parameters
        policy.hold(learned.weights)
        optimiser = adamw(policy, self.preset.policy_rate)
        write_moments(optimiser, weights, learned)
        write_gradient(weights, learned.gradient)
        policy.release()
        optimiser.step()
        return learned._replace(
            weights=policy.weights,
            **read_moments(optimiser, weights),
            gradient=np.empty(0, np.float32),
            pending=0,
        )

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


def read_moments(optimiser: torch.optim.AdamW, weights: Sequence[torch.Tensor]) -> dict[str, Any]:
    """Return AdamW's number of steps and both moments; empty where there is none."""
    steps = [optimiser.state[weight] for weight in weights] if optimiser.state else []
    return {
        "steps": int(steps[0]["step"]) if steps else 0,
        "first": flatten([each["exp_avg"] for each in steps]),
        "second": flatten([each["exp_avg_sq"] for each in steps]),
    }


def write_moments(optimiser: torch.optim.AdamW, weights: Sequence[torch.Tensor], learned: Reinforced) -> None:
    """Put back what `read_moments` returned."""
    if learned.steps:
        moments = (split_like(each, weights) for each in (learned.first, learned.second))
        for weight, first, second in zip(weights, *moments, strict=True):
            step = torch.tensor(float(learned.steps))
            optimiser.state[weight] = {"step": step, "exp_avg": first, "exp_avg_sq": second}


def write_gradient(weights: Sequence[torch.Tensor], gradient: Array32) -> None:
    """Let the weights' gradient be this; none if it is empty."""
    parts = split_like(gradient, weights) if len(gradient) else [None] * len(weights)
    for weight, part in zip(weights, parts, strict=True):
        weight.grad = part


def read_reinforced(saved: Saved, size: int, settings: LanguageModelSettings) -> Reinforced:
    """Return what was saved of REINFORCE, for a policy of `size` weights."""
    kept, pending = saved.part("optimiser"), saved.whole("pending", most=settings.batch - 1)
    steps, gradient = kept.whole("steps"), kept.single_floats("gradient", (None,))
    kept.check(len(gradient) in (0, size), "gradient", f"none, or {size} numbers")
    moments = (size if steps else 0,)
    return Reinforced(
        saved.single_floats("policy", (size,)),
        steps,
        kept.single_floats("first", moments),
        kept.single_floats("second", moments, low=0),
        gradient,
        pending,
        saved.whole("episodes", pending),
        saved.number("baseline", 0, 1),
    )

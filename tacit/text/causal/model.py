"""A causal language model as text model: heads on its states, begun where the small model ended (appendix C.3).

The posterior is fitted once (`tacit.text.causal.fitting`); the last choice of an episode is scored by its f, earlier
ones as the small model does, and the policy, a model of its own or the same, learns from there by REINFORCE
(`tacit.text.causal.reinforce`). Where a conversation is longer than the model reads, its oldest part is left out; never
the candidate or the profile.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
import torch

from tacit.base.arrays import FloatArray
from tacit.base.changes import Changes, assign
from tacit.base.checkpoint import VERSION
from tacit.base.randomness import check_seed
from tacit.base.saved import Saved
from tacit.base.validation import check_number
from tacit.decoding.decoder import DecoderSettings
from tacit.text.causal.fitting import FittedHeads, LanguageModelSettings, Losses, fit_language_model
from tacit.text.causal.heads import (
    Begun,
    HeadBasis,
    States,
    begin_with,
    believe_heads,
    fit_candidates,
    make_features,
    posterior_of,
    ratio_of,
)
from tacit.text.causal.packing import Packer
from tacit.text.causal.presets import BaseModel, Preset, check_memory, find_preset
from tacit.text.causal.reader import StateReader
from tacit.text.causal.reinforce import Reinforced, ReinforcedPolicy
from tacit.text.causal.texts import pack_reaction, read_choices
from tacit.text.causal.unfinished import Unfinished
from tacit.text.conversation import NO_REMARK, Choice, Conversation, Reaction, check_candidates
from tacit.text.evidence import Evidence, remarks_on
from tacit.text.model import FitProgress
from tacit.text.small.affinity import Projection
from tacit.text.small.cache import EncodingCache
from tacit.text.small.encoder import Encoder
from tacit.text.small.likelihood import Believed
from tacit.text.small.model import SmallModel, SmallSettings

MOST_READ = 200
"""Choices of which a policy on a model of its own takes the basis of its head."""


class CausalLM:
    """A text model that reads by a causal language model; see the module for what it computes.

    The same seed and the same calls give the same weights, bit for bit, on one machine with one number of threads.
    `encoder`, `cache` and `small`, its settings, are the small model's.
    """

    name: ClassVar[str] = "causal"
    refits: ClassVar[bool] = False

    def __init__(
        self,
        horizon: int,
        preset: Preset | str = "smol",
        settings: LanguageModelSettings | None = None,
        seed: int = 0,
        encoder: Encoder | None = None,
        cache: EncodingCache | None = None,
        small: SmallSettings | None = None,
    ) -> None:
        self.preset = find_preset(preset) if isinstance(preset, str) else preset
        self.settings = settings or LanguageModelSettings()
        self.seed = check_seed(seed)
        check_memory(self.preset)
        self.small = SmallModel(horizon, small, encoder, cache)
        self.fitted: FittedHeads | None = None
        bases = (self.preset.posterior, self.preset.policy)
        rank, layers = self.settings.rank, self.settings.layers
        self._reader, policy = (StateReader(base, rank, layers, self.seed) for base in bases)
        self._packer, packer = (packer_of(reader, self.settings) for reader in (self._reader, policy))
        self._policy = ReinforcedPolicy(policy, packer, self.preset.policy_rate, self.settings)
        self._start, self._policy_start = self._reader.weights, policy.weights
        self._policy_basis: Projection | None = None
        self._learned: Reinforced | None = None

    def score(self, conversation: Conversation, candidates: Sequence[str]) -> FloatArray:
        """Return how likely the policy takes each candidate to lead to a reward, (K,); all alike before a fit."""
        choice = Choice(conversation, check_candidates(candidates), 0, 1.0)
        if self._learned is None or self._policy_basis is None:
            return self.small.score(conversation, candidates)
        return self._policy.scores(self._learned, self._policy_basis, choice, self._first_scores)

    def posterior(self, conversation: Conversation, candidates: Sequence[str], feedback: str) -> FloatArray:
        """Return h(x, y, s), (K,)."""
        choice = Choice(conversation, check_candidates(candidates), 0, 1.0)
        begun, believed = self._believe(Reaction(choice, feedback))
        return np.asarray(posterior_of(believed, begun.mask)[0])

    def decode(self, reaction: Reaction, decoder: DecoderSettings) -> float:
        """Return how likely the choice of a reaction was rewarded, given what was said of it (dev. 33)."""
        _, believed = self._believe(reaction)
        f = believed.good[0] * believed.fits[0, reaction.choice.action]
        return float(f / (f + (1 - f) * np.exp(-ratio_of(believed)[0])))

    @property
    def evidence(self) -> Evidence | None:
        """Return whether the small model, with which a fit begins, found that feedback tells anything."""
        return self.small.evidence

    @property
    def losses(self) -> Losses | None:
        """Return the losses on reactions left out of the last fit."""
        return None if self.fitted is None else self.fitted.losses

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
        """Return the model with posterior and policy begun anew from these reactions, on the same base models.

        With known `rewards` there is nothing to decode: the policy begins with what the small model makes of them.
        A fit that was killed goes on after the last epoch that it had finished.
        """
        model = copy.copy(self)
        begun, features = self.small, self.small.features
        blank = SmallModel(begun.horizon, begun.settings, features.encoder, features.cache)
        if rewards is not None:
            model.small, model.fitted = blank.fit(reactions, progress, rewards), None
        else:
            self._reader.hold(self._start)
            model.fitted = fit_language_model(
                self._reader,
                self._packer,
                blank,
                reactions,
                self.settings,
                self.preset.posterior_rate,
                self.seed,
                self._unfinished(reactions),
                progress,
            )
            model.small = model.fitted.small
        model._policy_basis = self._find_policy_basis(model.fitted, reactions, progress)
        model._learned = Reinforced(self._policy_start, np.zeros(model._policy_basis.size, np.float32))
        return model

    def reinforce(self, choices: Sequence[Choice], reward: float) -> Changes:
        """Return what one episode changes: its gradient waits for those of others, `batch` of them make a step."""
        check_number("reward", reward, -math.inf, math.inf)
        if self._learned is None or self._policy_basis is None:
            raise ValueError("a policy learns after `fit`, and this model was not fitted; explore first")
        after = self._policy.learn(self._learned, self._policy_basis, choices, reward, self._first_scores)
        return (assign(self, "_learned", after),)

    def to_state(self) -> dict[str, Any]:
        """Return the small model, adapters, heads, AdamW's moments, the gradient that waits, the base models' names."""
        return {
            "preset": asdict(self.preset),
            "settings": asdict(self.settings),
            "seed": self.seed,
            "bases": [each.frozen.fingerprint for each in (self._reader, self._policy.reader)],
            "small": self.small.to_state(),
            "fitted": None if self.fitted is None else fitted_state(self.fitted),
            "policy_basis": None if self._policy_basis is None else self._policy_basis.to_state(),
            "policy": None if self._learned is None else self._learned.to_state(),
        }

    @classmethod
    def from_state(
        cls, state: Mapping[str, Any], encoder: Encoder | None = None, cache: EncodingCache | None = None
    ) -> CausalLM:
        """Return the model that `to_state` described, on base models read anew."""
        saved = Saved.of(state)
        chosen, settings = saved.part("preset"), saved.part("settings").make(LanguageModelSettings)
        bases = {role: chosen.part(role).make(BaseModel) for role in ("posterior", "policy")}
        small = SmallModel.from_state(saved.part("small"), encoder, cache)
        preset = chosen.make(Preset, **bases)
        features = small.features
        given = (features.encoder, features.cache, small.settings)
        model = cls(small.horizon, preset, settings, saved["seed"], *given)
        model.small, prints = small, saved.entries("bases")
        for name, reader in zip("01", (model._reader, model._policy.reader), strict=True):
            reader.check_base(prints.whole(name))
        if saved.has("fitted"):
            saved.check(small.fitted is not None, "small", "fitted")
            model.fitted = restore_fitted(saved.part("fitted"), small, model._reader, model._start.shape)
        if saved.has("policy"):
            model._restore_policy(saved)
        return model

    def _restore_policy(self, saved: Saved) -> None:
        basis, reader = Projection.from_state(saved.part("policy_basis")), self._policy.reader
        saved.check(len(basis.mean) == reader.frozen.width, "policy_basis", "of the policy's states")
        shape = (len(self._policy_start), basis.size)
        self._policy_basis = basis
        self._learned = Reinforced.from_state(saved.part("policy"), shape, self.settings.batch)

    def _first_scores(self, choice: Choice) -> FloatArray:
        """Return the scores that the policy begins with: f of the last choice, the small model's of earlier ones."""
        last = len(choice.conversation.exchanges) >= self.small.horizon - 1
        if self.fitted is None or not last:
            return self.small.score(choice.conversation, choice.candidates)
        _, believed = self._believe(Reaction(choice, NO_REMARK))
        return np.asarray(believed.good[0] * believed.fits[0])

    def _believe(self, reaction: Reaction) -> tuple[Begun, Believed]:
        """Return what the small model and the language model say of a reaction."""
        if self.fitted is None:
            raise ValueError("there is a posterior after `fit`, and this model was not fitted; explore first")
        self._reader.hold(self.fitted.adapter)
        begun, basis = begin_with(self.small, [reaction]), self.fitted.basis
        with torch.no_grad():
            packs = pack_reaction(self._packer, reaction)
            choice, remark, profile = (self._reader.read_one(pack) for pack in packs)
            states = States(choice[None], remark, profile)
            heads = torch.tensor(self.fitted.heads, device=choice.device)
            found = believe_heads(heads, make_features(basis, begun, states), begun, basis.sizes)
        return begun, found.numpy()

    def _find_policy_basis(
        self, fitted: FittedHeads | None, reactions: Sequence[Reaction], progress: FitProgress | None
    ) -> Projection:
        """Return the basis of the policy's head: the posterior's where they have one base model."""
        if fitted is not None and self.preset.policy == self.preset.posterior:
            return fitted.basis.candidate
        reader, packer = self._policy.reader, self._policy.packer
        reader.hold(self._policy_start)
        choices = [reaction.choice for reaction in reactions[:MOST_READ]]
        return fit_candidates(read_choices(reader, packer, choices, progress), self.small.settings.fitting)

    def _unfinished(self, reactions: Sequence[Reaction]) -> Unfinished:
        """Return the file in which the progress of a fit is kept."""
        features = self.small.features
        depends_on = (self.preset, self.settings, self.seed, self._reader.frozen.fingerprint, list(reactions))
        return Unfinished(
            features.cache.path, VERSION, features.encoder.name, self.small.settings, *depends_on
        )


def packer_of(reader: StateReader, settings: LanguageModelSettings) -> Packer:
    """Return who turns texts into tokens of a reader's base model."""
    return Packer(reader.frozen.tokenizer, min(settings.max_tokens, reader.frozen.longest))


def fitted_state(fitted: FittedHeads) -> dict[str, Any]:
    """Return what was fitted as arrays and plain values, but for the small model."""
    return {
        "basis": fitted.basis.to_state(),
        "adapter": fitted.adapter,
        "heads": fitted.heads,
        "losses": [*fitted.losses[:3], *fitted.losses.epochs],
    }


def restore_fitted(
    saved: Saved, small: SmallModel, reader: StateReader, shape: tuple[int, ...]
) -> FittedHeads:
    """Return what `fitted_state` described, for an adapter of that shape."""
    basis = HeadBasis.from_state(saved.part("basis"), reader.frozen.width)
    entries = saved.entries("losses")
    saved.check(len(entries) >= 3, "losses", "three, and one an epoch")
    uniform, begun, heads, *epochs = (entries.number(i, 0, 2) for i in entries)
    return FittedHeads(
        small,
        basis,
        saved.single_floats("adapter", shape),
        saved.single_floats("heads", (sum(basis.sizes),)),
        Losses(uniform, begun, heads, tuple(epochs)),
    )

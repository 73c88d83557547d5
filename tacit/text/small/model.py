"""The small text model: frozen encoders, the structured posterior, and what earlier choices are worth.

The last choice is scored by f of the posterior, what a candidate is likely to earn; an earlier one by how good a place
it leads to (`tacit.text.small.values`). It is fitted anew, to all reactions, whenever there are half as many again:
so reading sharpens while the agent earns, and a wrong turn is undone.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.changes import Changes
from tacit.base.saved import Saved
from tacit.base.validation import check_encodable
from tacit.decoding.decoder import DecoderSettings
from tacit.text.conversation import NO_REMARK, Choice, Conversation, Reaction
from tacit.text.evidence import Evidence, remarks_on
from tacit.text.model import FitProgress
from tacit.text.settings import BUNDLED
from tacit.text.small.cache import EncodingCache, default_path
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.earlier_choices import share_of_last, weigh_turns
from tacit.text.small.echoing import measure_echo
from tacit.text.small.encoder import Encoder, bundled_encoder
from tacit.text.small.encoders import find_encoder
from tacit.text.small.ensemble import Ensemble
from tacit.text.small.features import TextFeatures, unique
from tacit.text.small.fitting import fit_text_posterior
from tacit.text.small.foregoing import list_earlier
from tacit.text.small.left_out import LeftOut
from tacit.text.small.posterior import Sample, TextPosterior
from tacit.text.small.sampling import (
    MATCHES,
    ROLES,
    SentenceVectors,
    make_sample,
    state_size,
    steps_of,
    texts_of,
)
from tacit.text.small.sounding import KIND, UNKIND
from tacit.text.small.values import StepValue, fit_value


@dataclass(frozen=True)
class SmallSettings:
    """How the small model is fitted, and the name of its encoder: see `tacit.text.small.encoders`."""

    fitting: FittingSettings = field(default_factory=FittingSettings)
    encoder: str = BUNDLED

    def __post_init__(self) -> None:
        check_encodable("the name of the encoder", self.encoder)


class SmallModel:
    """The default text model; see `tacit.text.model.TextModel` and the module's docstring.

    `encoder` and `cache` default to that which the settings name and the user's cache of encodings. Who will fit again
    and again says so by the `looks` that count as had: see `tacit.text.evidence.ONE_OF_MANY`.
    """

    name: ClassVar[str] = "small"
    refits: ClassVar[bool] = True

    def __init__(
        self,
        horizon: int,
        settings: SmallSettings | None = None,
        encoder: Encoder | None = None,
        cache: EncodingCache | None = None,
        looks: int = 0,
    ) -> None:
        self.horizon = horizon
        self.settings = settings if settings is not None else SmallSettings()
        named = encoder or (
            bundled_encoder() if self.settings.encoder == BUNDLED else find_encoder(self.settings.encoder)
        )
        self.features = TextFeatures(named, cache or EncodingCache(default_path()))
        self.fitted: Ensemble | None = None
        self.values: tuple[StepValue | None, ...] = ()
        self.evidence: Evidence | None = None
        self.looks = looks
        self.left_out: LeftOut | None = None

    def prepare(
        self,
        pairs: Sequence[tuple[Conversation, tuple[str, ...]]],
        feedback: Sequence[str],
        progress: FitProgress,
    ) -> None:
        """Encode in batches what will be met: conversations with their candidates, and feedback.

        Not needed for learning, only much faster than one by one.
        """
        self.features.match([pair for pair in pairs if self._is_last(pair[0])], progress)
        texts = (text for talk, offered in pairs for text in (*texts_of(talk), *offered))
        self.features.sentences(unique(text for text in (*texts, *feedback) if text), progress)
        self.features.profiles([pair[0].context.profile for pair in pairs], progress)
        self.features.reactions(unique((*feedback, *KIND, *UNKIND)), progress)

    def score(self, conversation: Conversation, candidates: Sequence[str]) -> FloatArray:
        """Return how likely each candidate leads to a reward, (K,); the same for all before anything was learned."""
        if self.fitted is None:
            return np.full(len(candidates), 1 / len(candidates))
        if self._is_last(conversation):
            choice = Choice(conversation, tuple(candidates), 0, 1.0)
            sample = make_sample(self.features, [Reaction(choice, NO_REMARK)], heard=False)
            found: FloatArray = self.fitted.rewards(sample)[0]
            return found
        value = self.values[len(conversation.exchanges)]
        if value is None:
            return np.full(len(candidates), 1 / len(candidates))
        vectors = SentenceVectors(self.features, (*texts_of(conversation), *candidates))
        return value(vectors.said(conversation), vectors.table[vectors.rows(candidates)])

    def posterior(self, conversation: Conversation, candidates: Sequence[str], feedback: str) -> FloatArray:
        """Return h(x, y, s), (K,)."""
        sample = self.sample([Reaction(Choice(conversation, tuple(candidates), 0, 1.0), feedback)])
        predicted: FloatArray = self._posterior().predict(sample)[0]
        return predicted

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what the user must be told of the last fit: that it learned nothing, if it did not."""
        return () if self.evidence is None else remarks_on(self.evidence)

    def decode(self, reaction: Reaction, decoder: DecoderSettings) -> float:
        """Return how likely the choice of a reaction was rewarded, given what was said of it (dev. 33)."""
        return float(self._posterior().rewarded(self.sample([reaction]))[0])

    def confidence(self, reaction: Reaction) -> float:
        """Return how sure the likelier reward of a reaction is, in [1/2, 1]."""
        return float(self._posterior().confidence(self.sample([reaction]))[0])

    def fit(
        self,
        reactions: Sequence[Reaction],
        progress: FitProgress | None = None,
        rewards: Sequence[float] | None = None,
        leaves_out: bool = False,
    ) -> SmallModel:
        """Return the model fitted to reactions; known `rewards` take the place of its meaning.

        Evidence that was found once stays found: what is chosen by what it showed is no uniform draw any more. If
        asked for, the fits that leave reactions out are kept beside it, until it is saved.
        """
        sample = self.sample(reactions, progress)
        known = None if rewards is None else np.asarray(rewards, dtype=np.float64)
        model = copy.copy(self)  # features and cache are shared
        model.looks += 1
        found = self.evidence if self.evidence is not None and self.evidence.found else None
        looks = model.looks if found is None else 0
        fitting, several = self.settings.fitting, any(reaction.before for reaction in reactions)
        share = share_of_last(reactions)
        compares = several and known is None
        earlier = list_earlier(self.features, reactions, fitting.said_parts) if compares else ()
        fit = fit_text_posterior(sample, fitting, known, looks, share, earlier)
        model.fitted, evidence, left_out, gauge = fit
        if evidence is not None and several:
            evidence = weigh_turns(evidence, self.features, reactions, fitting)
        model.left_out = LeftOut.of(reactions, left_out) if leaves_out else None
        model.evidence = found or evidence
        if model.evidence is not None and known is None:
            said = [each.feedback for each in reactions]
            evidence = model._with_echo(model.evidence, model.fitted, sample, said)
            model.evidence = evidence._replace(**gauge._asdict())
        model.values = model._fit_values(reactions, sample, known)
        return model

    def reinforce(self, choices: Sequence[Choice], reward: float) -> Changes:
        """Return no change: it is fitted anew to all that was learned."""
        return ()

    def sample(self, reactions: Sequence[Reaction], progress: FitProgress | None = None) -> Sample:
        """Return reactions as the numbers that the posterior reads."""
        return make_sample(self.features, reactions, progress)

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values from which `from_state` rebuilds the model bit for bit."""
        return {
            "horizon": self.horizon,
            "settings": asdict(self.settings),
            "fitted": None if self.fitted is None else self.fitted.to_state(),
            "values": [{"value": None if each is None else each.to_state()} for each in self.values],
            "evidence": None if self.evidence is None else list(self.evidence),
            "looks": self.looks,
        }

    @classmethod
    def from_state(
        cls, state: Mapping[str, Any], encoder: Encoder | None = None, cache: EncodingCache | None = None
    ) -> SmallModel:
        """Return the model that `to_state` described."""
        saved = Saved.of(state)
        chosen = saved.part("settings")
        settings = chosen.make(SmallSettings, fitting=chosen.part("fitting").make(FittingSettings))
        model = cls(saved.whole("horizon", 1), settings, encoder, cache)
        model.looks, model.evidence = saved.whole("looks"), Evidence.from_state(saved, "evidence")
        values = saved.parts("values")
        saved.check(
            len(values) == (model.horizon - 1) * saved.has("fitted"), "values", "one a step but the last"
        )
        if saved.has("fitted"):
            model.fitted = Ensemble.from_state(saved.part("fitted"))
            model._check_sizes(saved, model.fitted.leading)
            model.values = tuple(
                StepValue.from_state(each.part("value")) if each.has("value") else None for each in values
            )
            size = len(model.fitted.leading.affinity.item.mean)
            told = all(
                v is None or (len(v.affinity.item.mean), len(v.affinity.echo)) == (size, len(ROLES))
                for v in model.values
            )
            saved.check(told, "values", "of the vectors that the posterior reads")
        return model

    def _check_sizes(self, saved: Saved, fitted: TextPosterior) -> None:
        """Refuse a posterior of other features."""
        reading = self.features.encoder.reading_size
        sizes = {len(fitted.feedback_projection.mean), len(fitted.profile_projection.mean)}
        saved.check(sizes == {reading}, "fitted", f"of an encoder that reads {reading} numbers")
        affinity, sentence = fitted.affinity, len(fitted.affinity.item.mean)
        known = len(affinity.echo) == MATCHES and len(affinity.said) == len(ROLES)
        known = known and {len(each.mean) for each in affinity.said} == {sentence}
        whole = known and len(fitted.state_projection.mean) == state_size(sentence)
        saved.check(whole, "fitted", f"of {MATCHES} kinds of match and {len(ROLES)} vectors")

    def _posterior(self) -> Ensemble:
        if self.fitted is None:
            raise ValueError("there is a posterior after `fit`, and this model was not fitted; explore first")
        return self.fitted

    def _with_echo(
        self, evidence: Evidence, fitted: Ensemble, sample: Sample, feedback: Sequence[str]
    ) -> Evidence:
        """Return evidence with what is known of echo now."""
        echo = measure_echo(self.features, fitted, sample, feedback)
        return evidence if echo is None else evidence._replace(echo=echo.gain, echo_error=echo.error)

    def _is_last(self, conversation: Conversation) -> bool:
        return len(conversation.exchanges) >= self.horizon - 1

    def _fit_values(
        self, reactions: Sequence[Reaction], sample: Sample, rewards: FloatArray | None
    ) -> tuple[StepValue | None, ...]:
        """Return what choices before the last are worth, the last of them first fitted; None where there were none."""
        if self.horizon == 1:
            return ()
        posterior = self._posterior()
        ends = posterior.as_fitted.rewarded(sample) if rewards is None else rewards
        ahead = posterior.rewards(sample).max(axis=1)  # where the choice was the last that there can be
        episodes = [steps_of(reaction) for reaction in reactions]
        vectors = SentenceVectors(
            self.features,
            (t for e in episodes for c in e for t in (*texts_of(c.conversation), *c.candidates)),
        )
        values: list[StepValue | None] = []
        for step in reversed(range(self.horizon - 1)):
            rows = [n for n, episode in enumerate(episodes) if len(episode) > step]
            led_to = np.array(
                [(ahead[n] + ends[n]) / 2 if len(episodes[n]) > step + 1 else ends[n] for n in rows]
            )
            choices = [episodes[n][step] for n in rows]
            value = self._fit_value(choices, led_to, vectors) if rows else None
            values.append(value)
            for n, choice in zip(rows, choices, strict=True):
                said, offered = vectors.said(choice.conversation), vectors.rows(choice.candidates)
                ahead[n] = value(said, vectors.table[offered]).max() if value is not None else ahead[n]
        return tuple(reversed(values))

    def _fit_value(
        self, choices: Sequence[Choice], led_to: FloatArray, vectors: SentenceVectors
    ) -> StepValue:
        said, taken = vectors.chosen(choices)
        return fit_value(said, taken, led_to, self.settings.fitting.said_parts)

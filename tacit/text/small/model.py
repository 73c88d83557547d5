"""The small text model: frozen encoders, the structured posterior, and a linear policy on the same features.

The last choice is scored by how well candidates fit the conversation, softmax_a(w·match), from the weights that the
posterior was fitted with. An earlier one is scored by what its candidates led to: a logistic regression from the
candidate, and its product with the request, to g of the state it led to. Both go on learning by REINFORCE.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from tacit.base.arrays import FloatArray
from tacit.base.changes import Changes, assign
from tacit.base.saved import LARGEST, Saved
from tacit.base.validation import check_number, check_whole
from tacit.text.conversation import Choice, Conversation, Reaction
from tacit.text.evidence import Evidence, remarks_on
from tacit.text.model import FitProgress
from tacit.text.small.cache import EncodingCache, default_path
from tacit.text.small.encoder import Encoder, Float32Array, bundled_encoder
from tacit.text.small.features import TextFeatures
from tacit.text.small.fitting import FittingSettings, cross_validate, fit_logistic, fit_text_posterior
from tacit.text.small.matching import FEATURES
from tacit.text.small.posterior import Sample, TextPosterior

TOP = 2
"""The features of a state hold its candidates' best matches: the best two of each kind tell if one stands out."""


@dataclass(frozen=True)
class SmallSettings:
    """How the policy learns: the ridge of its first fit, then the steps of REINFORCE."""

    fitting: FittingSettings = field(default_factory=FittingSettings)
    value_ridge: float = 0.05
    learning_rate: float = 0.5
    batch: int = 16
    baseline_rate: float = 0.05

    def __post_init__(self) -> None:
        check_number("value_ridge", self.value_ridge, 0, LARGEST)
        check_number("learning_rate", self.learning_rate, 0, LARGEST)
        check_whole("batch", self.batch, 1)
        check_number("baseline_rate", self.baseline_rate, 0, 1)


class SmallModel:
    """The default text model; see `tacit.text.model.TextModel` and the module's docstring.

    `encoder` and `cache` default to the bundled models and the user's cache of encodings.
    """

    name: ClassVar[str] = "small"

    def __init__(
        self,
        horizon: int,
        settings: SmallSettings | None = None,
        encoder: Encoder | None = None,
        cache: EncodingCache | None = None,
    ) -> None:
        self.horizon = horizon
        self.settings = settings if settings is not None else SmallSettings()
        self.features = TextFeatures(encoder or bundled_encoder(), cache or EncodingCache(default_path()))
        self.fitted: TextPosterior | None = None
        self.evidence: Evidence | None = None
        self.policy: list[FloatArray] = []  # one vector of weights a step
        self._baseline = 0.0
        self._steps = 0
        self._gradient: list[FloatArray] = []

    def prepare(
        self,
        pairs: Sequence[tuple[Conversation, tuple[str, ...]]],
        feedback: Sequence[str],
        progress: FitProgress,
    ) -> None:
        """Encode in batches what will be met: conversations with their candidates, and feedback.

        Not needed for learning, only much faster than one by one.
        """
        last = self.horizon - 1
        self.features.match([pair for pair in pairs if len(pair[0].exchanges) == last], progress)
        texts = [text for pair in pairs if len(pair[0].exchanges) < last for text in pair[1]]
        self.features.sentences(list(dict.fromkeys(texts)), progress)
        self.features.sentences(list(dict.fromkeys(pair[0].context.request for pair in pairs)), progress)
        self.features.profiles([pair[0].context.profile for pair in pairs], progress)
        self.features.reactions(list(dict.fromkeys(feedback)), progress)

    def score(self, conversation: Conversation, candidates: Sequence[str]) -> FloatArray:
        """Return the policy's probability of each candidate, (K,); uniform before anything was learned."""
        if not self.policy:
            return np.full(len(candidates), 1 / len(candidates))
        features = self._policy_features(conversation, candidates)
        return np.asarray(softmax(features @ self.policy[len(conversation.exchanges)]))

    def posterior(self, conversation: Conversation, candidates: Sequence[str], feedback: str) -> FloatArray:
        """Return h(x, y, s), (K,)."""
        sample = self.sample([Reaction(Choice(conversation, tuple(candidates), 0, 1.0), feedback)])
        predicted: FloatArray = self._posterior().predict(sample)[0]
        return predicted

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what the user must be told of the last fit: that it learned nothing, if it did not."""
        return () if self.evidence is None else remarks_on(self.evidence)

    def confidence(self, reaction: Reaction) -> float:
        """Return how sure the likelier reward of a reaction is, in [1/2, 1]."""
        return float(self._posterior().confidence(self.sample([reaction]))[0])

    def fit(
        self,
        reactions: Sequence[Reaction],
        progress: FitProgress | None = None,
        rewards: Sequence[float] | None = None,
    ) -> SmallModel:
        """Return the model with posterior (eq. 5) and first policy; known `rewards` take the place of its meaning."""
        sample = self.sample(reactions, progress)
        known = None if rewards is None else np.asarray(rewards, dtype=np.float64)
        weights = uniform_weights(reactions)
        model = copy.copy(self)  # features and cache are shared
        model.fitted = fit_text_posterior(sample, self.settings.fitting, known, weights)
        model.evidence = None if known is not None else cross_validate(sample, self.settings.fitting, weights)
        model.policy = [model._fit_values(reactions, sample, step) for step in range(self.horizon - 1)]
        model.policy.append(model.fitted.match_weights.copy())
        model._gradient = [np.zeros_like(weights) for weights in model.policy]
        return model

    def reinforce(self, choices: Sequence[Choice], reward: float) -> Changes:
        """Return a step of REINFORCE: weights += rate (reward - baseline) grad log softmax, averaged over a batch."""
        advantage, gradient, policy = reward - self._baseline, list(self._gradient), self.policy
        for step, choice in enumerate(choices):
            features = self._policy_features(choice.conversation, choice.candidates)
            likely = softmax(features @ policy[step])
            gradient[step] = gradient[step] + advantage * (features[choice.action] - likely @ features)
        if (self._steps + 1) % self.settings.batch == 0:
            rate = self.settings.learning_rate / self.settings.batch
            policy = [w + rate * g for w, g in zip(policy, gradient, strict=True)]
            gradient = [np.zeros_like(each) for each in gradient]
        return (
            assign(self, "policy", policy),
            assign(self, "_gradient", gradient),
            assign(self, "_baseline", self._baseline + self.settings.baseline_rate * advantage),
            assign(self, "_steps", self._steps + 1),
        )

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values from which `from_state` rebuilds the model bit for bit."""
        return {
            "horizon": self.horizon,
            "settings": asdict(self.settings),
            "fitted": None if self.fitted is None else self.fitted.to_state(),
            "policy": list(self.policy),
            "baseline": self._baseline,
            "steps": self._steps,
            "evidence": None if self.evidence is None else list(self.evidence),
            "gradient": list(self._gradient),
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
        shapes: list[int] = []
        if saved.has("fitted"):
            model.fitted = TextPosterior.from_state(saved.part("fitted"))
            shapes = model._policy_sizes(saved, model.fitted)
        model.policy, model._gradient = (
            _restore_vectors(saved, name, shapes) for name in ("policy", "gradient")
        )
        model._baseline, model._steps = saved.number("baseline", 0, 1), saved.whole("steps")
        model.evidence = Evidence.from_state(saved, "evidence")
        return model

    def _policy_sizes(self, saved: Saved, fitted: TextPosterior) -> list[int]:
        """Return how many weights the policy has at each step; a posterior of other features is refused."""
        reading = self.features.encoder.reading_size
        sizes = {part: len(getattr(fitted, f"{part}_projection").mean) for part in ("feedback", "profile")}
        saved.check(set(sizes.values()) == {reading}, "fitted", f"of an encoder that reads {reading} numbers")
        sentence = len(fitted.state_projection.mean) - TOP * len(FEATURES)
        known = sentence > 0 and len(fitted.match_weights) == len(FEATURES)
        saved.check(known, "fitted", f"of {len(FEATURES)} kinds of match")
        return [2 * sentence] * (self.horizon - 1) + [len(FEATURES)]

    def _posterior(self) -> TextPosterior:
        if self.fitted is None:
            raise ValueError("there is a posterior after `fit`, and this model was not fitted; explore first")
        return self.fitted

    def _fit_values(self, reactions: Sequence[Reaction], sample: Sample, step: int) -> FloatArray:
        """Return weights that predict from what was said at an earlier step what it led to.

        That is g of the state in which the conversation ended or, where it ended then, how likely it was rewarded.
        """
        goodness, rewarded = self._posterior().goodness(sample), self._posterior().rewarded(sample)
        taken, led_to = [], []
        for n, (choice, _) in enumerate(reactions):
            said = choice.conversation
            if len(said.exchanges) > step:
                taken.append(earlier(said, step))
                led_to.append(goodness[n])
            elif len(said.exchanges) == step:
                taken.append((said, choice.candidates[choice.action]))
                led_to.append(rewarded[n])
        if not taken:
            request = reactions[0].choice.conversation.context.request
            return np.zeros(2 * self.features.sentences([request]).shape[1])
        features = np.array([self._policy_features(before, [said])[0] for before, said in taken])
        features = np.column_stack([features, np.ones(len(features))])
        start, even = np.zeros(features.shape[1]), np.ones(len(features))
        weights = fit_logistic(features, np.array(led_to), even, self.settings.value_ridge, start)
        return weights[:-1]  # the bias is the same for all candidates

    def _policy_features(self, conversation: Conversation, candidates: Sequence[str]) -> FloatArray:
        """Return the features of candidates at a step, (K, D): how they fit at the last, what they say before."""
        if len(conversation.exchanges) == self.horizon - 1:
            return self.features.match([(conversation, tuple(candidates))])[0].astype(np.float64)
        vectors = self.features.sentences([conversation.context.request, *candidates]).astype(np.float64)
        return np.concatenate([vectors[1:], vectors[1:] * vectors[0] * np.sqrt(vectors.shape[1])], axis=1)

    def sample(self, reactions: Sequence[Reaction], progress: FitProgress | None = None) -> Sample:
        """Return reactions as the numbers that the posterior reads."""
        choices = [reaction.choice for reaction in reactions]
        matches = self.features.match([(c.conversation, c.candidates) for c in choices], progress)
        match, mask = pad(matches, max(len(rows) for rows in matches))
        said = [last_said(choice.conversation) for choice in choices]
        best = np.array([top_matches(rows) for rows in matches])
        contexts = [choice.conversation.context for choice in choices]
        return Sample(
            match,
            mask,
            np.concatenate([best, self.features.sentences(said, progress)], axis=1).astype(np.float64),
            self.features.reactions([reaction.feedback for reaction in reactions], progress).astype(
                np.float64
            ),
            self.features.profiles([context.profile for context in contexts], progress).astype(np.float64),
            np.array([choice.action for choice in choices]),
        )


def _restore_vectors(saved: Saved, name: str, sizes: Sequence[int]) -> list[FloatArray]:
    """Return the vectors of a saved list, as many and of such sizes; copies, for gradients are added up in place."""
    entries = saved.entries(name)
    saved.check(len(entries) == len(sizes), name, f"{len(sizes)} vectors")
    return [entries.floats(str(step), (size,)).copy() for step, size in enumerate(sizes)]


def uniform_weights(reactions: Sequence[Reaction]) -> FloatArray:
    """Return 1/(K p) of each reaction, (n,): as many times it counts among uniform ones."""
    return np.array([1 / (len(r.choice.candidates) * r.choice.probability) for r in reactions])


def pad(matches: Sequence[Float32Array], K: int) -> tuple[FloatArray, Any]:
    """Return match features as one array (n, K, F) and the mask (n, K) of the candidates that there are."""
    padded, mask = np.zeros((len(matches), K, len(FEATURES))), np.zeros((len(matches), K), np.bool_)
    for row, match in enumerate(matches):
        padded[row, : len(match)], mask[row, : len(match)] = match, True
    return padded, mask


def top_matches(match: Float32Array) -> Float32Array:
    """Return the `TOP` largest values of each feature over the candidates, (TOP F,)."""
    return np.sort(match, axis=0)[-TOP:].ravel()


def last_said(conversation: Conversation) -> str:
    """Return what the agent said last; before it said anything, the request."""
    return conversation.exchanges[-1].said if conversation.exchanges else conversation.context.request


def earlier(conversation: Conversation, step: int) -> tuple[Conversation, str]:
    """Return the conversation before an earlier step, and what the agent said then.

    >>> from tacit.text.conversation import Exchange, TextContext
    >>> late = Conversation(TextContext("hello"), (Exchange("when?", "now"),))
    >>> earlier(late, 0)[1]
    'when?'
    """
    return conversation._replace(exchanges=conversation.exchanges[:step]), conversation.exchanges[step].said

"""Rewards for logs of conversations: the small model's posterior as a reward model, with its certificate.

What an episode's feedback means is J(h(x, y, s), a) of the text posterior (`text.small.posterior`). Two probabilities
go with it, both by Bayes' rule from f = g(s) q_a, where q is the softmax over candidates, and the ratio e^l:

    Pr[r = 1 | y, a]             = f_a e^l / (1 + f_a (e^l - 1))
    Pr[the state is good | y, a] = g (1 + q_a (e^l - 1)) / (1 + f_a (e^l - 1))

A state is good if some candidate earns a reward there: it is heterogeneous from `GOOD` on, homogeneous up to `POOR`.
J reads the posterior as the agent does, sharpened; the probabilities are those of the fit as it stands, which are the
calibrated ones (booking, 1,000 reactions: a mean of 0.0718 where 0.0723 are rewarded; sharpened they are too sure).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.checkpoint import save_tree
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import HETEROGENEOUS, HOMOGENEOUS, UNKNOWN
from tacit.logs.episodes import Problems
from tacit.logs.record import Fault
from tacit.logs.survey import survey_logs
from tacit.offline.fit import describe_logs, find_inferred_uniformity, find_uneven_weights
from tacit.offline.reward_model import (
    DECIMALS,
    DECODED,
    KIND,
    LOWER_BOUND,
    UNCERTAIN,
    UNKNOWN_CELL,
    Decoded,
    Logs,
    Progress,
    label_episodes,
    open_logs,
)
from tacit.offline.tables.off_policy import effective_size
from tacit.offline.text.gathering import GatheredText, ReadText, gather_text, read_text
from tacit.text.conversation import Reaction
from tacit.text.evidence import UNTESTED, Evidence, find_evidence
from tacit.text.settings import TextSettings
from tacit.text.small.model import SmallModel, uniform_weights
from tacit.text.small.posterior import Sample, TextPosterior
from tacit.trust.anchors import MINORITY
from tacit.trust.certificate import Certificate
from tacit.trust.findings import Finding, worst_first

GOOD, POOR = 2 / 3, 1 / 3
"""From and up to which probability of being good a state is heterogeneous or homogeneous."""
ENCODED_AT_ONCE = 1_000
"""Episodes encoded before what the file of encodings holds is forgotten: bounds the memory, some 10 MB."""
LEAST_REWARDED = 20
"""Rewards decoded among the reactions below which a good ending has hardly been seen."""


class Meanings(NamedTuple):
    """What reactions mean, (n,) each: J, the probability of a reward, and that of a good state."""

    decoded: FloatArray
    rewarded: FloatArray
    good: FloatArray


@dataclass(frozen=True, eq=False)
class TextRewardModel:
    """The model of text: a fitted `SmallModel`, the evidence that feedback tells anything, and the certificate.

    Without evidence nothing is decoded: every label is `uncertain`.
    """

    model: SmallModel
    c: float
    evidence: Evidence
    certificate: Certificate
    kind: str = "text"

    @property
    def horizon(self) -> int:
        """Return how many steps an episode has."""
        return self.model.horizon

    @property
    def decoder(self) -> DecoderSettings:
        """Return the constants of J: those of the text agent, with this model's c."""
        return text_decoder(self.c)

    def decode_records(self, records: Sequence[Mapping[str, Any]]) -> Sequence[Decoded | Fault]:
        """Return what each record means, or the rule it breaks."""
        read = [read_text(record, self.horizon) for record in records]
        sound = [each.reaction for each in read if isinstance(each, ReadText)]
        meant = iter(self.decode(sound))
        return [next(meant) if isinstance(each, ReadText) else each for each in read]

    def decode(self, reactions: Sequence[Reaction]) -> list[Decoded]:
        """Return what each reaction means; memory stays bounded however many there are."""
        if not self.evidence.found:
            return [UNKNOWN_CELL] * len(reactions)
        found: list[Decoded] = []
        for sample in encode_in_batches(self.model, reactions):
            found += [self._word(*row) for row in zip(*self.weigh(sample), strict=True)]
        return found

    def weigh(self, sample: Sample) -> Meanings:
        """Return what encoded reactions mean."""
        assert self.model.fitted is not None
        return weigh_meanings(self.model.fitted, sample, self.decoder)

    def label(self, logs: Logs, problems: Problems | None = None) -> Iterator[dict[str, Any]]:
        """Yield a row for each episode: episode, decoded_reward, confidence, state_kind, reason."""
        yield from label_episodes(self, logs, problems)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file; see `tacit.offline.reward_model.load_model`."""
        tree = {
            "model": self.kind,
            "small": self.model.to_state(),
            "c": self.c,
            "evidence": list(self.evidence),
            "certificate": self.certificate.to_json(),
        }
        save_tree(path, KIND, tree)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> TextRewardModel:
        """Return the model that `save` wrote."""
        model, evidence = SmallModel.from_state(tree["small"]), Evidence(*tree["evidence"])
        return cls(model, float(tree["c"]), evidence, Certificate.from_json(tree["certificate"]))

    def _word(self, decoded: float, rewarded: float, good: float) -> Decoded:
        if good <= POOR:
            return Decoded(self.c, round(float(1 - good), DECIMALS), HOMOGENEOUS, HOMOGENEOUS)
        sure = round(float(rewarded if decoded >= 0.5 else 1 - rewarded), DECIMALS)
        reward = round(float(decoded), DECIMALS)
        if good < GOOD:
            return Decoded(reward, sure, UNKNOWN, UNCERTAIN)
        withheld = rewarded >= 0.5 > decoded
        return Decoded(reward, sure, HETEROGENEOUS, LOWER_BOUND if withheld else DECODED)


def fit_text(
    logs: Logs,
    c: float = 0.0,
    horizon: int | None = None,
    assume_uniform: bool = False,
    problems: Problems | None = None,
    progress: Progress | None = None,
    seed: int = 0,
) -> TextRewardModel:
    """Return a model of what feedback means in conversations, fitted to those whose last candidate was random.

    `horizon` is how many steps an episode has, by default the most common number. Rewards in the logs are never read.
    `seed` draws the sample of reactions of logs that have more than can be kept.
    """
    if horizon is None:
        horizon = len(survey_logs(open_logs(logs, Problems())()).common.steps)
    gathered = gather_text(open_logs(logs, problems)(), horizon, assume_uniform, problems, seed=seed)
    model = SmallModel(horizon)
    accepted = accept_unknown(gathered, model, progress)
    gathered.check_learnable()
    reactions = gathered.known.reactions
    encode_ahead(model, reactions, progress)
    model.fit(reactions)
    assert model.evidence is not None
    assert model.fitted is not None
    meanings = weigh_meanings(model.fitted, model.sample(reactions), text_decoder(c))
    certificate = certify(logs, gathered, model.evidence, accepted, meanings, problems)
    return TextRewardModel(model, c, model.evidence, certificate)


def text_decoder(c: float) -> DecoderSettings:
    """Return the constants of J for text: theta and M of the text agent, since f sums to at most M = 1 by its form."""
    constants = TextSettings().decoder
    return DecoderSettings(constants.theta, constants.M, c)


def weigh_meanings(posterior: TextPosterior, sample: Sample, decoder: DecoderSettings) -> Meanings:
    """Return J, Pr[r = 1 | y, a] and Pr[the state is good | y, a] of reactions; see the module's docstring."""
    as_fitted = posterior.as_fitted
    rows, decoded = np.arange(len(sample)), np.empty(len(sample))
    h, K = posterior.predict(sample), sample.mask.sum(axis=1)
    for size in np.unique(K):
        those = size == K
        decoded[those] = decoder.build(int(size)).batch(h[those, :size], sample.taken[those])
    g, q = posterior.goodness(sample), posterior.fits(sample)[rows, sample.taken]
    more = np.expm1(as_fitted.ratios(sample))  # e^l - 1
    evidence = 1 + g * q * more
    return Meanings(decoded, g * q * (1 + more) / evidence, g * (1 + q * more) / evidence)


def encode_in_batches(model: SmallModel, reactions: Sequence[Reaction]) -> Iterator[Sample]:
    """Yield reactions as samples of `ENCODED_AT_ONCE`, and forget what the file of encodings holds of them."""
    for start in range(0, len(reactions), ENCODED_AT_ONCE):
        yield model.sample(reactions[start : start + ENCODED_AT_ONCE])
        model.features.cache.forget()


def encode_ahead(model: SmallModel, reactions: Sequence[Reaction], progress: Progress | None) -> None:
    """Encode reactions in batches before they are read in one go, and tell of each batch."""
    for sample in encode_in_batches(model, reactions):
        if progress is not None:
            progress(len(sample))


def accept_unknown(
    gathered: GatheredText, model: SmallModel, progress: Progress | None = None
) -> float | None:
    """Take candidates of unknown probability in if no test tells them from uniform ones; return its p-value if so."""
    unknown = gathered.unknown.reactions
    encode_ahead(model, unknown, progress)
    return gathered.accept_unknown(model.sample(unknown) if unknown else None)


def certify(
    logs: Logs,
    gathered: GatheredText,
    evidence: Evidence,
    accepted: float | None,
    meanings: Meanings,
    problems: Problems | None,
) -> Certificate:
    """Return what the model rests on; text has no places, and its constants are given, not estimated."""
    reactions = gathered.known.reactions
    effective = effective_size(uniform_weights(reactions))
    uniform = float(np.mean([1 - 1 / len(reaction.choice.candidates) for reaction in reactions]))
    inferred = gathered.unknown.seen if accepted is not None else 0
    return Certificate(
        files=describe_logs(logs),
        episodes=gathered.episodes,
        tuples=len(reactions),
        effective=round(effective, 1),
        left_out=dict(gathered.left_out) | _unsampled(gathered),
        problems=dict(problems.by_rule) if problems is not None else {},
        losses=(uniform - evidence.gain, uniform),
        constants=None,
        places=(),
        findings=worst_first(
            [
                *find_evidence(evidence),
                *find_rewarded(meanings, evidence),
                *find_uneven_weights(len(reactions), effective),
                *find_inferred_uniformity(accepted, inferred),
                UNTESTED,
                MINORITY,
            ]
        ),
    )


def find_rewarded(meanings: Meanings, evidence: Evidence) -> Iterator[Finding]:
    """Yield a caution if hardly any reaction was decoded as a reward."""
    n = int((meanings.decoded >= 0.5).sum())
    if evidence.found and n < LEAST_REWARDED:
        yield Finding(
            "few-rewards",
            "caution",
            "",
            f"Only {n} of {len(meanings.decoded):,} reactions are decoded as a reward.",
            f"Log more episodes, until at least {LEAST_REWARDED} end well.",
        )


def _unsampled(gathered: GatheredText) -> dict[str, int]:
    more = gathered.known.seen - len(gathered.known.reactions)
    return {"beyond the sample that is kept": more} if more else {}

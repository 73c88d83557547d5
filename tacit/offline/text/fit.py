"""Fitting a model to logs of conversations whose last candidate was random, with its certificate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from tacit.logs.met_values import MOST_LABELS
from tacit.logs.problems import Problems
from tacit.logs.record import LogError, NothingUsableError
from tacit.logs.survey import MOST_PHRASES, Survey
from tacit.offline.estimators import effective_size
from tacit.offline.model import RewardModel
from tacit.offline.request import SETTLE, FitRequest
from tacit.offline.teaching import Teaching, find_inferred_uniformity, find_uneven_weights
from tacit.offline.text.batches import accept_candidates, encode_ahead
from tacit.offline.text.diagnose import TextDiagnosis, diagnose_text
from tacit.offline.text.gathering import check_reactions, gather_text
from tacit.offline.text.kind import TEXT
from tacit.offline.text.meanings import TextMeanings, Weighed
from tacit.problem.layout import COUNTS
from tacit.text.conversation import Reaction
from tacit.text.evidence import UNTESTED, Evidence, estimate_intervals, find_evidence
from tacit.text.small.model import SmallModel
from tacit.text.small.sampling import uniform_weights
from tacit.text.small.separation import find_separation
from tacit.trust.anchors import MINORITY
from tacit.trust.certificate import Certificate, describe_files
from tacit.trust.findings import Finding, worst_first

LEAST_REWARDED = 20
"""Rewards decoded among the reactions below which a good ending has hardly been seen."""


@dataclass(frozen=True)
class TextFitting:
    """A fit that was asked for, of logs that hold text."""

    request: FitRequest
    survey: Survey

    def __post_init__(self) -> None:
        check_text_request(self.request, self.survey)

    def fit(self) -> RewardModel:
        """Return the model with its certificate; rewards in the logs are never read."""
        model = SmallModel(max(self.survey.lengths))
        teaching, accepted = self._teach(model)
        reactions = teaching.known.rows
        model = model.fit(reactions, leaves_out=True)
        assert model.evidence is not None
        assert model.left_out is not None
        silence = self.request.silence or COUNTS
        meanings = TextMeanings(model, self.request.c, model.evidence, model.left_out, silence)
        sample = model.sample(reactions)
        remarks, settings = [reaction.feedback for reaction in reactions], model.settings.fitting
        unread = tuple(find_separation(sample, remarks, model.evidence, settings))
        certificate = self._certify(
            teaching, accepted, model.evidence, meanings.weigh(sample, reactions), unread
        )
        return RewardModel(TEXT, meanings, certificate)

    def diagnose(self) -> TextDiagnosis:
        """Return whether the logs can be decoded; rewards in them check which way round."""
        model, asked = self.fit(), self.request
        assert isinstance(model.meanings, TextMeanings)
        found = diagnose_text(
            model.meanings,
            model.certificate,
            asked.source,
            problems=Problems(),
            assume_uniform=asked.assume_uniform,
        )
        return replace(found, problems=asked.problems)  # those of the fit: the same, told once

    def _teach(self, model: SmallModel) -> tuple[Teaching[Reaction], float | None]:
        """Return the reactions that teach, encoded, and the p-value by which unknown ones were accepted, if any.

        Encoding takes the time: progress is that of it, and of episodes that need none.
        """
        asked, read = self.request, [0]
        with self._explained():
            teaching = gather_text(
                asked.source,
                model.horizon,
                asked.assume_uniform,
                asked.problems,
                read.append,
                asked.seed,
                asked.silence or COUNTS,
            )
        known, unknown = list(teaching.known.rows), teaching.unknown.rows
        if asked.progress is not None:
            asked.progress(sum(read) - len(known) - len(unknown))
        accepted = accept_candidates(teaching, model, asked.progress)
        check_reactions(teaching, asked.problems)
        encode_ahead(model, known, asked.progress)
        return teaching, accepted

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say, where no episode is a conversation, why the logs were taken for conversations."""
        try:
            yield
        except NothingUsableError as error:
            raise NothingUsableError(
                f"{error}; logs are read as conversations where states or actions are text, or contexts requests (here "
                f"{', '.join(self.survey.text)}: more than {MOST_PHRASES:,} different strings, or hardly one seen "
                "twice), where they are labels write fewer of them or give a layout"
            ) from None

    def _certify(
        self,
        teaching: Teaching[Reaction],
        accepted: float | None,
        evidence: Evidence,
        weighed: Weighed,
        unread: tuple[Finding, ...],
    ) -> Certificate:
        """Return what the model rests on; text has no places."""
        reactions = teaching.known.rows
        effective = effective_size(uniform_weights(reactions))
        uniform = float(np.mean([1 - 1 / len(reaction.choice.candidates) for reaction in reactions]))
        more = teaching.known.seen - len(reactions)
        findings = (
            *find_evidence(evidence),
            *unread,
            *find_rewarded(weighed, evidence),
            *find_uneven_weights(len(reactions), effective),
            *find_inferred_uniformity(accepted, teaching.unknown.seen),
            UNTESTED,
            MINORITY,
        )
        return Certificate(
            files=describe_files(self.request.source.files or ()),
            episodes=teaching.episodes,
            tuples=len(reactions),
            effective=round(effective, 1),
            left_out=dict(teaching.left_out) | ({"beyond the sample that is kept": more} if more else {}),
            problems=self.request.rules_broken,
            losses=(uniform - evidence.gain, uniform),
            constants=estimate_intervals(evidence) if evidence.found else None,
            places=(),
            findings=worst_first(findings),
        )


def check_text_request(request: FitRequest, survey: Survey) -> None:
    """Raise unless the logs are conversations and a model of text can do what was asked."""
    kinds = survey.common.contexts.kinds | survey.common.feedback.kinds
    if not set(kinds) <= {"string", "text"}:
        raise LogError(
            f"conversations must be text throughout, got text in {', '.join(survey.text)} (more than {MOST_PHRASES:,} "
            f"different strings in states or actions, or {MOST_LABELS} elsewhere, or hardly one seen twice) beside "
            f"contexts or feedback of numbers ({dict(kinds)}); write contexts and feedback as text, or give a layout "
            "if all are labels"
        )
    if request.anchors == SETTLE:
        raise LogError(
            "rewards in the logs settle which way round labels and vectors are decoded, got text, whose model has the "
            "minority of rewarding candidates built in; leave anchors out, `tacit diagnose` checks it against them"
        )
    if request.engine != "local":
        raise LogError(f"text is read by the engine local, got {request.engine!r}; leave the engine out")


def find_rewarded(weighed: Weighed, evidence: Evidence) -> Iterator[Finding]:
    """Yield a caution if hardly any reaction was decoded as a reward."""
    n = int((weighed.rewarded >= 0.5).sum())
    if evidence.found and n < LEAST_REWARDED:
        yield Finding(
            "few-rewards",
            "caution",
            "",
            f"Only {n} of {len(weighed.rewarded):,} reactions are decoded as a reward.",
            f"Log more episodes, until at least {LEAST_REWARDED} end well.",
        )

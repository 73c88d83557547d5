"""Fitting a model to logs of labels, vectors, and texts beside them.

What the tuples say of each last state and context group is judged as the fast recipe judges it
(`tacit.decoding.judgement`), and the certificate says what that rests on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tacit.decoding.reading import Reading
from tacit.decoding.understanding import Understanding
from tacit.offline.model import RewardModel
from tacit.offline.propensities import Propensities, find_estimated
from tacit.offline.request import CHECK, IGNORE, SETTLE, FitRequest
from tacit.offline.tables.anchors import count_outcomes, find_agreement
from tacit.offline.tables.diagnose import TableDiagnosis, show_table
from tacit.offline.tables.examination import examine_table
from tacit.offline.tables.gathering import Gathered, SplitCounts, check_learnable, gather, gather_pieces
from tacit.offline.tables.kind import TABLE
from tacit.offline.tables.meanings import TableMeanings
from tacit.offline.teaching import find_inferred_uniformity, find_uneven_weights
from tacit.problem.layout import Layout
from tacit.trust.anchors import ANCHOR_CODES, MINORITY
from tacit.trust.certificate import (
    Certificate,
    Place,
    describe_constants,
    describe_files,
    describe_places,
    find_unlisted_places,
    validation_losses,
)
from tacit.trust.coverage import EXCLUSIVE_WORDS
from tacit.trust.diagnostics import diagnose
from tacit.trust.findings import Finding, worst_first


@dataclass(frozen=True)
class TableFitting:
    """A fit that was asked for, of logs with this layout."""

    request: FitRequest
    layout: Layout

    def fit(self) -> RewardModel:
        """Return the model with its certificate."""
        gathered = self._gather()
        accepted = gathered.accept_unknown()
        check_learnable(gathered, self.request.problems)
        reading, counts = gathered.count(self.request.seed, self.request.c)
        known = gathered.anchors if self.request.anchors != IGNORE else []
        outcomes, nothing = count_outcomes(reading, known), count_outcomes(reading, [])
        total = counts.total
        passing = gathered.find_passing()
        blind = TableMeanings(self.layout, reading, total.effective(), self.request.c, nothing, passing)
        meanings = replace(blind, outcomes=outcomes) if self.request.anchors == SETTLE else blind
        places = describe_places(reading.counted, total.n, meanings.counts, meanings.judgements)
        findings = worst_first(
            [
                *find_in_counts(meanings, gathered),
                *find_agreement(reading, meanings.judgements, outcomes),
                *find_uneven_weights(total.n.total, total.effective_size),
                *find_how_unknown_were_taken(accepted, gathered.teaching.unknown.seen),
                *find_how_read(reading, int(total.n.total)),
                *find_unlisted_places(len(places), meanings.judgements),
            ]
        )
        return RewardModel(TABLE, meanings, self._certify(meanings, counts, gathered, places, findings))

    def diagnose(self) -> TableDiagnosis:
        """Return whether the logs can be decoded; rewards in them check which way round."""
        model = replace(self, request=replace(self.request, anchors=CHECK)).fit()
        assert isinstance(model.meanings, TableMeanings)
        examination = examine_table(model.meanings, model.certificate, model.certificate.findings)
        return show_table(examination, self.request.source, self.request.problems)

    def _gather(self) -> Gathered:
        asked, told = self.request, (self.request.problems, self.request.progress)
        if asked.engine == "local" or asked.source.files is None:
            return gather(asked.source, self.layout, asked.assume_uniform, *told)
        return gather_pieces(asked.source.pieces(), self.layout, asked.assume_uniform, asked.engine, *told)

    def _certify(
        self,
        meanings: TableMeanings,
        counts: SplitCounts,
        gathered: Gathered,
        places: tuple[Place, ...],
        findings: tuple[Finding, ...],
    ) -> Certificate:
        total, layout, settings = counts.total, meanings.reading.counted, meanings.settings.judgement
        fitted, held = counts.fitted.effective(), counts.held.weight
        return Certificate(
            files=describe_files(self.request.source.files or ()),
            episodes=gathered.teaching.episodes,
            tuples=int(total.n.total),
            effective=round(total.effective_size, 1),
            left_out=dict(gathered.teaching.left_out),
            problems=self.request.rules_broken,
            losses=validation_losses(layout, fitted, held, meanings.c, settings),
            constants=describe_constants(meanings.judgements),
            places=places,
            findings=findings,
        )


def find_how_unknown_were_taken(accepted: float | Propensities | None, n: int) -> Iterator[Finding]:
    """Yield what is to be said of n episodes whose last action had an unknown probability."""
    if isinstance(accepted, Propensities):
        yield from find_estimated(accepted)
    else:
        yield from find_inferred_uniformity(accepted, n)


def find_how_read(reading: Reading, counted: int) -> Iterator[Finding]:
    """Yield what contexts and feedback were read by, if they were not counted as they are."""
    if isinstance(reading, Understanding):
        words = "" if reading.cells is None else f" Feedback falls into {reading.cells.n_words - 1} words."
        yield Finding(
            "read-by-fit",
            "info",
            "",
            f"Contexts are grouped by the action that pleases them most, and feedback is like a reward or not, as "
            f"other episodes taught; the {counted:,} that are counted here are none of those.{words}",
            "Nothing needs to be done.",
        )


def find_in_counts(meanings: TableMeanings, gathered: Gathered) -> Iterator[Finding]:
    """Yield what the counts show of the assumptions, as the outcomes that settle it turned them.

    Whether all that is known bears out which way round it is, is said with the anchors.
    """
    beliefs = meanings.judged.beliefs if meanings.outcomes.total else EXCLUSIVE_WORDS
    found = diagnose(
        meanings.reading.counted,
        meanings.counts.rounded(),
        meanings.settings.decoder,
        meanings.settings.judgement,
        meanings.judgements,
        visits=gathered.visits,
        beliefs=beliefs,
        outcomes=meanings.outcomes,
    )
    yield from (finding for finding in found if finding.code not in {*ANCHOR_CODES, MINORITY.code})

"""Can logs of labels and vectors be decoded? What their model shows, and what known outcomes say of it."""

from __future__ import annotations

from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource, Progress
from tacit.offline.diagnosis import LogDiagnosis
from tacit.offline.passes import read_through
from tacit.offline.tables.anchors import (
    MOST_ANCHORS,
    KnownOutcome,
    count_outcomes,
    find_agreement,
    known_outcome,
)
from tacit.offline.tables.examination import TableExamination, examine_table
from tacit.offline.tables.meanings import TableMeanings
from tacit.offline.teaching import NothingToLearnError
from tacit.trust.anchors import ANCHOR_CODES, MINORITY
from tacit.trust.certificate import Certificate
from tacit.trust.findings import Finding, worst_first

TableDiagnosis = LogDiagnosis[TableExamination]


def diagnose_table(
    meanings: TableMeanings,
    certificate: Certificate,
    source: LogSource,
    problems: Problems | None,
    progress: Progress | None,
) -> TableDiagnosis:
    """Return the diagnosis of logs by a model: its own, with the outcomes that these logs know held against it."""
    known: list[KnownOutcome] = []
    for episode in read_through(source, meanings.reader.read, problems, progress, meanings.ahead):
        if len(known) < MOST_ANCHORS and (outcome := known_outcome(episode)) is not None:
            known.append(outcome)
    outcomes = count_outcomes(meanings.reading, known)
    weighed = {*ANCHOR_CODES, MINORITY.code}
    findings = [finding for finding in certificate.findings if finding.code not in weighed]
    findings += find_agreement(meanings.reading, meanings.judgements, outcomes)
    examination = examine_table(meanings, certificate, worst_first(findings))
    return show_table(examination, source, problems)


def diagnose_nothing_to_learn(
    error: NothingToLearnError, source: LogSource, problems: Problems | None
) -> TableDiagnosis:
    """Return the diagnosis of logs from which nothing can be learned."""
    found = Finding("nothing-to-learn", "error", "", f"{error}.", "See the log format.")
    return show_table(TableExamination((found,)), source, problems)


def show_table(examination: TableExamination, source: LogSource, problems: Problems | None) -> TableDiagnosis:
    """Return an examination as a diagnosis."""
    return LogDiagnosis(examination, str(source), problems, _render)


def _render(examination: TableExamination, title: str, problems: Problems | None) -> str:
    # Imported late, the only such import here: pictures need matplotlib, which takes half a second to load.
    from tacit.offline.tables.page import render_table

    return render_table(examination, title, problems)

"""Fitting a reward model to logs, and finding out whether that can be done: `tacit.fit` and `tacit.diagnose`.

The logs are surveyed first (unless a layout is given), which tells whether they are conversations; these and all
others have a fit of their own.
"""

from __future__ import annotations

from typing import Any

from tacit.logs.problems import Problems
from tacit.logs.reading import Logs, LogSource, Progress
from tacit.logs.record import LogError
from tacit.logs.survey import Survey, survey_entries
from tacit.offline.diagnosis import LogDiagnosis
from tacit.offline.label import check_engine_reads
from tacit.offline.model import RewardModel
from tacit.offline.passes import Pass, deal_pieces, read_through
from tacit.offline.request import IGNORE, FitRequest
from tacit.offline.tables.diagnose import diagnose_nothing_to_learn
from tacit.offline.tables.fit import TableFitting
from tacit.offline.teaching import NothingToLearnError
from tacit.offline.text.fit import TextFitting
from tacit.problem.layout import Layout


def fit(
    logs: Logs,
    c: float = 0.0,
    layout: Layout | None = None,
    assume_uniform: bool = False,
    anchors: str = IGNORE,
    problems: Problems | None = None,
    progress: Progress | None = None,
    seed: int = 0,
    engine: str = "local",
    silence: str | None = None,
) -> RewardModel:
    """Return a model of what feedback means, fitted to the episodes of the logs whose last action was random.

    `c` is what a state is worth in which no action is better than another. Episodes without the probability of their
    last action are taken for uniform if `assume_uniform`, or if no test can tell their actions from uniform ones;
    otherwise it is estimated from how often each was taken (of conversations they are left out). Rewards in the
    logs are never used to fit: `anchors` says to "ignore" them, to "check" the decoding against them, or to "settle"
    by them which way round it is, in each state and context where they tell. Episodes without feedback are `silence`,
    which "counts" like any word, or is "missing" at random; it counts unless the layout says otherwise, and is missing
    where feedback are vectors. The engine "ray" reads finite data from Parquet files, with the same result.

    >>> from tacit.envs.drawn_logs import draw_logs
    >>> from tacit.envs.synthetic import synthetic_mdp
    >>> model = fit(list(draw_logs(synthetic_mdp(), 4000, seed=0)))
    >>> model.certificate.verdict, model.certificate.tuples
    ('works with caution', 4000)
    """
    source = LogSource(logs)
    request = FitRequest(source, c, assume_uniform, anchors, problems, progress, seed, engine, silence)
    return _choose_fitting(request, layout).fit()


def diagnose_logs(
    logs: Logs,
    c: float = 0.0,
    layout: Layout | None = None,
    assume_uniform: bool = False,
    problems: Problems | None = None,
    progress: Progress | None = None,
    engine: str = "local",
    silence: str | None = None,
) -> LogDiagnosis[Any]:
    """Return whether logs can be decoded, by fitting a model to them; rewards in them check which way round.

    >>> from tacit.envs.drawn_logs import draw_logs
    >>> from tacit.envs.synthetic import synthetic_mdp
    >>> diagnose_logs(list(draw_logs(synthetic_mdp(), 4000, seed=0))).verdict
    'works'
    """
    source = LogSource(logs)
    request = FitRequest(
        source, c, assume_uniform, IGNORE, problems, progress, engine=engine, silence=silence
    )
    try:
        return _choose_fitting(request, layout).diagnose()
    except NothingToLearnError as error:
        return diagnose_nothing_to_learn(error, source, problems)


def _choose_fitting(request: FitRequest, layout: Layout | None) -> TableFitting | TextFitting:
    """Return the fit of the kind that the logs are of."""
    check_engine_reads(request.source, request.engine)
    if layout is not None:
        return TableFitting(request, request.heard(layout))
    survey = _survey(request)
    if not survey.shapes:  # the pass over nothing says what is wrong with it
        list(read_through(request.source, lambda record, line: record, request.problems, request.progress))
    _check_horizons(survey, request.problems)
    if survey.is_conversation:
        return TextFitting(request, survey)
    return TableFitting(request, survey.layout(request.silence))


def _survey(request: FitRequest) -> Survey:
    """Return what the logs have in common; what is wrong with them the fit will tell."""
    if request.engine == "local" or request.source.files is None:
        return survey_entries(request.source.remember())  # the fit passes over them next
    survey = Survey()
    for found in deal_pieces(request.source.pieces(), make_survey, request.engine):
        survey.merge(found)
    return survey


def make_survey() -> Pass[Survey]:
    """Return what surveys the lines or rows of a piece, in a worker."""
    return survey_entries


def _check_horizons(survey: Survey, problems: Problems | None) -> None:
    """Raise if problems are not to be lived with and episodes have different numbers of steps."""
    if problems is not None and problems.strict and len(survey.horizons) > len(survey.lengths):
        raise LogError(
            f"every episode must have as many steps as others, got (steps: episodes) {survey.horizons}; leave strict "
            "out to set the rare ones aside"
        )

"""Fitting a reward model to logs: `tacit.fit`.

Two passes over the logs: a survey of their layout (left out where one is given) and the gathering of tuples
(`tacit.offline.tables.gathering`). What they say of each last state and context group is judged as the fast recipe
judges it (`tacit.decoding.judgement`), and the certificate says what that rests on.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import HETEROGENEOUS, Judgements, judge_all
from tacit.decoding.reading import Reading
from tacit.decoding.tuples import TupleCounts, check_finite, counted_shape
from tacit.learning.settings import Settings
from tacit.logs.episodes import LogError, Problems, find_logs
from tacit.logs.survey import Survey, survey_logs
from tacit.offline.reward_model import (
    Logs,
    Progress,
    RewardModel,
    TableModel,
    flip,
    open_logs,
    settle_orientation,
)
from tacit.offline.tables.gathering import Gathered, SplitCounts, check_learnable, gather
from tacit.problem.layout import Layout
from tacit.trust.anchors import ANCHOR_LEVEL, Anchor, find_orientation, meaning_by_phi
from tacit.trust.certificate import (
    Certificate,
    describe_constants,
    describe_files,
    list_places,
    validation_losses,
)
from tacit.trust.diagnostics import diagnose
from tacit.trust.findings import Finding, worst_first

if TYPE_CHECKING:
    from tacit.offline.label import Piece

ANCHORS = ("ignore", "check", "settle")
"""What to do with rewards in the logs."""
THIN = 0.1
"""Share of the tuples below which their effective size deserves a caution."""


def fit(
    logs: Logs,
    c: float = 0.0,
    layout: Layout | None = None,
    assume_uniform: bool = False,
    anchors: str = "ignore",
    problems: Problems | None = None,
    progress: Progress | None = None,
    seed: int = 0,
    engine: str = "local",
) -> RewardModel:
    """Return a model of what feedback means, fitted to the episodes of the logs whose last action was random.

    `c` is what a state is worth in which no action is better than another. Episodes without the probability of their
    last action are used if `assume_uniform`, or if no test can tell their actions from uniform ones. Rewards in the
    logs are never used to fit: `anchors` says to "ignore" them, to "check" the decoding against them, or to "settle"
    by them which way round it is, in each state and context where they tell. The engine "ray" reads finite data from
    Parquet files, with the same result.

    >>> from tacit.envs.drawn_logs import draw_logs
    >>> from tacit.envs.synthetic import synthetic_mdp
    >>> model = fit(list(draw_logs(synthetic_mdp(), 4000, seed=0)))
    >>> model.certificate.verdict, model.certificate.tuples
    ('works', 4000)
    """
    if anchors not in ANCHORS:
        raise ValueError(f"anchors must be one of {ANCHORS}, got {anchors!r}")
    pieces = _pieces(logs, engine)
    if layout is None:
        survey = _survey(logs, problems, pieces)
        _check_horizons(survey, problems)
        if survey.text:
            _check_text_request(survey, anchors, engine)
            asked = {"c": c, "assume_uniform": assume_uniform, "problems": problems}
            return _fit_text(logs, survey, progress=progress, seed=seed, **asked)
        layout = survey.layout()
    if pieces is not None:
        from tacit.offline.ray_passes import gather_with_ray  # here, because Ray is optional

        check_finite(layout, "the engine ray")
        gathered = gather_with_ray(pieces, layout, assume_uniform, problems)
    else:
        gathered = gather(open_logs(logs, problems)(), layout, assume_uniform, problems, progress)
    accepted = gathered.accept_unknown()
    check_learnable(gathered)
    reading, counts = gathered.count(seed)
    return _certified(layout, reading, counts, gathered, accepted, c, anchors, describe_logs(logs), problems)


def _pieces(logs: Logs, engine: str) -> list[Piece] | None:
    """Return the row groups that Ray is to deal out, None for the local engine."""
    if engine == "local":
        return None
    from tacit.offline.label import check_engine, list_pieces

    files = find_logs(logs)  # type: ignore[arg-type]
    check_engine(files, engine)
    return list(list_pieces(files))


def _survey(logs: Logs, problems: Problems | None, pieces: list[Piece] | None) -> Survey:
    if pieces is None:
        return survey_logs(open_logs(logs, _silent(problems))())
    from tacit.offline.ray_passes import survey_with_ray

    return survey_with_ray(pieces)


def _certified(
    layout: Layout,
    reading: Reading,
    counts: SplitCounts,
    gathered: Gathered,
    accepted: float | None,
    c: float,
    anchors: str,
    files: tuple[dict[str, Any], ...],
    problems: Problems | None,
) -> TableModel:
    """Return the model with its certificate."""
    total, settings = counts.total, Settings(DecoderSettings(c=c))
    effective = total.effective()
    judgements = judge_all(reading.counted, effective, settings.decoder.c, settings.judgement)
    told = _encode_anchors(reading, gathered) if anchors != "ignore" else []
    answers = _answers(judgements, told) if anchors == "settle" else {}
    oriented, flipped = settle_orientation(answers, counted_shape(reading.counted)[:2], ANCHOR_LEVEL)
    certificate = Certificate(
        files=files,
        episodes=gathered.episodes,
        tuples=int(total.n.sum()),
        effective=round(total.effective_size, 1),
        left_out=dict(gathered.selection.left_out),
        problems=dict(problems.by_rule) if problems is not None else {},
        losses=validation_losses(
            reading.counted, counts.fitted.effective(), counts.held.weight, c, settings.judgement
        ),
        constants=describe_constants(judgements),
        places=list_places(reading.counted, total.n, effective, judgements),
        findings=_findings(
            reading, effective, settings, judgements, gathered, accepted, told, flipped, total
        ),
    )
    return TableModel(layout, reading, effective, c, oriented, flipped, certificate)


def _findings(
    reading: Reading,
    effective: FloatArray,
    settings: Settings,
    judgements: Judgements,
    gathered: Gathered,
    accepted: float | None,
    told: list[tuple[int, int, int, int]],
    flipped: BoolArray,
    total: TupleCounts,
) -> tuple[Finding, ...]:
    layout = reading.counted
    found = [
        finding
        for finding in diagnose(
            layout,
            np.rint(effective),
            settings.decoder,
            settings.judgement,
            judgements,
            visits=gathered.visits,
        )
        if finding.code != "minority-assumed"
    ]
    turned = {at: flip(j) if flipped[at] else j for at, j in judgements.items()}
    known = [
        Anchor(layout.contexts.decode(x), layout.states[-1][s], layout.feedback.decode(y), r)
        for s, x, y, r in told
    ]
    found += find_orientation(layout, known, meaning_by_phi(turned))
    uneven = find_uneven_weights(float(total.n.sum()), total.effective_size)
    inferred = find_inferred_uniformity(accepted, int(gathered.actions["unknown"].sum()))
    return worst_first([*found, *uneven, *inferred])


def find_uneven_weights(n: float, size: float) -> Iterator[Finding]:
    """Yield a caution if the weights leave little of n tuples: those worth `size` uniform ones."""
    if size < THIN * n:
        yield Finding(
            "weights-uneven",
            "caution",
            "",
            f"{n:,.0f} tuples weigh as much as {size:,.0f}: some actions were drawn far more often than others.",
            "Log more episodes in which the rarer actions are tried.",
        )


def find_inferred_uniformity(accepted: float | None, n: int) -> Iterator[Finding]:
    """Yield a caution if the actions of n episodes were only found to look uniform, with p-value `accepted`."""
    if accepted is not None:
        yield Finding(
            "uniformity-inferred",
            "caution",
            "",
            f"{n:,} episodes do not tell how likely their last action was; no test tells them from uniform ones (p = "
            f"{accepted:.2g}), so they were taken for such. Actions chosen for reasons not in the log could "
            "still mislead.",
            "Log the probability of each action, or say that they were uniform.",
        )


def _encode_anchors(reading: Reading, gathered: Gathered) -> list[tuple[int, int, int, int]]:
    """Return (last state, group, value, reward) of the episodes with known outcome."""
    if not gathered.anchors:
        return []
    contexts, states, feedback, rewards = zip(*gathered.anchors, strict=True)
    groups, values = reading.read(contexts, np.array(states), feedback)
    return [tuple(map(int, row)) for row in zip(states, groups, values, rewards, strict=True)]  # type: ignore[misc]


def _answers(
    judgements: Judgements, told: list[tuple[int, int, int, int]]
) -> dict[tuple[int, int], list[bool]]:
    """Return, for each place, whether each anchor agrees with what its feedback decodes to."""
    answers: dict[tuple[int, int], list[bool]] = {}
    for s, x, y, reward in told:
        judgement = judgements.get((s, x))
        if judgement is not None and judgement.kind == HETEROGENEOUS:
            answers.setdefault((s, x), []).append(bool(judgement.phi[y] == reward))
    return answers


def _check_horizons(survey: Survey, problems: Problems | None) -> None:
    """Raise if problems are not to be lived with and episodes have different numbers of steps."""
    if problems is not None and problems.strict and len(survey.horizons) > 1:
        raise LogError(f"every episode must have as many steps, got (steps: episodes) {survey.horizons}")


def _silent(problems: Problems | None) -> Problems | None:
    """Return problems for the survey, whose finds the second pass will tell."""
    return None if problems is None else Problems(problems.strict)


def describe_logs(logs: Logs) -> tuple[dict[str, Any], ...]:
    """Return name, size and SHA-256 of each file; nothing of episodes in memory."""
    paths = [logs] if isinstance(logs, str | os.PathLike) else logs
    if (
        isinstance(paths, list | tuple)
        and paths
        and all(isinstance(path, str | os.PathLike) for path in paths)
    ):
        return describe_files(find_logs(paths))
    return ()


def _check_text_request(survey: Survey, anchors: str, engine: str) -> None:
    """Raise unless the logs are conversations and a model of text can do what was asked."""
    kinds = survey.common.contexts.kinds | survey.common.feedback.kinds
    if not set(kinds) <= {"string", "text"}:
        raise LogError(
            f"conversations must be text throughout, got text in {', '.join(survey.text)} beside contexts or feedback "
            f"of numbers ({dict(kinds)}); write contexts and feedback as text, or give a layout if all are labels"
        )
    if anchors == "settle":
        raise LogError(
            "rewards in the logs settle which way round labels and vectors are decoded, got text, whose model has the "
            "minority of rewarding candidates built in; leave anchors out, `tacit diagnose` checks it against them"
        )
    if engine != "local":
        raise LogError(f"text is read by the engine local, got {engine!r}; leave the engine out")


def _fit_text(logs: Logs, survey: Survey, **options: Any) -> RewardModel:
    """Return a model of text, if what fits one is installed."""
    try:
        module = importlib.import_module("tacit.offline.text.reward_model")
    except ModuleNotFoundError:
        raise LogError(
            f"logs without text can be fitted here, got text in {', '.join(survey.text)}; text needs the extra "
            "tacit[text]. If these are labels after all, give a layout"
        ) from None
    model: RewardModel = module.fit_text(logs, horizon=len(survey.common.steps), **options)
    return model

"""Performing a figure: expand it into tasks, perform those that are not stored yet, gather all results."""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from rich.console import Console

from tacit.base.checkpoint import save_tree
from tacit.engines.local import Failure, perform_all
from tacit.experiments.figures import AnyFigure
from tacit.experiments.learning import Report
from tacit.experiments.progress import Display, Tally
from tacit.experiments.studies import STUDIES
from tacit.experiments.tasks import KIND, Task, expand, load_result

ENGINES = ("local",)

F = TypeVar("F", bound=AnyFigure, covariant=True)


@dataclass(frozen=True)
class Request:
    """What was asked for: a figure, how many seeds, which part of its budget, how many processes, where."""

    figure: AnyFigure
    out: Path
    seeds: int | None = None
    fraction: float = 1.0
    engine: str = "local"
    jobs: int | None = None

    def __post_init__(self) -> None:
        check_request(self)

    @property
    def n_seeds(self) -> int:
        """Return the seeds asked for, the figure's own number otherwise."""
        return self.figure.seeds if self.seeds is None else self.seeds

    @property
    def n_jobs(self) -> int:
        """Return the processes asked for, as many as there are cores otherwise."""
        return available_cores() if self.jobs is None else self.jobs

    @property
    def directory(self) -> Path:
        """Return where everything of this figure goes."""
        return self.out / self.figure.name

    @property
    def runs(self) -> Path:
        """Return where finished tasks are stored."""
        return self.directory / "runs"


@dataclass(frozen=True)
class Runs(Generic[F]):
    """A figure that was performed: the scaled figure, every task with its result, and what went wrong."""

    request: Request
    figure: F
    results: dict[Task, dict[str, Any]]
    computed: int
    started: datetime
    seconds: float
    failures: list[Failure] = field(default_factory=list)

    def of(self, variant: str, learner: str) -> list[dict[str, Any]]:
        """Return the results of one learner in one environment, seed by seed."""
        return [r for t, r in self.results.items() if (t.variant, t.learner) == (variant, learner)]

    def task(self, variant: str, learner: str, seed: int) -> Task | None:
        """Return that task, None if the figure has none such."""
        wanted = (variant, learner, seed)
        return next((t for t in self.results if (t.variant, t.learner, t.seed) == wanted), None)


def check_request(request: Request) -> None:
    """Raise ValueError unless seeds, fraction, jobs and engine make sense."""
    if request.engine not in ENGINES:
        later = "; ray comes in a later version" if request.engine == "ray" else ""
        raise ValueError(f"engine must be 'local', got {request.engine!r}{later}")
    if request.seeds is not None and request.seeds < 1:
        raise ValueError(
            f"seeds must be at least 1, got {request.seeds}; leave it out for {request.figure.seeds}"
        )
    if not 0 < request.fraction <= 1:
        raise ValueError(
            f"fraction is the part of the budget to run and must lie in (0, 1], got {request.fraction}; "
            "0.01 is a quick look, 1 the whole figure"
        )
    if request.jobs is not None and request.jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {request.jobs}; leave it out to use every core")


def perform(request: Request, console: Console) -> Runs[AnyFigure]:
    """Return the results of every task of the figure, computing only those that are not stored.

    Each is stored as soon as it is finished, so that a call that is interrupted loses only what it was at.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    figure = request.figure.scaled(request.fraction)
    tasks = expand(figure, request.n_seeds)
    request.runs.mkdir(parents=True, exist_ok=True)
    missing = [task for task in tasks if load_result(task, request.runs) is None]
    failures = _perform_missing(missing, figure, request, console)
    stored = {task: load_result(task, request.runs) for task in tasks}
    results = {task: result for task, result in stored.items() if result is not None}
    return Runs(request, figure, results, len(missing), started, time.perf_counter() - clock, failures)


def _perform_missing(
    missing: list[Task], figure: AnyFigure, request: Request, console: Console
) -> list[Failure]:
    if not missing:
        return []
    study = STUDIES[figure.study]
    study.prepare(figure, missing, console)
    expected = {task: study.expect(figure, task) for task in missing}
    work = partial(perform_task, figure, request.runs)
    try:
        with Display(Tally(expected), study.unit, console) as display:
            return perform_all(missing, work, request.n_jobs, display)
    finally:
        for half_written in request.runs.glob("*.part"):
            half_written.unlink(missing_ok=True)


def perform_task(figure: AnyFigure, runs: Path, task: Task, report: Report) -> None:
    """Play a task and store its result, and its agent where that is kept. What it warned of is kept too."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        start = time.perf_counter()
        result, agent = STUDIES[figure.study].play(figure, task, report)
    if agent is not None:
        agent.save(task.agent_path(runs))
    tree = {
        "fingerprint": task.fingerprint,
        "has_agent": agent is not None,
        "seconds": time.perf_counter() - start,
        "warnings": [str(warning.message) for warning in caught],
        **result,
    }
    save_tree(task.path(runs), KIND, tree)


def available_cores() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

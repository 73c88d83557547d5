"""What running and publishing need to know of a study, what may be asked of one, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from tacit.engines.dealing import check_engine
from tacit.engines.local import available_cores
from tacit.engines.task import Failure
from tacit.experiments.store import Store
from tacit.experiments.tasks import Play, StudyTask


class Settled(Protocol):
    """Settings that can be written down."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""


class Study(Protocol):
    """Learners x environments x seeds, each a task of its own, and how what comes of them is shown."""

    @property
    def name(self) -> str:
        """Return its name, which is that of its directory too."""

    @property
    def title(self) -> str:
        """Return its title."""

    @property
    def about(self) -> str:
        """Return what it shows, in a sentence."""

    @property
    def seeds(self) -> int:
        """Return how many seeds it has unless others are asked for."""

    @property
    def unit(self) -> str:
        """Return what progress is counted in."""

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the names of its environments."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return everyone who plays."""

    @property
    def settings(self) -> Settled:
        """Return the settings that its learners share."""

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options that it takes beside those that all take."""

    @property
    def arguments(self) -> str:
        """Return the options that were given, as on a command line."""

    @property
    def origin(self) -> dict[str, Any]:
        """Return facts of its own for `summary.json` and `manifest.json`."""

    @property
    def play(self) -> Play:
        """Return what plays its tasks: picklable, and in a module that imports nothing but what decides results."""

    @property
    def unused(self) -> tuple[str, ...]:
        """Return what its tasks import and never meet: an agent can load conversations where there are none."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return which curves of a result go to `curves.csv`."""

    def order(self, options: Mapping[str, Any]) -> Study:
        """Return the study that the options ask for; raise ValueError with what is wrong with them."""

    def scaled(self, fraction: float) -> Study:
        """Return the same study on a fraction of its budget."""

    def digest(self, variant: str) -> str:
        """Return a digest of an environment."""

    def facts(self, variant: str, learner: str) -> dict[str, Any]:
        """Return what determines a task's result beside its environment, its seed and the code."""

    def prepare(self, tasks: Sequence[StudyTask], console: Console) -> None:
        """Do once what all these tasks need done."""

    def expect(self, task: StudyTask) -> int:
        """Return about how many units a task takes."""

    def summarise(self, runs: Runs) -> dict[str, Any]:
        """Return what `summary.json` holds."""

    def tables(self, runs: Runs, summary: Mapping[str, Any]) -> Iterable[Table]:
        """Yield the tables that end the command."""

    def draw(self, runs: Runs) -> Figure:
        """Return the picture."""

    def render(
        self, runs: Runs, summary: Mapping[str, Any], manifest: Mapping[str, Any], picture: str
    ) -> str:
        """Return the page; `picture` is the encoded PNG."""

    def remarks(self, runs: Runs) -> list[str]:
        """Return lines of their own below the tables: what the reader must not miss."""


@dataclass(frozen=True)
class Request:
    """What was asked for: a study, how many seeds, which part of its budget, how many processes, where."""

    study: Study
    out: Path
    seeds: int | None = None
    fraction: float = 1.0
    engine: str = "local"
    jobs: int | None = None

    def __post_init__(self) -> None:
        _check(self)

    @property
    def n_seeds(self) -> int:
        """Return the seeds asked for, the study's own number otherwise."""
        return self.study.seeds if self.seeds is None else self.seeds

    @property
    def n_jobs(self) -> int:
        """Return the processes asked for, as many as there are cores otherwise."""
        return available_cores() if self.jobs is None else self.jobs

    @property
    def directory(self) -> Path:
        """Return where everything of this study goes."""
        return self.out / self.study.name

    @property
    def store(self) -> Store:
        """Return where finished tasks are stored."""
        return Store(self.directory / "runs")


@dataclass(frozen=True)
class Runs:
    """A study that was performed: the scaled study, every task with its result, and what went wrong."""

    request: Request
    study: Study
    results: dict[StudyTask, dict[str, Any]]
    computed: int
    started: datetime
    seconds: float
    failures: list[Failure[StudyTask]] = field(default_factory=list)

    def of(self, variant: str, learner: str) -> list[dict[str, Any]]:
        """Return the results of one learner in one environment, seed by seed."""
        return [r for t, r in self.results.items() if (t.variant, t.learner) == (variant, learner)]

    def task(self, variant: str, learner: str, seed: int) -> StudyTask | None:
        """Return that task, None if the study has none such."""
        wanted = (variant, learner, seed)
        return next((t for t in self.results if (t.variant, t.learner, t.seed) == wanted), None)


def _check(request: Request) -> None:
    """Raise ValueError unless seeds, fraction, jobs and engine make sense."""
    check_engine(request.engine)
    if request.seeds is not None and request.seeds < 1:
        raise ValueError(
            f"seeds must be at least 1, got {request.seeds}; leave it out for {request.study.seeds}"
        )
    if not 0 < request.fraction <= 1:
        raise ValueError(
            f"fraction is the part of the budget to run and must lie in (0, 1], got {request.fraction}; "
            "0.01 is a quick look, 1 the whole study"
        )
    if request.jobs is not None and request.jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {request.jobs}; leave it out to use every core")

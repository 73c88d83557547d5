"""One task of a figure: what identifies it, where its result is stored, and whether that is still good."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from tacit.base.checkpoint import CheckpointError, load_tree
from tacit.experiments.figures import AnyFigure

KIND = "run"
SUFFIX = ".tacit"
ENVIRONMENT_SEED = 1_000_003
"""Added to a task's seed to seed its environment; any number past the seeds in use keeps the two apart."""

SOURCES = (
    "*.py",
    "baselines/*.py",
    "envs/*.py",
    *(f"experiments/{name}.py" for name in ("tasks", "learning", "decoding")),
)
"""The files whose code decides the result of a task; of these, `ONLY_SHOWS` cannot change it."""
MORE_SOURCES = {"booking": ("text/*.py", "experiments/booking_figure.py", "experiments/booking_task.py")}
"""And those of one study alone."""
ONLY_SHOWS = ("cli.py", "doctor.py")


@dataclass(frozen=True)
class Task:
    """One learner, environment and seed; `fingerprint` follows from all that decides the result."""

    variant: str
    learner: str
    seed: int
    fingerprint: str

    @property
    def label(self) -> str:
        """Return the words for it in messages."""
        return f"{self.learner} on {self.variant}, seed {self.seed}"

    def path(self, runs: Path) -> Path:
        """Return its file in the directory `runs`; other budgets and versions have other names."""
        name = f"{self.variant}-{self.learner}-{self.seed:03d}-{self.fingerprint[:12]}"
        return runs / (name + SUFFIX)

    def agent_path(self, runs: Path) -> Path:
        """Return where the agent of this task is saved, if it is."""
        path = self.path(runs)
        return path.with_name(path.stem + "-agent" + SUFFIX)


def expand(figure: AnyFigure, seeds: int) -> list[Task]:
    """Return the tasks of a (scaled) figure, seed by seed, so that whole seeds finish first."""
    digests = {variant: figure.digest_of(variant) for variant in figure.environments}
    return [
        Task(variant, learner, seed, fingerprint(figure, variant, digests[variant], learner, seed))
        for seed in range(seeds)
        for variant in figure.environments
        for learner in figure.names
    ]


def fingerprint(figure: AnyFigure, variant: str, environment: str, learner: str, seed: int) -> str:
    """Return a digest of everything that determines the result of a task; `environment` is its digest."""
    facts = {
        **figure.facts_of(variant, learner),
        "environment": environment,
        "learner": learner,
        "seed": seed,
        "version": version("tacit"),
        "source": source_digest(figure.study),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


@cache
def source_digest(study: str) -> str:
    """Return a digest of the code that decides the results of a study, so that no result outlives a change of it."""
    package = Path(str(files("tacit")))
    digest = hashlib.sha256()
    patterns = (*SOURCES, *MORE_SOURCES.get(study, ()))
    for path in sorted(path for pattern in patterns for path in package.glob(pattern)):
        if path.name not in ONLY_SHOWS:
            digest.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def load_result(task: Task, runs: Path) -> dict[str, Any] | None:
    """Return the stored result of a task, None where there is none that is whole and of this fingerprint."""
    try:
        tree = load_tree(task.path(runs), KIND)
    except CheckpointError:
        return None
    if tree.get("fingerprint") != task.fingerprint:
        return None
    return tree if not tree["has_agent"] or task.agent_path(runs).exists() else None

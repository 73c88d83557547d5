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

from tacit.checkpoint import CheckpointError, load_tree
from tacit.experiments.figures import Figure
from tacit.mdp import ContextualMDP

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


def expand(figure: Figure, seeds: int) -> list[Task]:
    """Return the tasks of a (scaled) figure, seed by seed, so that whole seeds finish first."""
    digests = {variant: mdp_digest(make().mdp) for variant, make in figure.environments.items()}
    return [
        Task(variant, learner, seed, fingerprint(figure, variant, digests[variant], learner, seed))
        for seed in range(seeds)
        for variant in figure.environments
        for learner in figure.names
    ]


def fingerprint(figure: Figure, variant: str, environment: str, learner: str, seed: int) -> str:
    """Return a digest of everything that determines the result of a task; `environment` is its model's."""
    facts = {
        "study": figure.study,
        "settings": figure.settings_of(variant, learner).to_json(),
        "episodes": figure.episodes,
        "tuple_counts": figure.tuple_counts,
        "environment": environment,
        "learner": learner,
        "seed": seed,
        "version": version("tacit"),
        "source": source_digest(),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def mdp_digest(mdp: ContextualMDP) -> str:
    """Return a digest of a true model: its layout and every number in it."""
    digest = hashlib.sha256(json.dumps(mdp.layout.to_json(), sort_keys=True).encode())
    for array in (mdp.context_probabilities, mdp.transitions, mdp.rewards, mdp.feedback_probabilities):
        digest.update(str(array.shape).encode() + array.tobytes())
    return digest.hexdigest()


@cache
def source_digest() -> str:
    """Return a digest of the code that decides results, so that no result outlives a change of it."""
    package = Path(str(files("tacit")))
    digest = hashlib.sha256()
    for path in sorted(path for pattern in SOURCES for path in package.glob(pattern)):
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

"""A task of a study: one learner, environment and seed; performing it, and what comes of that."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol

from tacit.engines.task import Report, Work

ENVIRONMENT_SEED = 1_000_003
"""Added to a task's seed to seed its environment; any number past the seeds in use keeps the two apart."""


@dataclass(frozen=True)
class StudyTask:
    """One learner, environment and seed; `fingerprint` follows from all that decides the result."""

    variant: str
    learner: str
    seed: int
    fingerprint: str

    @property
    def label(self) -> str:
        """Return the words for it in messages."""
        return f"{self.learner} on {self.variant}, seed {self.seed}"


class Keepable(Protocol):
    """An agent that is kept with a result."""

    def save(self, path: Any) -> None:
        """Write it to a file."""


class Played(NamedTuple):
    """What playing a task gives: curves, numbers and what else its study shows, and the agent if that is kept."""

    result: dict[str, Any]
    agent: Keepable | None = None


Play = Callable[[StudyTask, Report], Played]
"""Plays one task; the code that its module imports decides the result, and no other."""


class Performed(NamedTuple):
    """What is stored of a task: a tree of plain values and arrays, and the file of the agent."""

    tree: dict[str, Any]
    agent: bytes | None


def make_performer(play: Play) -> Work[StudyTask, Performed]:
    """Return the work of a worker."""
    return partial(perform_task, play)


def perform_task(play: Play, task: StudyTask, report: Report) -> Performed:
    """Return what is stored of a task: its result, how long it took, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        start = time.perf_counter()
        result, agent = play(task, report)
    tree = {
        "fingerprint": task.fingerprint,
        "seconds": time.perf_counter() - start,
        "warnings": [str(warning.message) for warning in caught],
        **result,
    }
    return Performed(tree, None if agent is None else file_of(agent))


def file_of(agent: Keepable) -> bytes:
    """Return what an agent saves, as bytes: who asked for it may sit on another machine."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "agent"
        agent.save(path)
        return path.read_bytes()

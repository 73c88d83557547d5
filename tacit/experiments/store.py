"""The directory of finished tasks: where each stands, and whether what stands there is still good."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tacit.base.checkpoint import CheckpointError, digest_tree, load_tree, save_tree
from tacit.base.files import PART, write_atomically
from tacit.experiments.tasks import Performed, StudyTask

KIND = "run"
SUFFIX = ".tacit"


class Stored(NamedTuple):
    """What is stored of a task: its result, or None and what is wrong with what is there, if anything is."""

    result: dict[str, Any] | None
    fault: str = ""


@dataclass(frozen=True)
class Store:
    """Finished tasks in a directory, one file each and one more where the agent is kept."""

    directory: Path

    def path(self, task: StudyTask) -> Path:
        """Return the file of a task; other budgets and versions have other names."""
        name = f"{task.variant}-{task.learner}-{task.seed:03d}-{task.fingerprint[:12]}"
        return self.directory / (name + SUFFIX)

    def agent_path(self, task: StudyTask) -> Path:
        """Return where the agent of a task is saved, if it is."""
        path = self.path(task)
        return path.with_name(path.stem + "-agent" + SUFFIX)

    def load(self, task: StudyTask) -> dict[str, Any] | None:
        """Return the stored result of a task, None where there is none that is whole and as it was stored."""
        return self.look_up(task).result

    def look_up(self, task: StudyTask) -> Stored:
        """Return the stored result of a task, or what is wrong with what is stored."""
        if not self.path(task).exists():
            return Stored(None)
        try:
            tree = load_tree(self.path(task), KIND)
        except CheckpointError as error:
            return Stored(None, str(error))
        digest = tree.pop("digest", None)
        if digest != digest_tree(tree) or tree.get("fingerprint") != task.fingerprint:
            return Stored(None, f"{str(self.path(task))!r} does not hold what was stored")
        agent = tree.pop("agent", None)
        if agent is not None and agent != _digest_file(self.agent_path(task)):
            return Stored(None, f"{str(self.agent_path(task))!r} is not the agent that was stored")
        return Stored(tree)

    def save(self, task: StudyTask, performed: Performed) -> None:
        """Write the result of a task, after its agent: a result that is there is complete."""
        agent = None
        if performed.agent is not None:
            write_atomically(self.agent_path(task), performed.agent)
            agent = hashlib.sha256(performed.agent).hexdigest()
        tree = performed.tree | {"agent": agent}
        save_tree(self.path(task), KIND, tree | {"digest": digest_tree(tree)})

    def begin(self) -> None:
        """Make the directory, and clear what an interruption left half written."""
        self.directory.mkdir(parents=True, exist_ok=True)
        for half_written in self.directory.glob(f"*{PART}"):
            half_written.unlink(missing_ok=True)


def _digest_file(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:  # it is not there, or cannot be read
        return None

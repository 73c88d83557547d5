"""The directory of finished tasks: where each stands, and whether what stands there is still good."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.base.checkpoint import CheckpointError, load_tree, save_tree
from tacit.base.files import PART, write_atomically
from tacit.experiments.tasks import Performed, StudyTask

KIND = "run"
SUFFIX = ".tacit"


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
        """Return the stored result of a task, None where there is none that is whole and of this fingerprint."""
        try:
            tree = load_tree(self.path(task), KIND)
        except CheckpointError:
            return None
        if tree.get("fingerprint") != task.fingerprint:
            return None
        return tree if not tree["has_agent"] or self.agent_path(task).exists() else None

    def save(self, task: StudyTask, performed: Performed) -> None:
        """Write the result of a task, after its agent: a result that is there is complete."""
        if performed.agent is not None:
            write_atomically(self.agent_path(task), performed.agent)
        save_tree(self.path(task), KIND, performed.tree)

    def begin(self) -> None:
        """Make the directory, and clear what an interruption left half written."""
        self.directory.mkdir(parents=True, exist_ok=True)
        for half_written in self.directory.glob(f"*{PART}"):
            half_written.unlink(missing_ok=True)

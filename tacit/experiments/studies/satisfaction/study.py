"""The satisfaction study: ways to read real conversations x parts of the collection x seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from tacit.envs.satisfaction import find_parts, read_places
from tacit.experiments.studies.satisfaction.page import render_satisfaction
from tacit.experiments.studies.satisfaction.plot import draw_satisfaction
from tacit.experiments.studies.satisfaction.summary import (
    list_satisfaction_tables,
    list_verdicts,
    summarise_satisfaction,
)
from tacit.experiments.studies.satisfaction.task import LEAST, SatisfactionSweep, play_satisfaction
from tacit.experiments.study import Runs
from tacit.experiments.tasks import Play, StudyTask
from tacit.text.bundled import check_packages, minilm_path, smollm2_file


@dataclass(frozen=True)
class SatisfactionStudy:
    """Learners x parts x seeds; `order` reads the collection."""

    sweep: SatisfactionSweep = field(default_factory=SatisfactionSweep)
    arguments: str = ""
    seeds: int = 3
    name: ClassVar[str] = "satisfaction"
    title: ClassVar[str] = "Real conversations, read without their ratings"
    about: ClassVar[str] = (
        "What people said next is the feedback; how satisfied they were, as others rated it, scores who reads it."
    )
    unit: ClassVar[str] = "replies"
    columns: ClassVar[tuple[str, ...]] = ("kept", "rewarded")
    options: ClassVar[tuple[str, ...]] = ("data",)

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the parts of the collection."""
        return tuple(self.sweep.parts)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the ways of reading, and the rules."""
        return self.sweep.learners

    @property
    def settings(self) -> SatisfactionSweep:
        """Return the sweep, which is all there is to set."""
        return self.sweep

    @property
    def origin(self) -> dict[str, Any]:
        """Return what a reader must know of the source."""
        return {"source": "User Satisfaction Simulation (Sun et al., 2021)", "notes": list(self.sweep.notes)}

    @property
    def unused(self) -> tuple[str, ...]:
        """Return nothing: every room that it imports is met."""
        return ()

    @property
    def play(self) -> Play:
        """Return what plays its tasks."""
        return partial(play_satisfaction, self.sweep)

    def order(self, options: Mapping[str, Any]) -> SatisfactionStudy:
        """Return the study of a directory's files; raise with where to get them if there are none."""
        data: Path | None = options.get("data")
        check_packages("torch", "transformers", "accelerate", "gguf")
        minilm_path()
        smollm2_file()
        parts = {part: read_places(path) for part, path in find_parts(data).items()}
        few = tuple(part for part, places in parts.items() if len(places) < LEAST)
        rest = {part: places for part, places in parts.items() if part not in few}
        if not rest:
            raise ValueError(
                f"a part needs {LEAST} rated replies or more, got {', '.join(f'{p}: {len(parts[p])}' for p in few)}; "
                "give a directory with whole parts"
            )
        notes = tuple(f"{part} was left out: {len(parts[part])} rated replies are too few" for part in few)
        arguments = "" if data is None else " --data DIR"
        return replace(self, sweep=replace(self.sweep, parts=rest, notes=notes), arguments=arguments)

    def scaled(self, fraction: float) -> SatisfactionStudy:
        """Return the same study on a `fraction` of its replies."""
        places = max(round(self.sweep.places * fraction), LEAST)
        return replace(self, sweep=replace(self.sweep, places=places))

    def digest(self, variant: str) -> str:
        """Return a digest of every text and rating of a part."""
        return self.sweep.digest_of(variant)

    def facts(self, variant: str, learner: str) -> dict[str, Any]:
        """Return what determines a task's result beside its part, its seed and the code."""
        return {"places": self.sweep.places}

    def prepare(self, tasks: Sequence[StudyTask], console: Console) -> None:
        """Do nothing: what was encoded is kept on disk by whoever reads it first."""

    def expect(self, task: StudyTask) -> int:
        """Return how many replies a task reads."""
        return min(self.sweep.places, len(self.sweep.parts[task.variant]))

    def summarise(self, runs: Runs) -> dict[str, Any]:
        """Return what `summary.json` holds."""
        return summarise_satisfaction(self.sweep, runs)

    def tables(self, runs: Runs, summary: Mapping[str, Any]) -> Iterable[Table]:
        """Return a table for each part."""
        return list_satisfaction_tables(self.sweep, summary)

    def draw(self, runs: Runs) -> Figure:
        """Return the picture."""
        return draw_satisfaction(self.sweep, runs)

    def render(
        self, runs: Runs, summary: Mapping[str, Any], manifest: Mapping[str, Any], picture: str
    ) -> str:
        """Return the page."""
        return render_satisfaction(
            self.sweep, runs, study=self, summary=summary, manifest=manifest, picture=picture
        )

    def remarks(self, runs: Runs) -> list[str]:
        """Return what each way of reading says of itself, and which parts were left out."""
        said = list_verdicts(summarise_satisfaction(self.sweep, runs), self.sweep.parts)
        return [*said, *(f"note: {note}" for note in self.sweep.notes)]


SATISFACTION = SatisfactionStudy()

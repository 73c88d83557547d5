"""The booking study: Figure 2b, text learners x settings x seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar

from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from tacit.experiments.studies.booking.encoding import encode_dialogues
from tacit.experiments.studies.booking.options import (
    BookingOptions,
    check_model,
    check_options,
    write_arguments,
)
from tacit.experiments.studies.booking.page import render_booking
from tacit.experiments.studies.booking.plot import draw_booking
from tacit.experiments.studies.booking.summary import list_origin, list_tables, summarise_booking
from tacit.experiments.studies.booking.supply import (
    LARGE_MODEL_LEARNERS,
    Supply,
    fill,
    find_budget,
    load_supply,
)
from tacit.experiments.studies.booking.sweep import BookingSweep
from tacit.experiments.studies.booking.task import play_booking
from tacit.experiments.study import Runs
from tacit.experiments.summary import CURVES
from tacit.experiments.tasks import Play, StudyTask
from tacit.text.settings import TextSettings


@dataclass(frozen=True)
class BookingStudy:
    """Text learners x settings x seeds.

    `scaled` makes the dialogues, from `supply` or, where there is none, from the user's corpora or our generator; a
    scaled study holds them in its sweep, and no supply.
    """

    sweep: BookingSweep = field(default_factory=BookingSweep)
    variants: tuple[str, ...] = ("hard",)
    supply: Supply | None = None
    arguments: str = ""
    name: ClassVar[str] = "booking"
    title: ClassVar[str] = "Booking by conversation, learned from what people say"
    about: ClassVar[str] = (
        "Average reward over conversations, Tacit beside its baselines; nobody ever states a reward."
    )
    unit: ClassVar[str] = "episodes"
    columns: ClassVar[tuple[str, ...]] = CURVES
    options: ClassVar[tuple[str, ...]] = tuple(option.name for option in fields(BookingOptions))

    @property
    def seeds(self) -> int:
        """Return how many seeds its model has time for."""
        return find_budget(self.sweep.model).seeds

    @property
    def names(self) -> tuple[str, ...]:
        """Return everyone who plays."""
        return self.sweep.learners

    @property
    def settings(self) -> TextSettings:
        """Return the settings that its learners share."""
        return self.sweep.settings

    @property
    def origin(self) -> dict[str, Any]:
        """Return where the dialogues come from and what else a reader must know."""
        return list_origin(self.sweep)

    @property
    def unused(self) -> tuple[str, ...]:
        """Return nothing: every room that it imports is met."""
        return ()

    @property
    def play(self) -> Play:
        """Return what plays its tasks."""
        return partial(play_booking, self.sweep)

    def order(self, options: Mapping[str, Any]) -> BookingStudy:
        """Return the study that the options ask for, its source read; raise ValueError with what is wrong."""
        asked = BookingOptions(**options)
        check_options(asked)
        model = asked.model or "small"
        check_model(model)
        learners = self.sweep.learners if model == "small" else LARGE_MODEL_LEARNERS
        settings = replace(self.sweep.settings, model=model)
        return replace(
            self,
            sweep=replace(self.sweep, learners=learners, settings=settings),
            variants=asked.variants,
            supply=asked.load_supply(),
            arguments=write_arguments(asked),
        )

    def scaled(self, fraction: float) -> BookingStudy:
        """Return the study on a `fraction` of its budget, with no more dialogues than that takes."""
        supply = self.supply if self.supply is not None else load_supply()
        return replace(self, sweep=fill(self.sweep, self.variants, supply, fraction), supply=None)

    def digest(self, variant: str) -> str:
        """Return a digest of every text in the dialogues of a setting."""
        return self.sweep.digest_of(variant)

    def facts(self, variant: str, learner: str) -> dict[str, Any]:
        """Return what determines a task's result beside its dialogues, its seed and the code."""
        return self.sweep.facts_of(learner)

    def prepare(self, tasks: Sequence[StudyTask], console: Console) -> None:
        """Encode what the tasks will read, once."""
        encode_dialogues(self.sweep, tasks, console)

    def expect(self, task: StudyTask) -> int:
        """Return how many episodes a task plays."""
        return self.sweep.settings.exploration + self.sweep.episodes

    def summarise(self, runs: Runs) -> dict[str, Any]:
        """Return what `summary.json` holds."""
        return summarise_booking(self.sweep, runs)

    def tables(self, runs: Runs, summary: Mapping[str, Any]) -> Iterable[Table]:
        """Return a table for each setting."""
        return list_tables(self.sweep, summary)

    def draw(self, runs: Runs) -> Figure:
        """Return the picture."""
        return draw_booking(self.sweep, runs)

    def render(
        self, runs: Runs, summary: Mapping[str, Any], manifest: Mapping[str, Any], picture: str
    ) -> str:
        """Return the page."""
        return render_booking(
            self.sweep, runs, study=self, summary=summary, manifest=manifest, picture=picture
        )

    def remarks(self, runs: Runs) -> list[str]:
        """Return what the reader must not miss."""
        return [f"note: {note}" for note in self.sweep.notes]


BOOKING = BookingStudy()

"""The decoder study: the shape of J (Figure 1), and what estimating its input from few tuples costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from tacit.decoding.posterior import METHODS
from tacit.experiments.layered.page import show_constants
from tacit.experiments.layered.problems import ENVIRONMENTS, PAPER, mdp_digest, scale, scale_settings
from tacit.experiments.studies.decoder.illustration import ILLUSTRATION
from tacit.experiments.studies.decoder.plot import draw_decoder
from tacit.experiments.studies.decoder.summary import largest_unrewarded, summarise_decoder
from tacit.experiments.studies.decoder.task import DecoderSweep, play_decoder
from tacit.experiments.study import Runs
from tacit.experiments.tables import count_seeds, make_table
from tacit.experiments.tasks import Play, StudyTask
from tacit.learning.settings import Settings
from tacit.reports.intervals import plus_minus
from tacit.reports.pages import page_template


@dataclass(frozen=True)
class DecoderStudy:
    """Ways of fitting posteriors x numbers of tuples x seeds."""

    sweep: DecoderSweep
    seeds: int = 20
    name: ClassVar[str] = "decoder"
    title: ClassVar[str] = "The reward decoder, and what estimating its input costs"
    about: ClassVar[str] = (
        "How the posterior over actions becomes a reward, and how well that goes from few tuples."
    )
    unit: ClassVar[str] = "tuples"
    columns: ClassVar[tuple[str, ...]] = ("tuples", "rewarded", "unrewarded")
    options: ClassVar[tuple[str, ...]] = ()
    arguments: ClassVar[str] = ""

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the name of its environment."""
        return (self.sweep.variant,)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the ways of fitting a posterior."""
        return self.sweep.methods

    @property
    def settings(self) -> Settings:
        """Return the settings of posterior and decoder."""
        return self.sweep.settings

    @property
    def origin(self) -> dict[str, Any]:
        """Return facts of its own: none."""
        return {}

    @property
    def unused(self) -> tuple[str, ...]:
        """Return the room of conversations: here there are none."""
        return ("tacit.text",)

    @property
    def play(self) -> Play:
        """Return what plays its tasks."""
        return partial(play_decoder, self.sweep)

    def order(self, options: Mapping[str, Any]) -> DecoderStudy:
        """Return it as it is: there are no options."""
        return self

    def scaled(self, fraction: float) -> DecoderStudy:
        """Return the same study on a `fraction` of its tuples."""
        settings = scale_settings(self.sweep.settings, fraction)
        counts = tuple(dict.fromkeys(scale(n, fraction) for n in self.sweep.tuple_counts))
        return replace(self, sweep=replace(self.sweep, settings=settings, tuple_counts=counts))

    def digest(self, variant: str) -> str:
        """Return a digest of the true model."""
        return mdp_digest(self.sweep.environment().mdp)

    def facts(self, variant: str, learner: str) -> dict[str, Any]:
        """Return what determines a task's result beside its environment, its seed and the code."""
        return {"settings": self.sweep.settings.to_json(), "tuple_counts": self.sweep.tuple_counts}

    def prepare(self, tasks: Sequence[StudyTask], console: Console) -> None:
        """Do nothing: a task needs nothing but itself."""

    def expect(self, task: StudyTask) -> int:
        """Return how many tuples a task fits posteriors to."""
        return sum(self.sweep.tuple_counts)

    def summarise(self, runs: Runs) -> dict[str, Any]:
        """Return what `summary.json` holds."""
        return summarise_decoder(self.sweep, runs)

    def tables(self, runs: Runs, summary: Mapping[str, Any]) -> Iterator[Table]:
        """Yield the table of decoded rewards."""
        title = f"decoded reward of a rewarded best action, {count_seeds(summary)}"
        table = make_table(title, ["tuples", *self.names])
        for count in self.sweep.tuple_counts:
            rows = (summary["posteriors"][method]["decoded_rewarded"] for method in self.names)
            table.add_row(f"{count:,}", *(plus_minus(row[str(count)], 3) for row in rows))
        yield table

    def draw(self, runs: Runs) -> Figure:
        """Return the picture."""
        return draw_decoder(self.sweep, runs)

    def render(
        self, runs: Runs, summary: Mapping[str, Any], manifest: Mapping[str, Any], picture: str
    ) -> str:
        """Return the page."""
        return page_template("tacit.experiments.studies.decoder", "page.html.j2").render(
            study=self,
            sweep=self.sweep,
            summary=summary,
            manifest=manifest,
            picture=picture,
            illustration=ILLUSTRATION,
            largest_unrewarded=largest_unrewarded(summary),
            facts=[
                ("seeds", f"{runs.request.n_seeds}"),
                ("tuples", ", ".join(f"{count:,}" for count in self.sweep.tuple_counts)),
                ("decoder", show_constants(self.settings.decoder)),
            ],
            share=f"{100 * runs.request.fraction:g} %",
        )

    def remarks(self, runs: Runs) -> list[str]:
        """Return nothing: there is no agent to trust."""
        return []


DECODER = DecoderStudy(
    DecoderSweep(
        variant="synthetic",
        environment=ENVIRONMENTS["synthetic"],
        methods=METHODS,
        settings=PAPER,
        tuple_counts=(500, 1000, 2000, 5000, 10_000, 20_000),
    )
)

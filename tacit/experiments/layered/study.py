"""A study on layered environments: its sweep, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from tacit.base.validation import check_choice
from tacit.engines.task import Report
from tacit.envs.layered import LayeredEnv
from tacit.experiments.layered.page import Page, render_page
from tacit.experiments.layered.playing import play_learner
from tacit.experiments.layered.problems import mdp_digest, scale, scale_settings
from tacit.experiments.layered.summary import Own, nothing_more, summarise_sweep
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.experiments.layered.trust import list_raised
from tacit.experiments.learners import LEARNERS
from tacit.experiments.study import Runs
from tacit.experiments.summary import CURVES, part_of
from tacit.experiments.tables import Column, count_seeds, learner_table
from tacit.experiments.tasks import Play, Played, StudyTask
from tacit.learning.settings import Settings

LEARNED: tuple[Column, ...] = (
    ("average reward", "average_reward", 3),
    ("decoded", "average_decoded_reward", 3),
    ("final", "final_reward", 3),
    ("all", "average_reward_all", 3),
)
"""The columns of a table of what was earned, and what it was taken to be."""
ENDING: tuple[Column, ...] = (
    ("regret", "regret", 0),
    ("explo-\nration", "exploration_episodes", 0),
    ("ep./s", "episodes_per_second", 0),
)
"""The last columns of every table."""


@dataclass(frozen=True)
class View:
    """How a study on layered environments is shown.

    `headings` are the columns of the table that ends the command, the first with its interval; narrow, so that it fits
    into 80 columns. `own` are numbers of learners that no other study has.
    """

    draw: Callable[[LayeredSweep, Runs], Figure]
    headings: tuple[Column, ...]
    page: Page
    own: Own = nothing_more


PlaySweep = Callable[[LayeredSweep, StudyTask, Report], Played]
"""Plays a task of a sweep; the code that its module imports decides the result, and no other."""


@dataclass(frozen=True)
class LayeredStudy:
    """Learners x layered environments x seeds.

    `choices` are environments that the option `setting` names, one to be played in place of those of the sweep.
    """

    name: str
    title: str
    about: str
    sweep: LayeredSweep
    view: View
    seeds: int = 20
    play_task: PlaySweep = play_learner
    choices: Mapping[str, Callable[[], LayeredEnv]] = field(default_factory=dict)
    arguments: str = ""
    unit: ClassVar[str] = "episodes"
    columns: ClassVar[tuple[str, ...]] = CURVES

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options that it takes: one, if there is something to choose."""
        return ("setting",) if self.choices else ()

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the names of its environments."""
        return tuple(self.sweep.environments)

    @property
    def names(self) -> tuple[str, ...]:
        """Return everyone who plays."""
        return self.sweep.names

    @property
    def settings(self) -> Settings:
        """Return the settings that its learners share."""
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
        return partial(self.play_task, self.sweep)

    def order(self, options: Mapping[str, Any]) -> LayeredStudy:
        """Return the study that the options ask for; ValueError or ImportError if an environment cannot be made."""
        study = self._choose(options["setting"]) if "setting" in options else self
        for make in study.sweep.environments.values():
            make()
        return study

    def _choose(self, setting: str) -> LayeredStudy:
        check_choice("--setting", setting, tuple(self.choices))
        sweep = replace(self.sweep, environments={setting: self.choices[setting]})
        return replace(self, sweep=sweep, arguments=f" --setting {setting}")

    def scaled(self, fraction: float) -> LayeredStudy:
        """Return the same study on a `fraction` of its budget: T, N and N_0."""
        return replace(self, sweep=scale_sweep(self.sweep, fraction))

    def digest(self, variant: str) -> str:
        """Return a digest of the true model of an environment."""
        return mdp_digest(self.sweep.environments[variant]().mdp)

    def facts(self, variant: str, learner: str) -> dict[str, Any]:
        """Return what determines a task's result beside its environment, its seed and the code."""
        return self.sweep.facts_of(variant, learner)

    def prepare(self, tasks: Sequence[StudyTask], console: Console) -> None:
        """Do nothing: a task needs nothing but itself."""

    def expect(self, task: StudyTask) -> int:
        """Return about how many episodes a task plays."""
        return expect_episodes(self.sweep, task)

    def summarise(self, runs: Runs) -> dict[str, Any]:
        """Return what `summary.json` holds."""
        return summarise_sweep(self.sweep, runs, self.view.own)

    def tables(self, runs: Runs, summary: Mapping[str, Any]) -> Iterator[Table]:
        """Yield one table for each environment."""
        for variant in self.variants:
            part, (first, *others) = part_of(summary, variant), self.view.headings
            title = f"{variant}: optimum {part['optimal_value']:.3f}, {count_seeds(summary)}"
            yield learner_table(title, part["learners"], [first], others)

    def draw(self, runs: Runs) -> Figure:
        """Return the picture."""
        return self.view.draw(self.sweep, runs)

    def render(
        self, runs: Runs, summary: Mapping[str, Any], manifest: Mapping[str, Any], picture: str
    ) -> str:
        """Return the page."""
        return render_page(
            self.view.page, self.sweep, runs, study=self, summary=summary, manifest=manifest, picture=picture
        )

    def remarks(self, runs: Runs) -> list[str]:
        """Return what was found against trusting each environment's result."""
        return list_raised(self.variants, runs)


def scale_sweep(sweep: LayeredSweep, fraction: float) -> LayeredSweep:
    """Return a sweep on a `fraction` of its budget."""
    return replace(
        sweep,
        settings=scale_settings(sweep.settings, fraction),
        episodes=scale(sweep.episodes, fraction),
        arms=tuple(dict.fromkeys(replace(arm, budget=scale(arm.budget, fraction)) for arm in sweep.arms)),
    )


def expect_episodes(sweep: LayeredSweep, task: StudyTask) -> int:
    """Return about how many episodes a task plays, for the progress bar."""
    layout, settings = sweep.environments[task.variant]().layout, sweep.settings
    learner = LEARNERS.get(task.learner)
    if sweep.counts_exploration or learner is None or not learner.make(layout, settings, 0).stage.explores:
        return sweep.episodes
    each = settings.homing.episodes + round(1.25 * settings.collection.tuples)
    return sweep.episodes + layout.endings.size * each

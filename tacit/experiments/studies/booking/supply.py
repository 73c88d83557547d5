"""What the dialogues of the booking study are made of, and how many of them a budget takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tacit.envs.booking import load_tasks, make_dialogues
from tacit.envs.candidates import count_values
from tacit.envs.corpora import BookingTask
from tacit.envs.dialogues import BrokenLine, Dialogue, read_dialogues
from tacit.experiments.studies.booking.sweep import SMALL_TWIN, BookingSweep

DIALOGUES_SEED = 0
"""All seeds of the figure meet the same dialogues, in an order of their own: texts are encoded once."""
FROM_FILE = "dialogues"
"""What the variant is called whose dialogues come from a file."""


class Budget(NamedTuple):
    """Episodes of exploration, then of policy learning (None: the rest of the dialogues), and the least of both."""

    exploration: int = 500
    learning: int | None = None
    least_exploration: int = 150
    least_learning: int = 100
    seeds: int = 5


BUDGETS: Mapping[str, Budget] = {
    "small": Budget(),
    "smol": Budget(exploration=500, learning=300, least_exploration=16, least_learning=16, seeds=1),
    "paper": Budget(seeds=1),
}
"""By model; one from the hub has the budget of `paper`. That of `smol` is meant to end within an hour on two cores."""

LARGE_MODEL_LEARNERS = ("tacit", SMALL_TWIN, "uniform")
"""Who plays where a language model does: each of its episodes costs seconds."""


class Supply(NamedTuple):
    """What dialogues are made of: the tasks of a source, or the dialogues of a file and the lines it left out."""

    source: str
    tasks: tuple[BookingTask, ...] = ()
    dialogues: tuple[Dialogue, ...] = ()
    left_out: tuple[BrokenLine, ...] = ()

    @property
    def size(self) -> int:
        """Return how many dialogues there are."""
        return len(self.dialogues or self.tasks)

    def take(self, variant: str, count: int) -> tuple[Dialogue, ...]:
        """Return `count` dialogues of a variant, drawn at random where that is not all."""
        some: Callable[[Any], Any] = partial(Random(DIALOGUES_SEED).sample, k=count)
        if self.dialogues:
            return tuple(some(self.dialogues)) if count < self.size else self.dialogues
        tasks = tuple(some(self.tasks)) if count < self.size else self.tasks
        return make_dialogues(tasks, variant, DIALOGUES_SEED, values=count_values(self.tasks))


def load_supply(data: Path | None = None, dialogues: Path | None = None, skip_broken: bool = False) -> Supply:
    """Return what the dialogues are made of: a file, the corpora in a directory, or generated tasks."""
    if dialogues is not None:
        read = read_dialogues(dialogues, skip_broken)
        return Supply(dialogues.name, dialogues=read.dialogues, left_out=read.problems)
    tasks, source = load_tasks(data)
    return Supply(source, tasks)


def find_budget(model: str) -> Budget:
    """Return the budget of a model."""
    return BUDGETS.get(model, BUDGETS["paper"])


def fill(sweep: BookingSweep, variants: tuple[str, ...], supply: Supply, fraction: float) -> BookingSweep:
    """Return a sweep on a `fraction` of its budget, with no more dialogues than that takes."""
    budget = find_budget(sweep.model)
    rest = max(supply.size - budget.exploration, budget.exploration)
    whole = budget.learning if budget.learning is not None else rest
    exploration = max(round(budget.exploration * fraction), budget.least_exploration)
    episodes = max(round(whole * fraction), budget.least_learning)
    count = min(supply.size, exploration + episodes)
    return replace(
        sweep,
        settings=replace(sweep.settings, exploration=exploration),
        episodes=episodes,
        source=supply.source,
        dialogues={variant: supply.take(variant, count) for variant in variants},
        notes=(
            *floor_notes(budget, whole, fraction),
            *pass_notes(exploration + episodes, count),
            *broken_notes(supply),
        ),
    )


def floor_notes(budget: Budget, whole: int, fraction: float) -> list[str]:
    """Return a note for each budget that a fraction would have made too small to learn anything."""
    parts = (
        ("exploration", budget.exploration, budget.least_exploration),
        ("policy-learning", whole, budget.least_learning),
    )
    return [
        f"{fraction:g} of {full:,} {what} episodes would be {round(full * fraction)}, too few to learn from: "
        f"{least} were played"
        for what, full, least in parts
        if round(full * fraction) < least
    ]


def pass_notes(episodes: int, dialogues: int) -> list[str]:
    """Return a note where dialogues are met more than once."""
    if episodes <= dialogues:
        return []
    return [
        f"{episodes:,} episodes pass through the {dialogues:,} dialogues {episodes / dialogues:.1f} times"
    ]


def broken_notes(supply: Supply) -> list[str]:
    """Return a note where broken lines of a file were left out: how many, and the first."""
    if not supply.left_out:
        return []
    number, first = len(supply.left_out), supply.left_out[0]
    were = "broken line was" if number == 1 else "broken lines were"
    return [f"{number} {were} left out of {supply.source}; the first is line {first.line}: {first.reason}"]

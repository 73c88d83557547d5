"""The numbers of the booking figure: its `summary.json` and the tables that end it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rich.table import Table

from tacit.envs.dialogues import Dialogue
from tacit.experiments.booking_figure import PUBLISHED, BookingFigure
from tacit.experiments.run import Runs
from tacit.experiments.summary import SCALARS, Interval, list_basics, mean_interval
from tacit.experiments.tables import OURS, Column, count_seeds, make_table, plus_minus

BEST = 1.0
"""The reward of the right question and the right booking: there is no chance in it."""
BOOKING_SCALARS = (*SCALARS, "last_500_reward", "decoded_rewarded", "decoded_unrewarded")
WITH_INTERVAL: tuple[Column, ...] = (
    ("average", "average_reward", 3),
    ("last 500", "last_500_reward", 3),
    ("decoded", "average_decoded_reward", 3),
)
MEAN_ONLY: tuple[Column, ...] = (
    ("where\n1", "decoded_rewarded", 2),
    ("where\n0", "decoded_unrewarded", 3),
    ("all", "average_reward_all", 3),
)
"""Narrow, so that the table fits into 80 columns; the report has all intervals."""


def summarise_booking(runs: Runs[BookingFigure]) -> dict[str, Any]:
    """Return what `summary.json` holds: one setting as it is, several under `variants`."""
    figure = runs.figure
    parts = {variant: _summarise_variant(runs, variant) for variant in figure.environments}
    facts = list_basics(runs) | figure.origin
    facts |= {"learning_episodes": figure.episodes, "published_reward": PUBLISHED}
    return facts | (next(iter(parts.values())) if len(parts) == 1 else {"variants": parts})


def _summarise_variant(runs: Runs[BookingFigure], variant: str) -> dict[str, Any]:
    return {
        "setting": variant,
        "optimal_value": BEST,
        "uniform_value": chance_of(runs.figure.dialogues[variant]),
        "learners": {name: _summarise_learner(runs.of(variant, name)) for name in runs.figure.names},
    }


def _summarise_learner(results: Sequence[Mapping[str, Any]]) -> dict[str, Interval]:
    scalars = [result["scalars"] for result in results]
    summary = {name: mean_interval([row[name] for row in scalars]) for name in BOOKING_SCALARS}
    return summary | {"episodes_per_second": mean_interval([result["rate"] for result in results])}


def chance_of(dialogues: Sequence[Dialogue]) -> float:
    """Return the reward that uniform choices expect: the chance of a right question and a right booking."""

    def share(offered: Sequence[Any]) -> float:
        return float(np.mean([candidate.correct for candidate in offered]))

    return float(np.mean([share(dialogue.questions) * share(dialogue.bookings) for dialogue in dialogues]))


def booking_parts(summary: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the settings that were played, each with its `learners`."""
    return list(summary["variants"].values()) if "variants" in summary else [summary]


def booking_tables(runs: Runs[BookingFigure], summary: Mapping[str, Any]) -> Iterator[Table]:
    """Yield a table for each setting."""
    for part in booking_parts(summary):
        title = f"{part['setting']}: {runs.figure.source_words},\nmodel {runs.figure.model}, {count_seeds(summary)}"
        yield _learner_table(title, part["learners"], speed_column(runs.figure, "ep./s"))


def speed_column(figure: BookingFigure, heading: str) -> Column:
    """Return the column of speeds: a language model takes seconds for an episode."""
    return heading, "episodes_per_second", 0 if figure.model == "small" else 2


def _learner_table(title: str, learners: Mapping[str, Mapping[str, Interval]], speed: Column) -> Table:
    columns = (*WITH_INTERVAL, *MEAN_ONLY, speed)
    table = make_table(title, ["learner", *(heading for heading, _, _ in columns)])
    for learner, row in learners.items():
        cells = [plus_minus(row[name], decimals) for _, name, decimals in WITH_INTERVAL]
        cells += [
            plus_minus(row[name] | {"high": None}, decimals) for _, name, decimals in (*MEAN_ONLY, speed)
        ]
        table.add_row(learner, *cells, style="bold" if learner in OURS else None)
    return table


def list_notes(runs: Runs[BookingFigure]) -> list[str]:
    """Return what the reader must not miss, a line each."""
    return [f"note: {note}" for note in runs.figure.notes]

"""The numbers of the booking study: its `summary.json` and the tables that end it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rich.table import Table

from tacit.envs.dialogues import Dialogue
from tacit.experiments.studies.booking.sweep import BookingSweep
from tacit.experiments.studies.booking.words import PUBLISHED, source_words
from tacit.experiments.study import Runs
from tacit.experiments.summary import SCALARS, join_parts, list_basics, part_of, summarise_learner
from tacit.experiments.tables import Column, count_seeds, learner_table

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


def summarise_booking(sweep: BookingSweep, runs: Runs) -> dict[str, Any]:
    """Return what `summary.json` holds."""
    facts = {"learning_episodes": sweep.episodes, "published_reward": PUBLISHED}
    parts = {variant: _summarise_variant(sweep, runs, variant) for variant in sweep.dialogues}
    return list_basics(runs) | list_origin(sweep) | facts | join_parts(parts)


def list_origin(sweep: BookingSweep) -> dict[str, Any]:
    """Return where the dialogues come from and what else a reader must know, for JSON."""
    return {
        "model": sweep.model,
        "source": sweep.source,
        "dialogues": sweep.size,
        "exploration": sweep.settings.exploration,
        "notes": list(sweep.notes),
    }


def _summarise_variant(sweep: BookingSweep, runs: Runs, variant: str) -> dict[str, Any]:
    learners = {name: summarise_learner(runs.of(variant, name), BOOKING_SCALARS) for name in sweep.learners}
    return {
        "setting": variant,
        "optimal_value": BEST,
        "uniform_value": chance_of(sweep.dialogues[variant]),
        "learners": learners,
    }


def chance_of(dialogues: Sequence[Dialogue]) -> float:
    """Return the reward that uniform choices expect: the chance of a right question and a right booking."""

    def share(offered: Sequence[Any]) -> float:
        return float(np.mean([candidate.correct for candidate in offered]))

    return float(np.mean([share(dialogue.questions) * share(dialogue.bookings) for dialogue in dialogues]))


def list_tables(sweep: BookingSweep, summary: Mapping[str, Any]) -> Iterator[Table]:
    """Yield a table for each setting."""
    for variant in sweep.dialogues:
        title = f"{variant}: {source_words(sweep)},\nmodel {sweep.model}, {count_seeds(summary)}"
        mean_only = (*MEAN_ONLY, speed_column(sweep, "ep./s"))
        yield learner_table(title, part_of(summary, variant)["learners"], WITH_INTERVAL, mean_only)


def speed_column(sweep: BookingSweep, heading: str) -> Column:
    """Return the column of speeds: a language model takes seconds for an episode."""
    return heading, "episodes_per_second", 0 if sweep.model == "small" else 2

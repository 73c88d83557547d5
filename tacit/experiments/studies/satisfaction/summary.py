"""The numbers and tables of the satisfaction study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

from tacit.experiments.studies.satisfaction.scoring import SCALARS
from tacit.experiments.studies.satisfaction.task import SatisfactionSweep
from tacit.experiments.study import Runs
from tacit.experiments.summary import join_parts, list_basics, part_of
from tacit.experiments.tables import Column, count_seeds, learner_table
from tacit.reports.intervals import mean_interval

COLUMNS: tuple[Column, ...] = (
    ("decoded", "decoded", 2),
    ("agree", "agreement", 2),
    ("J, liked", "decoded_rewarded", 2),
    ("J, disliked", "decoded_unrewarded", 2),
    ("ranked right", "ranked_right", 2),
)
"""Of the replies rated above or below 3: the share with a label that it stands by, and how many of those agree."""


BASE: tuple[Column, ...] = (("above 3", "rewarded", 2),)
"""How many of the replies that are scored were rated above 3."""
ON_PAGE: tuple[Column, ...] = (*BASE, *COLUMNS, ("right of 1", "rewarded_of_decoded_as_such", 2))
"""What a page has room for."""


def summarise_satisfaction(sweep: SatisfactionSweep, runs: Runs) -> dict[str, Any]:
    """Return what `summary.json` holds."""
    parts = {part: _summarise_part(sweep, runs, part) for part in sweep.parts}
    return list_basics(runs) | {"places": sweep.places, "notes": list(sweep.notes)} | join_parts(parts)


def _summarise_part(sweep: SatisfactionSweep, runs: Runs, part: str) -> dict[str, Any]:
    results = {learner: runs.of(part, learner) for learner in sweep.learners}
    learners = {
        learner: {name: mean_interval([one["scalars"][name] for one in found]) for name in SCALARS}
        for learner, found in results.items()
    }
    verdicts = {
        learner: dict(Counter(one["verdict"] for one in found))
        for learner, found in results.items()
        if any(one["verdict"] for one in found)
    }
    return {"part": part, "replies": len(sweep.parts[part]), "learners": learners, "verdicts": verdicts}


def list_satisfaction_tables(sweep: SatisfactionSweep, summary: Mapping[str, Any]) -> Iterator[Table]:
    """Yield a table for each part."""
    for part in sweep.parts:
        title = f"{part}: labels beside ratings that were held back, {count_seeds(summary)}"
        yield learner_table(title, part_of(summary, part)["learners"], COLUMNS, BASE)


def list_verdicts(summary: Mapping[str, Any], parts: Mapping[str, Any]) -> list[str]:
    """Return in words what each way of reading says of itself."""
    return [
        f"{part}, {learner}: " + ", ".join(f"{verdict} ({count})" for verdict, count in verdicts.items())
        for part in parts
        for learner, verdicts in part_of(summary, part)["verdicts"].items()
    ]

"""The parts of the tables that end `tacit reproduce`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table

from tacit.reports.intervals import SeedInterval, plus_minus

Column = tuple[str, str, int]
"""Heading, name in `summary.json`, decimals."""
OURS = ("tacit", "tacit_fast")


def learner_table(
    title: str,
    learners: Mapping[str, Mapping[str, SeedInterval]],
    with_interval: Sequence[Column],
    mean_only: Sequence[Column],
) -> Table:
    """Return a table of learners: columns with intervals first, narrow ones without after them."""
    table = make_table(title, ["learner", *(heading for heading, _, _ in (*with_interval, *mean_only))])
    for learner, row in learners.items():
        cells = [plus_minus(row[name], decimals) for _, name, decimals in with_interval]
        cells += [plus_minus({**row[name], "high": None}, decimals) for _, name, decimals in mean_only]
        table.add_row(learner, *cells, style="bold" if learner in OURS else None)
    return table


def make_table(title: str, headings: list[str]) -> Table:
    """Return an empty table; all columns but the first are numbers."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column(headings[0], no_wrap=True)
    for heading in headings[1:]:
        table.add_column(heading, justify="right")
    return table


def count_seeds(summary: Mapping[str, Any]) -> str:
    """Return how many seeds there are, and what the intervals are."""
    n = summary["seeds"]
    return f"{n} seeds, ± 95 % interval" if n > 1 else "1 seed, so no intervals"

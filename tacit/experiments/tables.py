"""The tables that end `tacit reproduce`: the learners of each environment, or the decoder's numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table

from tacit.experiments.figures import Figure
from tacit.experiments.run import Runs
from tacit.experiments.summary import Interval, summary_parts

Column = tuple[str, str, int]
"""Heading, name in `summary.json`, decimals."""
ENDING: tuple[Column, ...] = (
    ("regret", "regret", 0),
    ("explo-\nration", "exploration_episodes", 0),
    ("ep./s", "episodes_per_second", 0),
)
LEARNING: tuple[Column, ...] = (
    ("average reward", "average_reward", 3),
    ("decoded", "average_decoded_reward", 3),
    ("final", "final_reward", 3),
    ("all", "average_reward_all", 3),
    *ENDING,
)
"""The first with its interval; narrow, so that the table fits into 80 columns."""
COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "learning": LEARNING,
    "regret": (("slope", "slope", 2), ("all", "average_reward_all", 3), *ENDING),
    "exploration": (
        ("all", "average_reward_all", 3),
        ("share", "share", 2),
        ("final", "final_reward", 3),
        *ENDING,
    ),
}
OURS = ("tacit", "tacit_fast")


def result_tables(runs: Runs[Figure], summary: Mapping[str, Any]) -> Iterator[Table]:
    """Yield one table for each environment that learners played, or the decoder's."""
    parts = summary_parts(summary)
    for variant, part in parts.items():
        title = f"{variant}: optimum {part['optimal_value']:.3f}, {count_seeds(summary)}"
        yield _learner_table(title, part["learners"], COLUMNS[runs.figure.study])
    if not parts:
        yield _decoder_table(runs, summary)


def plus_minus(interval: Interval, decimals: int) -> str:
    """Return a mean with half of its interval's width.

    >>> plus_minus({"mean": 0.7, "low": 0.68, "high": 0.72}, 2)
    '0.70±0.02'
    """
    mean, high = interval["mean"], interval["high"]
    if mean is None:
        return "-"
    return f"{mean:,.{decimals}f}" + (f"±{high - mean:,.{decimals}f}" if high is not None else "")


def _learner_table(
    title: str, learners: Mapping[str, dict[str, Interval]], columns: Sequence[Column]
) -> Table:
    table = make_table(title, ["learner", *(heading for heading, _, _ in columns)])
    (_, first, digits), *rest = columns
    for learner, row in learners.items():
        means = [plus_minus(row[name] | {"high": None}, decimals) for _, name, decimals in rest]
        style = "bold" if learner in OURS else None
        table.add_row(learner, plus_minus(row[first], digits), *means, style=style)
    return table


def _decoder_table(runs: Runs[Figure], summary: Mapping[str, Any]) -> Table:
    title = f"decoded reward of a rewarded best action, {count_seeds(summary)}"
    table = make_table(title, ["tuples", *runs.figure.learners])
    for count in runs.figure.tuple_counts:
        rows = (summary["posteriors"][method]["decoded_rewarded"] for method in runs.figure.learners)
        table.add_row(f"{count:,}", *(plus_minus(row[str(count)], 3) for row in rows))
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

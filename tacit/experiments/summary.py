"""The numbers that every study gives: `summary.json` and `curves.csv`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tacit.experiments.study import Runs
from tacit.reports.intervals import SeedInterval, mean_interval

NOTE = "low and high: 95 % Student t interval of the mean over seeds; null with fewer than two seeds"
CURVES = ("episode", "average_reward", "average_decoded_reward", "regret")
"""The columns of a learning curve."""
SCALARS = (
    "average_reward",
    "average_decoded_reward",
    "final_reward",
    "final_decoded_reward",
    "average_reward_all",
    "regret",
    "exploration_episodes",
)
"""What is known of each run of a learner, beside its speed."""


def list_basics(runs: Runs) -> dict[str, Any]:
    """Return what every summary begins with."""
    request, study = runs.request, runs.study
    return {
        "figure": study.name,
        "title": study.title,
        "seeds": request.n_seeds,
        "fraction": request.fraction,
        "interval": NOTE,
        "settings": study.settings.to_json(),
    }


def summarise_learner(
    results: Sequence[Mapping[str, Any]], scalars: Sequence[str] = SCALARS
) -> dict[str, SeedInterval]:
    """Return what a table shows of a learner: the scalars of its runs, and its speed."""
    rows = [result["scalars"] for result in results]
    summary = {name: mean_interval([row[name] for row in rows]) for name in scalars}
    return summary | {"episodes_per_second": mean_interval([result["rate"] for result in results])}


def join_parts(parts: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the summaries of environments as they stand in `summary.json`: the only one as it is."""
    return next(iter(parts.values())) if len(parts) == 1 else {"variants": dict(parts)}


def part_of(summary: Mapping[str, Any], variant: str) -> Mapping[str, Any]:
    """Return the summary of one environment."""
    part: Mapping[str, Any] = summary["variants"][variant] if "variants" in summary else summary
    return part


def to_json(summary: Mapping[str, Any]) -> str:
    """Return JSON without NaN, which is not JSON."""
    return json.dumps(summary, indent=2, allow_nan=False) + "\n"


def to_csv(runs: Runs) -> str:
    """Return the curves of every run as CSV; an empty field where there is no number."""
    columns = runs.study.columns
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["variant", "learner", "seed", *columns])
    writer.writerows(_rows(runs, columns))
    return text.getvalue()


def _rows(runs: Runs, columns: Sequence[str]) -> Iterator[list[Any]]:
    for task, result in runs.results.items():
        for values in zip(*(result["curves"][column].tolist() for column in columns), strict=True):
            numbers = ["" if value != value else value for value in values]  # NaN is not itself
            yield [task.variant, task.learner, task.seed, *numbers]

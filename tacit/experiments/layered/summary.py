"""The numbers of a study on layered environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tacit.experiments.layered.problems import optimal_value, uniform_value
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.experiments.study import Runs
from tacit.experiments.summary import join_parts, list_basics, summarise_learner
from tacit.reports.intervals import SeedInterval

Results = Sequence[Mapping[str, Any]]
Own = Callable[[Results, float, float], dict[str, SeedInterval]]
"""Returns what only one study shows of a learner, from its results, the optimal and the uniform value."""


def nothing_more(results: Results, best: float, floor: float) -> dict[str, SeedInterval]:
    """Return no more numbers."""
    return {}


def summarise_sweep(sweep: LayeredSweep, runs: Runs, own: Own) -> dict[str, Any]:
    """Return what `summary.json` holds."""
    budget = {"episodes" if sweep.counts_exploration else "learning_episodes": sweep.episodes}
    parts = {variant: _summarise_variant(sweep, runs, variant, own) for variant in sweep.environments}
    return list_basics(runs) | budget | join_parts(parts)


def _summarise_variant(sweep: LayeredSweep, runs: Runs, variant: str, own: Own) -> dict[str, Any]:
    mdp = sweep.environments[variant]().mdp
    best, floor = optimal_value(mdp), uniform_value(mdp)
    results = {name: runs.of(variant, name) for name in sweep.names}
    learners = {name: summarise_learner(mine) | own(mine, best, floor) for name, mine in results.items()}
    return {"optimal_value": best, "uniform_value": floor, "learners": learners}

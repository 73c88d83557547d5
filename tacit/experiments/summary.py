"""`summary.json` and `curves.csv`: the numbers of a figure, each a mean over seeds with a 95 % interval."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from tacit.base.arrays import FloatArray
from tacit.experiments.decoding import ILLUSTRATION, illustrated_decoder
from tacit.experiments.figures import AnyFigure, Figure
from tacit.experiments.regret import fit_slope
from tacit.experiments.run import Runs
from tacit.problem.mdp import ContextualMDP, evaluate_policy, solve_optimal

LEVEL = 0.95
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

Interval = dict[str, float | None]


def mean_interval(values: Sequence[float | None]) -> Interval:
    """Return {"mean", "low", "high"} over seeds; no interval from one seed, nothing where a value is missing.

    >>> mean_interval([1.0, 1.0])
    {'mean': 1.0, 'low': 1.0, 'high': 1.0}
    >>> mean_interval([1.0])
    {'mean': 1.0, 'low': None, 'high': None}
    """
    numbers = [value for value in values if value is not None]
    if not numbers or len(numbers) < len(values):
        return {"mean": None, "low": None, "high": None}
    mean = float(np.mean(numbers))
    if len(numbers) == 1:
        return {"mean": mean, "low": None, "high": None}
    half = float(half_width(np.array(numbers)[:, None])[0])
    return {"mean": mean, "low": mean - half, "high": mean + half}


def half_width(values: FloatArray) -> FloatArray:
    """Return half of the interval's width for each column of values (seeds, n); NaN from one seed."""
    n = len(values)
    if n < 2:
        return np.full(values.shape[1:], np.nan)
    quantile = stats.t.ppf((1 + LEVEL) / 2, n - 1)
    return np.asarray(quantile * values.std(axis=0, ddof=1) / np.sqrt(n))


def summarise(runs: Runs[Figure]) -> dict[str, Any]:
    """Return what `summary.json` holds of a figure on layered environments."""
    summarise_study = _summarise_decoding if runs.figure.study == "decoding" else _summarise_learning
    return list_basics(runs) | summarise_study(runs)


def list_basics(runs: Runs[AnyFigure]) -> dict[str, Any]:
    """Return what every summary begins with."""
    request, figure = runs.request, runs.figure
    return {
        "figure": figure.name,
        "title": figure.title,
        "seeds": request.n_seeds,
        "fraction": request.fraction,
        "interval": NOTE,
        "settings": figure.settings.to_json(),
    }


def _summarise_learning(runs: Runs[Figure]) -> dict[str, Any]:
    figure = runs.figure
    parts = {variant: _summarise_variant(runs, variant) for variant in figure.environments}
    budget = {"episodes" if figure.counts_exploration else "learning_episodes": figure.episodes}
    if len(parts) == 1:
        return budget | next(iter(parts.values()))
    return budget | {"variants": parts}


def _summarise_variant(runs: Runs[Figure], variant: str) -> dict[str, Any]:
    figure, mdp = runs.figure, runs.figure.environments[variant]().mdp
    best, floor = optimal_value(mdp), uniform_value(mdp)
    learners = {
        name: summarise_learner(figure.study, runs.of(variant, name), best, floor) for name in figure.names
    }
    return {"optimal_value": best, "uniform_value": floor, "learners": learners}


def summarise_learner(
    study: str, results: list[dict[str, Any]], best: float, floor: float
) -> dict[str, Interval]:
    """Return what a table shows of a learner: scalars, speed, and what only this study has."""
    scalars, curves = [result["scalars"] for result in results], [result["curves"] for result in results]
    summary = {name: mean_interval([row[name] for row in scalars]) for name in SCALARS}
    summary["episodes_per_second"] = mean_interval([result["rate"] for result in results])
    if study == "regret":
        slopes = [fit_slope(curve["episode"], curve["regret"]) for curve in curves]
        summary["slope"] = mean_interval(slopes)
    if study == "exploration":  # the share of the way from uniform to optimal
        shares = [(row["average_reward_all"] - floor) / (best - floor) for row in scalars]
        summary["share"] = mean_interval(shares)
    return summary


def _summarise_decoding(runs: Runs[Figure]) -> dict[str, Any]:
    constants, layout = runs.figure.settings.decoder, next(iter(runs.figure.environments.values()))().layout
    decoder = constants.build(layout.max_actions)
    return {
        "illustration": ILLUSTRATION | {"kappa_formula": illustrated_decoder(with_formula=True).kappa},
        "decoder": {"threshold": decoder.threshold, "xi": decoder.xi, "kappa": decoder.kappa},
        "posteriors": {method: _summarise_method(runs, method) for method in runs.figure.learners},
    }


def _summarise_method(runs: Runs[Figure], method: str) -> dict[str, Any]:
    curves = [result["curves"] for result in runs.of(next(iter(runs.figure.environments)), method)]
    return {
        f"decoded_{what}": {
            str(count): mean_interval([float(curve[what][i]) for curve in curves])
            for i, count in enumerate(runs.figure.tuple_counts)
        }
        for what in ("rewarded", "unrewarded")
    }


def optimal_value(mdp: ContextualMDP) -> float:
    """Return the expected reward of the optimal policy over contexts: the dashed line."""
    return float(mdp.context_probabilities @ solve_optimal(mdp).values)


def uniform_value(mdp: ContextualMDP) -> float:
    """Return the expected reward of uniform actions over contexts: the floor."""
    values = [evaluate_policy(mdp, x, mdp.layout.uniform_policy) for x in range(mdp.n_contexts)]
    return float(mdp.context_probabilities @ np.array(values))


def summary_parts(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts that have learners, by environment; the only one of a simple figure under its name."""
    if "variants" in summary:
        return dict(summary["variants"])
    return {summary["figure"]: summary} if "learners" in summary else {}


def to_json(summary: Mapping[str, Any]) -> str:
    """Return JSON without NaN, which is not JSON."""
    return json.dumps(summary, indent=2, allow_nan=False) + "\n"


def to_csv(runs: Runs[AnyFigure]) -> str:
    """Return the curves of every run as CSV; an empty field where there is no number."""
    columns = ("tuples", "rewarded", "unrewarded") if runs.figure.study == "decoding" else CURVES
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["variant", "learner", "seed", *columns])
    writer.writerows(_rows(runs, columns))
    return text.getvalue()


def _rows(runs: Runs[AnyFigure], columns: Sequence[str]) -> Iterator[list[Any]]:
    for task, result in runs.results.items():
        for values in zip(*(result["curves"][column].tolist() for column in columns), strict=True):
            numbers = ["" if value != value else value for value in values]  # NaN is not itself
            yield [task.variant, task.learner, task.seed, *numbers]

"""The picture of the exploration study: reward over all episodes against the episodes spent exploring."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, NullFormatter

from tacit.experiments.layered.problems import optimal_value, uniform_value
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.experiments.study import Runs
from tacit.reports.intervals import half_width
from tacit.reports.palette import COLOURS, DECODED, DPI, TRUE, draw_level, words

COLUMNS = 4
TOP = 0.95
"""The end of the axis of rewards: above every optimum here."""
SERIES: tuple[dict[str, Any], ...] = (
    {"color": TRUE, "marker": "o"},
    {"color": DECODED, "marker": "s", "linestyle": (0, (3, 1))},
)
"""The paper's recipe: one series for each scale of the bonus, in the order of the arms."""


def draw_exploration(sweep: LayeredSweep, runs: Runs) -> Canvas:
    """Return the picture: one panel for each environment, and the legend in the place of the next."""
    variants = list(sweep.environments)
    rows = len(variants) // COLUMNS + 1
    canvas = Canvas(figsize=(12, 3.1 * rows), dpi=DPI, layout="constrained")
    panels = canvas.subplots(rows, COLUMNS, squeeze=False, sharey=True)
    least = min(result["scalars"]["exploration_episodes"] for result in runs.results.values())
    for axes, variant in zip(panels.flat, variants, strict=False):
        _draw_panel(axes, sweep, runs, variant)
        axes.set(xlim=(least / 1.5, sweep.episodes * 1.5), ylim=(0, TOP))
    handles, labels = panels.flat[0].get_legend_handles_labels()
    for axes in panels.flat[len(variants) :]:
        axes.set_axis_off()
    panels.flat[len(variants)].legend(handles, labels, loc="center")
    canvas.supxlabel("exploration episodes, mean over seeds")
    canvas.supylabel(f"average reward over all {sweep.episodes:,} episodes")
    return canvas


def _draw_panel(axes: Axes, sweep: LayeredSweep, runs: Runs, variant: str) -> None:
    mdp = sweep.environments[variant]().mdp
    best, floor = optimal_value(mdp), uniform_value(mdp)
    draw_level(axes, best, f"optimum {best:.3f}", right=True)
    draw_level(axes, floor, f"uniform {floor:.3f}", linestyle=":")
    scales = list(dict.fromkeys(arm.bonus_scale for arm in sweep.arms))
    for bonus, style in zip(scales, SERIES, strict=False):
        names = [arm.name for arm in sweep.arms if arm.bonus_scale == bonus]
        _draw_points(axes, runs, variant, names, label=f"the paper's recipe,\nbonus x {bonus:g}", **style)
    for learner in sweep.learners:
        style = {"color": COLOURS[learner], "marker": "*", "markersize": 13, "linestyle": "none"}
        _draw_points(axes, runs, variant, [learner], label=words(learner), **style)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.set_title(words(variant), fontweight="bold")


def _draw_points(axes: Axes, runs: Runs, variant: str, names: list[str], **style: Any) -> None:
    scalars = [[result["scalars"] for result in runs.of(variant, name)] for name in names]
    explored = [np.mean([row["exploration_episodes"] for row in rows]) for rows in scalars]
    rewards = np.array([[row["average_reward_all"] for row in rows] for rows in scalars]).T  # (seeds, names)
    half = half_width(rewards) if len(rewards) > 1 else None
    style = {"capsize": 2.5, "linewidth": 1.4, "markersize": 5, "zorder": 4} | style
    axes.errorbar(explored, rewards.mean(axis=0), yerr=half, **style)

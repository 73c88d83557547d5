"""The picture of learning curves: average reward so far, true and decoded, beside the baselines."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, MaxNLocator

from tacit.experiments.layered.problems import optimal_value
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.experiments.layered.words import ENVIRONMENT_WORDS
from tacit.experiments.study import Runs
from tacit.reports.palette import DECODED, DPI, TRUE, draw_band, draw_level, label_ends, line_style, words


def draw_curves(sweep: LayeredSweep, runs: Runs) -> Canvas:
    """Return the picture: average reward so far, one panel for each environment."""
    variants = list(sweep.environments)
    if len(variants) == 1:
        canvas = Canvas(figsize=(8.2, 4.4), dpi=DPI, layout="constrained")
        axes = canvas.add_subplot()
        ends = _draw_panel(axes, sweep, runs, variants[0])
        label_ends(axes, ends)
        return canvas
    rows = (len(variants) + 1) // 2
    canvas = Canvas(figsize=(8.2, 3.1 * rows + 0.9), dpi=DPI, layout="constrained")
    grid = canvas.subplots(rows, 2, sharey=True, squeeze=False)
    for axes, variant in zip(grid.flat, variants, strict=False):
        _draw_panel(axes, sweep, runs, variant)
        axes.set_title(
            f"$\\bf{{{variant}}}$\n{_wrapped(ENVIRONMENT_WORDS.get(variant, ''), 52)}", fontsize=8.5
        )
    for axes in grid.flat[len(variants) :]:
        axes.set_visible(False)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    canvas.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=3)
    return canvas


def _draw_panel(axes: Axes, sweep: LayeredSweep, runs: Runs, variant: str) -> dict[str, tuple[float, str]]:
    """Draw every learner; return the last value and the colour of each line by its label."""
    ends: dict[str, tuple[float, str]] = {}
    for learner in reversed(sweep.learners):
        ends |= _draw_learner(axes, runs, variant, learner)
    best = optimal_value(sweep.environments[variant]().mdp)
    draw_level(axes, best, f"optimum {best:.3f}")
    axes.set_xlim(0, sweep.episodes)
    axes.set_ylim(0, max(0.8, best * 1.08))
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.set_xlabel("episode of policy learning")
    axes.set_ylabel("average reward so far")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    return ends


def _draw_learner(axes: Axes, runs: Runs, variant: str, learner: str) -> dict[str, tuple[float, str]]:
    curves = [result["curves"] for result in runs.of(variant, learner)]
    episode = curves[0]["episode"]
    if learner != "tacit":
        mean = np.mean([curve["average_reward"] for curve in curves], axis=0)
        axes.plot(episode, mean, label=words(learner), **line_style(learner))
        return {words(learner): (float(mean[-1]), line_style(learner)["color"])}
    ends = {}
    for name, colour, label in (
        ("average_decoded_reward", DECODED, "tacit, decoded reward"),
        ("average_reward", TRUE, "tacit, true reward"),
    ):
        values = np.array([curve[name] for curve in curves])  # (seeds, points)
        ends[label] = (draw_band(axes, episode, values, colour, label), colour)
    return ends


def _wrapped(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(text, width))

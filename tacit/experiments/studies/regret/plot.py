"""The picture of the regret study: regret against T on log axes, fitted slopes, the theorem's rate."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from tacit.base.arrays import FloatArray
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.experiments.studies.regret.rate import THEOREM, first_fitted, fit_slope
from tacit.experiments.study import Runs
from tacit.reports.intervals import half_width
from tacit.reports.palette import DPI, label_ends, line_style, words

ANCHOR = "tacit_fast"
"""The learner at whose regret the theorem's line starts: a line of that slope, not a bound."""
LEAST = 1e-12
"""What a regret of zero is drawn as: it has no logarithm."""


def draw_regret(sweep: LayeredSweep, runs: Runs) -> Canvas:
    """Return the picture: one panel for each environment, one below the other."""
    variants = list(sweep.environments)
    canvas = Canvas(figsize=(8.2, 4.2 * len(variants)), dpi=DPI, layout="constrained")
    for axes, variant in zip(canvas.subplots(len(variants), 1, squeeze=False).flat, variants, strict=True):
        _draw_panel(axes, sweep, runs, variant)
    return canvas


def _draw_panel(axes: Axes, sweep: LayeredSweep, runs: Runs, variant: str) -> None:
    axes.set(xscale="log", yscale="log", xlim=(1, sweep.episodes))
    axes.set(xlabel="episodes T, exploration included", ylabel="cumulative regret")
    axes.set_title(variant, fontweight="bold")
    ends: dict[str, tuple[float, str]] = {}
    for learner in reversed(sweep.learners):
        curves = [result["curves"] for result in runs.of(variant, learner)]
        episodes, regrets = curves[0]["episode"], np.array([curve["regret"] for curve in curves])
        mean = _draw_learner(axes, learner, episodes, regrets)
        slope = fit_slope(episodes, mean)  # which is the mean of the seeds' slopes
        label = words(learner) + (f", {slope:.2f}" if slope is not None else "")
        ends[label] = float(mean[-1]), line_style(learner)["color"]
        if learner == ANCHOR:
            _draw_theorem(axes, episodes, mean)
    axes.axvspan(first_fitted(sweep.episodes), sweep.episodes, color="#f4f4f4", zorder=0)
    axes.grid(color="#e6e6e6", linewidth=0.6)
    axes.text(0.99, 0.02, "slopes fitted here", transform=axes.transAxes, ha="right", color="#777777")
    label_ends(axes, ends)


def _draw_learner(axes: Axes, learner: str, episodes: FloatArray, regrets: FloatArray) -> FloatArray:
    """Draw and return the geometric mean of regrets (seeds, points), with the interval of their logarithm."""
    style, logs = line_style(learner), np.log(np.maximum(regrets, LEAST))
    mean, half = logs.mean(axis=0), half_width(logs)
    axes.plot(episodes, np.exp(mean), **style)
    if len(logs) > 1:
        band = np.exp(mean - half), np.exp(mean + half)
        axes.fill_between(episodes, *band, color=style["color"], alpha=0.15, linewidth=0)
    return np.asarray(np.exp(mean))


def _draw_theorem(axes: Axes, episodes: FloatArray, regret: FloatArray) -> None:
    start = np.searchsorted(episodes, first_fitted(int(episodes[-1])))
    T = episodes[start:]
    line = regret[start] * (T / T[0]) ** THEOREM
    axes.plot(T, line, color="#555555", linestyle=(0, (1, 1.5)), linewidth=1.6, zorder=3)
    late = int(0.8 * len(T))
    place = T[late], line[late]
    axes.annotate("$T^{3/4}$", place, (5, -9), textcoords="offset points", color="#555555")

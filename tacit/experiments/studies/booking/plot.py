"""The picture of the booking study (Figure 2b): average reward so far, true and decoded, a panel a setting."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, MaxNLocator

from tacit.experiments.studies.booking.summary import BEST
from tacit.experiments.studies.booking.sweep import BookingSweep
from tacit.experiments.studies.booking.words import source_words
from tacit.experiments.study import Runs
from tacit.reports.palette import DECODED, DPI, TRUE, draw_band, draw_level, label_ends, line_style, words

End = tuple[float, str]
"""Where a line ends, and its colour."""


def draw_booking(sweep: BookingSweep, runs: Runs) -> Canvas:
    """Return the picture: one panel for each setting, one below the other."""
    variants = list(sweep.dialogues)
    canvas = Canvas(figsize=(8.2, 3.7 * len(variants) + 0.7), dpi=DPI, layout="constrained")
    canvas.suptitle(
        f"{source_words(sweep)}\nmodel {sweep.model}, after {sweep.settings.exploration:,} episodes of exploration",
        fontsize=9,
        color="#555555",
        x=0.01,
        ha="left",
    )
    panels = canvas.subplots(len(variants), 1, squeeze=False).flat
    for axes, variant in zip(panels, variants, strict=True):
        _draw_panel(axes, sweep, runs, variant)
    return canvas


def _draw_panel(axes: Axes, sweep: BookingSweep, runs: Runs, variant: str) -> None:
    ends: dict[str, End] = {}
    for learner in reversed(sweep.learners):
        ends |= _draw_learner(axes, runs, variant, learner)
    draw_level(axes, BEST, "optimum 1")
    axes.set(xlim=(0, sweep.episodes), ylim=(0, 1.1))
    axes.set(xlabel="episode of policy learning", ylabel="average reward so far")
    axes.set_title(variant, fontweight="bold")
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    label_ends(axes, ends)


def _draw_learner(axes: Axes, runs: Runs, variant: str, learner: str) -> dict[str, End]:
    """Draw a learner's true reward, and Tacit's decoded one; return the ends of the lines by their labels."""
    curves = [result["curves"] for result in runs.of(variant, learner)]
    episode, true = curves[0]["episode"], np.array([curve["average_reward"] for curve in curves])
    if learner != "tacit":
        style, mean = line_style(learner), true.mean(axis=0)
        axes.plot(episode, mean, **style)
        return {words(learner): (float(mean[-1]), style["color"])}
    decoded = np.array([curve["average_decoded_reward"] for curve in curves])
    return {
        "tacit, decoded reward": (draw_band(axes, episode, decoded, DECODED, "decoded"), DECODED),
        "tacit, true reward": (draw_band(axes, episode, true, TRUE, "true"), TRUE),
    }

"""The picture of the satisfaction study: of the replies with the highest labels, how many people were satisfied."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import PercentFormatter

from tacit.experiments.studies.satisfaction.task import SatisfactionSweep
from tacit.experiments.study import Runs
from tacit.reports.palette import COLOURS, DPI, OTHER, draw_band, draw_level, label_ends, words

LINES = {
    "tacit": COLOURS["tacit"],
    "tacit_replayed": COLOURS["tacit_fast"],
    "tacit_acts": COLOURS["last_step_igl"],
    "universal_judge": COLOURS["universal_judge"],
}
"""The colours; `majority` says the same of every reply, and is the level."""
NOT_DRAWN = ("majority", "tacit_simulated")
"""Who says the same of every reply, which is the level; and who hears other words, of which fewer were liked."""
BANDED = "tacit"
"""Whose interval is drawn; those of all stand in the table."""
BELOW_LEVEL = 0.5
"""Where other lines are drawn: who says the same of every reply would hide the level."""


def draw_satisfaction(sweep: SatisfactionSweep, runs: Runs) -> Canvas:
    """Return the picture: one panel for each part, one below the other."""
    canvas = Canvas(figsize=(8.2, 3.7 * len(sweep.parts)), dpi=DPI, layout="constrained")
    panels = canvas.subplots(len(sweep.parts), 1, squeeze=False).flat
    for axes, part in zip(panels, sweep.parts, strict=True):
        _draw_panel(axes, sweep, runs, part)
    return canvas


def _draw_panel(axes: Axes, sweep: SatisfactionSweep, runs: Runs, part: str) -> None:
    ends: dict[str, tuple[float, str]] = {}
    for learner in sweep.learners:
        if learner in NOT_DRAWN:
            continue
        curves = [result["curves"] for result in runs.of(part, learner)]
        values = np.array([curve["rewarded"] for curve in curves])
        colour = LINES.get(learner, OTHER)
        kept = curves[0]["kept"]
        if learner == BANDED:
            draw_band(axes, kept, values, colour, learner)
        else:
            axes.plot(kept, values.mean(axis=0), color=colour, linewidth=1.4, zorder=BELOW_LEVEL)
        ends[words(learner)] = float(values[:, 0].mean()), colour
    base = float(np.mean([result["scalars"]["rewarded"] for result in runs.of(part, sweep.learners[-1])]))
    draw_level(axes, base, "")
    axes.set(xlim=(1.0, 0.05), ylim=(0.0, 1.0))
    axes.set(xlabel="share of replies kept, those with the highest labels", ylabel="rated above 3")
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_title(f"{part}: of the replies not rated 3, {base:.0%} were rated above it (dashed)")
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    label_ends(axes, ends)

"""The picture of the decoder study: Figure 1, and what estimating the decoder's input costs."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from tacit.experiments.studies.decoder.illustration import (
    FIXED,
    ILLUSTRATION,
    illustrate,
    illustrated_decoder,
)
from tacit.experiments.studies.decoder.task import DecoderSweep
from tacit.experiments.study import Runs
from tacit.reports.intervals import half_width
from tacit.reports.palette import COLOURS, DPI, TRUE, draw_level

REGIONS = {"homogeneous": "#f6c9d3", "interpolation": "#fbedb9", "heterogeneous": "#cde7cd"}
"""Pink, yellow and green, as the paper's text names them."""


def draw_decoder(sweep: DecoderSweep, runs: Runs) -> Canvas:
    """Return the picture: Figure 1, and what estimation costs."""
    canvas = Canvas(figsize=(9.6, 4.2), dpi=DPI, layout="constrained")
    left, right = canvas.subplots(1, 2)
    _draw_illustration(left)
    _draw_estimation(right, sweep, runs)
    return canvas


def _draw_illustration(axes: Axes) -> None:
    decoder, by_formula = illustrated_decoder(), illustrated_decoder(with_formula=True)
    shape, other = illustrate(decoder), illustrate(by_formula)
    _shade(axes, decoder.kappa)
    label = f"$J(v, 1)$, $\\kappa$ = {decoder.kappa:g} (caption)"
    axes.plot(shape.v, shape.decoded, color=TRUE, linewidth=2.2, label=label)
    label = f"$J(v, 1)$, $\\kappa$ = {by_formula.kappa:.3f} (formula)"
    axes.plot(other.v, other.decoded, color="#555555", linewidth=1, linestyle=(0, (1.5, 1)), label=label)
    axes.plot(shape.v, shape.ramp, color="#C1272D", linewidth=1.5, linestyle="--", label="ramp $G(v_1)$")
    axes.set(xlim=(0, 2 / 3), ylim=(-0.03, 1.08), xlabel="$v_1$  (with $v_3$ = 1/3)", ylabel="decoded reward")
    axes.set_title(
        "The decoder of Figure 1\n"
        f"$K$ = {ILLUSTRATION['n_actions']:g}, $M$ = {ILLUSTRATION['M']:g}, "
        f"$\\theta$ = {ILLUSTRATION['theta']:g}, $c$ = {ILLUSTRATION['c']:g}"
    )
    axes.legend(loc="upper left", fontsize=8.5)


def _shade(axes: Axes, kappa: float) -> None:
    """Shade the three cases of eq. 6: here the distance from uniform is |v_1 - 1/3|."""
    edges = [0, FIXED - kappa, FIXED - kappa / 2, FIXED + kappa / 2, FIXED + kappa, 1 - FIXED]
    names = ["heterogeneous", "interpolation", "homogeneous", "interpolation", "heterogeneous"]
    for start, end, name in zip(edges[:-1], edges[1:], names, strict=True):
        axes.axvspan(start, end, color=REGIONS[name], linewidth=0, zorder=0)
        middle = (start + end) / 2 if end < 1 - FIXED else end - 0.02  # the last one beside the ramp
        axes.text(middle, 0.5, name, rotation=90, ha="center", va="center", fontsize=8, color="#555555")


def _draw_estimation(axes: Axes, sweep: DecoderSweep, runs: Runs) -> None:
    counts = np.array(sweep.tuple_counts)
    for i, method in enumerate(sweep.methods):
        values = np.array([result["curves"]["rewarded"] for result in runs.of(sweep.variant, method)])
        half = half_width(values) if len(values) > 1 else None
        axes.errorbar(
            counts * 1.04 ** (i - 1),  # side by side, not on top of each other
            values.mean(axis=0),
            yerr=half,
            color=COLOURS[method],
            marker="os^"[i % 3],
            markersize=4.5,
            capsize=2.5,
            linewidth=1.4,
            label=method,
        )
    draw_level(axes, 1.0, "from the true posterior")
    axes.set_xscale("log")
    axes.set_xticks(counts, [f"{count:,}" for count in counts], rotation=30)
    axes.minorticks_off()
    low = max(axes.get_ylim()[0], 0.0)
    axes.set_ylim(low, 1.0 + 0.08 * (1.0 - low))
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.set(xlabel="tuples $N_0$", ylabel="decoded reward of a rewarded best action")
    axes.set_title("What estimation costs\nmean over seeds, 95 % interval")
    axes.legend(loc="lower right", title="posterior")

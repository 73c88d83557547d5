"""`figure.png`: the curves of a figure, drawn without touching matplotlib's global state."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, MaxNLocator

from tacit.experiments.booking_plot import draw_booking
from tacit.experiments.decoding import FIXED, ILLUSTRATION, illustrate, illustrated_decoder
from tacit.experiments.exploration_plot import draw_exploration
from tacit.experiments.figures import ENVIRONMENT_WORDS, AnyFigure, Figure
from tacit.experiments.regret_plot import draw_regret
from tacit.experiments.run import Runs
from tacit.experiments.summary import half_width, optimal_value
from tacit.reports.palette import (
    COLOURS,
    DECODED,
    DPI,
    TRUE,
    draw_band,
    draw_level,
    label_ends,
    line_style,
    words,
)

STYLE: Any = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
}
REGIONS = {"homogeneous": "#f6c9d3", "interpolation": "#fbedb9", "heterogeneous": "#cde7cd"}
"""Pink, yellow and green, as the paper's text names them."""


def draw(runs: Runs[AnyFigure]) -> bytes:
    """Return the figure as a PNG."""
    with matplotlib.rc_context(STYLE):
        canvas = DRAW[runs.figure.study](runs)
        image = io.BytesIO()
        canvas.savefig(image, format="png", dpi=DPI)
    return image.getvalue()


def _draw_learning(runs: Runs[Figure]) -> Canvas:
    variants = list(runs.figure.environments)
    if len(variants) == 1:
        canvas = Canvas(figsize=(8.2, 4.4), dpi=DPI, layout="constrained")
        axes = canvas.add_subplot()
        ends = _draw_curves(axes, runs, variants[0])
        label_ends(axes, ends)
        return canvas
    rows = (len(variants) + 1) // 2
    canvas = Canvas(figsize=(8.2, 3.1 * rows + 0.9), dpi=DPI, layout="constrained")
    grid = canvas.subplots(rows, 2, sharey=True, squeeze=False)
    for axes, variant in zip(grid.flat, variants, strict=False):
        _draw_curves(axes, runs, variant)
        axes.set_title(
            f"$\\bf{{{variant}}}$\n{_wrapped(ENVIRONMENT_WORDS.get(variant, ''), 52)}", fontsize=8.5
        )
    for axes in grid.flat[len(variants) :]:
        axes.set_visible(False)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    canvas.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=3)
    return canvas


def _draw_curves(axes: Axes, runs: Runs[Figure], variant: str) -> dict[str, tuple[float, str]]:
    """Draw every learner; return the last value and the colour of each line by its label."""
    ends: dict[str, tuple[float, str]] = {}
    for learner in reversed(runs.figure.learners):
        ends |= _draw_learner(axes, runs, variant, learner)
    best = optimal_value(runs.figure.environments[variant]().mdp)
    draw_level(axes, best, f"optimum {best:.3f}")
    axes.set_xlim(0, runs.figure.episodes)
    axes.set_ylim(0, max(0.8, best * 1.08))
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.set_xlabel("episode of policy learning")
    axes.set_ylabel("average reward so far")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    return ends


def _draw_learner(axes: Axes, runs: Runs[Figure], variant: str, learner: str) -> dict[str, tuple[float, str]]:
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


def _draw_decoding(runs: Runs[Figure]) -> Canvas:
    canvas = Canvas(figsize=(9.6, 4.2), dpi=DPI, layout="constrained")
    left, right = canvas.subplots(1, 2)
    _draw_illustration(left)
    _draw_estimation(right, runs)
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


def _draw_estimation(axes: Axes, runs: Runs[Figure]) -> None:
    variant, counts = next(iter(runs.figure.environments)), np.array(runs.figure.tuple_counts)
    for i, method in enumerate(runs.figure.learners):
        values = np.array([result["curves"]["rewarded"] for result in runs.of(variant, method)])
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


DRAW: Mapping[str, Callable[[Runs[Any]], Canvas]] = {
    "learning": _draw_learning,
    "decoding": _draw_decoding,
    "regret": draw_regret,
    "exploration": draw_exploration,
    "booking": draw_booking,
}

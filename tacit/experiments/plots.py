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

from tacit.experiments.decoding import FIXED, ILLUSTRATION, illustrate, illustrated_decoder
from tacit.experiments.figures import ENVIRONMENT_WORDS
from tacit.experiments.run import Runs
from tacit.experiments.summary import half_width, optimal_value
from tacit.layout import FloatArray

DPI = 200
STYLE: Any = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
}
TRUE, DECODED = "#0072B2", "#D55E00"
COLOURS = {
    "tacit": TRUE,
    "tacit_fast": "#CC79A7",
    "oracle_reward": "#000000",
    "feedback_as_reward": "#009E73",
    "feedback_as_reward_blind": "#E69F00",
    "last_step_igl": "#56B4E9",
    "uniform": "#8C8C8C",
    "neural": TRUE,
    "frequency": "#E69F00",
    "structured": "#009E73",
}
"""Okabe and Ito's palette, which colour-blind readers can tell apart; grey for the floor."""
OTHER = "#8C8C8C"
DASHES: Mapping[str, Any] = {
    "oracle_reward": (0, (5, 1.5)),
    "feedback_as_reward_blind": (0, (4, 1, 1, 1)),
    "last_step_igl": (0, (1.5, 1)),
    "tacit_fast": (0, (3, 1)),
}
"""Line styles, so that lines differ in print without colour."""
REGIONS = {"homogeneous": "#f6c9d3", "interpolation": "#fbedb9", "heterogeneous": "#cde7cd"}
"""Pink, yellow and green, as the paper's text names them."""


def draw(runs: Runs) -> bytes:
    """Return the figure as a PNG."""
    with matplotlib.rc_context(STYLE):
        canvas = DRAW[runs.figure.study](runs)
        image = io.BytesIO()
        canvas.savefig(image, format="png", dpi=DPI)
    return image.getvalue()


def _draw_learning(runs: Runs) -> Canvas:
    variants = list(runs.figure.environments)
    if len(variants) == 1:
        canvas = Canvas(figsize=(8.2, 4.4), dpi=DPI, layout="constrained")
        axes = canvas.add_subplot()
        ends = _draw_curves(axes, runs, variants[0])
        _label_ends(axes, ends)
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


def _draw_curves(axes: Axes, runs: Runs, variant: str) -> dict[str, tuple[float, str]]:
    """Draw every learner; return the last value and the colour of each line by its label."""
    ends: dict[str, tuple[float, str]] = {}
    for learner in reversed(runs.figure.learners):
        ends |= _draw_learner(axes, runs, variant, learner)
    best = optimal_value(runs.figure.environments[variant]().mdp)
    axes.axhline(best, color="black", linestyle="--", linewidth=0.9, zorder=1)
    axes.set_xlim(0, runs.figure.learning_episodes)
    axes.set_ylim(0, max(0.8, best * 1.08))
    axes.annotate(
        f"optimum {best:.3f}", (0.01, best), xycoords=("axes fraction", "data"), va="bottom", fontsize=8.5
    )
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
        colour = COLOURS.get(learner, OTHER)
        mean = np.mean([curve["average_reward"] for curve in curves], axis=0)
        order = (
            5 if learner == "oracle_reward" else 2
        )  # the ceiling's dashes stay visible on top of Tacit's line
        style = {"linewidth": 1.2, "linestyle": DASHES.get(learner, "-"), "zorder": order}
        axes.plot(episode, mean, color=colour, label=words(learner), **style)
        return {words(learner): (float(mean[-1]), colour)}
    ends = {}
    for name, colour, label in (
        ("average_decoded_reward", DECODED, "tacit, decoded reward"),
        ("average_reward", TRUE, "tacit, true reward"),
    ):
        values = np.array([curve[name] for curve in curves])  # (seeds, points)
        ends[label] = (_draw_band(axes, episode, values, colour, label), colour)
    return ends


def _draw_band(axes: Axes, x: FloatArray, values: FloatArray, colour: str, label: str) -> float:
    mean, half = values.mean(axis=0), half_width(values)
    axes.plot(x, mean, color=colour, linewidth=2.2, label=label, zorder=4)
    if len(values) > 1:
        axes.fill_between(x, mean - half, mean + half, color=colour, alpha=0.2, linewidth=0, zorder=3)
    return float(mean[-1])


def _label_ends(axes: Axes, ends: Mapping[str, tuple[float, str]]) -> None:
    """Name each line at its right end, moved apart where they would overlap."""
    shown = {label: end for label, end in ends.items() if np.isfinite(end[0])}
    low, high = axes.get_ylim()
    heights = spread([value for value, _ in shown.values()], 0.055 * (high - low), low, high)
    for (label, (value, colour)), height in zip(shown.items(), heights, strict=True):
        axes.annotate(
            label,
            (1.0, value),
            xytext=(1.035, height),
            xycoords=("axes fraction", "data"),
            textcoords=("axes fraction", "data"),
            color=colour,
            va="center",
            fontweight="bold" if label.startswith("tacit,") else "normal",
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.7,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )


def spread(values: list[float], gap: float, low: float, high: float) -> list[float]:
    """Return heights near `values`, in their order, at least `gap` apart and within [low, high] if they fit.

    >>> spread([0.5, 0.5, 0.9], 0.1, 0.0, 1.0)
    [0.5, 0.6, 0.9]
    """
    order = np.argsort(values, kind="stable")
    heights = np.array(values, dtype=float)[order]
    for i in range(len(heights)):  # upwards, then back down from the top
        heights[i] = max(heights[i], low if i == 0 else heights[i - 1] + gap)
    for i in range(len(heights) - 1, -1, -1):
        heights[i] = min(heights[i], high if i == len(heights) - 1 else heights[i + 1] - gap)
    placed = np.empty_like(heights)
    placed[order] = heights
    return [round(float(height), 9) for height in placed]


def words(learner: str) -> str:
    """Return a learner's name as it stands in pictures.

    >>> words("last_step_igl")
    'last step igl'
    """
    return learner.replace("_", " ")


def _wrapped(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(text, width))


def _draw_decoding(runs: Runs) -> Canvas:
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


def _draw_estimation(axes: Axes, runs: Runs) -> None:
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
    axes.axhline(1.0, color="black", linestyle="--", linewidth=0.9)
    place: Any = {"xycoords": ("axes fraction", "data"), "va": "bottom", "fontsize": 8.5}
    axes.annotate("from the true posterior", (0.02, 1.0), **place)
    axes.set_xscale("log")
    axes.set_xticks(counts, [f"{count:,}" for count in counts], rotation=30)
    axes.minorticks_off()
    low = max(axes.get_ylim()[0], 0.0)
    axes.set_ylim(low, 1.0 + 0.08 * (1.0 - low))
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.set(xlabel="tuples $N_0$", ylabel="decoded reward of a rewarded best action")
    axes.set_title("What estimation costs\nmean over seeds, 95 % interval")
    axes.legend(loc="lower right", title="posterior")


DRAW: Mapping[str, Callable[[Runs], Canvas]] = {"learning": _draw_learning, "decoding": _draw_decoding}

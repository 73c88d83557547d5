"""What the pictures share: colours, line styles, names, levels and labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from tacit.base.arrays import FloatArray
from tacit.reports.intervals import half_width

DPI = 200
TRUE, DECODED = "#0072B2", "#D55E00"
COLOURS = {
    "tacit": TRUE,
    "tacit_fast": "#CC79A7",
    "oracle_reward": "#000000",
    "feedback_as_reward": "#009E73",
    "feedback_as_reward_blind": "#E69F00",
    "last_step_igl": "#56B4E9",
    "uniform": "#8C8C8C",
    "tacit_paper_gamma": "#CC79A7",
    "tacit_small": "#CC79A7",
    "universal_judge": "#009E73",
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
    "universal_judge": (0, (4, 1, 1, 1)),
}
"""Line styles, so that lines differ in print without colour."""


def line_style(learner: str) -> dict[str, Any]:
    """Return how the line of a learner is drawn: Tacit's own thick, the ceiling's dashes on top of them."""
    order = {"oracle_reward": 5, "tacit": 4, "tacit_fast": 4}.get(learner, 2)
    return {
        "color": COLOURS.get(learner, OTHER),
        "linestyle": DASHES.get(learner, "-"),
        "linewidth": 2.2 if order == 4 else 1.2,
        "zorder": order,
    }


def words(learner: str) -> str:
    """Return a learner's name as it stands in pictures.

    >>> words("last_step_igl")
    'last step igl'
    """
    return learner.replace("_", " ")


def draw_level(axes: Axes, value: float, text: str, right: bool = False, linestyle: str = "--") -> None:
    """Draw a horizontal line and say at its left (or right) end what it is."""
    axes.axhline(value, color="black", linestyle=linestyle, linewidth=0.9, zorder=1)
    place: Any = {"xycoords": ("axes fraction", "data"), "va": "bottom", "fontsize": 8.5}
    axes.annotate(text, (0.99 if right else 0.01, value), ha="right" if right else "left", **place)


def draw_band(axes: Axes, x: FloatArray, values: FloatArray, colour: str, label: str) -> float:
    """Draw the mean of values (seeds, points) with its interval; return its end."""
    mean, half = values.mean(axis=0), half_width(values)
    axes.plot(x, mean, color=colour, linewidth=2.2, label=label, zorder=4)
    if len(values) > 1:
        axes.fill_between(x, mean - half, mean + half, color=colour, alpha=0.2, linewidth=0, zorder=3)
    return float(mean[-1])


def label_ends(axes: Axes, ends: Mapping[str, tuple[float, str]]) -> None:
    """Name each line at its right end, moved apart where they would overlap, on any scale of the axis."""
    shown = {label: end for label, end in ends.items() if np.isfinite(end[0])}
    axes.get_ylim()  # settles the limits, on which the transform depends
    to_fraction = axes.transData - axes.transAxes
    places = [float(to_fraction.transform((axes.get_xlim()[1], value))[1]) for value, _ in shown.values()]
    heights = spread(places, 0.055, 0.0, 1.0)
    for (label, (value, colour)), height in zip(shown.items(), heights, strict=True):
        axes.annotate(
            label,
            (1.0, value),
            xytext=(1.035, height),
            xycoords=("axes fraction", "data"),
            textcoords="axes fraction",
            color=colour,
            va="center",
            fontweight="bold" if label.startswith("tacit") else "normal",
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

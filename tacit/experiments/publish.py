"""Writes what a reader wants of a finished figure: numbers, curves, picture, report, manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from rich.table import Table

from tacit.base.checkpoint import write_atomically
from tacit.experiments.booking_report import render_booking
from tacit.experiments.booking_summary import booking_tables, list_notes, summarise_booking
from tacit.experiments.figures import AnyFigure
from tacit.experiments.manifest import describe
from tacit.experiments.plots import draw
from tacit.experiments.report import list_raised, render
from tacit.experiments.run import Runs
from tacit.experiments.summary import summarise, to_csv, to_json
from tacit.experiments.tables import result_tables

FILES = ("summary.json", "curves.csv", "figure.png", "report.html", "manifest.json")


class View(NamedTuple):
    """How the results of a study are shown; each function takes the runs first. Its picture is in `plots.DRAW`.

    `remarks` are lines of their own below the tables: what the reader must not miss.
    """

    summarise: Callable[[Runs[Any]], dict[str, Any]]
    tables: Callable[[Runs[Any], Mapping[str, Any]], Iterable[Table]]
    render: Callable[[Runs[Any], Mapping[str, Any], Mapping[str, Any], bytes], str]
    remarks: Callable[[Runs[Any]], list[str]]


LAYERED = View(summarise, result_tables, render, list_raised)

VIEWS: Mapping[str, View] = {
    **dict.fromkeys(("learning", "regret", "exploration", "decoding"), LAYERED),
    "booking": View(summarise_booking, booking_tables, render_booking, list_notes),
}
"""The studies by how they are shown; what their tasks do stands in `studies.py`."""


def publish(runs: Runs[AnyFigure]) -> dict[str, Any]:
    """Write the five files into the figure's directory; return the summary."""
    view = VIEWS[runs.figure.study]
    summary, manifest, picture = view.summarise(runs), describe(runs), draw(runs)
    contents = {
        "summary.json": to_json(summary).encode(),
        "curves.csv": to_csv(runs).encode(),
        "figure.png": picture,
        "report.html": view.render(runs, summary, manifest, picture).encode(),
        "manifest.json": to_json(manifest).encode(),
    }
    for name in FILES:
        write_atomically(runs.request.directory / name, contents[name])
    return summary

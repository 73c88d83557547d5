"""Writes what a reader wants of a finished figure: numbers, curves, picture, report, manifest."""

from __future__ import annotations

from typing import Any

from tacit.checkpoint import write_atomically
from tacit.experiments.manifest import describe
from tacit.experiments.plots import draw
from tacit.experiments.report import render
from tacit.experiments.run import Runs
from tacit.experiments.summary import summarise, to_csv, to_json

FILES = ("summary.json", "curves.csv", "figure.png", "report.html", "manifest.json")


def publish(runs: Runs) -> dict[str, Any]:
    """Write the five files into the figure's directory; return the summary."""
    summary, manifest, picture = summarise(runs), describe(runs), draw(runs)
    contents = {
        "summary.json": to_json(summary).encode(),
        "curves.csv": to_csv(runs).encode(),
        "figure.png": picture,
        "report.html": render(runs, summary, manifest, picture).encode(),
        "manifest.json": to_json(manifest).encode(),
    }
    for name in FILES:
        write_atomically(runs.request.directory / name, contents[name])
    return summary

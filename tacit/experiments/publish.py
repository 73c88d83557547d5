"""Writes what a reader wants of a finished study: numbers, curves, picture, report, manifest."""

from __future__ import annotations

import io
from typing import Any

import matplotlib

from tacit.base.files import write_atomically
from tacit.experiments.manifest import describe_runs
from tacit.experiments.study import Runs
from tacit.experiments.summary import to_csv, to_json
from tacit.reports.palette import DPI
from tacit.reports.pictures import encode_picture

FILES = ("summary.json", "curves.csv", "figure.png", "report.html", "manifest.json")
STYLE: Any = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
}


def publish(runs: Runs) -> dict[str, Any]:
    """Write the five files into the study's directory; return the summary."""
    study = runs.study
    summary, manifest, picture = study.summarise(runs), describe_runs(runs), paint(runs)
    contents = {
        "summary.json": to_json(summary).encode(),
        "curves.csv": to_csv(runs).encode(),
        "figure.png": picture,
        "report.html": study.render(runs, summary, manifest, encode_picture(picture)).encode(),
        "manifest.json": to_json(manifest).encode(),
    }
    for name in FILES:
        write_atomically(runs.request.directory / name, contents[name])
    return summary


def paint(runs: Runs) -> bytes:
    """Return the picture of a study as a PNG, drawn without touching matplotlib's global state."""
    with matplotlib.rc_context(STYLE):
        image = io.BytesIO()
        runs.study.draw(runs).savefig(image, format="png", dpi=DPI)
    return image.getvalue()

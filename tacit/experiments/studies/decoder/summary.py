"""The numbers of the decoder study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.experiments.studies.decoder.illustration import ILLUSTRATION, illustrated_decoder
from tacit.experiments.studies.decoder.task import DecoderSweep
from tacit.experiments.study import Runs
from tacit.experiments.summary import list_basics
from tacit.reports.intervals import mean_interval


def summarise_decoder(sweep: DecoderSweep, runs: Runs) -> dict[str, Any]:
    """Return what `summary.json` holds."""
    decoder = sweep.settings.decoder.build(sweep.environment().layout.max_actions)
    return list_basics(runs) | {
        "illustration": ILLUSTRATION | {"kappa_formula": illustrated_decoder(with_formula=True).kappa},
        "decoder": {"threshold": decoder.threshold, "xi": decoder.xi, "kappa": decoder.kappa},
        "posteriors": {method: _summarise_method(sweep, runs, method) for method in sweep.methods},
    }


def _summarise_method(sweep: DecoderSweep, runs: Runs, method: str) -> dict[str, Any]:
    curves = [result["curves"] for result in runs.of(sweep.variant, method)]
    return {
        f"decoded_{what}": {
            str(count): mean_interval([float(curve[what][i]) for curve in curves])
            for i, count in enumerate(sweep.tuple_counts)
        }
        for what in ("rewarded", "unrewarded")
    }


def largest_unrewarded(summary: Mapping[str, Any]) -> float:
    """Return the largest mean of what an unrewarded best action decodes to."""
    rows = (row["decoded_unrewarded"].values() for row in summary["posteriors"].values())
    return max(float(value["mean"]) for row in rows for value in row)

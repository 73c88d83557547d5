"""The study of the digits: every learner that reads pictures, and what it is worth on pictures it never saw."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.experiments.layered import page, study
from tacit.experiments.layered.plot import draw_curves
from tacit.experiments.layered.summary import Results
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.experiments.studies.digits.sweep import CHOICES, SWEEP
from tacit.experiments.studies.digits.task import play_digits
from tacit.experiments.study import Runs
from tacit.reports.intervals import SeedInterval, mean_interval


def summarise_held_out(results: Results, best: float, floor: float) -> dict[str, SeedInterval]:
    """Return the value of the final policies on pictures held out."""
    return {"held_out_reward": mean_interval([float(np.mean(result["held_out"])) for result in results])}


def list_by_digit(sweep: LayeredSweep, runs: Runs) -> dict[str, Any]:
    """Return, for each environment and learner, the value on pictures held out, digit by digit."""
    tables = {
        variant: {
            name: np.mean([result["held_out"] for result in runs.of(variant, name)], axis=0).tolist()
            for name in sweep.names
        }
        for variant in sweep.environments
    }
    return {"by_digit": tables}


VIEW = study.View(
    draw=draw_curves,
    headings=(*study.LEARNED, ("held\nout", "held_out_reward", 3), *study.ENDING),
    page=page.Page(
        package="tacit.experiments.studies.digits",
        columns=(*page.LEARNED, ("pictures held out", "held_out_reward", 3), *page.ENDING),
        more=list_by_digit,
    ),
    own=summarise_held_out,
)

DIGITS = study.LayeredStudy(
    name="digits",
    title="Handwritten digits, in what people are and in what they say",
    about="Average reward over 40,000 episodes of policy learning; contexts and feedback are pictures of digits.",
    sweep=SWEEP,
    view=VIEW,
    seeds=10,
    play_task=play_digits,
    choices=CHOICES,
)

"""The regret study: exact cumulative regret over a million episodes, and its rate."""

from __future__ import annotations

from typing import Any

from tacit.experiments.layered import page, study
from tacit.experiments.layered.problems import ENVIRONMENTS, PAPER
from tacit.experiments.layered.summary import Results
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.experiments.learners import LEARNERS
from tacit.experiments.studies.regret.plot import draw_regret
from tacit.experiments.studies.regret.rate import THEOREM, first_fitted, fit_slope
from tacit.experiments.study import Runs
from tacit.reports.intervals import SeedInterval, mean_interval

SWEEP = LayeredSweep(
    environments={name: ENVIRONMENTS[name] for name in ("synthetic", "personal")},
    learners=tuple(LEARNERS),
    settings=PAPER,
    episodes=1_000_000,
    counts_exploration=True,
)


def summarise_slope(results: Results, best: float, floor: float) -> dict[str, SeedInterval]:
    """Return the rate at which a learner's regret grows."""
    curves = [result["curves"] for result in results]
    return {"slope": mean_interval([fit_slope(curve["episode"], curve["regret"]) for curve in curves])}


def show_rate(sweep: LayeredSweep, runs: Runs) -> dict[str, Any]:
    """Return what the caption says of the rate."""
    return {"theorem": THEOREM, "first_fitted": first_fitted(sweep.episodes)}


VIEW = study.View(
    draw=draw_regret,
    headings=(("slope", "slope", 2), ("all", "average_reward_all", 3), *study.ENDING),
    page=page.Page(
        package="tacit.experiments.studies.regret",
        columns=(("slope", "slope", 3), ("average reward", "average_reward_all", 3), *page.ENDING),
        more=show_rate,
    ),
    own=summarise_slope,
)

REGRET = study.LayeredStudy(
    name="regret",
    title="How regret grows",
    about="Exact cumulative regret over a million episodes, exploration included, and its rate.",
    sweep=SWEEP,
    view=VIEW,
    seeds=5,  # 70 runs of about 40 s
)

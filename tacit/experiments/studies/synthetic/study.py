"""The study of Figure 2a; its view, learning curves and a closer look at the agent, serves `variants` too."""

from __future__ import annotations

from typing import Any

from tacit.experiments.layered import page, study
from tacit.experiments.layered.plot import draw_curves
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.experiments.layered.trust import load_kept
from tacit.experiments.layered.words import ENVIRONMENT_WORDS
from tacit.experiments.studies.synthetic.inspection import inspect
from tacit.experiments.studies.synthetic.sweep import SWEEP
from tacit.experiments.study import Runs
from tacit.reports.intervals import SeedInterval, mean_interval

SHOWN = "tacit"
"""The learner whose agent, of seed 0, the page looks into."""


def look_closer(sweep: LayeredSweep, runs: Runs) -> dict[str, Any]:
    """Return what the page shows of the agent in each environment."""
    return {"closer": [_closer(sweep, runs, variant) for variant in sweep.environments]}


def _closer(sweep: LayeredSweep, runs: Runs, variant: str) -> dict[str, Any]:
    agent = load_kept(runs, variant, SHOWN)
    return {
        "variant": variant,
        "about": ENVIRONMENT_WORDS.get(variant, ""),
        "gap": decoding_gap(runs, variant),
        "agent": None if agent is None else inspect(agent, sweep.environments[variant]().mdp),
    }


def decoding_gap(runs: Runs, variant: str) -> dict[str, SeedInterval]:
    """Return true minus decoded reward of the shown learner: over policy learning, and over its last tenth."""
    scalars = [result["scalars"] for result in runs.of(variant, SHOWN)]

    def gap(prefix: str) -> SeedInterval:
        pairs = [(s[f"{prefix}_reward"], s[f"{prefix}_decoded_reward"]) for s in scalars]
        return mean_interval([None if decoded is None else true - decoded for true, decoded in pairs])

    return {"all": gap("average"), "last": gap("final")}


VIEW = study.View(
    draw=draw_curves,
    headings=(*study.LEARNED, *study.ENDING),
    page=page.Page(
        package="tacit.experiments.studies.synthetic",
        columns=(*page.LEARNED, *page.ENDING),
        more=look_closer,
    ),
)

SYNTHETIC = study.LayeredStudy(
    name="synthetic",
    title="Learning without rewards on the paper's synthetic MDP",
    about="Average reward over 40,000 episodes of policy learning, Tacit beside its baselines.",
    sweep=SWEEP,
    view=VIEW,
)

"""The exploration study: reward over all episodes, against how many were spent exploring."""

from __future__ import annotations

from functools import partial

from tacit.decoding.decoder import DecoderSettings
from tacit.envs.random_mdp import random_mdp
from tacit.experiments.layered import page, study
from tacit.experiments.layered.problems import ENVIRONMENTS, PAPER, RANDOM
from tacit.experiments.layered.summary import Results
from tacit.experiments.layered.sweep import Arm, LayeredSweep
from tacit.experiments.studies.exploration.plot import draw_exploration
from tacit.reports.intervals import SeedInterval, mean_interval

SWEEP = LayeredSweep(
    environments={
        **ENVIRONMENTS,
        **{name: partial(random_mdp, seed, shape) for name, (seed, shape) in RANDOM.items()},
    },
    learners=("tacit_fast",),
    settings=PAPER,
    counts_exploration=True,
    arms=tuple(Arm(n, bonus) for bonus in (1.0, 0.1) for n in (250, 500, 1000, 2000, 5000)),
    constants={name: DecoderSettings(shape.theta, shape.M) for name, (_, shape) in RANDOM.items()},
)


def summarise_share(results: Results, best: float, floor: float) -> dict[str, SeedInterval]:
    """Return the share of the way from uniform to optimal."""
    rewards = [result["scalars"]["average_reward_all"] for result in results]
    return {"share": mean_interval([(reward - floor) / (best - floor) for reward in rewards])}


VIEW = study.View(
    draw=draw_exploration,
    headings=(
        ("all", "average_reward_all", 3),
        ("share", "share", 2),
        ("final", "final_reward", 3),
        *study.ENDING,
    ),
    page=page.Page(
        package="tacit.experiments.studies.exploration",
        columns=(
            ("reward over all episodes", "average_reward_all", 3),
            ("share of the way", "share", 3),
            ("after exploration", "average_reward", 3),
            ("last tenth", "final_reward", 3),
            *page.ENDING,
        ),
    ),
    own=summarise_share,
)

EXPLORATION = study.LayeredStudy(
    name="exploration",
    title="What exploration costs",
    about="Reward over all of 40,000 episodes, exploration included, against how many were spent on it.",
    sweep=SWEEP,
    view=VIEW,
    seeds=10,
)

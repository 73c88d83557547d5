"""The task of a learning figure: one learner explores, then learns for T episodes; what is kept of it.

Where exploration is part of the T episodes ("regret", "exploration"), curves are over all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.agent import Agent
from tacit.base.arrays import FloatArray, IntArray
from tacit.experiments.figures import Figure
from tacit.experiments.learners import LEARNERS, Learner
from tacit.experiments.tasks import ENVIRONMENT_SEED, Task
from tacit.learning.collection import collection_budget
from tacit.learning.fast import FastLearning
from tacit.learning.settings import Settings
from tacit.problem.layout import Layout
from tacit.simulate import REPORT_EVERY, Simulation, Trace

Report = Callable[[int, str], None]
"""Called with the episodes (or tuples) done since the last call, and what is being done."""

POINTS = 200
"""Points of a curve: more than a printed figure can show."""
WARM_UP = 100
"""Policy-learning episodes that are played before the clock starts: kernels load in the first."""
KEPT_AGENT = "tacit"
"""The learner whose agent the report looks into."""
KEPT_AGENTS = (KEPT_AGENT, "tacit_fast")
"""The learners whose agents are saved."""


def play_learning(figure: Figure, task: Task, report: Report) -> tuple[dict[str, Any], Agent | None]:
    """Return the compact result of a task, and the agent where it is to be kept.

    The agent's chance follows from the task's seed, the environment's from that plus `ENVIRONMENT_SEED`: all
    learners of a seed meet the same people.
    """
    env = figure.environments[task.variant]()
    learner = find_learner("tacit" if figure.find_arm(task.learner) else task.learner)
    settings = seeded(figure.settings_of(task.variant, task.learner), task.seed)
    agent = learner.make(env.layout, settings, task.seed)
    simulation = Simulation(agent, learner.source(env), task.seed + ENVIRONMENT_SEED, env.mdp)
    if not figure.counts_exploration:
        explore(simulation, exploration_cap(env.layout, settings), report)
    rate = learn(simulation, figure.episodes, report)
    result = condense(simulation.trace, figure.counts_exploration) | {"rate": rate}
    if isinstance(agent.stage, FastLearning):  # which explores while it learns
        result["scalars"]["exploration_episodes"] = agent.stage.explored
    return result, agent if task.learner in KEPT_AGENTS else None


def find_learner(name: str) -> Learner:
    """Return the learner of that name, or raise an error that lists them."""
    if name not in LEARNERS:
        raise ValueError(f"there is no learner {name!r}; there are: {', '.join(LEARNERS)}")
    return LEARNERS[name]


def seeded(settings: Settings, seed: int) -> Settings:
    """Return the settings with all chance in fitting (first weights, validation split) following the seed."""
    posterior, oracle = replace(settings.posterior, seed=seed), replace(settings.oracle, seed=seed)
    return replace(settings, posterior=posterior, oracle=oracle)


def explore(simulation: Simulation, cap: int, report: Report) -> None:
    """Play until the agent no longer explores; one that never stops is an error."""
    simulation.run(cap, report, until=lambda agent: not agent.stage.explores)
    if simulation.agent.stage.explores:
        raise RuntimeError(
            f"exploration must end within {cap} episodes, twice its own budget, but is still in stage "
            f"{simulation.agent.stage.name!r}; check the stage's next()"
        )


def learn(simulation: Simulation, episodes: int, report: Report, every: int = REPORT_EVERY) -> float:
    """Play the episodes of the figure; return how many a second, without the first few."""
    untimed = min(WARM_UP, episodes // 10)
    simulation.run(untimed, report, every=every)
    start = time.perf_counter()
    simulation.run(episodes - untimed, report, every=every)
    return (episodes - untimed) / (time.perf_counter() - start)


def exploration_cap(layout: Layout, settings: Settings) -> int:
    """Return twice the episodes that homing and collection may take together."""
    each = settings.homing.episodes + collection_budget(layout, settings) + settings.collection.tuples
    return 2 * int(layout.n_states[-1]) * each


def expected_episodes(figure: Figure, task: Task) -> int:
    """Return about how many episodes a task plays, for the progress bar."""
    layout, settings = figure.environments[task.variant]().layout, figure.settings
    learner = LEARNERS.get(task.learner)
    if figure.counts_exploration or learner is None or not learner.make(layout, settings, 0).stage.explores:
        return figure.episodes
    each = settings.homing.episodes + round(1.25 * settings.collection.tuples)
    return figure.episodes + int(layout.n_states[-1]) * each


def condense(trace: Trace, whole: bool = False) -> dict[str, Any]:
    """Return the curves over policy learning, or over the `whole` trace, and the scalars of a trace."""
    rewards, decoded, regrets, exploring = trace.arrays()
    explored, regret = int(exploring.sum()), np.cumsum(regrets)  # exploration comes first
    true, meant = rewards[explored:], as_decoded(decoded[explored:])
    curves = (
        sample_curves(rewards, as_decoded(decoded), regret, log_points(len(rewards)))
        if whole
        else sample_curves(true, meant, regret[explored:], curve_points(len(true)))
    )
    scalars = {
        "average_reward": average(true),
        "average_decoded_reward": average(meant),
        "final_reward": average(last_tenth(true)),
        "final_decoded_reward": average(last_tenth(meant)),
        "average_reward_all": average(rewards),
        "regret": float(regret[-1]),
        "exploration_episodes": explored,
    }
    return {"curves": curves, "scalars": scalars}


def sample_curves(
    true: FloatArray, meant: FloatArray, regret: FloatArray, points: IntArray
) -> dict[str, FloatArray | IntArray]:
    """Return the curves at `points`: averages of true and decoded reward so far, and the regret there."""
    return {
        "episode": points,
        "average_reward": running_average(true)[points - 1],
        "average_decoded_reward": running_average(meant)[points - 1],
        "regret": regret[points - 1],
    }


def as_decoded(decoded: FloatArray) -> FloatArray:
    """Return decoded rewards with 0 for those of states not judged, as the planner takes them (dev. 5).

    A learner that decodes nothing at all has NaN throughout.

    >>> as_decoded(np.array([1.0, np.nan]))
    array([1., 0.])
    """
    return decoded if np.isnan(decoded).all() else np.nan_to_num(decoded, nan=0.0)


def average(values: FloatArray) -> float | None:
    """Return the mean for JSON: None where there is none."""
    return None if len(values) == 0 or np.isnan(values).any() else float(values.mean())


def curve_points(episodes: int) -> IntArray:
    """Return about `POINTS` evenly spaced episodes, counted from 1, the last one included.

    >>> curve_points(5)
    array([1, 2, 3, 4, 5])
    """
    return np.unique(np.ceil(np.arange(1, POINTS + 1) * episodes / POINTS).astype(np.int64))


def log_points(episodes: int) -> IntArray:
    """Return up to `POINTS` episodes from the first to the last, evenly spaced in their logarithm.

    >>> log_points(4)
    array([1, 2, 3, 4])
    """
    return np.unique(np.round(np.geomspace(1, episodes, POINTS)).astype(np.int64))


def running_average(values: FloatArray) -> FloatArray:
    """Return the average of the values so far, at each of them."""
    return np.cumsum(values) / np.arange(1, len(values) + 1)


def last_tenth(values: FloatArray) -> FloatArray:
    """Return the last tenth of the values, at least one."""
    return values[-max(len(values) // 10, 1) :]

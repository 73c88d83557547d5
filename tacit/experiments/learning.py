"""The task of a learning figure: one learner explores, then learns for T episodes; what is kept of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.agent import Agent
from tacit.baselines import LEARNERS, Learner
from tacit.collection import collection_budget
from tacit.experiments.figures import Figure
from tacit.experiments.tasks import ENVIRONMENT_SEED, Task
from tacit.layout import FloatArray, IntArray, Layout
from tacit.settings import Settings
from tacit.simulate import Simulation, Trace

Report = Callable[[int, str], None]
"""Called with the episodes (or tuples) done since the last call, and what is being done."""

POINTS = 200
"""Points of a curve: more than a printed figure can show."""
WARM_UP = 100
"""Policy-learning episodes that are played before the clock starts: kernels load in the first."""
WINDOW = 20
"""The moving average is taken over this part of the policy-learning episodes: a twentieth."""
KEPT_AGENT = "tacit"
"""The learner whose agents are saved, for the report to look into."""


def play_learning(figure: Figure, task: Task, report: Report) -> tuple[dict[str, Any], Agent | None]:
    """Return the compact result of a task, and the agent where it is to be kept.

    The agent's chance follows from the task's seed, the environment's from that plus `ENVIRONMENT_SEED`: all
    learners of a seed meet the same people.
    """
    env, learner = figure.environments[task.variant](), find_learner(task.learner)
    settings = seeded(figure.settings, task.seed)
    agent = learner.make(env.layout, settings, task.seed)
    simulation = Simulation(agent, learner.source(env), task.seed + ENVIRONMENT_SEED, env.mdp)
    explore(simulation, exploration_cap(env.layout, settings), report)
    rate = learn(simulation, figure.learning_episodes, report)
    result = condense(simulation.trace) | {"rate": rate}
    return result, agent if task.learner == KEPT_AGENT else None


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


def learn(simulation: Simulation, episodes: int, report: Report) -> float:
    """Play the policy-learning episodes; return how many a second, without the first few."""
    untimed = min(WARM_UP, episodes // 10)
    simulation.run(untimed, report)
    start = time.perf_counter()
    simulation.run(episodes - untimed, report)
    return (episodes - untimed) / (time.perf_counter() - start)


def exploration_cap(layout: Layout, settings: Settings) -> int:
    """Return twice the episodes that homing and collection may take together."""
    each = settings.homing.episodes + collection_budget(layout, settings) + settings.collection.tuples
    return 2 * int(layout.n_states[-1]) * each


def expected_episodes(figure: Figure, task: Task) -> int:
    """Return about how many episodes a task plays, for the progress bar."""
    layout, settings = figure.environments[task.variant]().layout, figure.settings
    learner = LEARNERS.get(task.learner)
    if learner is None or not learner.make(layout, settings, 0).stage.explores:
        return figure.learning_episodes
    each = settings.homing.episodes + round(1.25 * settings.collection.tuples)
    return figure.learning_episodes + int(layout.n_states[-1]) * each


def condense(trace: Trace) -> dict[str, Any]:
    """Return the curves over policy learning and the scalars of a whole trace."""
    rewards, decoded, regrets, exploring = trace.arrays()
    learning = ~exploring
    true, meant = rewards[learning], as_decoded(decoded[learning])
    points = curve_points(len(true))
    regret = np.cumsum(regrets)
    return {
        "curves": {
            "episode": points,
            "average_reward": running_average(true)[points - 1],
            "average_decoded_reward": running_average(meant)[points - 1],
            "regret": regret[exploring.sum() + points - 1],  # exploration included
            "moving_reward": moving_average(true, max(len(true) // WINDOW, 1))[points - 1],
        },
        "scalars": {
            "average_reward": float(true.mean()),
            "average_decoded_reward": number(meant.mean()),
            "final_reward": float(last_tenth(true).mean()),
            "final_decoded_reward": number(last_tenth(meant).mean()),
            "average_reward_all": float(rewards.mean()),
            "regret": float(regret[-1]),
            "exploration_episodes": int(exploring.sum()),
        },
    }


def as_decoded(decoded: FloatArray) -> FloatArray:
    """Return decoded rewards with 0 for those of states not judged, as the planner takes them (dev. 5).

    A learner that decodes nothing at all has NaN throughout.

    >>> as_decoded(np.array([1.0, np.nan]))
    array([1., 0.])
    """
    return decoded if np.isnan(decoded).all() else np.nan_to_num(decoded, nan=0.0)


def number(value: float) -> float | None:
    """Return a float for JSON: None where there is no number."""
    return None if np.isnan(value) else float(value)


def curve_points(episodes: int) -> IntArray:
    """Return about `POINTS` evenly spaced episodes, counted from 1, the last one included.

    >>> curve_points(5)
    array([1, 2, 3, 4, 5])
    """
    return np.unique(np.ceil(np.arange(1, POINTS + 1) * episodes / POINTS).astype(np.int64))


def running_average(values: FloatArray) -> FloatArray:
    """Return the average of the values so far, at each of them."""
    return np.cumsum(values) / np.arange(1, len(values) + 1)


def moving_average(values: FloatArray, window: int) -> FloatArray:
    """Return the average of the last `window` values, of all so far while there are fewer.

    >>> moving_average(np.array([1.0, 3.0, 5.0]), 2)
    array([1., 2., 4.])
    """
    total = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - window, 0)
    return np.asarray((total[ends] - total[starts]) / (ends - starts))


def last_tenth(values: FloatArray) -> FloatArray:
    """Return the last tenth of the values, at least one."""
    return values[-max(len(values) // 10, 1) :]

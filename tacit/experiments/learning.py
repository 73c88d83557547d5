"""The part of a task in which a learner learns, and what is kept of a trace: curves and numbers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.engines.task import Report
from tacit.simulate import REPORT_EVERY, Simulation, Trace

POINTS = 200
"""Points of a curve: more than a printed figure can show."""
WARM_UP = 100
"""Policy-learning episodes that are played before the clock starts: kernels load in the first."""


def learn(simulation: Simulation, episodes: int, report: Report, every: int = REPORT_EVERY) -> float:
    """Play the episodes of the figure; return how many a second, without the first few."""
    untimed = min(WARM_UP, episodes // 10)
    simulation.run(untimed, report, every=every)
    start = time.perf_counter()
    simulation.run(episodes - untimed, report, every=every)
    return (episodes - untimed) / (time.perf_counter() - start)


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

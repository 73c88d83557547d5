"""Plays a learner in a problem and measures it: one task of the benchmark."""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from journal import warm_up

from real_world.adapter import (
    TODAY,
    Abilities,
    Told,
    decoded_of,
    find_abilities,
    layout_of,
    layout_with_reward,
    played_policy,
    says_drift,
    tell,
)
from real_world.drift import cost_of_change
from real_world.env import RealEnv
from real_world.families import draw_problem
from real_world.problem import Problem, solve_world, uniform_values, value_of
from tacit.agent import Agent
from tacit.base.arrays import FloatArray
from tacit.engines.task import Report
from tacit.experiments.learners import LEARNERS
from tacit.learning.episode import Episode
from tacit.learning.settings import Settings
from tacit.planning.schedule import GammaSchedule

ENVIRONMENT_SEED = 1_000_003
WINDOWS = 40
"""Parts of a run; a learner has reached a share when a part has it."""
REACHED = 0.95
SLOW = 0.005
"""Seconds that `end` should not take."""
REPORT_EVERY = 1000
CEILING = "oracle_reward"
"""The learner that sees the reward."""


@dataclass(frozen=True)
class Task:
    """One run: a learner, "tacit" or "oracle_reward", in the problem of a family and seed, for so many episodes."""

    family: str
    seed: int
    learner: str
    episodes: int
    today: bool = False


class Heard(NamedTuple):
    """What is kept of an episode; `decoded` with its bounds."""

    earned: float
    best: float
    plain: float
    reward: float
    decoded: tuple[float, float, float]
    explores: bool
    seconds: float
    exact: bool


def make_work() -> Callable[[Task, Report], dict[str, Any]]:
    """Return what performs tasks, after first runs that load compiled code."""
    families = ("silence.mostly", "endings.desk")
    warm_up(perform, [Task(family, 0, learner, 50) for family in families for learner in ("tacit", CEILING)])
    return perform


def perform(task: Task, report: Report) -> dict[str, Any]:
    """Return what a run measured, as plain values."""
    begun = time.perf_counter()
    problem = draw_problem(task.family, task.seed)
    play = Play(problem, task, TODAY if task.today else find_abilities())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(1, task.episodes + 1):
            play.episode(caught)
            if n % REPORT_EVERY == 0:
                report(REPORT_EVERY, task.family)
        measured = play.measure()
    return measured | {"seconds": round(time.perf_counter() - begun, 2)}


class Play:
    """A learner in a problem, and what happened so far."""

    def __init__(self, problem: Problem, task: Task, abilities: Abilities) -> None:
        self.problem, self.task = problem, task
        self.sees_reward = task.learner == CEILING
        self.abilities = TODAY if self.sees_reward else abilities
        self.told = layout_with_reward(problem) if self.sees_reward else layout_of(problem, abilities.endings)
        self.agents = [make_agent(self.told, task) for _ in range(self._learners())]
        self.env = RealEnv(problem, task.episodes)
        self.best = [solve_world(world)[0] for world in problem.worlds]
        self.plain = [uniform_values(world) for world in problem.worlds]
        self.heard: list[Heard] = []
        self.alarms: list[int] = []
        self.played = self.broken = self.silent = 0
        chance = np.random.default_rng([task.seed, 5])
        known = min(problem.outcomes, task.episodes // 4)
        self._known = set(chance.choice(max(task.episodes // 4, 1), known, replace=False).tolist())

    def episode(self, caught: list[warnings.WarningMessage]) -> None:
        """Play one more episode."""
        env = self.env
        observation, _ = env.reset(seed=self.task.seed + ENVIRONMENT_SEED if self.played == 0 else None)
        self.played += 1
        agent, context = self.agents[0], observation["context"]
        if len(self.agents) > 1:
            agent, context = self.agents[context], 0
        episode = agent.begin(context)
        while True:
            action = agent.act(episode, self.told.states[env.turn][env.state])
            observation, _, over, broken, info = env.step(int(action))
            if broken:
                self.broken += 1
                agent.abandon(episode)
                return
            if over:
                break
        self._end(agent, episode, info, caught)

    def measure(self) -> dict[str, Any]:
        """Return what was measured over all episodes."""
        begun, before = time.thread_time(), peak_megabytes()
        diagnosis = self.agents[0].diagnose()
        seconds = time.thread_time() - begun
        verdict = {
            "verdict": diagnosis.verdict,
            "findings": [f"{finding.severity}: {finding.code}" for finding in diagnosis.findings],
            "names_outcomes": "outcome" in str(diagnosis).lower(),
            "diagnose_seconds": round(seconds, 3),
            "diagnose_megabytes": round(peak_megabytes() - before, 1),
            "worth": [float(b @ w.contexts) for b, w in zip(self.best, self.problem.worlds, strict=True)],
            "alarms": self.alarms,
            "broken": self.broken,
            "silent": self.silent,
        }
        if len(self.problem.worlds) == 2:
            verdict["cost"] = round(cost_of_change(*self.problem.worlds), 3)
        return verdict | (summarise(self.heard) if self.heard else {})

    def _end(
        self, agent: Agent, episode: Episode, info: dict[str, Any], caught: list[warnings.WarningMessage]
    ) -> None:
        told, number = info["evaluation"], self.played - 1
        heard = told["reward"] if self.sees_reward else info["feedback"]
        if self.told.over:
            labels = self.told.over[told["reward"] if self.sees_reward else 0]
            for label in labels[self.env.turn + 1 :]:
                agent.act(episode, label)
        self.silent += heard is None
        outcome = told["reward"] if number in self._known else None
        warned, begun = len(caught), time.thread_time()
        tell(agent, episode, heard, outcome, self.abilities)
        seconds = time.thread_time() - begun
        if says_drift(caught[warned:]):
            self.alarms.append(number)
        self._keep(episode, told, seconds)

    def _learners(self) -> int:
        return self.problem.n_contexts if self.sees_reward and self.problem.ends_early else 1

    def _keep(self, episode: Episode, told: dict[str, Any], seconds: float) -> None:
        x, world = told["context"], self.env.world
        policy = played_policy(episode, self.problem)
        earned = told["chance"] if policy is None else value_of(world.transitions, world.rewards[x], policy)
        self.heard.append(
            Heard(
                earned,
                float(self.best[told["world"]][x]),
                float(self.plain[told["world"]][x]),
                told["reward"],
                decoded_of(episode),
                episode.plan.explores,
                seconds,
                policy is not None,
            )
        )


def peak_megabytes() -> float:
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def make_agent(told: Told, task: Task) -> Agent:
    """Return the learner of a task; the ceiling plans as greedily as Tacit's own recipe does."""
    settings = Settings()
    if task.learner != CEILING:
        return Agent(told.layout, settings, task.seed)
    greedy = replace(settings, schedule=GammaSchedule(scale=settings.fast.gamma_scale))
    return LEARNERS[CEILING].make(told.layout, greedy, task.seed)


def summarise(heard: list[Heard]) -> dict[str, Any]:
    """Return shares of the way from uniform play to the optimum, and how decoded and true reward agree at the end."""
    earned, best, plain = (
        np.array([getattr(h, name) for h in heard]) for name in ("earned", "best", "plain")
    )
    last = heard[-max(len(heard) // 10, 1) :]
    seconds = np.array([h.seconds for h in heard])
    parts = np.array_split(np.arange(len(heard)), min(WINDOWS, len(heard)))
    shares = [share(earned[part], best[part], plain[part]) for part in parts]
    reached = [int(part[-1]) + 1 for part, s in zip(parts, shares, strict=True) if s >= REACHED]
    n = len(last)
    return {
        "last": share(earned[-n:], best[-n:], plain[-n:]),
        "all": share(earned, best, plain),
        "shares": [round(s, 4) for s in shares],
        "reached": reached[0] if reached else None,
        "explored": sum(h.explores for h in heard),
        "slowest": float(seconds.max()),
        "slow": int((seconds > SLOW).sum()),
        "exact": all(h.exact for h in heard),
        **agreement(last),
    }


def share(earned: FloatArray, best: FloatArray, plain: FloatArray) -> float:
    """Return how much of the way from uniform play to the optimum was earned over some episodes.

    >>> share(np.array([0.5, 0.7]), np.array([0.8, 0.8]), np.array([0.4, 0.4]))
    0.5
    """
    return float(round((earned - plain).sum() / (best - plain).sum(), 6))


def agreement(last: list[Heard]) -> dict[str, Any]:
    """Return decoded minus true reward where feedback was decoded, how often it was, and whether bounds hold it."""
    decoded = np.array([h.decoded for h in last])  # (n, 3)
    rewards, known = np.array([h.reward for h in last], dtype=np.float64), ~np.isnan(decoded[:, 0])
    if not known.any():
        return {"gap": None, "decoded": 0.0, "held": None}
    low, high = decoded[known, 1], decoded[known, 2]
    bounded = bool(np.isfinite(low).all() and np.isfinite(high).all())
    mean = rewards[known].mean()
    return {
        "gap": float(decoded[known, 0].mean() - mean),
        "decoded": float(known.mean()),
        "held": bool(low.mean() <= mean <= high.mean()) if bounded else None,
    }

"""The task of a study on layered environments: one learner explores, then learns for T episodes.

Where exploration is part of the T episodes, curves are over all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tacit.agent import Agent
from tacit.engines.task import Report
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.experiments.learners import LEARNERS, Learner
from tacit.experiments.learning import condense, learn
from tacit.experiments.tasks import ENVIRONMENT_SEED, Played, StudyTask
from tacit.learning.collection import collection_budget
from tacit.learning.settings import Settings
from tacit.problem.layout import Layout
from tacit.simulate import Simulation

KEPT_AGENTS = ("tacit", "tacit_fast")
"""The learners whose agents are saved, for the page to look into."""


def play_learner(sweep: LayeredSweep, task: StudyTask, report: Report) -> Played:
    """Return the compact result of a task, and the agent where it is to be kept."""
    result, agent = play_whole(sweep, task, report)
    return keep_agent(task, result, agent)


def play_whole(sweep: LayeredSweep, task: StudyTask, report: Report) -> tuple[dict[str, Any], Agent]:
    """Return the compact result of a task, and its agent.

    The agent's chance follows from the task's seed, the environment's from that plus `ENVIRONMENT_SEED`: all
    learners of a seed meet the same people.
    """
    env = sweep.environments[task.variant]()
    learner = find_learner("tacit" if sweep.find_arm(task.learner) else task.learner)
    settings = seeded(sweep.settings_of(task.variant, task.learner), task.seed)
    agent = learner.make(env.layout, settings, task.seed)
    simulation = Simulation(agent, learner.source(env), task.seed + ENVIRONMENT_SEED, env.mdp)
    if not sweep.counts_exploration:
        explore(simulation, exploration_cap(env.layout, settings), report)
    rate = learn(simulation, sweep.episodes, report)
    result = condense(simulation.trace, sweep.counts_exploration) | {"rate": rate}
    result["scalars"]["exploration_episodes"] = sum(
        simulation.trace.explored
    )  # the fast recipe's are in between
    return result, agent


def keep_agent(task: StudyTask, result: dict[str, Any], agent: Agent) -> Played:
    """Return what is stored of a task: its result, and its agent if that is one to keep."""
    return Played(result, agent if task.learner in KEPT_AGENTS else None)


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


def exploration_cap(layout: Layout, settings: Settings) -> int:
    """Return twice the episodes that homing and collection may take together."""
    each = settings.homing.episodes + collection_budget(layout, settings) + settings.collection.tuples
    return 2 * layout.endings.size * each

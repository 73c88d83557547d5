"""Tacit's own recipe on a suite of random problems that were never looked at while it was tuned.

For each: how much of the way from uniform play to the optimum it earns, over all episodes and in the last tenth,
from the exact values of the policies played; and how far decoded and true reward are apart at the end. Problems 0
to 49 are for this page alone; tuning used 1000 and up. Run: python benchmarks/suite.py [FIRST LAST EPISODES]
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from tacit.agent import Agent
from tacit.envs.gym_adapter import GymSource
from tacit.envs.random_mdp import random_mdp, suite_settings
from tacit.problem.mdp import evaluate_policy, solve_optimal
from tacit.simulate import Simulation

ENOUGH = 0.9
"""The share of the way to the optimum that counts as learned."""
ENVIRONMENT_SEED = 1_000_003


class Row(NamedTuple):
    """The result on one problem."""

    seed: int
    shape: str
    optimum: float
    uniform: float
    overall: float
    final: float
    gap: float
    explored: int


def measure(seed: int, episodes: int) -> Row:
    """Return how the fast recipe fares on a problem of the suite."""
    settings = suite_settings(seed)
    env = random_mdp(seed, settings)
    mdp, weights = env.mdp, env.mdp.context_probabilities
    optimum = float(solve_optimal(mdp).values @ weights)
    plain = [evaluate_policy(mdp, x, env.layout.uniform_policy) for x in range(mdp.n_contexts)]
    uniform = float(np.dot(plain, weights))
    agent = Agent(env.layout, seed=seed)
    simulation = Simulation(agent, GymSource(env), seed + ENVIRONMENT_SEED, mdp)
    rewards, decoded, regrets, _ = simulation.run(episodes).arrays()
    last = slice(-episodes // 10, None)
    known = ~np.isnan(decoded[last])
    shape = f"{settings.layers} x {settings.states} x {settings.actions}, {settings.contexts} contexts"
    return Row(
        seed,
        shape,
        optimum,
        uniform,
        overall=1 - regrets.mean() / (optimum - uniform),
        final=1 - regrets[last].mean() / (optimum - uniform),
        gap=float((rewards[last][known] - decoded[last][known]).mean()),
        explored=agent.stage.explored,  # type: ignore[attr-defined]
    )


def main(first: int, last: int, episodes: int) -> None:
    print("problem  layers x states x actions       optimum  uniform  all     last tenth  gap      explored")
    with ProcessPoolExecutor() as pool:
        rows = []
        for row in pool.map(partial(measure, episodes=episodes), range(first, last)):
            rows.append(row)
            print(
                f"{row.seed:>7}  {row.shape:<30}  {row.optimum:.3f}    {row.uniform:.3f}    {row.overall:.3f}   "
                f"{row.final:.3f}       {row.gap:+.4f}  {row.explored:>8,}",
                flush=True,
            )
    final, gaps = np.array([row.final for row in rows]), np.array([row.gap for row in rows])
    print(
        f"\n{np.sum(final >= ENOUGH)} of {len(rows)} problems earn at least {ENOUGH:.0%} of the way from uniform "
        f"to the optimum in the last tenth of {episodes:,} episodes (mean {final.mean():.3f}, least "
        f"{final.min():.3f}); decoded reward is below true reward by {gaps.mean():.4f} on average"
    )


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:4]) if len(sys.argv) == 4 else (0, 50, 100_000))

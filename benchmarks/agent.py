"""The ask/tell agent beside rlberry-scool's UCBVI, which sees the reward, on the paper's problem, in one run.

Prints policy-learning episodes a second on one core, environment and bookkeeping included, their ratio, and
where the agent's time goes. Run: python benchmarks/agent.py [PYTHON OF THE PEERS]; `make bench` sets up both.
"""

from __future__ import annotations

import cProfile
import pstats
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tacit.agent import Agent
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.posterior import PosteriorSettings
from tacit.envs.gym_adapter import GymSource
from tacit.envs.synthetic import synthetic
from tacit.learning.settings import CollectionSettings, HomingSettings, Settings
from tacit.simulate import Simulation

EPISODES = 40_000
PEER_EPISODES = 10_000
PEER = Path(__file__).parent / "peers" / "ucbvi.py"
PARTS = {
    "begin (plan)": ("agent.py", "begin"),
    "act": ("agent.py", "act"),
    "end (learn)": ("agent.py", "end"),
    "environment: reset": ("gym_adapter.py", "begin"),
    "environment: step": ("gym_adapter.py", "step"),
    "evaluation": ("simulate.py", "_record"),
}
"""The parts of an episode and the functions whose cumulative time they are."""


def policy_learning() -> Simulation:
    """Return a simulation at the start of policy learning, on a short exploration: only speed is measured."""
    settings = Settings(
        DecoderSettings(theta=0.9, M=1.3),
        homing=HomingSettings(episodes=500, bonus_scale=0.1),
        collection=CollectionSettings(tuples=1000),
        posterior=PosteriorSettings(method="structured"),
        recipe="paper",
    )
    env = synthetic()
    simulation = Simulation(Agent(env.layout, settings), GymSource(env), seed=0, mdp=env.mdp)
    simulation.run(100_000, until=lambda agent: not agent.stage.explores)
    return simulation


def measure_agent() -> float:
    """Return seconds an episode."""
    simulation = policy_learning()
    simulation.run(500)  # compile
    begin = time.perf_counter()
    simulation.run(EPISODES)
    return (time.perf_counter() - begin) / EPISODES


def measure_peers(python: str) -> dict[str, float]:
    """Return seconds an episode of each peer."""
    mdp = synthetic().mdp
    with tempfile.TemporaryDirectory() as folder:
        problem = Path(folder) / "problem.npz"
        np.savez(
            problem,
            contexts=mdp.context_probabilities,
            rewards=mdp.rewards,
            transitions=mdp.transitions,
            n_states=mdp.layout.n_states,
        )
        command = [python, str(PEER), str(problem), str(PEER_EPISODES)]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split("\t") for line in lines if line.startswith("UCBVI")]
    return {name: float(seconds) for name, seconds in rows}


def profile_agent(episodes: int = 5_000) -> dict[str, float]:
    """Return the share of each part of an episode, measured by the profiler, which slows all of them."""
    simulation = policy_learning()
    profiler = cProfile.Profile()
    profiler.enable()
    simulation.run(episodes)
    profiler.disable()
    stats = pstats.Stats(profiler)
    cumulative = {(Path(file).name, name): row[3] for (file, _, name), row in stats.stats.items()}  # type: ignore[attr-defined]
    return {part: cumulative[function] / stats.total_tt for part, function in PARTS.items()}  # type: ignore[attr-defined]


def main(python: str | None) -> None:
    ours = measure_agent()
    print(f"{'tacit agent, sees feedback alone':<36}{1 / ours:>10,.0f} episodes a second")
    if python is None:
        print("no peers: give the Python that has rlberry-scool, or run `make bench`")
    else:
        for name, seconds in measure_peers(python).items():
            print(f"{name + ', sees the reward':<42}{1 / seconds:>10,.0f} episodes a second")
            print(f"{'':<42}{seconds / ours:>10.1f} times slower than tacit")
    print("\nwhere an episode's time goes (profiled):")
    shares = profile_agent()
    for part, share in {**shares, "the rest": 1 - sum(shares.values())}.items():
        print(f"  {part:<24}{share:>6.0%}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)

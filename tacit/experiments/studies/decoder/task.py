"""The task of the decoder study: what a rewarded best action decodes to, from N_0 tuples.

theta = 0.9 and M = 1.3 put the true posterior exactly on the edge of the ramp, so that estimation errors cost something
on average; this shows how much, and how it shrinks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.decoding.decoder import RewardDecoder, build_decoder
from tacit.decoding.inverse_kinematics import fit_posterior
from tacit.decoding.tuples import Tuples
from tacit.engines.task import Report
from tacit.envs.layered import LayeredEnv
from tacit.experiments.tasks import ENVIRONMENT_SEED, Played, StudyTask
from tacit.learning.settings import Settings
from tacit.problem.mdp import ContextualMDP


@dataclass(frozen=True)
class DecoderSweep:
    """Posteriors fitted by each of `methods` to each of `tuple_counts` tuples of one environment."""

    variant: str
    environment: Callable[[], LayeredEnv]
    methods: tuple[str, ...]
    settings: Settings
    tuple_counts: tuple[int, ...]


def play_decoder(sweep: DecoderSweep, task: StudyTask, report: Report) -> Played:
    """Return what the best action decodes to, rewarded and not, from each number of tuples.

    Smaller data sets are the beginnings of the larger ones, so that a seed's curve shows the same data grow.
    """
    mdp = sweep.environment().mdp
    state = most_rewarding_state(mdp)
    generator = np.random.default_rng([task.seed, ENVIRONMENT_SEED])
    tuples = draw_tuples(mdp, state, max(sweep.tuple_counts), generator)
    method: Any = task.learner
    settings = replace(sweep.settings.posterior, method=method, seed=task.seed)
    decoded = np.empty((len(sweep.tuple_counts), 2))
    for i, count in enumerate(sweep.tuple_counts):
        posterior = fit_posterior(mdp.layout, tuples.part(slice(count)), settings)
        decoder = build_decoder(mdp.layout, posterior, sweep.settings.decoder)
        decoded[i] = [decode_best(mdp, decoder, state, reward) for reward in (0, 1)]
        report(count, f"fitted to {count:,} tuples")
    counts = np.array(sweep.tuple_counts, dtype=np.int64)
    curves = {"tuples": counts, "unrewarded": decoded[:, 0], "rewarded": decoded[:, 1]}
    return Played({"curves": curves})


def most_rewarding_state(mdp: ContextualMDP) -> int:
    """Return the last-layer state whose best action is rewarded most: the paper's good one."""
    return int(np.argmax(mdp.rewards.max(axis=(0, 2))))


def decode_best(mdp: ContextualMDP, decoder: RewardDecoder, state: int, reward: int) -> float:
    """Return E[J(h(x, y, s), a*)] over contexts and feedback when the best action gave `reward`."""
    expected = 0.0
    for x, share in enumerate(mdp.context_probabilities):
        best = int(np.argmax(mdp.rewards[x, state]))
        for y, chance in enumerate(mdp.feedback_probabilities[x, state, reward]):
            if chance > 0:
                expected += share * chance * decoder.decode(x, y, state, best)
    return expected


def draw_tuples(mdp: ContextualMDP, state: int, count: int, generator: np.random.Generator) -> Tuples:
    """Return `count` tuples of a last-layer state: contexts as they come, actions uniform."""
    contexts = generator.choice(mdp.n_contexts, count, p=mdp.context_probabilities)
    actions = generator.integers(mdp.layout.endings.n_actions[state], size=count)
    rewards = (generator.random(count) < mdp.rewards[contexts, state, actions]).astype(np.int64)
    chances = mdp.feedback_probabilities[contexts, state, rewards]  # (count, Y)
    feedback = (generator.random(count)[:, None] >= chances.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return Tuples(contexts, np.full(count, state), actions, feedback)

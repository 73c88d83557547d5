"""The decoder figure: the shape of J (Figure 1), and what a rewarded best action decodes to from N_0 tuples.

The second is ours: theta = 0.9 and M = 1.3 put the true posterior exactly on the edge of the ramp, so that
estimation errors cost something on average; this shows how much, and how it shrinks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.decoding.decoder import LipschitzDecoder, RewardDecoder, build_decoder, ramp
from tacit.decoding.inverse_kinematics import fit_posterior
from tacit.decoding.tuples import Tuples
from tacit.experiments.figures import Figure
from tacit.experiments.learning import Report
from tacit.experiments.tasks import ENVIRONMENT_SEED, Task
from tacit.problem.mdp import ContextualMDP

ILLUSTRATION = {"n_actions": 3, "theta": 0.6, "M": 1.0, "c": 0.2, "kappa": 0.2}
"""The numbers of Figure 1's caption."""
FIXED = 1 / 3
"""v_3 of Figure 1; v_1 runs from 0 to 1 - v_3."""


class Illustration(NamedTuple):
    """Figure 1: over v_1, the decoder J(v, 1) and the ramp G(v_1)."""

    v: FloatArray
    decoded: FloatArray
    ramp: FloatArray


def illustrate(decoder: LipschitzDecoder, points: int = 601) -> Illustration:
    """Return Figure 1's curves for a decoder of three actions, on an even grid of v_1 with v_3 = 1/3."""
    v = np.linspace(0.0, 1 - FIXED, points)
    posteriors = np.stack([v, 1 - FIXED - v, np.full(points, FIXED)], axis=1)  # (points, 3)
    decoded = decoder.batch(posteriors, np.zeros(points, dtype=np.int64))
    return Illustration(v, decoded, ramp(v, decoder.threshold - decoder.xi, decoder.xi))


def illustrated_decoder(with_formula: bool = False) -> LipschitzDecoder:
    """Return Figure 1's decoder, with its caption's kappa or the one that Lemma 3.4's formula gives.

    >>> illustrated_decoder().kappa, round(illustrated_decoder(with_formula=True).kappa, 4)
    (0.2, 0.1333)
    """
    numbers = ILLUSTRATION
    kappa = None if with_formula else numbers["kappa"]
    return LipschitzDecoder(numbers["theta"], numbers["M"], numbers["c"], int(numbers["n_actions"]), kappa)


def play_decoding(figure: Figure, task: Task, report: Report) -> tuple[dict[str, Any], None]:
    """Return what the best action decodes to, rewarded and not, from each number of tuples.

    Smaller data sets are the beginnings of the larger ones, so that a seed's curve shows the same data grow.
    """
    mdp = figure.environments[task.variant]().mdp
    state = most_rewarding_state(mdp)
    generator = np.random.default_rng([task.seed, ENVIRONMENT_SEED])
    tuples = draw_tuples(mdp, state, max(figure.tuple_counts), generator)
    method: Any = task.learner
    settings = replace(figure.settings.posterior, method=method, seed=task.seed)
    decoded = np.empty((len(figure.tuple_counts), 2))
    for i, count in enumerate(figure.tuple_counts):
        posterior = fit_posterior(mdp.layout, first_tuples(tuples, count), settings)
        decoder = build_decoder(mdp.layout, posterior, figure.settings.decoder)
        decoded[i] = [decode_best(mdp, decoder, state, reward) for reward in (0, 1)]
        report(count, f"fitted to {count:,} tuples")
    counts = np.array(figure.tuple_counts, dtype=np.int64)
    return {"curves": {"tuples": counts, "unrewarded": decoded[:, 0], "rewarded": decoded[:, 1]}}, None


def expected_tuples(figure: Figure, task: Task) -> int:
    """Return how many tuples a task fits posteriors to."""
    return sum(figure.tuple_counts)


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
    actions = generator.integers(mdp.layout.n_actions[-1, state], size=count)
    rewards = (generator.random(count) < mdp.rewards[contexts, state, actions]).astype(np.int64)
    chances = mdp.feedback_probabilities[contexts, state, rewards]  # (count, Y)
    feedback = (generator.random(count)[:, None] >= chances.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return Tuples(contexts, np.full(count, state), actions, feedback)


def first_tuples(tuples: Tuples, count: int) -> Tuples:
    """Return the first `count` tuples."""
    return Tuples(
        tuples.contexts[:count], tuples.states[:count], tuples.actions[:count], tuples.feedback[:count]
    )

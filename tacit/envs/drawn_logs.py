"""Logs drawn straight from a known model: what the simulator would write, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.logs.episode import LoggedEpisode, LoggedStep
from tacit.problem.mdp import ContextualMDP


def draw_logs(
    mdp: ContextualMDP, episodes: int, seed: int, policies: FloatArray | None = None, known: bool = True
) -> Iterator[LoggedEpisode]:
    """Yield episodes of a finite model played by `policies` (X, H, S, K), uniform unless given.

    `known` says whether probabilities are logged. Latent rewards are, as a simulation can.

    >>> from tacit.envs.synthetic import synthetic_mdp
    >>> episode = next(draw_logs(synthetic_mdp(), 1, seed=0))
    >>> len(episode.steps), episode.steps[0].probability
    (3, 0.2)
    """
    layout, generator = mdp.layout, np.random.default_rng([seed, 11])
    if policies is None:
        policies = np.repeat(layout.uniform_policy[None], mdp.n_contexts, axis=0)
    contexts = generator.choice(mdp.n_contexts, episodes, p=mdp.context_probabilities)
    states, actions = np.zeros((2, layout.horizon, episodes), dtype=np.int64)
    chances = np.empty((layout.horizon, episodes))
    for h in range(layout.horizon):
        if h:
            states[h] = draw_rows(generator, mdp.transitions[h - 1, states[h - 1], actions[h - 1]])
        played = policies[contexts, h, states[h]]  # (n, K)
        actions[h] = draw_rows(generator, played)
        chances[h] = played[np.arange(episodes), actions[h]]
    steps_taken = (states != layout.ended[:, None]).sum(axis=0)
    last, each = steps_taken - 1, np.arange(episodes)
    endings = layout.endings.index[last, states[last, each]]
    rewards = generator.random(episodes) < mdp.rewards[contexts, endings, actions[last, each]]
    feedback = draw_rows(generator, mdp.feedback_probabilities[contexts, endings, rewards.astype(np.int64)])
    for n in range(episodes):
        steps = tuple(
            LoggedStep(
                layout.states[h][states[h, n]],
                layout.actions[h][states[h, n]][actions[h, n]],
                layout.actions[h][states[h, n]],
                float(chances[h, n]) if known else None,
            )
            for h in range(steps_taken[n])
        )
        yield LoggedEpisode(n, int(contexts[n]), steps, int(feedback[n]), reward=float(rewards[n]))


def draw_rows(generator: np.random.Generator, chances: FloatArray) -> IntArray:
    """Return one index for each row of probabilities (n, m), (n,)."""
    sums = chances.cumsum(axis=1)
    drawn = (generator.random(len(chances))[:, None] * sums[:, -1:] >= sums).sum(axis=1)
    return np.asarray(np.minimum(drawn, chances.shape[1] - 1))

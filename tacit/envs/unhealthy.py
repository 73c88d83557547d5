"""Problems in which an assumption of the paper fails, one at a time: what the diagnostics must notice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.randomness import draw_index
from tacit.envs.layered import LayeredEnv, Observation
from tacit.envs.synthetic import synthetic_mdp
from tacit.problem.mdp import ContextualMDP

SMALL_SIGMA = (0.7, 0.7, 0.3, 0.3, 0.3)
"""Rewards f of five actions with theta = 0.7, M = 2.3 < K/2 and sigma = 0.7 * 2.7 / 2.3 = 0.82."""


def shuffled(mdp: ContextualMDP) -> LayeredEnv:
    """Return the problem with feedback drawn as if the reward were a fair coin: it tells nothing.

    >>> env = shuffled(synthetic_mdp())
    >>> env.mdp.feedback_probabilities[0, 0]
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    blurred = np.repeat(mdp.feedback_probabilities.mean(axis=2, keepdims=True), 2, axis=2)
    return LayeredEnv(replace(mdp, feedback_probabilities=blurred))


def small_sigma(rewards: tuple[float, ...] = SMALL_SIGMA) -> LayeredEnv:
    """Return the synthetic problem with other rewards in its last good state, by default with sigma below 1.

    >>> small_sigma().mdp.rewards[0, 0].sum().round(2)
    np.float64(2.3)
    """
    mdp = synthetic_mdp(n_actions=len(rewards))
    changed = mdp.rewards.copy()
    changed[:, 0] = rewards
    return LayeredEnv(replace(mdp, rewards=changed))


def action_dependent(mdp: ContextualMDP, strength: float = 0.5) -> LayeredEnv:
    """Return the problem with feedback that depends on the action given the reward: Assumption 2.1 fails.

    With probability `strength`, whoever took action a says the value that a picks among those that fit the
    reward (a modulo their number), otherwise what they would have said anyway. The reward can still be read off
    the feedback.
    """
    if not 0 < strength <= 1:
        raise ValueError(
            f"strength must lie in (0, 1], got {strength}; with 0 nothing would depend on the action"
        )
    if (mdp.feedback_probabilities > 0).sum(axis=-1).min() < 2:
        raise ValueError(
            "each reward must have at least two feedback values to choose from, "
            f"got {mdp.feedback_probabilities.shape[-1]} in all; use a problem with four or more"
        )
    return ActionDependentEnv(mdp, strength)


class ActionDependentEnv(LayeredEnv):
    """A layered environment whose feedback is drawn from Pr[y | x, s, r, a]; see `action_dependent`."""

    def __init__(self, mdp: ContextualMDP, strength: float) -> None:
        super().__init__(mdp)
        self._by_action = tilt(mdp.feedback_probabilities, mdp.layout.max_actions, strength)

    def _finish(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        s = self.layout.endings.index[self._layer, self._state]
        observation, nothing, over, cut, info = super()._finish(action)
        told = info["evaluation"]
        chances = self._by_action[told["context"], s, told["reward"], action]
        value = draw_index(chances, self._row[-2])
        said = {"feedback": value, "evaluation": told | {"feedback": value}}
        return observation, nothing, over, cut, info | said


def tilt(feedback: FloatArray, n_actions: int, strength: float) -> FloatArray:
    """Return Pr[y | x, s, r, a] (X, S_H, 2, K, Y) from Pr[y | x, s, r] (X, S_H, 2, Y)."""
    tilted = np.repeat((1 - strength) * feedback[:, :, :, None, :], n_actions, axis=3)
    for x, s, r in np.ndindex(feedback.shape[:3]):
        values = np.flatnonzero(feedback[x, s, r])
        actions = np.arange(n_actions)
        tilted[x, s, r, actions, values[actions % len(values)]] += strength
    return tilted

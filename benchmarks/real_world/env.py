"""A problem as a Gymnasium environment: feedback when an episode has ended, None where nothing was said."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from real_world.problem import CERTAIN, Problem, World
from tacit.base.randomness import EpisodeDraws, draw_index

Observation = dict[str, Any]
Stepped = tuple[Observation, float, bool, bool, dict[str, Any]]


class RealEnv(gym.Env[Observation, np.int64]):
    """Plays a problem whose worlds share `length` episodes; everything follows from (seed, episode number).

    An observation holds the `context`, and the `state` as the problem labels it. An episode that ended is terminated,
    with `feedback` in the final `info` and, under `evaluation`, what no learner may see: whether the person was
    pleased, the chance that they would be, context and world. One that broke off is truncated, and has no feedback.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012, Gymnasium's own form

    def __init__(self, problem: Problem, length: int) -> None:
        self.problem, self.length = problem, max(length, 1)
        self._going = [world.transitions.sum(axis=3) for world in problem.worlds]
        largest = max(label for layer in problem.labels for label in layer)
        self.observation_space = gym.spaces.Dict(
            {"context": gym.spaces.Discrete(problem.n_contexts), "state": gym.spaces.Discrete(largest + 1)}
        )
        self.action_space = gym.spaces.Discrete(problem.n_actions)
        self._draws: EpisodeDraws | None = None
        self._episode = -1
        self._said_before: int | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next episode, or episode 0 of a new seed."""
        super().reset(seed=seed)
        problem = self.problem
        if seed is not None or self._draws is None:
            base = seed if seed is not None else int(self.np_random.integers(2**62))
            # Context, reward and word; for each turn where it leads and whether it breaks off.
            self._draws, self._episode = EpisodeDraws(base, 3 + 2 * problem.n_turns), -1
        self._episode += 1
        self._row = self._draws.row(self._episode)
        self.number = min(self._episode * len(problem.worlds) // self.length, len(problem.worlds) - 1)
        self.context = draw_index(self.world.contexts, self._row[0])
        self.turn, self.state = 0, 0
        return self._observation(), {}

    @property
    def world(self) -> World:
        """Return how people and dynamics are in this episode."""
        return self.problem.worlds[self.number]

    def step(self, action: int | np.int64) -> Stepped:
        """Take an action."""
        h, s, a = self.turn, self.state, int(action)
        if self._row[4 + 2 * h] < self.problem.breaks:
            return self._observation(), 0.0, False, True, {}
        going, draw = self._going[self.number][h, s, a], self._row[3 + 2 * h]
        if going < CERTAIN and draw >= going:
            return self._end(a)
        self.turn, self.state = h + 1, draw_index(self.world.transitions[h, s, a], draw)
        return self._observation(), 0.0, False, False, {}

    def _end(self, action: int) -> Stepped:
        x, h, s, world = self.context, self.turn, self.state, self.world
        chance = float(world.rewards[x, h, s, action])
        reward = int(self._row[1] < chance)
        voices = world.voices if world.voices_by_action is None else world.voices_by_action[..., action, :]
        word = draw_index(voices[x, h, s, reward], self._row[2])
        said = None if word == self.problem.n_words else int(word)
        heard, self._said_before = (self._said_before if self.problem.misjoined else said), said
        told = {"reward": reward, "chance": chance, "context": x, "world": self.number}
        return self._observation(), 0.0, True, False, {"feedback": heard, "evaluation": told}

    def _observation(self) -> Observation:
        return {"context": self.context, "state": self.problem.labels[self.turn][self.state]}

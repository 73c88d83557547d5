"""A layered contextual MDP as a Gymnasium environment: the one engine behind Tacit's own environments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym
import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.randomness import EpisodeDraws, draw_index
from tacit.problem.layout import Layout, consecutive_states
from tacit.problem.mdp import ContextualMDP
from tacit.problem.spaces import Finite, Vectors

Observation = dict[str, Any]

FARTHEST = 8.0
"""Noise is clipped at this many standard deviations, so that the observation space has true bounds."""


class Showing(Protocol):
    """How numbered contexts or feedback values are shown: as vectors, drawn anew each time."""

    @property
    def dimension(self) -> int:
        """Return the length of the vectors."""

    @property
    def bound(self) -> float:
        """Return what no entry of a vector exceeds in size."""

    def show(self, index: int, generator: np.random.Generator) -> FloatArray:
        """Return a new vector that shows value `index`."""


@dataclass(frozen=True)
class Clouds:
    """Shows value i as the i-th of the `centres` (n, d), with normal noise of size `noise`."""

    centres: FloatArray
    noise: float = 0.1

    @property
    def dimension(self) -> int:
        """Return d."""
        return int(self.centres.shape[1])

    @property
    def bound(self) -> float:
        """Return how far the farthest vector can be from zero."""
        return float(np.abs(self.centres).max()) + FARTHEST * self.noise

    def show(self, index: int, generator: np.random.Generator) -> FloatArray:
        """Return a point of a centre's cloud."""
        spread = np.clip(generator.standard_normal(self.dimension), -FARTHEST, FARTHEST)
        shown: FloatArray = self.centres[index] + self.noise * spread
        return shown


class LayeredEnv(gym.Env[Observation, np.int64]):
    """Plays the episodes of a `ContextualMDP`; no reward is ever returned, only feedback at the end.

    An observation holds the `context` and the `state` (numbered through the layers). `step` returns the
    reward 0.0 always. When the episode ends, `info["feedback"]` is what the user said, and
    `info["evaluation"]` what no learner may see: the latent reward, and context and feedback as the truth numbers them.

    Everything random follows from (seed, episode number). `reset(seed=s)` starts at episode 0 of seed s,
    `reset()` goes on to the next episode, `reset(options={"episode": n})` jumps to episode n.

    Where the layout says vectors, `context_vectors` and `feedback_vectors` show the truth's own contexts and feedback
    values as vectors, drawn anew in every episode.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012, Gymnasium's own form

    def __init__(
        self,
        mdp: ContextualMDP,
        context_vectors: Showing | None = None,
        feedback_vectors: Showing | None = None,
    ) -> None:
        self.mdp, self.layout = mdp, mdp.layout
        _check_numbered(mdp.layout)
        self._context_vectors = _check_vectors("context", mdp.layout.contexts, context_vectors)
        self._feedback_vectors = _check_vectors("feedback", mdp.layout.feedback, feedback_vectors)
        self._first = np.cumsum([0, *map(len, self.layout.states)]).tolist()
        self.observation_space = gym.spaces.Dict(
            {"context": self._context_space(), "state": gym.spaces.Discrete(self._first[-1])}
        )
        self.action_space = gym.spaces.Discrete(self.layout.max_actions)
        self._draws: EpisodeDraws | None = None
        self._episode = -1
        self._layer = self.layout.horizon  # over until reset

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; see the class for what `seed` and `options` do."""
        super().reset(seed=seed)
        if seed is not None or self._draws is None:
            # One row holds a draw for the context, for each transition, for the reward, for the feedback.
            base = seed if seed is not None else int(self.np_random.integers(2**62))
            self._draws, self._episode = EpisodeDraws(base, self.layout.horizon + 2), -1
        self._episode = int((options or {}).get("episode", self._episode + 1))
        self._row = self._draws.row(self._episode)
        self._context = draw_index(self.mdp.context_probabilities, self._row[-1])
        self._layer, self._state = 0, 0
        self._shown_context = self._show(self._context, self._context_vectors, 0)
        return self._observation(), self._offered()

    def step(self, action: int | np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take an action; after the last one the episode ends and `info` holds the feedback."""
        h, s, layout = self._layer, self._state, self.layout
        if h >= layout.horizon:
            raise ValueError(
                f"an episode has {layout.horizon} steps and this one is over, got another action; "
                "call reset() first"
            )
        n = layout.n_actions[h, s]
        if not 0 <= action < n:
            raise ValueError(
                f"state {layout.name(h, s)!r} offers actions 0 to {n - 1}, got {action!r}; "
                "choose with info['action_mask']"
            )
        if h == layout.horizon - 1:
            return self._finish(int(action))
        following = draw_index(self.mdp.transitions[h, s, action], self._row[h])
        if following == layout.ended[h + 1]:
            return self._finish(int(action))
        self._layer, self._state = h + 1, following
        return self._observation(), 0.0, False, False, self._offered()

    def _finish(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        x, s, last = self._context, self.layout.endings.index[self._layer, self._state], self._observation()
        reward = int(self._row[-3] < self.mdp.rewards[x, s, action])
        value = draw_index(self.mdp.feedback_probabilities[x, s, reward], self._row[-2])
        self._layer = self.layout.horizon
        info = {
            "feedback": self._show(value, self._feedback_vectors, 1),
            "evaluation": {"reward": reward, "context": x, "feedback": value},
        }
        return last, 0.0, True, False, info

    def _offered(self) -> dict[str, Any]:
        # A new array of int8 each time, as Discrete.sample(mask) takes it.
        return {"action_mask": self.layout.mask[self._layer, self._state].astype(np.int8)}

    def _observation(self) -> Observation:
        shown = self._shown_context
        context = shown if self._context_vectors is None else shown.copy()
        return {"context": context, "state": self._first[self._layer] + self._state}

    def _show(self, index: int, vectors: Showing | None, which: int) -> Any:
        if vectors is None:
            return index
        assert self._draws is not None
        return vectors.show(index, self._draws.generator(2 * self._episode + which))

    def _context_space(self) -> gym.spaces.Space[Any]:
        vectors = self._context_vectors
        if vectors is None:
            return gym.spaces.Discrete(self.mdp.n_contexts)
        return gym.spaces.Box(-vectors.bound, vectors.bound, (vectors.dimension,), np.float64)


def _check_numbered(layout: Layout) -> None:
    shown = consecutive_states([len(layer) for layer in layout.states])
    spaces = [space for space in (layout.contexts, layout.feedback) if isinstance(space, Finite)]
    if layout.states != shown or any(space.labels != tuple(range(space.size)) for space in spaces):
        raise ValueError(
            "a LayeredEnv shows numbers: its layout must count states through the layers, contexts and feedback "
            "from 0, as Layout.regular does; put words into `names`"
        )


def _check_vectors(what: str, space: Any, vectors: Showing | None) -> Showing | None:
    dimension = space.dimension if isinstance(space, Vectors) else None
    shown = None if vectors is None else vectors.dimension
    if dimension != shown:
        raise ValueError(
            f"{what}_vectors are needed where the layout's {what} is Vectors and only there, and of its dimension, "
            f"got {space!r} with {'no vectors' if shown is None else f'vectors of {shown}'}"
        )
    return vectors

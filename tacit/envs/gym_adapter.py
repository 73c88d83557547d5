"""Any Gymnasium environment as an episode source: contexts, states, what they offer, then feedback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym

from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite

Reader = Callable[[Any, Mapping[str, Any]], Any]
"""Reads something off (observation, info)."""


class GymSource:
    """Turns a Gymnasium environment into episodes: `begin` gives context and state, `step` the next state.

    The readers say where things stand; their defaults fit Tacit's own environments: the context and state
    in the observation, with the `actions` on offer where they come with the state, the feedback in the final
    `info`, the latent reward under its `evaluation` key. An observation that is no mapping is the state, and the
    context is the only one that the layout has. After the last step `feedback` is set, `reward` (None where the
    environment does not tell) and `info`. With a `layout`, the environment's own unless given, episodes that are too
    long are refused, and shorter ones unless they can end early.

    Feedback None, or none in the final `info`, is silence if the episode terminated. One that was truncated without
    feedback `broke_off`, after whatever number of steps: nobody could react.

    >>> from tacit.envs.synthetic import synthetic
    >>> source = GymSource(synthetic())
    >>> context, state = source.begin(seed=5)
    >>> while state is not None:
    ...     state = source.step(0)
    >>> source.feedback in (0, 1)
    True
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        layout: Layout | None = None,
        context_of: Reader | None = None,
        state_of: Reader | None = None,
        feedback_of: Reader | None = None,
        reward_of: Reader | None = None,
    ) -> None:
        self.env = env
        self.layout: Layout | None = layout if layout is not None else getattr(env.unwrapped, "layout", None)
        self._context_of = context_of or self._read_context
        self._state_of = state_of or read_state
        self._feedback_of = feedback_of or (lambda observation, info: info.get("feedback"))
        self._reward_of = reward_of or (lambda observation, info: info.get("evaluation", {}).get("reward"))
        self.offer: tuple[Any, ...] = ()
        """What `act` takes beside the state: the actions, where they come with it."""
        self.info: Mapping[str, Any] = {}
        self.feedback: Any = None
        self.broke_off = False
        self.reward: float | None = None
        self._steps = 0

    def begin(self, seed: int | None = None, episode: int | None = None) -> tuple[Any, Any]:
        """Return (context, first state) of a new episode; the arguments are those of `LayeredEnv.reset`."""
        options = None if episode is None else {"episode": episode}
        observation, info = self.env.reset(seed=seed, options=options)
        self.feedback, self.broke_off, self.reward, self._steps = None, False, None, 0
        self.offer = _offer(observation)
        return self._context_of(observation, info), self._state_of(observation, info)

    def step(self, action: Any) -> Any | None:
        """Return the next state, or None when the episode is over and `feedback` is set."""
        observation, _, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        over, horizon = terminated or truncated, self.layout.horizon if self.layout is not None else None
        if over:
            self.feedback = self._feedback_of(observation, info)
            self.broke_off = not terminated and self.feedback is None
        if horizon is not None and over != (self._steps == horizon) and not self.broke_off:
            self._check_length(over, horizon)
        if not over:
            self.offer = _offer(observation)
            return self._state_of(observation, info)
        self.info = info
        self.reward = self._reward_of(observation, info)
        return None

    def _check_length(self, over: bool, horizon: int) -> None:
        """Raise ValueError if an episode goes on after its last step, or ends before it where none can."""
        if not over:
            raise ValueError(
                f"an episode has at most as many steps as the layout has layers ({horizon}), this one went on after "
                f"{self._steps}; give the layout more layers, or the environment a time limit"
            )
        if self.layout is not None and not self.layout.ends_early:
            raise ValueError(
                f"every episode must have as many steps as the layout has layers ({horizon}), this one ended after "
                f"{self._steps}; let the layout say in `ends` where episodes end early"
            )

    def _read_context(self, observation: Any, info: Mapping[str, Any]) -> Any:
        if isinstance(observation, Mapping):
            return observation["context"]
        contexts = self.layout.contexts if self.layout is not None else None
        if isinstance(contexts, Finite) and contexts.size == 1:
            return contexts.labels[0]
        raise ValueError(
            f"an observation without a context needs a layout with one context, got {contexts!r}; say with "
            "`context_of` where the context stands"
        )


def read_state(observation: Any, info: Mapping[str, Any]) -> Any:
    """Return the state of an observation: what stands under `state`, or the observation itself."""
    return observation["state"] if isinstance(observation, Mapping) else read_label(observation)


def read_label(value: Any) -> Any:
    """Return a value with NumPy's numbers as Python's, which labels are.

    >>> import numpy as np
    >>> read_label(np.int64(3)), read_label("home")
    (3, 'home')
    """
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


def _offer(observation: Any) -> tuple[Any, ...]:
    return (observation["actions"],) if isinstance(observation, Mapping) and "actions" in observation else ()

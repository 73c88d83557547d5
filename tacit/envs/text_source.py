"""An environment of conversations as an episode source: like `GymSource`, and the candidates come with the state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym

from tacit.text.judges import REWARDED, UNREWARDED


class TextSource:
    """Turns conversations into episodes: `begin` gives context and state, `step` the next state.

    `offer` holds what `act` takes beside the state: the candidates. After the last step `feedback` is set, `reward`
    (None where the environment does not tell) and `info`. With `tells_reward` the feedback is the true reward in
    words, for the oracle.
    """

    def __init__(self, env: gym.Env[Any, Any], tells_reward: bool = False) -> None:
        self.env, self._tells_reward = env, tells_reward
        self.offer: tuple[Any, ...] = ()
        self.info: Mapping[str, Any] = {}
        self.feedback: Any = None
        self.reward: float | None = None

    def begin(self, seed: int | None = None, episode: int | None = None) -> tuple[Any, Any]:
        """Return (context, first state) of a new episode; the arguments are those of `BookingEnv.reset`."""
        options = None if episode is None else {"episode": episode}
        observation, _ = self.env.reset(seed=seed, options=options)
        self.feedback, self.reward, self.offer = None, None, (observation["actions"],)
        return observation["context"], observation["state"]

    def step(self, action: Any) -> Any | None:
        """Return the next state, or None when the episode is over and `feedback` is set."""
        observation, _, terminated, truncated, info = self.env.step(action)
        if not (terminated or truncated):
            self.offer = (observation["actions"],)
            return observation["state"]
        self.info, self.reward = info, info.get("evaluation", {}).get("reward")
        told = REWARDED if self.reward else UNREWARDED
        self.feedback = told if self._tells_reward else info["feedback"]
        return None

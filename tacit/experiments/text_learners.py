"""The text learners by name: Tacit with its own schedule and the paper's, and what it is measured against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import gymnasium as gym

from tacit.agent import Agent
from tacit.envs.gym_adapter import GymSource
from tacit.text.conversations import Conversations
from tacit.text.judges import REWARDED, UNREWARDED
from tacit.text.model import TextModel
from tacit.text.settings import TextSettings

NEVER = 2**62
"""An exploration that never ends."""


@dataclass(frozen=True)
class TextLearner:
    """One learner: what it changes in the settings, and whether it is told the reward."""

    changes: Mapping[str, Any] = field(default_factory=dict)
    told: bool = False

    def make(self, settings: TextSettings, seed: int, model: TextModel | None = None) -> Agent:
        """Return a new agent of this kind."""
        return Agent(Conversations(replace(settings, **self.changes), model, seed), seed=seed)

    def source(self, env: gym.Env[Any, Any]) -> GymSource:
        """Return the episode source that this learner sees; the ceiling is told the reward in words."""
        return GymSource(env, feedback_of=_reward_in_words if self.told else None)


TEXT_LEARNERS: Mapping[str, TextLearner] = {
    "tacit": TextLearner(),
    "tacit_paper_gamma": TextLearner({"gamma_scale": 1.0}),
    "oracle_reward": TextLearner({"judge": "told"}, told=True),
    "universal_judge": TextLearner({"judge": "kind words"}),
    "last_step_igl": TextLearner({"improves": "last"}),
    "uniform": TextLearner({"exploration": NEVER}),
}
"""`tacit_paper_gamma` chooses by the paper's gamma_t = sqrt(K t), all others by Tacit's `gamma_scale` times that."""


def _reward_in_words(observation: Any, info: Mapping[str, Any]) -> str:
    return REWARDED if info["evaluation"]["reward"] else UNREWARDED

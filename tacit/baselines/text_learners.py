"""The text learners by name: Tacit with its own schedule and the paper's, and what it is measured against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import gymnasium as gym

from tacit.envs.text_source import TextSource
from tacit.text.agent import TextAgent
from tacit.text.model import TextModel
from tacit.text.stages import TextSettings

NEVER = 2**62
"""An exploration that never ends."""


@dataclass(frozen=True)
class TextLearner:
    """One learner: what it changes in the settings, and whether it is told the reward."""

    changes: Mapping[str, Any] = field(default_factory=dict)
    told: bool = False

    def make(self, settings: TextSettings, seed: int, model: TextModel | None = None) -> TextAgent:
        """Return a new agent of this kind."""
        return TextAgent(replace(settings, **self.changes), seed, model)

    def source(self, env: gym.Env[Any, Any]) -> TextSource:
        """Return the episode source that this learner sees."""
        return TextSource(env, tells_reward=self.told)


TEXT_LEARNERS: Mapping[str, TextLearner] = {
    "tacit": TextLearner(),
    "tacit_paper_gamma": TextLearner({"gamma_scale": 1.0}),
    "oracle_reward": TextLearner({"judge": "told"}, told=True),
    "universal_judge": TextLearner({"judge": "kind words"}),
    "last_step_igl": TextLearner({"improves": "last"}),
    "uniform": TextLearner({"exploration": NEVER}),
}
"""`tacit_paper_gamma` chooses by the paper's gamma_t = sqrt(K t), all others by Tacit's `gamma_scale` times that."""

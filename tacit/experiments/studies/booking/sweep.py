"""The sweep of the booking study as its tasks see it: who plays which dialogues, with what settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tacit.envs.booking import BookingEnv
from tacit.envs.dialogues import Dialogue
from tacit.experiments.text_learners import TEXT_LEARNERS, TextLearner
from tacit.text.settings import EXPLORED, SMALL, TextSettings

SMALL_TWIN = "tacit_small"
"""Tacit with the small model, beside a language model, on the same dialogues and seeds."""


@dataclass(frozen=True)
class BookingSweep:
    """`learners` x `dialogues` by setting: each explores, then plays `episodes` more.

    `source` says where the dialogues come from, and `notes` what else a reader must know.
    """

    learners: tuple[str, ...] = tuple(TEXT_LEARNERS)
    settings: TextSettings = field(default_factory=TextSettings)
    episodes: int = 0
    dialogues: Mapping[str, tuple[Dialogue, ...]] = field(default_factory=dict)
    source: str = ""
    notes: tuple[str, ...] = ()

    @property
    def model(self) -> str:
        """Return the name of the model."""
        return self.settings.model

    @property
    def size(self) -> int:
        """Return how many dialogues each setting has."""
        return max(map(len, self.dialogues.values()), default=0)

    def environment(self, variant: str) -> BookingEnv:
        """Return a new environment of a setting."""
        return BookingEnv(self.dialogues[variant])

    def learner_of(self, name: str) -> TextLearner:
        """Return the learner of that name, or raise an error that lists them."""
        learners = {**TEXT_LEARNERS, SMALL_TWIN: TEXT_LEARNERS["tacit"]}
        if name not in learners:
            raise ValueError(f"there is no text learner {name!r}; there are: {', '.join(learners)}")
        return learners[name]

    def settings_of(self, name: str) -> TextSettings:
        """Return the settings that a learner starts from; `uniform` reads nothing, so no large model for it.

        The small model explores as long as it must; what the sweep calls exploration is only counted apart.
        """
        model = SMALL if name in (SMALL_TWIN, "uniform") else self.settings.model
        explored = min(EXPLORED, self.settings.exploration) if model == SMALL else self.settings.exploration
        return replace(self.settings, model=model, exploration=explored)

    def digest_of(self, variant: str) -> str:
        """Return a digest of every text in the dialogues of a setting."""
        lines = [dialogue.to_json() for dialogue in self.dialogues[variant]]
        return hashlib.sha256(json.dumps(lines, sort_keys=True).encode()).hexdigest()

    def facts_of(self, name: str) -> dict[str, Any]:
        """Return what determines what a learner does beside the dialogues and the seed."""
        return {"settings": self.settings_of(name).to_json(), "episodes": self.episodes}

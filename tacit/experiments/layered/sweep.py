"""A sweep over layered environments as data: which learners play which of them, with what settings and budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tacit.decoding.decoder import DecoderSettings
from tacit.envs.layered import LayeredEnv
from tacit.learning.settings import Settings


@dataclass(frozen=True)
class Arm:
    """The paper's recipe on another exploration budget: N = N_0 = `budget`, EULER's bonus x `bonus_scale`.

    >>> Arm(250).name, Arm(250, 0.1).name
    ('tacit_250', 'tacit_250_bonus_0.1')
    """

    budget: int
    bonus_scale: float = 1.0

    @property
    def name(self) -> str:
        """Return the name that it has among the learners."""
        return f"tacit_{self.budget}" + (f"_bonus_{self.bonus_scale:g}" if self.bonus_scale != 1 else "")

    def settings(self, base: Settings) -> Settings:
        """Return `base` with this budget and bonus."""
        homing = replace(base.homing, episodes=self.budget, bonus_scale=self.bonus_scale)
        return replace(base, homing=homing, collection=replace(base.collection, tuples=self.budget))


@dataclass(frozen=True)
class LayeredSweep:
    """`learners` (and `arms`) x `environments`: each plays `episodes` episodes.

    Exploration is among them if the sweep `counts_exploration`; otherwise they come after it. `constants` are the
    decoder's where an environment has its own.
    """

    environments: Mapping[str, Callable[[], LayeredEnv]]
    learners: tuple[str, ...]
    settings: Settings
    episodes: int = 40_000
    counts_exploration: bool = False
    arms: tuple[Arm, ...] = ()
    constants: Mapping[str, DecoderSettings] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Return everyone who plays, arms first."""
        return (*(arm.name for arm in self.arms), *self.learners)

    def find_arm(self, name: str) -> Arm | None:
        """Return the arm of that name, None for a learner."""
        return next((arm for arm in self.arms if arm.name == name), None)

    def settings_of(self, environment: str, name: str) -> Settings:
        """Return the settings with which `name` plays in `environment`."""
        settings, arm = self.settings, self.find_arm(name)
        settings = replace(settings, decoder=self.constants.get(environment, settings.decoder))
        return settings if arm is None else arm.settings(settings)

    def facts_of(self, environment: str, name: str) -> dict[str, Any]:
        """Return what determines what `name` does in `environment`, beside that and the seed."""
        return {
            "settings": self.settings_of(environment, name).to_json(),
            "episodes": self.episodes,
            "counts_exploration": self.counts_exploration,
        }

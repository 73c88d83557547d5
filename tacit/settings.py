"""Every number that a run depends on, typed, with the paper's values (appendix C.1) as defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tacit.decoder import DecoderSettings, check_settings
from tacit.layout import Layout
from tacit.posterior import PosteriorSettings, check_method
from tacit.regression import OracleSettings
from tacit.schedule import GammaSchedule


@dataclass(frozen=True)
class HomingSettings:
    """Algorithm 2 and Eq. 2: N `episodes` for each last-layer state, failure probability `delta`.

    `bonus_scale` multiplies EULER's bonus (1: the theory's constants). `epsilon` sets the threshold
    4 epsilon of Eq. 2; the paper's experiment does not name its epsilon (dev. 4).
    """

    episodes: int = 5000
    delta: float = 0.05
    bonus_scale: float = 1.0
    epsilon: float = 0.05

    def __post_init__(self) -> None:
        if self.episodes < 1:
            raise ValueError(f"homing episodes must be at least 1, got {self.episodes}")
        if not 0 < self.delta < 1:
            raise ValueError(f"delta is a probability in (0, 1), got {self.delta}; the paper uses 0.05")
        if not self.bonus_scale >= 0:
            raise ValueError(f"bonus_scale must not be negative, got {self.bonus_scale}")
        if not 0 < self.epsilon <= 0.25:
            raise ValueError(
                f"epsilon must lie in (0, 0.25], got {self.epsilon}: a state counts as reachable from a "
                "frequency of 4 epsilon on, which cannot pass 1"
            )


@dataclass(frozen=True)
class CollectionSettings:
    """Algorithm 3: N_0 `tuples` for each reachable state."""

    tuples: int = 5000

    def __post_init__(self) -> None:
        if self.tuples < 1:
            raise ValueError(f"tuples per state must be at least 1, got {self.tuples}")


@dataclass(frozen=True)
class Settings:
    """The settings of every part; only the decoder's theta and M have no default.

    >>> Settings(DecoderSettings(theta=0.9, M=1.3)).homing.episodes
    5000
    """

    decoder: DecoderSettings
    homing: HomingSettings = field(default_factory=HomingSettings)
    collection: CollectionSettings = field(default_factory=CollectionSettings)
    posterior: PosteriorSettings = field(default_factory=PosteriorSettings)
    oracle: OracleSettings = field(default_factory=OracleSettings)
    schedule: GammaSchedule = field(default_factory=GammaSchedule)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON description that `Settings.from_json` reads."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Settings:
        """Return the settings that `to_json` described."""
        return Settings(
            decoder=DecoderSettings(**data["decoder"]),
            homing=HomingSettings(**data["homing"]),
            collection=CollectionSettings(**data["collection"]),
            posterior=PosteriorSettings(**data["posterior"]),
            oracle=OracleSettings(**data["oracle"]),
            schedule=GammaSchedule(**data["schedule"]),
        )


def check_decoding(layout: Layout, settings: Settings) -> None:
    """Raise unless the decoder's constants suit every last state and the posterior can be fitted here.

    Called before the first episode: thousands of them later would be a bad moment to learn it.
    """
    check_settings(layout, settings.decoder)
    check_method(layout, settings.posterior)

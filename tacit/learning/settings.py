"""Every number that a run depends on, typed, with the paper's values (appendix C.1) as defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tacit.base.saved import Saved
from tacit.base.validation import (
    LEAST,
    MOST,
    check_choice,
    check_number,
    check_whole,
    check_within,
    is_numeric,
)
from tacit.decoding.decoder import DecoderSettings, check_settings
from tacit.decoding.inverse_kinematics import check_method
from tacit.decoding.judgement import JudgementSettings
from tacit.decoding.posterior import PosteriorSettings
from tacit.planning.reachability import homing_episodes
from tacit.planning.regression import OracleSettings, make_oracle
from tacit.planning.schedule import GammaSchedule, choose_by_theorem
from tacit.problem.layout import Layout
from tacit.trust.watches import DriftSettings

RECIPES = ("fast", "paper")
INLINE, BESIDE = "inline", "beside"
"""Where fits are made: in the call that they are due in, or in a process of their own while decisions go on."""


@dataclass(frozen=True)
class HomingSettings:
    """Algorithm 2 and Eq. 2: N `episodes` for each last-layer state, failure probability `delta` (dev. 14).

    `bonus_scale` multiplies EULER's bonus (1: the theory's constants). `epsilon` sets the threshold
    4 epsilon of Eq. 2; the paper's experiment does not name its epsilon (dev. 4).
    """

    episodes: int = 5000
    delta: float = 0.05
    bonus_scale: float = 1.0
    epsilon: float = 0.05

    def __post_init__(self) -> None:
        check_whole("homing episodes", self.episodes, 1)
        check_number("delta", self.delta, 0, 1)
        check_within("bonus_scale", self.bonus_scale, 0, MOST)
        if not (is_numeric(self.epsilon) and LEAST <= self.epsilon <= 0.25):
            raise ValueError(
                f"epsilon must lie in (0, 0.25], got {self.epsilon!r}: a state counts as reachable from a "
                "frequency of 4 epsilon on, which cannot pass 1"
            )


@dataclass(frozen=True)
class CollectionSettings:
    """Algorithm 3: N_0 `tuples` for each reachable state."""

    tuples: int = 5000

    def __post_init__(self) -> None:
        check_whole("tuples per state", self.tuples, 1)


@dataclass(frozen=True)
class FastSettings:
    """Tacit's own recipe (`tacit.learning.fast`); chosen on random problems (seeds 1000 and up) and then frozen.

    `gamma_scale` is that of gamma_t = scale H √(K t). When a state is settled, `JudgementSettings` say; how long it is
    explored follows from what is unknown (`tacit.planning.exploring`). Where contexts are not counted, `fits` are made
    "inline", in the call of `end` that they are due in, or "beside", in a process of their own, while decisions go on
    by the last one (`tacit.learning.generalising`).
    """

    gamma_scale: float = 12.0
    fits: str = INLINE

    def __post_init__(self) -> None:
        check_number("gamma_scale", self.gamma_scale, 0, math.inf)
        check_choice("fits", self.fits, (INLINE, BESIDE))


@dataclass(frozen=True)
class Settings:
    """The settings of every part.

    `recipe` is "fast", Tacit's own, which needs nothing but `decoder.c`, or "paper", Algorithm 1 as the paper has it,
    which needs theta and M and reads all parts but `judgement`, `fast` and `drift`.

    >>> Settings().recipe, Settings(DecoderSettings(theta=0.9, M=1.3), recipe="paper").homing.episodes
    ('fast', 5000)
    """

    decoder: DecoderSettings = field(default_factory=DecoderSettings)
    homing: HomingSettings = field(default_factory=HomingSettings)
    collection: CollectionSettings = field(default_factory=CollectionSettings)
    posterior: PosteriorSettings = field(default_factory=PosteriorSettings)
    oracle: OracleSettings = field(default_factory=OracleSettings)
    schedule: GammaSchedule = field(default_factory=GammaSchedule)
    judgement: JudgementSettings = field(default_factory=JudgementSettings)
    fast: FastSettings = field(default_factory=FastSettings)
    drift: DriftSettings = field(default_factory=DriftSettings)
    recipe: str = "fast"

    def __post_init__(self) -> None:
        check_choice("recipe", self.recipe, RECIPES)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON description that `Settings.from_json` reads."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Settings:
        """Return the settings that `to_json` described."""
        saved = Saved.of(data)
        return saved.make(Settings, **{name: saved.part(name).make(kind) for name, kind in PARTS.items()})


PARTS: Mapping[str, type] = {
    "decoder": DecoderSettings,
    "homing": HomingSettings,
    "collection": CollectionSettings,
    "posterior": PosteriorSettings,
    "oracle": OracleSettings,
    "schedule": GammaSchedule,
    "judgement": JudgementSettings,
    "fast": FastSettings,
    "drift": DriftSettings,
}
"""The settings of the parts, by the name of the part."""


def settings_by_theorem(
    layout: Layout, decoder: DecoderSettings, episodes: int, square_regret: float
) -> Settings:
    """Return the settings with which Theorem 4.3 is proved for T `episodes`: N, N_0, epsilon, delta, gamma.

    They are out of reach for most T, and the error then says so: epsilon must not exceed a quarter.
    """
    K = layout.max_actions
    lipschitz = decoder.build(K).lipschitz
    size = int(layout.n_states.sum()), K, layout.horizon
    choice = choose_by_theorem(episodes, *size, lipschitz, square_regret)
    delta = 1 / episodes**2  # Algorithm 1, line 3
    if choice.epsilon <= 0.25:
        homing = HomingSettings(homing_episodes(layout, choice.epsilon, delta), delta, 1.0, choice.epsilon)
        collection = CollectionSettings(math.ceil(choice.tuples))
        schedule = GammaSchedule("constant", choice.gamma)
        return Settings(decoder, homing, collection, schedule=schedule, recipe="paper")
    raise ValueError(
        f"the theorem's choice for {episodes} episodes is epsilon = {choice.epsilon:.3g}, and a state is only "
        "reachable from a frequency of 4 epsilon on; it needs more episodes, or settings chosen by hand"
    )


def check_runnable(layout: Layout, settings: Settings) -> None:
    """Raise unless every part can be made for this layout on this machine.

    Called before the first episode: thousands of them later would be a bad moment to learn it.
    """
    check_settings(layout, settings.decoder)
    check_method(layout, settings.posterior)
    make_oracle(layout, settings.oracle)

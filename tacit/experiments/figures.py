"""The figures as data: which learners play which environments, with what settings and budget (section 5)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, Protocol

from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.posterior import METHODS
from tacit.envs.layered import LayeredEnv
from tacit.envs.random_mdp import random_mdp, suite_settings
from tacit.envs.synthetic import VARIANTS, synthetic
from tacit.experiments.booking_figure import BOOKING
from tacit.experiments.learners import LEARNERS
from tacit.learning.settings import Settings
from tacit.problem.mdp import ContextualMDP

LEAST = 20
"""No budget is scaled below this many episodes or tuples: the last tenth still has two."""


class Settled(Protocol):
    """Settings that can be written down."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""


class AnyFigure(Protocol):
    """What running, storing and publishing need to know of a figure: of a `Figure` or a `BookingFigure`.

    `study` says what its tasks do (`studies.py`) and how they are shown (`publish.py`); `arguments` are what its
    command takes beside what all take, `origin` what its results say of where they come from.
    """

    @property
    def name(self) -> str:
        """Return its name, which is that of its directory too."""

    @property
    def title(self) -> str:
        """Return its title."""

    @property
    def about(self) -> str:
        """Return what it shows, in a sentence."""

    @property
    def study(self) -> str:
        """Return the name of its study."""

    @property
    def settings(self) -> Settled:
        """Return the settings that its learners share."""

    @property
    def environments(self) -> Mapping[str, Callable[[], Any]]:
        """Return what makes the environment of each variant."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return everyone who plays."""

    @property
    def seeds(self) -> int:
        """Return how many seeds it has unless others are asked for."""

    @property
    def arguments(self) -> str:
        """Return the options of its own, as on a command line."""

    @property
    def origin(self) -> dict[str, Any]:
        """Return facts of its own for `summary.json` and `manifest.json`."""

    def digest_of(self, variant: str) -> str:
        """Return a digest of an environment."""

    def facts_of(self, variant: str, name: str) -> dict[str, Any]:
        """Return what determines a task's result beside its environment and its seed."""

    def scaled(self, fraction: float) -> AnyFigure:
        """Return the same figure on a fraction of its budget."""


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
class Figure:
    """One figure: `learners` (and `arms`) x `environments` x seeds, each a task of its own.

    `study` says what a task does and how it is shown: "learning" plays whole runs of the learners,
    "decoding" fits posteriors (`learners` names their methods) to each of `tuple_counts` tuples, "regret" and
    "exploration" play runs of `episodes` in all. `constants` are the decoder's where an environment has its own.
    """

    name: str
    title: str
    about: str
    environments: Mapping[str, Callable[[], LayeredEnv]]
    learners: tuple[str, ...]
    settings: Settings
    study: Literal["learning", "decoding", "regret", "exploration"] = "learning"
    episodes: int = 40_000
    tuple_counts: tuple[int, ...] = ()
    arms: tuple[Arm, ...] = ()
    constants: Mapping[str, DecoderSettings] = field(default_factory=dict)
    seeds: int = 20

    @property
    def arguments(self) -> str:
        """Return the options of its own: none."""
        return ""

    @property
    def origin(self) -> dict[str, Any]:
        """Return facts of its own: none."""
        return {}

    @property
    def counts_exploration(self) -> bool:
        """Return whether exploration is part of the `episodes`; otherwise they come after it."""
        return self.study in ("regret", "exploration")

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

    def digest_of(self, variant: str) -> str:
        """Return a digest of the true model of an environment."""
        return mdp_digest(self.environments[variant]().mdp)

    def facts_of(self, variant: str, name: str) -> dict[str, Any]:
        """Return what determines a task's result beside its environment and its seed."""
        return {
            "study": self.study,
            "settings": self.settings_of(variant, name).to_json(),
            "episodes": self.episodes,
            "tuple_counts": self.tuple_counts,
        }

    def scaled(self, fraction: float) -> Figure:
        """Return the same figure on a `fraction` of its budget: T, N, N_0 and the tuple counts.

        >>> TABULAR["synthetic"].scaled(0.01).episodes
        400
        """
        settings = self.settings
        homing = replace(settings.homing, episodes=scale(settings.homing.episodes, fraction))
        collection = replace(settings.collection, tuples=scale(settings.collection.tuples, fraction))
        return replace(
            self,
            settings=replace(settings, homing=homing, collection=collection),
            episodes=scale(self.episodes, fraction),
            tuple_counts=tuple(dict.fromkeys(scale(n, fraction) for n in self.tuple_counts)),
            arms=tuple(dict.fromkeys(replace(arm, budget=scale(arm.budget, fraction)) for arm in self.arms)),
        )


def scale(budget: int, fraction: float) -> int:
    """Return a `fraction` of `budget`, at least `LEAST`.

    >>> scale(40_000, 0.01), scale(5000, 0.001)
    (400, 20)
    """
    return max(round(budget * fraction), min(LEAST, budget))


def mdp_digest(mdp: ContextualMDP) -> str:
    """Return a digest of a true model: its layout and every number in it."""
    digest = hashlib.sha256(json.dumps(mdp.layout.to_json(), sort_keys=True).encode())
    for array in (mdp.context_probabilities, mdp.transitions, mdp.rewards, mdp.feedback_probabilities):
        digest.update(str(array.shape).encode() + array.tobytes())
    return digest.hexdigest()


def find_figure(name: str) -> AnyFigure:
    """Return the figure of that name, or raise an error that lists them."""
    if name not in FIGURES:
        raise ValueError(f"there is no figure {name!r}; there are: {', '.join(FIGURES)}")
    return FIGURES[name]


PAPER = Settings(DecoderSettings(theta=0.9, M=1.3, c=0.0), recipe="paper")
"""The settings of section 5.1 and appendix C.1; all but the decoder's constants are Tacit's defaults."""

ENVIRONMENTS: dict[str, Callable[[], LayeredEnv]] = {name: partial(synthetic, name) for name in VARIANTS}

RANDOM = {f"random_{seed}": (seed, suite_settings(seed)) for seed in (1000, 1001, 1002)}
"""Random MDPs of the suite that settings were chosen on; its seeds 0 to 49 are for the final test alone."""

ENVIRONMENT_WORDS: Mapping[str, str] = {
    "synthetic": "The paper's setting: 70 % of the people say what they mean, 30 % the opposite.",
    "balanced": "Half of the people say what they mean, half the opposite.",
    "personal": "Half and half, and the best last action differs between the two kinds of people.",
    "flipped": "30 % of the people say what they mean, 70 % the opposite.",
    **{
        name: f"Random: {shape.layers} layers of up to {shape.states} states, {shape.actions} actions, "
        f"{shape.contexts} contexts, {shape.feedback_values} kinds of feedback."
        for name, (_, shape) in RANDOM.items()
    },
}

LEARNER_WORDS: Mapping[str, str] = {
    "tacit": "Tacit with the paper's settings: explores, learns what feedback means, then learns what to do.",
    "tacit_fast": "Tacit with its own defaults: explores and learns in one, and is told no constants.",
    "oracle_reward": "Is told the true reward, which no real learner is. The ceiling.",
    "feedback_as_reward": "Believes the feedback: takes y for the reward, person by person.",
    "feedback_as_reward_blind": "Believes the feedback too, and takes everybody for the same person.",
    "last_step_igl": "Learns what feedback means as Tacit does, but improves its last action only.",
    "uniform": "Plays at random. The floor.",
}
"""Who is who, for a reader who has not seen the paper."""

TABULAR: Mapping[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure(
            name="decoder",
            title="The reward decoder, and what estimating its input costs",
            about="How the posterior over actions becomes a reward, and how well that goes from few tuples.",
            environments={"synthetic": ENVIRONMENTS["synthetic"]},
            learners=METHODS,
            settings=PAPER,
            study="decoding",
            tuple_counts=(500, 1000, 2000, 5000, 10_000, 20_000),
        ),
        Figure(
            name="synthetic",
            title="Learning without rewards on the paper's synthetic MDP",
            about="Average reward over 40,000 episodes of policy learning, Tacit beside its baselines.",
            environments={"synthetic": ENVIRONMENTS["synthetic"]},
            learners=tuple(LEARNERS),
            settings=PAPER,
        ),
        Figure(
            name="variants",
            title="Where believing the feedback fails",
            about="The paper's setting and three others that tell the learners apart.",
            environments=ENVIRONMENTS,
            learners=tuple(LEARNERS),
            settings=PAPER,
        ),
        Figure(
            name="regret",
            title="How regret grows",
            about="Exact cumulative regret over a million episodes, exploration included, and its rate.",
            environments={name: ENVIRONMENTS[name] for name in ("synthetic", "personal")},
            learners=tuple(LEARNERS),
            settings=PAPER,
            study="regret",
            episodes=1_000_000,
            seeds=5,  # 70 runs of about 40 s
        ),
        Figure(
            name="exploration",
            title="What exploration costs",
            about="Reward over all of 40,000 episodes, exploration included, against how many were spent on it.",
            environments=ENVIRONMENTS
            | {name: partial(random_mdp, seed, shape) for name, (seed, shape) in RANDOM.items()},
            learners=("tacit_fast",),
            settings=PAPER,
            study="exploration",
            arms=tuple(Arm(n, bonus) for bonus in (1.0, 0.1) for n in (250, 500, 1000, 2000, 5000)),
            constants={name: DecoderSettings(shape.theta, shape.M) for name, (_, shape) in RANDOM.items()},
            seeds=10,
        ),
    )
}
"""The figures of section 5.1 and ours, on layered environments."""

FIGURES: Mapping[str, AnyFigure] = {**TABULAR, BOOKING.name: BOOKING}
"""All figures, by name."""

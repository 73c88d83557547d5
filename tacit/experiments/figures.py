"""The figures as data: which learners play which environments, with what settings and budget (section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from tacit.baselines import LEARNERS
from tacit.decoder import DecoderSettings
from tacit.envs.layered import LayeredEnv
from tacit.envs.synthetic import VARIANTS, synthetic
from tacit.posterior import METHODS
from tacit.settings import Settings

LEAST = 20
"""No budget is scaled below this many episodes or tuples: the last tenth still has two."""


@dataclass(frozen=True)
class Figure:
    """One figure: `learners` x `environments` x seeds, each a task of its own.

    `study` says what a task does and how it is shown: "learning" plays whole runs of the learners,
    "decoding" fits posteriors (`learners` names their methods) to each of `tuple_counts` tuples.
    """

    name: str
    title: str
    about: str
    environments: Mapping[str, Callable[[], LayeredEnv]]
    learners: tuple[str, ...]
    settings: Settings
    study: Literal["learning", "decoding"] = "learning"
    learning_episodes: int = 40_000
    tuple_counts: tuple[int, ...] = ()
    seeds: int = 20

    def scaled(self, fraction: float) -> Figure:
        """Return the same figure on a `fraction` of its budget: T, N, N_0 and the tuple counts.

        >>> FIGURES["synthetic"].scaled(0.01).learning_episodes
        400
        """
        settings = self.settings
        homing = replace(settings.homing, episodes=scale(settings.homing.episodes, fraction))
        collection = replace(settings.collection, tuples=scale(settings.collection.tuples, fraction))
        return replace(
            self,
            settings=replace(settings, homing=homing, collection=collection),
            learning_episodes=scale(self.learning_episodes, fraction),
            tuple_counts=tuple(dict.fromkeys(scale(n, fraction) for n in self.tuple_counts)),
        )


def scale(budget: int, fraction: float) -> int:
    """Return a `fraction` of `budget`, at least `LEAST`.

    >>> scale(40_000, 0.01), scale(5000, 0.001)
    (400, 20)
    """
    return max(round(budget * fraction), min(LEAST, budget))


def find_figure(name: str) -> Figure:
    """Return the figure of that name, or raise an error that lists them."""
    if name not in FIGURES:
        raise ValueError(f"there is no figure {name!r}; there are: {', '.join(FIGURES)}")
    return FIGURES[name]


PAPER = Settings(DecoderSettings(theta=0.9, M=1.3, c=0.0), recipe="paper")
"""The settings of section 5.1 and appendix C.1; all but the decoder's constants are Tacit's defaults."""

ENVIRONMENTS: Mapping[str, Callable[[], LayeredEnv]] = {name: partial(synthetic, name) for name in VARIANTS}

ENVIRONMENT_WORDS: Mapping[str, str] = {
    "synthetic": "The paper's setting: 70 % of the people say what they mean, 30 % the opposite.",
    "balanced": "Half of the people say what they mean, half the opposite.",
    "personal": "Half and half, and the best last action differs between the two kinds of people.",
    "flipped": "30 % of the people say what they mean, 70 % the opposite.",
}

LEARNER_WORDS: Mapping[str, str] = {
    "tacit": "Tacit with the paper's settings: explores, learns what feedback means, then learns what to do.",
    "tacit_fast": "Tacit with its own defaults: the same steps with less exploration.",
    "oracle_reward": "Is told the true reward, which no real learner is. The ceiling.",
    "feedback_as_reward": "Believes the feedback: takes y for the reward, person by person.",
    "feedback_as_reward_blind": "Believes the feedback too, and takes everybody for the same person.",
    "last_step_igl": "Learns what feedback means as Tacit does, but improves its last action only.",
    "uniform": "Plays at random. The floor.",
}
"""Who is who, for a reader who has not seen the paper."""

FIGURES: Mapping[str, Figure] = {
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
    )
}

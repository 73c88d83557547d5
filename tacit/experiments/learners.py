"""The learners of every table by name: Tacit, and what it is measured against; all through the same agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tacit.agent import Agent
from tacit.baselines.feedback_as_reward import FeedbackAsReward, with_reward_as_feedback
from tacit.baselines.last_step_igl import LastStepExploration
from tacit.baselines.uniform import Uniform
from tacit.envs.gym_adapter import GymSource
from tacit.envs.layered import LayeredEnv
from tacit.learning.settings import Settings
from tacit.learning.stage import Setup
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite


@dataclass(frozen=True)
class Learner:
    """A way of making an agent from (layout, settings, seed), and what it is told that others must find out.

    `told` is what it gets from an environment's `evaluation` in place of the feedback: the ceiling the true reward,
    those who believe feedback its number, which is the same where feedback is finite and spares them reading vectors.
    """

    make: Callable[[Layout, Settings, int], Agent]
    told: str | None = None

    def source(self, env: LayeredEnv) -> GymSource:
        """Return the environment as this learner meets it."""
        if self.told is None:
            return GymSource(env)
        return GymSource(env, feedback_of=lambda observation, info: info["evaluation"][self.told])


LEARNERS: Mapping[str, Learner] = {
    "tacit": Learner(lambda layout, settings, seed: Agent(layout, replace(settings, recipe="paper"), seed)),
    "tacit_fast": Learner(
        lambda layout, settings, seed: Agent(layout, replace(settings, recipe="fast"), seed)
    ),
    "oracle_reward": Learner(
        lambda layout, settings, seed: _believer(with_reward_as_feedback(layout), settings, seed),
        told="reward",
    ),
    "feedback_as_reward": Learner(
        lambda layout, settings, seed: _believer(with_numbered_feedback(layout), settings, seed),
        told="feedback",
    ),
    "feedback_as_reward_blind": Learner(
        lambda layout, settings, seed: _believer(with_numbered_feedback(layout), settings, seed, blind=True),
        told="feedback",
    ),
    "last_step_igl": Learner(
        lambda layout, settings, seed: Agent(
            layout, settings, seed, LastStepExploration(Setup(layout, settings))
        )
    ),
    "uniform": Learner(
        lambda layout, settings, seed: Agent(layout, settings, seed, Uniform(Setup(layout, settings)))
    ),
}
"""The learners of every table, in its order: Tacit by the paper's recipe and by its own, the ceiling, three that
take a short cut, the floor."""


def with_numbered_feedback(layout: Layout) -> Layout:
    """Return the layout of an agent that is told, where feedback is vectors, which of two values they show."""
    return layout if isinstance(layout.feedback, Finite) else replace(layout, feedback=Finite((0, 1)))


def _believer(layout: Layout, settings: Settings, seed: int, blind: bool = False) -> Agent:
    return Agent(layout, settings, seed, FeedbackAsReward(Setup(layout, settings), blind))

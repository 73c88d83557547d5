"""The stages of both recipes and of the baselines, by name."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.baselines.feedback_as_reward import FeedbackAsReward
from tacit.baselines.last_step_igl import LastStepExploration, LastStepIGL
from tacit.baselines.uniform import Uniform
from tacit.learning.collection import Collection
from tacit.learning.fast import FastLearning
from tacit.learning.generalising import GeneralisingLearning
from tacit.learning.homing import Homing
from tacit.learning.policy_learning import PolicyLearning
from tacit.learning.stage import LayeredStage

STAGES: Mapping[str, type[LayeredStage]] = {
    stage.name: stage
    for stage in (
        *(Homing, Collection, PolicyLearning, FastLearning, GeneralisingLearning),
        *(Uniform, FeedbackAsReward, LastStepExploration, LastStepIGL),
    )
}
"""What `Agent.load` knows; it takes others to load agents made of others."""

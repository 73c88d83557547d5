"""The reward model of conversations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.agent import Agent
from tacit.logs.problems import Problems
from tacit.logs.reading import Logs, LogSource, Progress
from tacit.offline.evaluation import LOGGED, Evaluation, PolicyChoice
from tacit.offline.model import RewardModel, warn_untrusted
from tacit.offline.text.diagnose import TextDiagnosis, diagnose_text
from tacit.offline.text.evaluate import evaluate_text
from tacit.offline.text.meanings import TextMeanings
from tacit.offline.text.train import train_text
from tacit.trust.certificate import Certificate


@dataclass(frozen=True, eq=False)
class TextRewardModel(RewardModel):
    """What sentences mean, with its certificate."""

    meanings: TextMeanings
    certificate: Certificate
    kind: ClassVar[str] = "text"

    def diagnose(
        self,
        logs: Logs,
        assume_uniform: bool = False,
        problems: Problems | None = None,
        progress: Progress | None = None,
    ) -> TextDiagnosis:
        """Return whether logs can be decoded by this model; rewards in them check which way round."""
        source = LogSource(logs)
        return diagnose_text(self.meanings, self.certificate, source, assume_uniform, problems, progress)

    def evaluate(
        self,
        logs: Logs,
        policy: PolicyChoice = LOGGED,
        problems: Problems | None = None,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Return what a policy, "logged" or "uniform", would have earned in the logged conversations' place."""
        return evaluate_text(self.meanings, LogSource(logs), policy, problems, progress)

    def train(
        self, logs: Logs, seed: int = 0, problems: Problems | None = None, progress: Progress | None = None
    ) -> Agent:
        """Return an agent in policy learning, with the policy that the model was fitted with; it goes on online."""
        warn_untrusted(self.certificate)
        return train_text(self.meanings, self.certificate, LogSource(logs), seed, problems, progress)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> TextRewardModel:
        """Return the model that `save` wrote."""
        return cls(TextMeanings.from_tree(tree), Certificate.from_json(tree["certificate"]))

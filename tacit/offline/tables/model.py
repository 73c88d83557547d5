"""The reward model of labels and vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.agent import Agent
from tacit.logs.problems import Problems
from tacit.logs.reading import Logs, LogSource, Progress
from tacit.offline.evaluation import LOGGED, Evaluation, PolicyChoice
from tacit.offline.model import RewardModel, warn_untrusted
from tacit.offline.tables.diagnose import TableDiagnosis, diagnose_table
from tacit.offline.tables.evaluate import evaluate_table
from tacit.offline.tables.meanings import TableMeanings
from tacit.offline.tables.train import train_table
from tacit.trust.certificate import Certificate


@dataclass(frozen=True, eq=False)
class TableModel(RewardModel):
    """A table of meanings with its certificate.

    >>> from tacit.envs.drawn_logs import draw_logs
    >>> from tacit.envs.synthetic import synthetic_mdp
    >>> from tacit.offline.fit import fit
    >>> logs = list(draw_logs(synthetic_mdp(), 4000, seed=0))
    >>> model = fit(logs)
    >>> sorted({row["reason"] for row in model.label(logs)})
    ['decoded', 'homogeneous', 'lower_bound']
    >>> found = model.evaluate(logs, "uniform")
    >>> estimate = found.estimates["self_normalised"]
    >>> estimate.low < 0.0176 < estimate.high, found.verdict, model.diagnose(logs).verdict
    (True, 'works', 'works')
    >>> model.train(logs).begin(context=0).plan.policy[0, 0].argmax()
    np.int64(0)
    """

    meanings: TableMeanings
    certificate: Certificate
    kind: ClassVar[str] = "table"

    def diagnose(
        self,
        logs: Logs,
        assume_uniform: bool = False,
        problems: Problems | None = None,
        progress: Progress | None = None,
    ) -> TableDiagnosis:
        """Return whether logs can be decoded by this model; rewards in them check which way round."""
        return diagnose_table(self.meanings, self.certificate, LogSource(logs), problems, progress)

    def evaluate(
        self,
        logs: Logs,
        policy: PolicyChoice = LOGGED,
        problems: Problems | None = None,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Return what a policy would have earned in the logged episodes' place."""
        return evaluate_table(self.meanings, LogSource(logs), policy, problems, progress)

    def train(
        self, logs: Logs, seed: int = 0, problems: Problems | None = None, progress: Progress | None = None
    ) -> Agent:
        """Return an agent that has learned from the logs what the model's rewards recommend; it goes on online."""
        warn_untrusted(self.certificate)
        return train_table(self.meanings, self.certificate, LogSource(logs), seed, problems, progress)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> TableModel:
        """Return the model that `save` wrote."""
        return cls(TableMeanings.from_tree(tree), Certificate.from_json(tree["certificate"]))

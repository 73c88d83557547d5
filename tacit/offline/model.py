"""The reward model: what `tacit.fit` returns, whatever the logs hold.

A model is a thin front of its meanings, which decode, and of its certificate, which says what they rest on. Labelling
and saving are the same for all kinds; how logs are diagnosed, policies evaluated and agents trained, its kind says.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, overload

from tacit.agent import Agent
from tacit.base.checkpoint import save_tree
from tacit.logs.labels import LabelledRow
from tacit.logs.problems import Problems
from tacit.logs.reading import Logs, LogSource, Progress
from tacit.offline.diagnosis import LogDiagnosis
from tacit.offline.evaluation import LOGGED, Evaluation, PolicyChoice
from tacit.offline.label import LabelSummary, Meanings, label_episodes, write_labels
from tacit.trust.certificate import Certificate
from tacit.trust.findings import raised

SAVED_AS = "reward model"


@dataclass(frozen=True)
class ModelKind:
    """What differs between models: each function takes the meanings first, `restore` the tree that is saved."""

    name: str
    diagnose: Callable[[Any, Certificate, LogSource, Problems | None, Progress | None], LogDiagnosis[Any]]
    evaluate: Callable[[Any, LogSource, PolicyChoice, Problems | None, Progress | None], Evaluation]
    train: Callable[[Any, Certificate, LogSource, int, Problems | None, Progress | None], Agent]
    restore: Callable[[Mapping[str, Any]], Meanings[Any]]


@dataclass(frozen=True, eq=False)
class RewardModel:
    """What feedback means in some logs. It labels, diagnoses and evaluates logs, and trains agents on them.

    `meanings` decode, the `certificate` says what they rest on. `problems` takes up the episodes that do not fit;
    without it they are told of in a warning, and labelling to a file stops at the first. `progress` is called now and
    then with how many episodes were read since the last call.

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

    kind: ModelKind
    meanings: Meanings[Any]
    certificate: Certificate

    def diagnose(
        self, logs: Logs, problems: Problems | None = None, progress: Progress | None = None
    ) -> LogDiagnosis[Any]:
        """Return whether logs can be decoded by this model; rewards in them check which way round."""
        return self.kind.diagnose(self.meanings, self.certificate, LogSource(logs), problems, progress)

    def evaluate(
        self,
        logs: Logs,
        policy: PolicyChoice = LOGGED,
        problems: Problems | None = None,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Return what a policy would have earned in the logged episodes' place; of conversations logged or uniform."""
        return self.kind.evaluate(self.meanings, LogSource(logs), policy, problems, progress)

    def train(
        self, logs: Logs, seed: int = 0, problems: Problems | None = None, progress: Progress | None = None
    ) -> Agent:
        """Return an agent that has learned from the logs what the model's rewards recommend; it goes on online."""
        warn_untrusted(self.certificate)
        return self.kind.train(self.meanings, self.certificate, LogSource(logs), seed, problems, progress)

    @overload
    def label(
        self, logs: Logs, out: None = None, problems: Problems | None = None, progress: Progress | None = None
    ) -> Iterator[LabelledRow]: ...

    @overload
    def label(
        self,
        logs: Logs,
        out: str | os.PathLike[str],
        problems: Problems | None = None,
        progress: Progress | None = None,
        processes: int | None = None,
        engine: str = "local",
    ) -> LabelSummary: ...

    def label(
        self,
        logs: Logs,
        out: str | os.PathLike[str] | None = None,
        problems: Problems | None = None,
        progress: Progress | None = None,
        processes: int | None = None,
        engine: str = "local",
    ) -> Iterator[LabelledRow] | LabelSummary:
        """Return an iterator of rows, one an episode; or write them to `out` and return how many there were.

        The file is JSON lines or Parquet by its ending, and there when it is whole. It is written by several processes
        if the logs are large, or by as many as `processes` says; the engine "ray" deals Parquet out over a cluster.
        """
        source = LogSource(logs)
        if out is None:
            return label_episodes(self.meanings, source, problems, progress)
        return write_labels(self.meanings, source, out, problems, progress, processes, engine)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, bit for bit; see `tacit.load_model`."""
        tree = {"model": self.kind.name, **self.meanings.to_tree(), "certificate": self.certificate.to_json()}
        save_tree(path, SAVED_AS, tree)


def warn_untrusted(certificate: Certificate) -> None:
    """Warn where a policy would be learned from something else than rewards."""
    for finding in raised(certificate.findings):
        if finding.severity == "error":
            warnings.warn(f"the model cannot be trusted, and the policy no more: {finding}", stacklevel=3)

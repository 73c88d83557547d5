"""Can these logs be decoded? What a reward model fitted to them shows of every place, for the page that says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.decoding.judgement import HETEROGENEOUS
from tacit.decoding.posterior import ideal_posterior
from tacit.logs.episodes import Problems
from tacit.offline.fit import fit
from tacit.offline.reward_model import Logs, Progress, TableModel
from tacit.offline.tables.gathering import NothingToLearnError
from tacit.problem.layout import Layout
from tacit.trust.certificate import Place
from tacit.trust.diagnostics import RESIDUAL_ALPHA, split_by_phi, tuples_wanted
from tacit.trust.findings import Finding, verdict
from tacit.trust.permutation import residual_p_value

if TYPE_CHECKING:
    from tacit.offline.text.diagnose import TextDiagnosis

MEANINGS = 12
"""Places whose posterior is shown; those with the most tuples."""


@dataclass(frozen=True)
class Meaning:
    """What each feedback means in one place: its share after each action, posterior h and decoded J, all (V, K)."""

    state: str
    context: str
    actions: tuple[str, ...]
    values: tuple[str, ...]
    tuples: FloatArray  # (V, K)
    posterior: FloatArray
    decoded: FloatArray
    phi: FloatArray  # (V,)


@dataclass(frozen=True)
class Wanted:
    """A place that cannot be judged yet: the tuples it still needs and, at its present share, the episodes."""

    state: str
    context: str
    tuples: int
    more: int
    episodes: int


@dataclass(frozen=True)
class Independence:
    """The test of Assumption 2.1: feedback against the action among tuples of the same decoded reward."""

    p_value: float | None
    """None where feedback has one value for each reward, and nothing can be tested."""

    @property
    def words(self) -> str:
        """Return what came of it."""
        if self.p_value is None:
            return "cannot be tested: there is one feedback value for each decoded reward"
        return "fails" if self.p_value < RESIDUAL_ALPHA else "nothing speaks against it"


@dataclass(frozen=True)
class Diagnosis:
    """Whether logs can be decoded, why, and what each place shows; without a model where nothing could be fitted."""

    findings: tuple[Finding, ...]
    model: TableModel | None
    meanings: tuple[Meaning, ...] = ()
    wanted: tuple[Wanted, ...] = ()
    independence: Independence = Independence(None)

    @property
    def verdict(self) -> str:
        """Return "works", "works with caution" or "cannot work"."""
        return verdict(self.findings)

    @property
    def places(self) -> tuple[Place, ...]:
        """Return what the tuples of each place say."""
        return self.model.certificate.places if self.model is not None else ()


def diagnose_logs(
    logs: Logs,
    c: float = 0.0,
    layout: Layout | None = None,
    assume_uniform: bool = False,
    problems: Problems | None = None,
    progress: Progress | None = None,
    engine: str = "local",
) -> Diagnosis | TextDiagnosis:
    """Return whether the logs can be decoded; rewards in them check which way round.

    >>> from tacit.envs.drawn_logs import draw_logs
    >>> from tacit.envs.synthetic import synthetic_mdp
    >>> diagnose_logs(list(draw_logs(synthetic_mdp(), 4000, seed=0))).verdict
    'works'
    """
    try:
        model = fit(logs, c, layout, assume_uniform, "check", problems, progress, engine=engine)
    except NothingToLearnError as error:
        return Diagnosis(
            (Finding("nothing-to-learn", "error", "", f"{error}.", "See the log format."),), None
        )
    if isinstance(model, TableModel):
        return examine(model)
    from tacit.offline.text.diagnose import diagnose_text  # here, because what reads text is optional
    from tacit.offline.text.reward_model import TextRewardModel

    assert isinstance(model, TextRewardModel)
    return diagnose_text(logs, model, assume_uniform)


def examine(model: TableModel) -> Diagnosis:
    """Return the diagnosis of a fitted model."""
    return Diagnosis(
        model.certificate.findings,
        model,
        list_meanings(model),
        list_wanted(model),
        weigh_independence(model),
    )


def list_meanings(model: TableModel, most: int = MEANINGS) -> tuple[Meaning, ...]:
    """Return what feedback means in the heterogeneous places with the most tuples, in the order of states."""
    layout = model.reading.counted
    found = {at: j for at, j in model.judgements.items() if j.kind == HETEROGENEOUS}
    largest = sorted(found, key=lambda at: -found[at].tuples.sum())[:most]
    values = tuple(str(layout.feedback.decode(y)) for y in range(model.counts.shape[2]))
    meanings = []
    for s, x in sorted(largest):
        judgement, K = found[s, x], len(found[s, x].tuples)
        meanings.append(
            Meaning(
                layout.name(layout.horizon - 1, s),
                str(layout.contexts.decode(x)),
                tuple(str(action) for action in layout.actions[-1][s]),
                values,
                model.counts[s, x, :, :K],
                ideal_posterior(judgement.f, judgement.phi),
                judgement.rewards,
                judgement.phi,
            )
        )
    return tuple(meanings)


def list_wanted(model: TableModel) -> tuple[Wanted, ...]:
    """Return the places that need more tuples, the most visited first."""
    layout, total = model.reading.counted, float(model.counts.sum())
    found = []
    for (s, x), judgement in model.judgements.items():
        more, tuples = tuples_wanted(judgement, model.settings.judgement), float(judgement.tuples.sum())
        if more > 0:
            place = layout.name(layout.horizon - 1, s), str(layout.contexts.decode(x))
            found.append(Wanted(*place, round(tuples), round(more), round(more * total / max(tuples, 1))))
    return tuple(sorted(found, key=lambda each: -each.tuples))


def weigh_independence(model: TableModel) -> Independence:
    """Return the test of Assumption 2.1 over all heterogeneous places."""
    found = [(at, j.phi) for at, j in model.judgements.items() if j.kind == HETEROGENEOUS]
    if not found:
        return Independence(None)
    tables, others = split_by_phi(np.rint(model.counts), found)
    return Independence(residual_p_value(tables, others) if len(tables) else None)

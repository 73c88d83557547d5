"""What a model of labels and vectors shows of every place, for the page that says whether logs can be decoded."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.base.arrays import FloatArray
from tacit.decoding.judgement import HETEROGENEOUS, tuples_wanted
from tacit.decoding.posterior import ideal_posterior
from tacit.offline.tables.meanings import TableMeanings
from tacit.problem.silence import feedback_word
from tacit.trust.certificate import Certificate, Place
from tacit.trust.diagnostics import FIT_ALPHA, weigh_two_profiles
from tacit.trust.findings import Finding, verdict

MEANINGS = 12
"""Places whose posterior is shown; those with the most tuples."""


@dataclass(frozen=True)
class PlaceMeaning:
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
    """The test of Assumption 2.1: whether two ways of speaking explain what is said after every action."""

    p_value: float | None
    """None where two values or two actions leave nothing to be tested."""

    @property
    def words(self) -> str:
        """Return what came of it."""
        if self.p_value is None:
            return "cannot be tested: it takes three feedback values and three actions"
        return "fails" if self.p_value < FIT_ALPHA else "nothing speaks against it"


@dataclass(frozen=True)
class TableExamination:
    """What was found, why, and what each place shows; without a certificate where nothing could be fitted."""

    findings: tuple[Finding, ...]
    certificate: Certificate | None = None
    meanings: tuple[PlaceMeaning, ...] = ()
    wanted: tuple[Wanted, ...] = ()
    independence: Independence = Independence(None)

    @property
    def verdict(self) -> str:
        """Return "works", "works with caution", "not known yet" or "cannot work"."""
        return verdict(self.findings)

    @property
    def places(self) -> tuple[Place, ...]:
        """Return what the tuples of each place say."""
        return self.certificate.places if self.certificate is not None else ()


def examine_table(
    meanings: TableMeanings, certificate: Certificate, findings: tuple[Finding, ...]
) -> TableExamination:
    """Return what a fitted model shows."""
    return TableExamination(
        findings,
        certificate,
        list_place_meanings(meanings),
        list_wanted(meanings),
        weigh_independence(meanings),
    )


def list_place_meanings(meanings: TableMeanings, most: int = MEANINGS) -> tuple[PlaceMeaning, ...]:
    """Return what feedback means in the heterogeneous places with the most tuples, in the order of states."""
    layout = meanings.reading.counted
    found = {at: j for at, j in meanings.judgements.items() if j.kind == HETEROGENEOUS}
    largest = sorted(found, key=lambda at: -found[at].tuples.sum())[:most]
    values = tuple(feedback_word(layout, y) for y in range(meanings.counts.spoken))
    V, shown = len(values), []
    for s, x in sorted(largest):
        judgement, K = found[s, x], len(found[s, x].tuples)
        shown.append(
            PlaceMeaning(
                layout.endings.name(s),
                str(layout.contexts.decode(x)),
                tuple(str(action) for action in layout.endings.actions[s]),
                values,
                meanings.counts.table(s, x)[:V, :K],
                ideal_posterior(judgement.f, judgement.phi[:V]),
                judgement.rewards[:V],
                judgement.phi[:V],
            )
        )
    return tuple(shown)


def list_wanted(meanings: TableMeanings) -> tuple[Wanted, ...]:
    """Return the places that need more tuples, the most visited first."""
    layout, total = meanings.reading.counted, meanings.counts.total
    found = []
    for (s, x), judgement in meanings.judgements.items():
        tuples = float(judgement.tuples.sum())
        more = tuples_wanted(judgement, meanings.settings.judgement)
        if more > 0:
            place = layout.endings.name(s), str(layout.contexts.decode(x))
            found.append(Wanted(*place, round(tuples), round(more), round(more * total / max(tuples, 1))))
    return tuple(sorted(found, key=lambda each: -each.tuples))


def weigh_independence(meanings: TableMeanings) -> Independence:
    """Return the test of Assumption 2.1 over all heterogeneous places."""
    test = weigh_two_profiles(meanings.counts.rounded(), meanings.judgements)
    return Independence(None if test is None else test.p_value)

"""The certificate of a reward model: what it rests on, how well it predicts, and how sure each place is.

A place is a last state in a context group. Its distance from uniform is the mean over feedback of

    sum_y Pr[y] max_a | h_a(y) - 1/K |,    h_a(y) = Pr[y | a] / sum_b Pr[y | b],

beside what chance alone gives: the largest of `DRAWS` tables in which all actions are spoken of alike. Its p-value is
the judgement's (`tacit.decoding.word_types`).
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.saved import LARGEST, Saved
from tacit.decoding.constants import estimate_constants
from tacit.decoding.counts import SeenCounts, without_unmet_silence
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    UNKNOWN,
    Judgements,
    JudgementSettings,
    judge,
)
from tacit.decoding.posterior import ideal_posterior
from tacit.problem.layout import Layout
from tacit.trust.findings import Finding, verdict

DRAWS = 19
"""Tables drawn for each place: one more passes all of them once in twenty times."""
SEED = 3
"""Of these draws, so that a certificate is a function of the counts."""
MOST_PLACES = 5_000
"""Places that a certificate lists, and so the rows of its page."""


@dataclass(frozen=True)
class Place:
    """What the tuples of one last state and context group say, in words and numbers."""

    state: str
    context: str
    actions: int
    tuples: int
    effective: float
    distance: float
    chance: float
    """The distance that one place in twenty would pass if feedback told nothing."""
    p_value: float
    kind: str
    settled: bool


@dataclass(frozen=True)
class Certificate:
    """What a model was fitted on, how it fared on tuples held back, and what was found.

    `losses` are those of eq. 5 on the tuples held back: of the posterior and of uniform guessing.
    """

    files: tuple[dict[str, Any], ...]
    episodes: int
    tuples: int
    effective: float
    left_out: dict[str, int]
    problems: dict[str, int]
    losses: tuple[float, float]
    constants: dict[str, tuple[float, float, float]] | None
    places: tuple[Place, ...]
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> str:
        """Return "works", "works with caution", "not known yet" or "cannot work"."""
        return verdict(self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return plain values that `Certificate.from_json` reads."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Certificate:
        """Return the certificate that `to_json` described."""
        saved = Saved.of(data)
        constants = saved.part("constants") if saved.has("constants") else None
        ours, uniform = _read_numbers(saved, "losses", 2)
        return Certificate(
            files=tuple(_read_file(file) for file in saved.parts("files")),
            episodes=saved.whole("episodes"),
            tuples=saved.whole("tuples"),
            effective=saved.number("effective", 0),
            left_out=_read_counts(saved.part("left_out")),
            problems=_read_counts(saved.part("problems")),
            losses=(ours, uniform),
            constants=None if constants is None else _read_constants(constants),
            places=tuple(_read_place(place) for place in saved.parts("places")),
            findings=tuple(Finding.from_json(finding) for finding in saved.parts("findings")),
        )


def _read_file(saved: Saved) -> dict[str, Any]:
    return {"name": saved.text("name"), "bytes": saved.whole("bytes"), "sha256": saved.text("sha256")}


def _read_counts(saved: Saved) -> dict[str, int]:
    return {name: saved.whole(name) for name in saved}


def _read_constants(saved: Saved) -> dict[str, tuple[float, float, float]]:
    """Return estimate, low and high of each constant."""
    found = {}
    for name in ("theta", "M", "sigma"):
        estimate, low, high = _read_numbers(saved, name, 3, math.inf if name == "sigma" else LARGEST)
        saved.check(0 <= low <= high, name, "an estimate with an interval")
        found[name] = (estimate, low, high)
    return found


def _read_numbers(saved: Saved, name: str, n: int, high: float = LARGEST) -> list[float]:
    entries = saved.entries(name)
    saved.check(len(entries) == n, name, f"{n} numbers")
    return [entries.number(i, high=high) for i in entries]


def _read_place(saved: Saved) -> Place:
    return Place(
        state=saved.text("state"),
        context=saved.text("context"),
        actions=saved.whole("actions", 1),
        tuples=saved.whole("tuples"),
        effective=saved.number("effective", 0),
        distance=saved.number("distance", 0, 1),
        chance=saved.number("chance", 0, 1),
        p_value=saved.number("p_value", 0, 1),
        kind=saved.choice("kind", (UNKNOWN, HETEROGENEOUS, HOMOGENEOUS)),
        settled=saved.flag("settled"),
    )


def describe_places(
    layout: Layout, tuples: SeenCounts, effective: SeenCounts, judgements: Judgements
) -> tuple[Place, ...]:
    """Return the places that have tuples, by the counts of a reading: all, or of too many those with the most."""
    generator = np.random.default_rng(SEED)
    listed = sorted(judgements, key=lambda at: -judgements[at].tuples.sum())[:MOST_PLACES]
    found = []
    for at in sorted(listed):
        judgement = judgements[at]
        table = effective.table(*at)[:, : len(judgement.tuples)]
        found.append(
            Place(
                layout.endings.name(at[0]),
                str(layout.contexts.decode(at[1])),
                len(judgement.tuples),
                int(tuples.table(*at).sum()),
                round(float(table.sum()), 1),
                *distance_and_chance(table, generator),
                judgement.p_value,
                judgement.kind,
                judgement.settled,
            )
        )
    return tuple(found)


def find_unlisted_places(listed: int, judgements: Judgements) -> Iterator[Finding]:
    """Yield a remark if there are more places than a certificate lists."""
    if listed < len(judgements):
        kinds = Counter(judgement.kind for judgement in judgements.values())
        words = ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common())
        yield Finding(
            "places-unlisted",
            "info",
            "",
            f"Of {len(judgements):,} states and contexts ({words}) the {listed:,} with the most tuples are held "
            "against chance and listed.",
            "All of them decode feedback; to have all listed, bin states or contexts.",
        )


def distance_and_chance(counts: FloatArray, generator: np.random.Generator) -> tuple[float, float]:
    """Return the distance from uniform of counts (Y, K), and one that chance alone passes once in twenty times.

    >>> counts = np.array([[27.0, 3.0, 3.0], [3.0, 27.0, 27.0]])
    >>> distance, chance = distance_and_chance(counts, np.random.default_rng(0))
    >>> round(distance, 2), distance > chance
    (0.36, True)
    """
    met = counts[counts.sum(axis=1) > 0]
    if not len(met):
        return 0.0, 0.0
    tuples, said = np.rint(met.sum(axis=0)).astype(np.int64), met.sum(axis=1) / met.sum()
    drawn = generator.multinomial(tuples, said, size=(DRAWS, len(tuples))).swapaxes(1, 2).astype(np.float64)
    return float(mean_distance(met[None])[0]), float(mean_distance(drawn).max())


def mean_distance(tables: FloatArray) -> FloatArray:
    """Return the mean distance from uniform of tables (n, Y, K), (n,); actions without tuples are left out."""
    totals = tables.sum(axis=1, keepdims=True)  # (n, 1, K)
    tried = totals > 0
    chances = tables / np.where(tried, totals, 1.0)  # Pr[y | a]
    K = np.maximum(tried.sum(axis=2, keepdims=True), 1)  # (n, 1, 1)
    rows = chances.sum(axis=2, keepdims=True)
    posterior = np.divide(chances, rows, out=np.zeros_like(chances), where=rows > 0)
    gap = np.where(tried & (rows > 0), np.abs(posterior - 1 / K), 0.0).max(axis=2)  # (n, Y)
    return np.asarray((gap * (rows / K)[:, :, 0]).sum(axis=1))


def validation_losses(
    layout: Layout, fitted: SeenCounts, held: SeenCounts, c: float, settings: JudgementSettings
) -> tuple[float, float]:
    """Return eq. 5 on tuples `held` back, for the posterior of those `fitted` and for the uniform one.

    Both are weights; a place that the fitted ones do not show to be heterogeneous predicts uniformly.
    """
    ours = uniform = 0.0
    for (s, x), whole in held.tables():
        K = int(layout.endings.n_actions[s])
        learned = fitted.table(s, x)[:, :K]
        judgement = judge(learned, c, settings)
        table = without_unmet_silence(whole[:, :K])
        h = np.full(table.shape, 1 / K)
        uniform += table.sum() * (1 - 1 / K)
        if judgement.kind == HETEROGENEOUS:
            seen = learned[: len(table)].sum(axis=1) > 0
            h[seen] = ideal_posterior(judgement.f, judgement.phi[: len(table)][seen])
        n = table.sum(axis=1)
        ours += float((n * (h * h).sum(axis=1) - 2 * (table * h).sum(axis=1) + n).sum())
    total = max(held.total, 1e-12)
    return ours / total, uniform / total


def describe_constants(judgements: Judgements) -> dict[str, tuple[float, float, float]] | None:
    """Return theta, M and sigma over all heterogeneous places, each (estimate, low, high), None if there are none."""
    constants = estimate_constants(judgements.values())
    if constants is None:
        return None
    rows = {"theta": constants.theta, "M": constants.M, "sigma": constants.sigma}
    return {name: (float(row[0]), float(row[1]), float(row[2])) for name, row in rows.items()}


def describe_files(files: Sequence[Any]) -> tuple[dict[str, Any], ...]:
    """Return name, size and SHA-256 of each file."""
    described = []
    for file in files:
        with open(file, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        described.append({"name": file.name, "bytes": file.stat().st_size, "sha256": digest})
    return tuple(described)

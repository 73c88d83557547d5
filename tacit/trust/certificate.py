"""The certificate of a reward model: what it rests on, how well it predicts, and how sure each place is.

A place is a last state in a context group. Its distance from uniform is the mean over feedback of

    sum_y Pr[y] max_a | h_a(y) - 1/K |,    h_a(y) = Pr[y | a] / sum_b Pr[y | b],

and what chance alone would give comes from dealing the feedback anew among its tuples (a permutation test).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.saved import LARGEST, Saved
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    UNKNOWN,
    Judgements,
    JudgementSettings,
    estimate_constants,
    judge,
)
from tacit.decoding.posterior import ideal_posterior
from tacit.problem.layout import Layout
from tacit.trust.findings import Finding, verdict
from tacit.trust.permutation import deal_columns

DRAWS = 199
"""Tables dealt for each place: the least p-value is 1/200."""
CHANCE = 0.95
"""The quantile of the distance under chance that is shown beside it."""


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
        """Return "works", "works with caution" or "cannot work"."""
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
    layout: Layout, tuples: FloatArray, effective: FloatArray, judgements: Judgements
) -> tuple[Place, ...]:
    """Return every place that has tuples; `tuples` and `effective` are counts (S_H, G, V, K) by the reading."""
    found = []
    for (s, x), judgement in sorted(judgements.items()):
        table = effective[s, x, :, : len(judgement.tuples)]
        distance, chance, p_value = distance_and_chance(table)
        found.append(
            Place(
                layout.endings.name(s),
                str(layout.contexts.decode(x)),
                len(judgement.tuples),
                int(tuples[s, x].sum()),
                round(float(table.sum()), 1),
                distance,
                chance,
                p_value,
                judgement.kind,
                judgement.settled,
            )
        )
    return tuple(found)


def distance_and_chance(counts: FloatArray, draws: int = DRAWS) -> tuple[float, float, float]:
    """Return the distance from uniform of counts (Y, K), its quantile under chance, and the permutation's p-value.

    >>> distance, chance, p_value = distance_and_chance(np.array([[27.0, 3.0, 3.0], [3.0, 27.0, 27.0]]))
    >>> round(distance, 2), distance > chance, p_value
    (0.36, True, 0.005)
    """
    whole = np.rint(counts)
    dealt = np.stack(list(deal_columns(whole[None], draws)), axis=-1)[:, 0]  # (draws, Y, K)
    seen, drawn = float(mean_distance(whole[None])[0]), mean_distance(dealt)
    share = (1 + np.count_nonzero(drawn >= seen - 1e-12)) / (1 + draws)
    return seen, float(np.quantile(drawn, CHANCE)), float(share)


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
    layout: Layout, fitted: FloatArray, held: FloatArray, c: float, settings: JudgementSettings
) -> tuple[float, float]:
    """Return eq. 5 on tuples `held` back, for the posterior of those `fitted` and for the uniform one.

    Both are weights (S_H, G, V, K); a place that the fitted ones do not show to be heterogeneous predicts uniformly.
    """
    ours = uniform = 0.0
    for s, x in np.argwhere(held.sum(axis=(2, 3)) > 0):
        K = int(layout.endings.n_actions[s])
        judgement = judge(fitted[s, x, :, :K], c, settings)
        table, h = held[s, x, :, :K], np.full((held.shape[2], K), 1 / K)
        uniform += table.sum() * (1 - 1 / K)
        if judgement.kind == HETEROGENEOUS:
            seen = fitted[s, x].sum(axis=1) > 0
            h[seen] = ideal_posterior(judgement.f, judgement.phi[seen])
        n = table.sum(axis=1)
        ours += float((n * (h * h).sum(axis=1) - 2 * (table * h).sum(axis=1) + n).sum())
    total = max(float(held.sum()), 1e-12)
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

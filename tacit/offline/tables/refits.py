"""The decoder's own error: its tuples drawn anew, judged again, and what feedback would have meant then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.decoding.counts import PlaceIndex
from tacit.decoding.judgement import HETEROGENEOUS, judge
from tacit.offline.tables.meanings import TableMeanings
from tacit.offline.tables.paths import LoggedPaths
from tacit.trust.diagnostics import heterogeneous_places
from tacit.trust.findings import Finding

REFITS, LEAST_REFITS = 50, 10
"""Times that the decoder's tuples are drawn anew; meanings that come out alike are evaluated once."""
MOST_JUDGED = 20_000
"""Places times refits, which bounds the time, some ten seconds: where places are many, refits are fewer, down to
`LEAST_REFITS`, and then places."""
SEED = 29
"""Of those draws, so that an evaluation is a function of logs, model and policy."""


@dataclass(frozen=True, eq=False)
class Refits:
    """What the values of heterogeneous places mean, phi (refits, places, V), to models fitted to tuples drawn anew.

    `own` (places, V) is what they mean to the model itself. `left_out` counts the places that were not drawn anew.
    """

    places: list[PlaceIndex]
    own: FloatArray
    phi: FloatArray
    left_out: int

    @cached_property
    def counts(self) -> FloatArray:
        """Return how often each meaning came out that is not the model's own."""
        keys = [phi.tobytes() for phi in self.phi]
        return np.array([keys.count(key) for key in self._others], dtype=np.float64)

    def of_ends(self, paths: LoggedPaths, rewards: FloatArray) -> Iterator[FloatArray]:
        """Yield the episodes' rewards (n,) under each of those meanings, given what the model's own are."""
        for phi in self._others.values():
            changed = rewards.copy()
            for at, place in enumerate(self.places):
                episodes = paths.by_place.get(place)
                if episodes is not None:
                    changed[episodes] = phi[at, paths.values[episodes]]
            yield changed

    @cached_property
    def _others(self) -> dict[bytes, FloatArray]:
        return {key: phi for phi in self.phi if (key := phi.tobytes()) != self.own.tobytes()}


def refit_meanings(meanings: TableMeanings, refits: int = REFITS) -> Refits:
    """Return what values mean to models fitted to tuples drawn anew from the model's own.

    The feedback after each action is drawn from its frequencies, as many times as there were effective tuples.
    """
    found = heterogeneous_places(meanings.judgements)
    refits = min(refits, max(MOST_JUDGED // max(len(found), 1), LEAST_REFITS))
    places = found
    if len(found) * refits > MOST_JUDGED:
        largest = sorted(found, key=lambda at: -meanings.judgements[at].tuples.sum())
        places = sorted(largest[: MOST_JUDGED // refits])
    generator, V = np.random.default_rng(SEED), meanings.counts.shape[2]
    own = np.array([meanings.meaning(*at) for at in places]).reshape(len(places), V)
    phi = np.repeat(own[None], refits, axis=0)
    for at, place in enumerate(places):
        for b, drawn in enumerate(draw_tables(meanings, place, refits, generator)):
            again = judge(drawn, meanings.c, meanings.settings.judgement)
            if again.kind == HETEROGENEOUS:
                turned = 1 - again.phi if meanings.flipped[place] else again.phi
                phi[b, at] = np.where(drawn.sum(axis=1) > 0, turned, own[at])
            else:
                phi[b, at] = meanings.c
    return Refits(places, own, phi, len(found) - len(places))


def draw_tables(
    meanings: TableMeanings, place: PlaceIndex, draws: int, generator: np.random.Generator
) -> Iterator[FloatArray]:
    """Yield tables (V, K) of a place's tuples drawn anew, each action as often as it was tried."""
    table = meanings.counts.table(*place)[:, : len(meanings.judgements[place].tuples)]
    n, chances = np.rint(table.sum(axis=0)).astype(np.int64), (table / table.sum(axis=0)).T  # (K, V)
    chances = chances / chances.sum(axis=1, keepdims=True)
    first = np.roll(chances, 1, axis=1)  # silence: where nobody was silent, nothing is drawn for it
    for _ in range(draws):
        yield np.roll(generator.multinomial(n, first), -1, axis=1).T.astype(np.float64)


def find_bounded_refits(refits: Refits) -> Iterator[Finding]:
    """Yield a word on places of which fewer models, or none, were fitted anew."""
    if refits.left_out:
        yield Finding(
            "decoder-error-bounded",
            "caution",
            "",
            f"What the decoder may have got wrong is in the intervals for the {len(refits.places):,} states and "
            f"contexts with the most tuples, not for the other {refits.left_out:,}.",
            "Bin states or contexts to have it for all.",
        )
    elif len(refits.phi) < REFITS:
        yield Finding(
            "decoder-error-bounded",
            "info",
            "",
            f"What the decoder may have got wrong was estimated from {len(refits.phi)} models fitted anew, not "
            f"{REFITS}: there are {len(refits.places):,} states and contexts.",
            "Bin states or contexts to have it estimated more exactly.",
        )

"""The decoder's own error: its tuples drawn anew, judged again, and what feedback would have meant then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray
from tacit.decoding.counts import PlaceIndex
from tacit.decoding.judgement import HETEROGENEOUS, Judgement, judge
from tacit.offline.tables.meanings import TableMeanings, meant_rewards
from tacit.offline.tables.paths import LoggedPaths
from tacit.trust.diagnostics import heterogeneous_places
from tacit.trust.findings import Finding

REFITS, LEAST_REFITS = 50, 10
"""Times that the decoder's tuples are drawn anew; meanings that come out alike are evaluated once."""
MOST_JUDGED = 20_000
"""Places times refits, which bounds the time, some ten seconds: where places are many, refits are fewer, down to
`LEAST_REFITS`, and then places."""
MOST_CELLS = 10_000_000
"""Numbers that all refits hold: 80 MB."""
DECIMALS = 3
"""To which what values mean to a refit is rounded: what differs by less is not worth another evaluation."""
SEED = 29
"""Of those draws, so that an evaluation is a function of logs, model and policy."""


@dataclass(frozen=True, eq=False)
class Refits:
    """What the values of heterogeneous places mean to models fitted to tuples drawn anew, `rewards` a refit.

    Each is Pr[r = 1 | y, a], (places, V, K), rounded, so that what comes out alike is evaluated once; `own` is what
    they mean to the model itself. `left_out` counts the places that were not drawn anew.
    """

    places: list[PlaceIndex]
    own: FloatArray
    rewards: list[FloatArray]
    left_out: int

    @cached_property
    def counts(self) -> FloatArray:
        """Return how often each meaning came out that is not the model's own."""
        keys = [rewards.tobytes() for rewards in self.rewards]
        return np.array([keys.count(key) for key in self._others], dtype=np.float64)

    def of_ends(self, paths: LoggedPaths, rewards: FloatArray) -> Iterator[FloatArray]:
        """Yield the episodes' rewards (n,) under each of those meanings, given what the model's own are."""
        actions = paths.actions[:, -1]
        for meant in self._others.values():
            changed = rewards.copy()
            for at, place in enumerate(self.places):
                episodes = paths.by_place.get(place)
                if episodes is not None:
                    changed[episodes] = meant[at, paths.values[episodes], actions[episodes]]
            yield changed

    @cached_property
    def _others(self) -> dict[bytes, FloatArray]:
        return {key: each for each in self.rewards if (key := each.tobytes()) != self.own.tobytes()}


def refit_meanings(meanings: TableMeanings, refits: int = REFITS) -> Refits:
    """Return what values mean to models fitted to tuples drawn anew from the model's own.

    The feedback after each action is drawn from its frequencies, as many times as there were effective tuples. Which
    way round is not decided anew: what is not known of it is in the bounds (`tacit.decoding.confidence`).
    """
    found = heterogeneous_places(meanings.judgements)
    V, K = meanings.counts.shape[2:]
    most = min(MOST_JUDGED, MOST_CELLS // (V * K))
    refits = min(refits, max(most // max(len(found), 1), LEAST_REFITS))
    places = found
    if len(found) * refits > most:
        largest = sorted(found, key=lambda at: -meanings.judgements[at].tuples.sum())
        places = sorted(largest[: max(most // refits, 1)])
    generator = np.random.default_rng(SEED)
    own = np.array([meanings.meaning(*at) for at in places]).reshape(len(places), V, K).round(DECIMALS)
    rewards = [own.copy() for _ in range(refits)]
    for at, place in enumerate(places):
        for b, drawn in enumerate(draw_tables(meanings, place, refits, generator)):
            again = judge(drawn, meanings.c, meanings.settings.judgement)
            met = drawn.sum(axis=1) > 0
            meant = _as_turned(again, meanings.judgements[place], met, K)
            rewards[b][at, met] = meanings.c if meant is None else meant[met].round(DECIMALS)
    return Refits(places, own, rewards, len(found) - len(places))


def _as_turned(again: Judgement, own: Judgement, met: BoolArray, n_actions: int) -> FloatArray | None:
    """Return what values mean to a judgement made anew, turned as the model's own is; None if nothing was found."""
    if again.kind != HETEROGENEOUS:
        return None
    alike = float(np.abs(again.phi - own.phi)[met].sum())
    opposed = float(np.abs(1 - again.phi - own.phi)[met].sum())
    if opposed < alike:
        again = replace(again, f=1 - again.f, phi=1 - again.phi)
    return meant_rewards(again, n_actions)


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
    elif len(refits.rewards) < REFITS:
        yield Finding(
            "decoder-error-bounded",
            "info",
            "",
            f"What the decoder may have got wrong was estimated from {len(refits.rewards)} models fitted anew, not "
            f"{REFITS}: there are {len(refits.places):,} states and contexts.",
            "Bin states or contexts to have it estimated more exactly.",
        )

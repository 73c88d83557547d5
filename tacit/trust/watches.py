"""Watches over many places at once: alarms, each with its evidence, and a bound on false ones over all of them.

Places begin to be watched when something is first drawn there, and are numbered in that order. The j-th may raise a
false alarm with probability alpha w_j at most (`tacit.trust.drift`), all of them together, over a run of any length,
with probability alpha. A place that was never seen costs nothing; one watched anew after an alarm counts as new.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.base.arrays import IntArray
from tacit.base.changes import Change, Changes, assign, put, remove
from tacit.base.saved import Saved
from tacit.base.validation import MOST, check_whole, check_within
from tacit.trust.drift import (
    LIVES,
    SPACING,
    ChangeEvidence,
    Counts,
    PlaceWatch,
    begin_watch,
    log_mixture,
    observe,
    prior_weight,
)

MOST_VALUES = 16
"""Values that are told apart; beyond, those whose numbers are alike modulo it count as one."""
ROUNDING = 1e-6
"""How far sums of logarithms may be from their closed form."""

WatchedPlace = tuple[int, int]
"""An ending and a context group, or a layer and a state."""
Draw = tuple[WatchedPlace, int, int]
"""What was drawn: where, after which action, and which value."""


@dataclass(frozen=True)
class DriftSettings:
    """When the world is taken to have changed, and how long it is remembered.

    `alpha` is the probability of a false alarm over a whole run, at most; 0 watches nothing. With a `memory` of n, the
    counts of a place, or of a state's transitions, are halved when there are more than n: what changes too slowly for
    an alarm is forgotten, too. 0 remembers everything.
    """

    alpha: float = 0.05
    memory: int = 0

    def __post_init__(self) -> None:
        check_within("alpha of drift", self.alpha, 0, 0.5)
        check_whole("memory of drift", self.memory, 0, MOST)


class Alarm(NamedTuple):
    """A change: of what, where, in which episode it was noticed, after which one it came, and what speaks for it.

    `draws` came after it; `log_e` is the logarithm of the evidence. Of the `action` that shows it best, `value` made up
    a share `before` of `drawn_before` draws, and `after` of `drawn_after`.
    """

    kind: str
    place: WatchedPlace
    noticed: int
    changed: int
    draws: int
    log_e: float
    action: int
    value: int
    before: float
    drawn_before: int
    after: float
    drawn_after: int


class Watches:
    """Watches over places of K actions and m values that together raise a false alarm with probability `alpha` at most.

    >>> from tacit.base.changes import commit
    >>> watches = Watches("words", n_actions=1, n_values=2, alpha=0.05)
    >>> for t in range(200):
    ...     changes, alarms = watches.learn([((0, 0), 0, int(t >= 150))], episode=t)
    ...     commit(changes)
    ...     for alarm in alarms:
    ...         print(alarm.noticed, alarm.changed, alarm.value, alarm.before, alarm.after)
    154 147 0 1.0 0.286
    """

    def __init__(self, kind: str, n_actions: int, n_values: int, alpha: float) -> None:
        self._kind = kind
        self._shape = n_actions, min(n_values, MOST_VALUES)
        self._alpha = alpha
        self._watches: dict[WatchedPlace, PlaceWatch] = {}
        self._numbers: dict[WatchedPlace, int] = {}
        self._begun = 0

    def learn(self, draws: Sequence[Draw], episode: int) -> tuple[list[Change], list[Alarm]]:
        """Return what draws of one episode change, each in another place, and the alarms that they raise.

        A place that raised one is watched anew from its next draw on.
        """
        changes: list[Change] = []
        alarms: list[Alarm] = []
        begun = self._begun
        for place, action, value in draws if self._alpha > 0 else ():
            if place not in self._watches:
                begun += 1
                changes += put(self._numbers, place, begun), assign(self, "_begun", begun)
            number = self._numbers.get(place, begun)
            before = self._watches.get(place) or begin_watch(*self._shape)
            watch, evidence = observe(before, action, value % MOST_VALUES, episode)
            if evidence.log_e >= -math.log(self._alpha * prior_weight(number)):
                changes += self.forget(place)
                alarms.append(_alarm(self._kind, place, watch, evidence, episode))
            else:
                changes.append(put(self._watches, place, watch))
        return changes, alarms

    def forget(self, place: WatchedPlace) -> Changes:
        """Return what lets a place be watched anew, from its next draw on."""
        return remove(self._watches, place), remove(self._numbers, place)

    def since(self, place: WatchedPlace, episode: int) -> int:
        """Return how many draws a place is known to have had after an episode."""
        watch = self._watches.get(place)
        if watch is None:
            return 0
        later = watch.times[1:, 1] > episode
        return int(watch.counts[-1].sum() - watch.times[1:][later][0, 0]) if later.any() else 0

    def to_state(self) -> dict[str, Any]:
        """Return the arrays that `restore` reads: places in their order, rows of all of them one after the other."""
        K, m = self._shape
        places = sorted(self._watches)
        watches = [self._watches[place] for place in places]
        return {
            "begun": self._begun,
            "places": np.array(places, dtype=np.int64).reshape(-1, 2),
            "numbers": np.array([self._numbers[place] for place in places], dtype=np.int64),
            "rows": np.array([len(watch.times) for watch in watches], dtype=np.int64),
            "times": np.concatenate([np.empty((0, 2), dtype=np.int64), *(watch.times for watch in watches)]),
            "counts": np.concatenate([np.empty((0, K, m), np.int32), *(w.counts for w in watches)]).astype(
                np.int64
            ),
            "scores": np.concatenate([np.empty((0, K)), *(watch.scores for watch in watches)]),
        }

    def restore(self, state: Mapping[str, Any], sizes: tuple[int, int], episodes: int) -> None:
        """Take up what `to_state` returned after so many episodes, if draws in places below `sizes` could leave it."""
        saved = Saved.of(state)
        self._begun = saved.whole("begun")
        places = saved.wholes("places", (None, 2))
        inside = (places < np.array(sizes)).all() and len(np.unique(places, axis=0)) == len(places)
        saved.check(inside, "places", f"below {sizes}, and each once")
        numbers = saved.wholes("numbers", (len(places),), 1, self._begun)
        saved.check(len(np.unique(numbers)) == len(numbers), "numbers", "each of one place")
        for place, number, watch in zip(
            places.tolist(), numbers.tolist(), self._read(saved, len(places)), strict=True
        ):
            check_watch(saved, watch, episodes)
            self._watches[place[0], place[1]], self._numbers[place[0], place[1]] = watch, number

    def _read(self, saved: Saved, places: int) -> Iterator[PlaceWatch]:
        K, m = self._shape
        rows = saved.wholes("rows", (places,), 1)
        total = int(rows.sum())
        times = saved.wholes("times", (total, 2))
        counts = saved.wholes("counts", (total + places, K, m), 0, np.iinfo(np.int32).max).astype(np.int32)
        scores = saved.floats("scores", (total, K), high=0)
        ends = np.cumsum(rows)
        for n, end in enumerate(ends.tolist()):
            first = end - int(rows[n])
            yield PlaceWatch(
                times[first:end].copy(), counts[first + n : end + n + 1].copy(), scores[first:end].copy()
            )


def read_alarm(saved: Saved, sizes: Mapping[str, WatchedPlace], episodes: int) -> Alarm:
    """Return an alarm that was saved after so many episodes, of a kind whose places are below its `sizes`."""
    kind = saved.choice("kind", tuple(sizes))
    place = saved.entries("place")
    noticed = saved.whole("noticed", most=episodes)
    return Alarm(
        kind,
        (place.whole("0", most=sizes[kind][0] - 1), place.whole("1", most=sizes[kind][1] - 1)),
        noticed,
        saved.whole("changed", most=noticed),
        saved.whole("draws"),
        saved.number("log_e"),
        saved.whole("action"),
        saved.whole("value"),
        saved.number("before", 0, 1),
        saved.whole("drawn_before"),
        saved.number("after", 0, 1),
        saved.whole("drawn_after"),
    )


def check_watch(saved: Saved, watch: PlaceWatch, episodes: int) -> None:
    """Raise CheckpointError unless a watch is one that draws in so many episodes could have left."""
    times, counts = watch.times, watch.counts.astype(np.int64)
    numbers = times[1:, 0] // SPACING
    draws = counts.sum(axis=(1, 2))
    possible = (
        not times[0].any()
        and (times[1:, 0] == SPACING * numbers).all()
        and (np.diff(times[:, 0]) > 0).all()
        and (np.diff(times[:, 1]) >= 0).all()
        and (times[:, 1] <= episodes).all()
    )
    saved.check(possible, "times", f"ascending, {SPACING} draws apart, in the episodes there were")
    grows = not counts[0].any() and (np.diff(counts, axis=0) >= 0).all()
    saved.check(
        grows and np.array_equal(draws[:-1], times[:, 0]), "counts", "those of the draws, and more and more"
    )
    now = int(draws[-1]) // SPACING
    saved.check(np.array_equal(numbers, kept_numbers(now)), "times", "of the changes that are kept")
    expected = log_mixture(watch.counts[:-1]) + log_mixture(watch.counts[-1] - watch.counts[:-1])
    close = np.abs(expected - watch.scores) <= ROUNDING * (1 + np.abs(expected))
    saved.check(close.all(), "scores", "those of the counts")


def kept_numbers(now: int) -> IntArray:
    """Return the numbers of the possible changes that are there when the last of them has the number `now`.

    >>> kept_numbers(9)
    array([2, 4, 6, 7, 8, 9])
    """
    numbers = np.arange(1, now + 1)
    return np.asarray(numbers[now - numbers < LIVES * (numbers & -numbers)])


def _alarm(
    kind: str, place: WatchedPlace, watch: PlaceWatch, evidence: ChangeEvidence, episode: int
) -> Alarm:
    """Return the alarm of a watch, with the action and the value that show the change best."""
    before, after = watch.counts[evidence.row], watch.counts[-1] - watch.counts[evidence.row]
    gain = log_mixture(before) + log_mixture(after) - log_mixture(watch.counts[-1])
    a = int(np.argmax(gain))
    shares = _shares(before[a]), _shares(after[a])
    y = int(np.argmax(np.abs(shares[1] - shares[0])))
    return Alarm(
        kind,
        place,
        episode,
        int(evidence.episode),
        int(evidence.draws),
        round(float(evidence.log_e), 1),
        a,
        y,
        round(float(shares[0][y]), 3),
        int(before[a].sum()),
        round(float(shares[1][y]), 3),
        int(after[a].sum()),
    )


def _shares(counts: Counts) -> Any:
    return counts / max(int(counts.sum()), 1)

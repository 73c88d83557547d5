"""The logged policy, where logs do not tell it: how likely each last action was, from how often it was taken.

For each last state three policies are compared by what they cost (BIC): uniform, one for all contexts, one for each
context; the cheapest is taken, smoothed by half a tuple an action towards the one before it. Its fit is tested on
every fifth tuple, held back, against the simpler ones, and over time: first half of the logs against the second.
What actions followed that the log does not hold no test can show.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincc, xlogy

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.counts import PlaceIndex, SeenCounts, TupleCounts
from tacit.decoding.word_types import likelihood_ratio
from tacit.trust.findings import Finding

UNIFORM, BY_STATE, BY_CONTEXT = "uniform", "by state", "by context"
SMOOTHING = 0.5
"""Tuples added for each action (Jeffreys)."""
ENOUGH = 5
"""Tuples for each action of a state below which its policy is not estimated."""
MOST_ORDERED = 20_000
"""Tuples that are kept in their order, at most twice as many: enough to see a policy change."""
DRIFT_LEVEL = 0.01
"""Of the test that the policy was the same in both halves of the logs."""

Tables = Mapping[int, Mapping[int, FloatArray]]
"""How often each action was taken, (K_s,), by last state and context."""


class TakenAction(NamedTuple):
    """A last state, the context (0 for all where they are vectors) and the action."""

    state: int
    context: int
    action: int


@dataclass
class Thinned:
    """Every n-th of the actions that came, in their order: few enough to keep, of all parts of the logs alike.

    >>> kept = Thinned(most=2)
    >>> for action in range(9):
    ...     kept.add(TakenAction(0, 0, action))
    >>> [row.action for row in kept.rows], kept.stride
    ([0, 4, 8], 4)
    """

    most: int = MOST_ORDERED
    stride: int = 1
    seen: int = 0
    rows: list[TakenAction] = field(default_factory=list)

    def add(self, row: TakenAction) -> None:
        """Take one more."""
        if self.seen % self.stride == 0:
            self.rows.append(row)
            if len(self.rows) > 2 * self.most:
                self._thin()
        self.seen += 1

    def merge(self, later: Thinned) -> None:
        """Take in what came later."""
        while self.stride < later.stride:
            self._thin()
        while later.stride < self.stride:
            later._thin()
        self.rows += later.rows
        self.seen += later.seen
        while len(self.rows) > 2 * self.most:
            self._thin()

    def _thin(self) -> None:
        self.rows, self.stride = self.rows[::2], 2 * self.stride


@dataclass(frozen=True)
class LoggedPolicy:
    """A policy estimated for each state: which kind it is of, how often each action was taken in it, and where."""

    kinds: Mapping[int, str]
    totals: Mapping[int, FloatArray]
    tables: Tables

    def chances(self, state: int, context: int, kind: str | None = None) -> FloatArray:
        """Return how likely each action is, (K_s,), by the state's own kind of policy or another one."""
        total, kind = self.totals[state], kind or self.kinds[state]
        K = len(total)
        uniform: FloatArray = np.full(K, 1 / K)
        if kind == UNIFORM:
            return uniform
        overall = _smoothed(total, uniform)
        table = self.tables[state].get(context)
        return overall if kind == BY_STATE or table is None else _smoothed(table, overall)

    def is_forced(self, state: int, context: int) -> bool:
        """Return whether one action alone was taken where many tuples could have shown another."""
        by_context = self.kinds[state] == BY_CONTEXT
        table = self.tables[state][context] if by_context else self.totals[state]
        return bool((table > 0).sum() == 1 and len(table) > 1 and table.sum() >= ENOUGH * len(table))


class HeldOut(NamedTuple):
    """The mean log-likelihood of held-out actions under the estimate, one policy for all contexts, and uniform ones."""

    estimate: float
    by_state: float
    uniform: float


@dataclass(frozen=True)
class Propensities:
    """How likely logged actions were, as far as the logs tell, and how far that can be trusted.

    `weights` are 1/(K p) of each (state, context, action) that was taken, (S_H, X, 1, K), for those that teach;
    `forced` counts the tuples where one action alone was taken, `scarce` those of states with too few to tell.
    """

    policy: LoggedPolicy
    weights: SeenCounts
    tuples: int
    forced: int
    scarce: int
    smallest: float
    untaken: int
    held_out: HeldOut | None
    drift: float | None
    """The p-value of the same policy in both halves of the logs; None if there is too little to tell."""


def estimate_propensities(
    tried: SeenCounts, split: tuple[SeenCounts, SeenCounts], order: Sequence[TakenAction], n_actions: IntArray
) -> Propensities:
    """Return the estimate from counts (S_H, X, 1, K), of all tuples and of those to fit and to hold back.

    >>> tried = SeenCounts.of_dense(np.array([[[[60.0, 20.0, 0.0]]]]))
    >>> found = estimate_propensities(tried, (tried, tried), (), np.array([3]))
    >>> found.weights.numbers.round(2), round(found.smallest, 3), found.untaken
    (array([0.45, 1.33]), 0.252, 1)
    """
    policy = fit_policy(tried, n_actions)
    places, forced, scarce, smallest = [], 0.0, 0.0, 1.0
    numbers = np.zeros(len(tried.cells))
    K, row = tried.shape[3], tried.cells // tried.shape[3]
    for place, n in zip(tried.places, tried.tuples.tolist(), strict=True):
        at = slice(*np.searchsorted(row, (_row_of(tried, place), _row_of(tried, place) + 1)))
        if place[0] not in policy.kinds:
            scarce += n
        elif policy.is_forced(*place):
            forced += n
        else:
            chances = policy.chances(*place)
            numbers[at] = 1 / (len(chances) * chances[tried.cells[at] % K])
            smallest = min(smallest, float(chances[tried.cells[at] % K].min()))
            places.append(place)
    kept = numbers > 0
    weights = SeenCounts(tried.shape, tried.cells[kept], numbers[kept])
    untaken = sum(int((policy.totals[s] == 0).sum()) for s in {s for s, _ in places})
    tuples = int(tried.total - forced - scarce)
    drift = drift_p_value(order, policy)
    return Propensities(
        policy,
        weights,
        tuples,
        int(forced),
        int(scarce),
        smallest,
        untaken,
        compare_held_out(split, n_actions),
        drift,
    )


def fit_policy(tried: SeenCounts, n_actions: IntArray) -> LoggedPolicy:
    """Return the policy that counts (S_H, X, 1, K) speak for, of the states that have enough of them."""
    tables: defaultdict[int, dict[int, FloatArray]] = defaultdict(dict)
    for (s, x), table in tried.tables():
        tables[s][x] = table[0, : n_actions[s]]
    totals = {s: np.sum(list(known.values()), axis=0) for s, known in tables.items()}
    enough = {s: total for s, total in totals.items() if total.sum() >= ENOUGH * len(total)}
    kinds = {s: choose_kind(total, list(tables[s].values())) for s, total in enough.items()}
    return LoggedPolicy(kinds, enough, tables)


def choose_kind(total: FloatArray, tables: Sequence[FloatArray]) -> str:
    """Return the kind of policy with the least BIC = -2 log L + m log n, m being its free parameters.

    >>> choose_kind(np.array([50.0, 50.0]), [np.array([49.0, 1.0]), np.array([1.0, 49.0])])
    'by context'
    """
    n, K = total.sum(), len(total)
    costs = {
        UNIFORM: 2 * n * np.log(K),
        BY_STATE: -2 * xlogy(total, total / n).sum() + (K - 1) * np.log(n),
        BY_CONTEXT: -2 * sum(xlogy(each, each / each.sum()).sum() for each in tables)
        + len(tables) * (K - 1) * np.log(n),
    }
    return min(costs, key=lambda kind: float(costs[kind]))


def compare_held_out(split: tuple[SeenCounts, SeenCounts], n_actions: IntArray) -> HeldOut | None:
    """Return how likely held-out actions are under the policy that the others speak for, and under simpler ones."""
    policy, logs, n = fit_policy(split[0], n_actions), np.zeros(3), 0.0
    for (s, x), table in split[1].tables():
        if s in policy.kinds:
            held = table[0, : n_actions[s]]
            logs += [held @ np.log(policy.chances(s, x, kind)) for kind in (None, BY_STATE, UNIFORM)]
            n += held.sum()
    return HeldOut(*(logs / n).tolist()) if n else None


def drift_p_value(order: Sequence[TakenAction], policy: LoggedPolicy) -> float | None:
    """Return the p-value of both halves of the actions being of one policy, in each place; None if none can be tested.

    The likelihood-ratio test of homogeneity, all places with enough tuples in either half at once.
    """
    halves: defaultdict[PlaceIndex, list[Counter[int]]] = defaultdict(lambda: [Counter(), Counter()])
    for number, (s, x, a) in enumerate(order):
        if s in policy.kinds:
            place = (s, x if policy.kinds[s] == BY_CONTEXT else 0)
            halves[place][2 * number >= len(order)][a] += 1
    statistic, freedom = 0.0, 0
    for first, second in halves.values():
        actions = sorted(first | second)
        n = np.array([[half[a] for a in actions] for half in (first, second)], dtype=np.float64)
        if len(actions) > 1 and n.sum(axis=1).min() >= ENOUGH * len(actions):
            statistic += likelihood_ratio(n)
            freedom += len(actions) - 1
    return float(gammaincc(freedom / 2, statistic / 2)) if freedom else None


def weigh_counts(counts: TupleCounts, weights: SeenCounts) -> TupleCounts:
    """Return counts of tuples of weight 1 with the weights (S_H, X, 1, K) of their actions, of those that have one."""
    n, by_n = _weighed(counts.n, weights)
    square, by_square = _weighed(counts.square, weights)
    return TupleCounts(
        n,
        SeenCounts(n.shape, n.cells, n.numbers * by_n),
        SeenCounts(square.shape, square.cells, square.numbers * by_square**2),
    )


def find_estimated(found: Propensities) -> Iterator[Finding]:
    """Yield what is to be said of an estimate: what it rests on, how well it fits, and whether the policy moved."""
    kinds = Counter(found.policy.kinds.values())
    how = ", ".join(f"{kinds[kind]} {kind}" for kind in (BY_CONTEXT, BY_STATE, UNIFORM) if kinds[kind])
    held = found.held_out
    fit = (
        f" Held-out actions have a log-likelihood of {held.estimate:.3f} each, {held.by_state:.3f} whatever the "
        f"context, {held.uniform:.3f} if uniform."
        if held is not None
        else ""
    )
    yield Finding(
        "propensities-estimated",
        "caution",
        "",
        f"{found.tuples:,} episodes do not tell how likely their last action was; it was estimated from how often each "
        f"was taken (states: {how}), the least likely {found.smallest:.2g}, {found.untaken} on offer never "
        f"taken.{fit} Actions chosen for reasons not in the log could still mislead.",
        "Log the probability of each action.",
    )
    if found.drift is not None and found.drift < DRIFT_LEVEL:
        yield Finding(
            "propensities-drift",
            "caution",
            "",
            f"The actions of the first half of the logs are of another policy than those of the second (p = "
            f"{found.drift:.2g}), and the estimate is one for both.",
            "Log the probability of each action, or fit the logs of each policy apart.",
        )


def _smoothed(table: FloatArray, towards: FloatArray) -> FloatArray:
    more = SMOOTHING * len(table)
    smoothed: FloatArray = (table + more * towards) / (table.sum() + more)
    return smoothed


def _row_of(counts: SeenCounts, place: PlaceIndex) -> int:
    return place[0] * counts.shape[1] + place[1]


def _weighed(counts: SeenCounts, weights: SeenCounts) -> tuple[SeenCounts, FloatArray]:
    """Return the counts of what has a weight, and the weight of each cell of them."""
    _, _, V, K = counts.shape
    wanted = counts.cells // (V * K) * K + counts.cells % K
    at = np.minimum(np.searchsorted(weights.cells, wanted), max(len(weights.cells) - 1, 0))
    kept = weights.cells[at] == wanted if len(weights.cells) else np.zeros(len(wanted), np.bool_)
    return SeenCounts(counts.shape, counts.cells[kept], counts.numbers[kept]), weights.numbers[at[kept]]

"""Which way round: whether type 1 of the words is the reward, or type 0.

Inverse kinematics cannot tell (f, phi) from (1 - f, 1 - phi) within a last state and context. Two beliefs can, each in
a world of its own; both read off t_a, the share of type 1 after action a, turned so that sum t <= K/2.

- Words are exclusive: t is f, and rewarding actions are the minority, sum f < K/2 (Assumption 2.3). The turn is right
  unless sum t passes K/2 by its noise.
- Words overlap: t_a = t_0 + f_a (t_1 - t_0), where those who are not pleased say words of type 1 with chance t_0 and
  those who are with chance t_1. The sum says nothing then (if many are polite, t_0 is large), but what stands out does:
  few actions please, whatever t_0 and t_1. Both turns are weighed by how likely their f is, over all t_0 and t_1,

      f: one action is best, the others please r_a times as often, r_a ~ Beta(1, 4);   t_0, 1 - t_1 ~ Exponential(0.25).

Which world it is, the same weights say, added up over the endings of a context, for people differ: an action that
nobody is pleased by has t near 0 only where words are exclusive.

What stands out is read off estimates. With a standard error e of its log odds l, they are those of the mean chance,
about l / sqrt(1 + pi e^2 / 8); where e is more than l, more tuples would tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray
from tacit.base.jit import kernel

OVERLAP_SCALE = 0.25
"""The mean share of those on one side who talk like the other, where words overlap."""
GRID = 12
"""Values of t_0 and of t_1 that are weighed."""
WIDENED = 0.01
"""How far below the least, and above the largest share t_0 and t_1 may lie at least: shares are estimates."""
LEAST_LEFT = 0.1
"""1 - r_a, at least: two actions may be as good as each other."""
PRIOR_NATS = 1.0
"""By how much words are more likely exclusive beforehand."""
MOST_EACH = 3.0
"""The most nats that one place says of whether words overlap."""
MOST_BELIEVED = 5.0
"""The most log odds that the shares of a place say of its turn: known outcomes can always overrule them."""
SURE_EXCLUSIVE, SURE_OVERLAPPING = 4.5, 1.0
"""Log odds from which a turn is settled: three standard errors of sum t, or what stands out e to one."""
FAINT = 0.25
"""The share of places in which something was found that may tell less than others are expected to."""
BELIEF = math.log(50)
"""Log odds, beforehand, that rewarding actions are the minority and not everywhere the majority."""
SLIP = 0.1
"""How often a known outcome contradicts what its word means."""


class Leaning(NamedTuple):
    """What a place says of its orientation, of the turn with sum t <= K/2.

    `exclusive` and `overlapping` are the log evidence of its shares in either world; `standing` the log odds of the
    turn where words overlap, and `blur` its error against what it says: beyond 1 more tuples would tell. `telling`
    (`tacit.decoding.power`) is what part of a good action's gain was seen, `alone` what part of that of its own f;
    `between` the nats by which words between the sides are likelier than two types.
    """

    exclusive: float
    overlapping: float
    standing: float
    blur: float = 0.0
    telling: float = 1.0
    alone: float = 1.0
    between: float = 0.0


def lean(shares: FloatArray, errors: FloatArray) -> Leaning:
    """Return how shares t (K,) with sum t <= K/2 and standard errors (K,) lean.

    >>> sure = np.zeros(4)
    >>> alone = lean(np.array([0.9, 0.05, 0.05, 0.0]), sure)
    >>> alone.exclusive > alone.overlapping, alone.standing > 0
    (True, True)
    >>> polite = lean(np.array([0.05, 0.55, 0.6]), sure[:3])  # two thirds of whom say what one in twenty says
    >>> polite.standing < 0
    True
    >>> lean(np.array([0.49, 0.24, 0.7]), np.full(3, 0.06)).blur > 1  # the first may be near the second as well
    True
    """
    one, other = overlap_evidence(shares), overlap_evidence(1 - shares)
    standing, error = stands_out_by(shares), standing_error(shares, errors)
    return Leaning(
        log_density(shares),
        float(np.logaddexp(one, other)) - math.log(2),
        standing / math.sqrt(1 + math.pi * error**2 / 8),
        error / max(abs(standing), SURE_OVERLAPPING),
    )


@kernel
def stands_out_by(shares: FloatArray) -> float:
    """Return the log odds that what stands out of shares (K,) gives to them and not to 1 - shares, where words overlap.

    They are no more than is believed of any: beyond that nothing depends on them.
    """
    odds = overlap_evidence(shares) - overlap_evidence(1 - shares)
    return min(max(odds, -MOST_BELIEVED), MOST_BELIEVED)


@kernel
def standing_error(shares: FloatArray, errors: FloatArray) -> float:
    """Return the standard error of what stands out, by moving each share (K,) by its own, towards the middle."""
    standing, total = stands_out_by(shares), 0.0
    for a in range(len(shares)):
        moved = shares.copy()
        moved[a] += errors[a] if shares[a] <= 0.5 else -errors[a]
        total += (stands_out_by(moved) - standing) ** 2
    return math.sqrt(total)


@kernel
def log_density(f: FloatArray) -> float:
    """Return the log density of rewards (K,): one is best, the others are Beta(1, 4) of it."""
    K, best = len(f), f.argmax()
    top = max(f[best], 0.01)
    total = 0.0
    for a in range(K):
        if a != best:
            left = max(1 - f[a] / top, LEAST_LEFT)
            total += math.log(4 * left**3 / top)
    return total


@kernel
def overlap_evidence(shares: FloatArray) -> float:
    """Return the log evidence of shares (K,) over all t_0 and t_1 under which rewards are the minority."""
    step_0, step_1 = overlap_steps(shares)
    total = 0.0
    for weight in overlap_weights(shares, OVERLAP_SCALE).ravel():
        total += weight
    return math.log(total * step_0 * step_1 + 1e-12)


@kernel
def overlap_steps(shares: FloatArray) -> tuple[float, float]:
    """Return the steps of t_0 and of 1 - t_1 between the values that are weighed, at (i + 1/2) steps."""
    low, high = min(shares.min() + WIDENED, 1.0), max(shares.max() - WIDENED, 0.0)
    return low / GRID, (1 - high) / GRID


@kernel
def overlap_weights(shares: FloatArray, scale: float) -> FloatArray:
    """Return how likely each (t_0, 1 - t_1), of this mean beforehand, is given shares (K,), (GRID, GRID)."""
    K, (step_0, step_1) = len(shares), overlap_steps(shares)
    weights = np.zeros((GRID, GRID))
    for i in range(GRID):
        t_0 = (i + 0.5) * step_0
        for j in range(GRID):
            above = (j + 0.5) * step_1
            span = 1 - above - t_0
            if span <= 0.05:
                continue
            f = np.minimum(np.maximum((shares - t_0) / span, 0.0), 1.0)
            if f.sum() > K / 2:
                continue
            prior = math.exp(-(t_0 + above) / scale) / scale**2
            weights[i, j] = prior * math.exp(log_density(f)) / span**K
    return weights


class Beliefs(NamedTuple):
    """What holds beyond a place: whether feedback tells actions apart in any, in which context groups words overlap,
    and whether most actions please, which outcomes alone can say.
    """

    found: bool = False
    overlapping: frozenset[int] = frozenset()
    majority: bool = False
    halvings: float = 0
    """How often what feedback tells is halved, in one place of four or more (`tacit.decoding.power`), in halves."""
    between: frozenset[int] = frozenset()
    """The groups in which words stand between the two sides, all places taken together: all are read that way then."""

    def differing(self, other: Beliefs, groups: int) -> frozenset[int]:
        """Return the groups for which the beliefs differ."""
        nowhere: frozenset[int] = frozenset()
        if self._replace(overlapping=nowhere, between=nowhere) != other._replace(
            overlapping=nowhere, between=nowhere
        ):
            return frozenset(range(groups))
        return (self.overlapping ^ other.overlapping) | (self.between ^ other.between)


class Worlds(NamedTuple):
    """Log odds of one place: that words overlap there, and of the turn with sum t <= K/2 in either world."""

    overlap: float
    exclusive: float
    overlapping: float


class Leanings:
    """What each (ending, context group) says of its turn, arrays (S_H, G) that are 0 where nothing was found.

    `minority` are standard errors by which sum t stays below K/2; `evidence` nats for words that overlap; `standing`,
    `telling`, `alone` and `between` as in `Leaning`; `told` the log odds that known outcomes give to the turn.
    """

    def __init__(self, rows: FloatArray) -> None:
        self.rows = rows  # (7, S_H, G)
        self.minority, self.evidence, self.standing, self.told, self.telling, self.alone, self.between = rows

    @staticmethod
    def none(shape: tuple[int, int]) -> Leanings:
        """Return those of places of which nothing is known."""
        return Leanings(np.zeros((7, *shape)))

    def widened(self, more: int) -> Leanings:
        """Return them with so many context groups more, of which nothing is known."""
        return Leanings(np.pad(self.rows, ((0, 0), (0, 0), (0, more))))

    def replaced(
        self, at: tuple[int, int], leaning: Leaning | None, minority: float, told: float
    ) -> Leanings:
        """Return them with what a place says now; nothing if it is not heterogeneous."""
        return self.with_all({at: (leaning, minority, told)})

    def with_all(self, said: Mapping[tuple[int, int], tuple[Leaning | None, float, float]]) -> Leanings:
        """Return them with what several places say now: (leaning, minority, told) each."""
        rows = self.rows.copy()
        for (s, x), (leaning, minority, told) in said.items():
            rows[:, s, x] = 0.0
            if leaning is not None:
                evidence = min(max(leaning.overlapping - leaning.exclusive, -MOST_EACH), MOST_EACH)
                told_by_words = leaning.telling, leaning.alone, leaning.between
                rows[:, s, x] = minority, evidence, leaning.standing, told, *told_by_words
        return Leanings(rows)

    def odds(self, at: tuple[int, int], beliefs: Beliefs) -> float:
        """Return the log odds that sum t <= K/2 is the right turn of a place."""
        row: list[float] = [float(each[at]) for each in (self.minority, self.standing, self.told)]
        return turn_odds(row[0], row[1], row[2], at[1] in beliefs.overlapping, beliefs.majority)

    def worlds(self, at: tuple[int, int], beliefs: Beliefs) -> Worlds:
        """Return what is believed of a place, without deciding in which world it is."""
        minority, standing, told = (float(each[at]) for each in (self.minority, self.standing, self.told))
        return Worlds(
            float(self.evidence[:, at[1]].sum()) - PRIOR_NATS,
            turn_odds(minority, standing, told, overlapping=False, majority=beliefs.majority),
            turn_odds(minority, standing, told, overlapping=True, majority=beliefs.majority),
        )

    def weigh(self) -> Beliefs:
        """Return what all places say together."""
        groups = self.evidence.sum(axis=0) > PRIOR_NATS  # (G,)
        found, overlapping = self.telling > 0, frozenset(np.flatnonzero(groups).tolist())
        # f is understated where words may overlap: there the place that tells most says what a good action would show.
        exclusive = self.evidence.sum(axis=0) <= -MOST_EACH
        telling = np.where(exclusive, self.alone, self.telling.max(axis=0))
        least = float(np.quantile(telling[found], FAINT)) if found.any() else 1.0
        between = frozenset(np.flatnonzero(self.between.sum(axis=0) > 0).tolist())
        beliefs = Beliefs(
            bool(found.any()), overlapping, halvings=int(-2 * math.log2(least)) / 2, between=between
        )
        told = self.told != 0
        if not told.any():
            return beliefs
        overlap = np.broadcast_to(groups, told.shape)[told]
        believed = shares_odds(self.minority[told], self.standing[told], overlap)
        either = self.told[told]
        minority = np.logaddexp(_log_expit(believed) + either / 2, _log_expit(-believed) - either / 2)
        majority = np.logaddexp(_log_expit(-believed) + either / 2, _log_expit(believed) - either / 2)
        return beliefs._replace(majority=bool((majority - minority).sum() > BELIEF))


def turn_odds(minority: float, standing: float, told: float, overlapping: bool, majority: bool) -> float:
    """Return the log odds that sum t <= K/2 is the right turn of a place."""
    believed = float(shares_odds(np.array(minority), np.array(standing), np.array(overlapping)))
    return (-believed if majority else believed) + told


def is_sure(odds: float, overlapping: bool) -> bool:
    """Return whether log odds settle a turn."""
    return abs(odds) >= (SURE_OVERLAPPING if overlapping else SURE_EXCLUSIVE)


def shares_odds(minority: FloatArray, standing: FloatArray, overlapping: BoolArray) -> FloatArray:
    """Return the log odds that shares alone give to the turn with sum t <= K/2."""
    odds = np.where(overlapping, standing, minority * np.abs(minority) / 2)
    return np.clip(odds, -MOST_BELIEVED, MOST_BELIEVED)


def outcome_odds(outcomes: FloatArray, positions: FloatArray) -> float:
    """Return the log odds that outcomes (Y, 2) of 0 and 1 give to words being at `positions` and not at 1 - them.

    >>> round(outcome_odds(np.array([[0.0, 2.0], [0.0, 0.0]]), np.array([1.0, 0.0])), 2)
    4.39
    """
    rewarded = SLIP + (1 - 2 * SLIP) * positions
    return float(((outcomes[:, 1] - outcomes[:, 0]) * np.log(rewarded / (1 - rewarded))).sum())


def _log_expit(x: FloatArray) -> FloatArray:
    return -np.logaddexp(0.0, -x)

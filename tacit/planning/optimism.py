"""Optimism about dynamics: the plan that is best in the most hopeful world which the transitions seen still allow.

After n tries of (s, a) with next states p, worlds q with n KL(p, q) <= radius are allowed, so that what was never tried
may lead anywhere, and n tries that never led to z leave it P(z) <= 1 - exp(-radius / n) (KL-UCRL: Filippi, Cappé and
Garivier, 2010). The hope runs backwards,

    U_h(s) = max_a max { q · U_{h+1} : KL(p, q) <= radius / n },        U_H(s) = what it is worth to end there,

and grows as deep as the problem: nothing depends on the number of layers, states or actions. The inner maximum is at
q(z) ~ p(z) / (x + d(z)) with d(z) = max U - U(z), where x > 0 solves

    f(x) = sum_z p(z) log(x + d(z)) + log sum_z p(z) / (x + d(z)) = radius / n,

or, if f(0) < radius / n, x = 0, and what q then lacks of 1, 1 - exp(f(0) - radius / n), goes to the best state, unseen.

Where an episode can end early, the state of those that have ended is among the next states, and what it is worth
depends on the (h, s, a) that led there. A state whose endings are to be tried is passed by its best action, or tried:
left by a uniform one, with an ending there worth what it may be; the larger of both values is its own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.jit import kernel

UNIFORM = -1
"""The choice of a uniform action, in a state whose endings are to be tried."""
MOST_STEPS = 60
"""Of Newton's method for x; 4 to 8 are usual."""
TOLERANCE = 1e-7
"""Relative error of f(x)."""
LONGEST_STEP = 3.0
"""By which log x moves at most in one step."""
ALIKE = 1e-12
"""Differences in what next states are worth below which there is nothing to hope for among them."""


class Hope(NamedTuple):
    """A plan, and what it leads to in the most hopeful world: `choices` (H-1, S) are actions, -1 for a uniform one."""

    choices: IntArray
    reach: FloatArray  # (H, S): how likely an episode ends in each state
    value: float


@kernel
def plan_optimistic(
    counts: IntArray,
    mask: BoolArray,
    n_states: IntArray,
    ended: IntArray,
    worth: FloatArray,
    tried: BoolArray,
    radius: float,
) -> Hope:
    """Return the plan that is best in the most hopeful world.

    `counts` (H-1, S, K, S) are the transitions seen; `worth` (H, S, K) is what it may be worth to end after each
    action, which counts in the last layer and wherever `ended` (H,), the state of episodes that have ended, is not -1;
    `tried` (H, S) says which early endings are to be tried. Among actions that look equally good the least tried is
    taken (dev. 9): at first all look perfect.
    """
    H, S, K = mask.shape
    choices = np.zeros((H - 1, S), dtype=np.int64)
    hoped = np.zeros((H - 1, S, S))
    values = np.zeros(S)
    for s in range(n_states[H - 1]):
        for a in range(K):
            if mask[H - 1, s, a] and s != ended[H - 1]:
                values[s] = max(values[s], worth[H - 1, s, a])
    for h in range(H - 2, -1, -1):
        values = _hope_layer(
            (counts[h], mask[h], worth[h], tried[h]),
            (n_states[h], n_states[h + 1], ended[h], ended[h + 1]),
            values,
            radius,
            choices[h],
            hoped[h],
        )
    return Hope(choices, _carry(hoped, n_states, ended), values[0])


def bound_reach(
    counts: IntArray,
    mask: BoolArray,
    n_states: IntArray,
    ended: IntArray,
    layer: int,
    state: int,
    radius: float,
) -> float:
    """Return how likely an episode could end in a state at most, by any plan, in any world that counts allow.

    >>> counts, mask = np.zeros((1, 2, 1, 2), dtype=np.int64), np.ones((2, 2, 1), dtype=np.bool_)
    >>> counts[0, 0, 0] = [100, 0]
    >>> sizes, never = np.array([1, 2]), np.array([-1, -1])
    >>> round(bound_reach(counts, mask, sizes, never, layer=1, state=1, radius=3.0), 3)
    0.03
    """
    worth, nothing = np.zeros(mask.shape), np.zeros(mask.shape[:2], dtype=np.bool_)
    worth[layer, state] = 1.0
    return float(plan_optimistic(counts, mask, n_states, ended, worth, nothing, radius).value)


@kernel
def expect_seen(
    counts: IntArray, policy: FloatArray, n_states: IntArray, ended: IntArray, worth: FloatArray
) -> float:
    """Return what a policy (H, S, K) earns by the transitions seen, and nothing after what was never tried.

    `worth` (H, S, K) is what it is worth to end after each action, as in `plan_optimistic`.
    """
    H, S, K = policy.shape
    values = np.zeros(S)
    for h in range(H - 1, -1, -1):
        earned = np.zeros(S)
        for s in range(n_states[h]):
            for a in range(K):
                if policy[h, s, a] > 0.0 and h == H - 1:
                    earned[s] += policy[h, s, a] * worth[h, s, a]
                elif policy[h, s, a] > 0.0 and s != ended[h]:
                    if ended[h + 1] >= 0:
                        values[ended[h + 1]] = worth[h, s, a]
                    earned[s] += policy[h, s, a] * _mean(counts[h, s, a], n_states[h + 1], values)
        values = earned
    value: float = values[0]
    return value


@kernel
def _mean(row: IntArray, n: int, values: FloatArray) -> float:
    """Return the mean of values (S,) over n next states counted in a row, 0 if there are none."""
    visits, total = 0.0, 0.0
    for j in range(n):
        visits += row[j]
        total += row[j] * values[j]
    return total / visits if visits > 0.0 else 0.0


@kernel
def _hope_layer(
    layer: tuple[IntArray, BoolArray, FloatArray, BoolArray],
    sizes: tuple[int, int, int, int],
    values: FloatArray,
    radius: float,
    choices: IntArray,
    hoped: FloatArray,
) -> FloatArray:
    """Return what the states of a layer may be worth, (S,), and set their choices (S,) and hoped next states (S, S).

    `layer` has counts, mask, worth and tried; `sizes` the states of it and of the next, and where both have ended.
    """
    counts, mask, worth, tried = layer
    now, after, over_now, over = sizes
    best, trial = np.zeros(len(values)), np.zeros(len(values))
    for s in range(now):
        if s == over_now:
            continue
        best[s], fewest = -1.0, np.inf
        for a in range(mask.shape[1]):
            if mask[s, a]:
                if over >= 0:
                    values[over] = 0.0 if tried[s] else worth[s, a]
                visits = float(counts[s, a].sum())
                high = hope_after(counts[s, a], after, visits, values, radius, best[s], trial)
                if high > best[s] or (high == best[s] and visits < fewest):
                    best[s], fewest, choices[s] = high, visits, a
                    hoped[s] = trial
        if over >= 0 and tried[s]:
            high = _hope_uniform(counts[s], mask[s], worth[s], after, over, values, radius, trial)
            if high >= best[s]:
                best[s], choices[s] = high, UNIFORM
                hoped[s] = trial
    return best


@kernel
def _hope_uniform(
    counts: IntArray,
    mask: BoolArray,
    worth: FloatArray,
    after: int,
    over: int,
    values: FloatArray,
    radius: float,
    q: FloatArray,
) -> float:
    """Return what a uniform action may be worth with endings as good as they may be, and set q (S,) to their mean."""
    total, one, mean = 0.0, np.zeros(len(q)), np.zeros(len(q))
    for a in range(len(mask)):
        if mask[a]:
            values[over] = worth[a]
            total += hope_after(counts[a], after, float(counts[a].sum()), values, radius, -1.0, one)
            mean += one
    q[:] = mean / mask.sum()
    value: float = total / mask.sum()
    return value


@kernel
def hope_after(
    row: IntArray, n: int, visits: float, values: FloatArray, radius: float, least: float, q: FloatArray
) -> float:
    """Return max q · values over KL(row / visits, q) <= radius / visits, and set q (S,) to where it is.

    Where it stays below `least` for certain (Pinsker's inequality), the bound that shows it is returned.
    """
    top = int(np.argmax(values[:n]))
    most, lowest = float(values[top]), float(values[:n].min())
    q[:] = 0.0
    if visits == 0.0:
        q[top] = 1.0
        return most
    mean, square, nearest, r = 0.0, 0.0, np.inf, radius / visits
    for j in range(n):
        if row[j] > 0:
            q[j] = row[j] / visits
            mean += q[j] * (most - values[j])
            square += q[j] * (most - values[j]) ** 2
            nearest = min(nearest, most - values[j])
    bound = most - mean + (most - lowest) * math.sqrt(r / 2.0)
    if mean <= ALIKE or r <= 0.0:
        return most - mean
    if bound < least:
        return bound
    x, share = 0.0, 1.0
    if nearest > 0.0:
        share = min(math.exp(_excess(q, n, values, most, 0.0)[0] - r), 1.0)
    if share == 1.0:
        if square - mean * mean <= ALIKE * mean * mean:
            return most - mean
        x = _solve(q, n, values, most, r, math.sqrt((square - mean * mean) / (2.0 * r)))
    return _tilt(q, n, values, top, x, share)


@kernel
def _solve(p: FloatArray, n: int, values: FloatArray, most: float, r: float, start: float) -> float:
    """Return the x > 0 of f(x) = r by Newton's method on log x, in which f falls, first straight, then more slowly."""
    x = start
    for _ in range(MOST_STEPS):
        f, slope = _excess(p, n, values, most, x)
        if abs(f - r) <= TOLERANCE * r or slope >= 0.0:  # or nothing is left but rounding
            break
        x *= math.exp(min(max((r - f) / (slope * x), -LONGEST_STEP), LONGEST_STEP))
    return x


@kernel
def _excess(p: FloatArray, n: int, values: FloatArray, most: float, x: float) -> tuple[float, float]:
    """Return f(x) of p (S,), and its derivative."""
    logs, inverse, squares = 0.0, 0.0, 0.0
    for j in range(n):
        if p[j] > 0.0:
            u = x + (most - values[j])
            logs += p[j] * math.log(u)
            inverse += p[j] / u
            squares += p[j] / (u * u)
    return logs + math.log(inverse), inverse - squares / inverse


@kernel
def _tilt(q: FloatArray, n: int, values: FloatArray, top: int, x: float, share: float) -> float:
    """Turn p (S,) into `share` of p(z) / (x + d(z)), normalised, with the rest at the top; return its mean value."""
    most, total, value = values[top], 0.0, 0.0
    for j in range(n):
        if q[j] > 0.0:
            q[j] /= x + (most - values[j])
            total += q[j]
    for j in range(n):
        q[j] *= share / total
    q[top] += 1.0 - share
    for j in range(n):
        value += q[j] * values[j]
    return value


@kernel
def _carry(hoped: FloatArray, n_states: IntArray, ended: IntArray) -> FloatArray:
    """Return how likely an episode ends in each state, (H, S), by the next states hoped for (H-1, S, S)."""
    H, S = len(n_states), hoped.shape[1]
    reach, mass = np.zeros((H, S)), np.zeros(S)
    mass[0] = 1.0
    for h in range(H - 1):
        following = np.zeros(S)
        for s in range(n_states[h]):
            for j in range(n_states[h + 1]):
                if j == ended[h + 1]:
                    reach[h, s] = mass[s] * hoped[h, s, j]
                else:
                    following[j] += mass[s] * hoped[h, s, j]
        mass = following
    reach[H - 1] = mass
    return reach

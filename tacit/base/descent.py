"""L-BFGS for costs of some thousand parameters that take less time to evaluate than a general routine takes around it.

Each step goes along minus H g, where H is what the last steps and the changes of the gradient tell of the inverse of
the curvature (two loops over them), to a point that satisfies Wolfe's conditions: the cost fell by a share of what the
slope promised, and the slope is less steep than it was. So the curvature along each step is positive, and H stays so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.jit import kernel

MEMORY = 15
"""Steps that are remembered."""
FELL, FLATTER = 1e-3, 0.9
"""Of what the slope promises, how much the cost must fall; and of the slope, how much may be left."""
FARTHER, INSIDE = 4.0, 0.1
"""Times as far a search goes on at most where it still falls; and how near to an end of an interval it may look, in
lengths of it."""
MOST_TRIALS = 20
"""Points that are tried along one direction."""
LEAST_SLOPE = 1e-7
"""Of any parameter, at which it is a minimum."""

Cost = Callable[[FloatArray], tuple[float, FloatArray]]
"""Returns what parameters (N,) cost, and its gradient, an array of its own."""


class Point(NamedTuple):
    """Parameters (N,), what they cost, and its gradient (N,)."""

    at: FloatArray
    cost: float
    gradient: FloatArray


class Tried(NamedTuple):
    """A point along a direction: how far it is, what it costs, and the slope there."""

    far: float
    cost: float
    slope: float


def descend(cost: Cost, start: FloatArray, steps: int, least_gain: float) -> Point:
    """Return where at most so many steps from `start` lead to; one that gains less than that share is the last.

    >>> def valley(x):
    ...     return float(x[0] ** 2 + 9 * (x[1] - x[0]) ** 2), np.array([20 * x[0] - 18 * x[1], 18 * (x[1] - x[0])])
    >>> found = descend(valley, np.array([3.0, -1.0]), 30, 1e-12)
    >>> bool(np.abs(found.at).max() < 1e-4), found.cost < 1e-8
    (True, True)
    """
    now = Point(start, *cost(start))
    moves, turns, curvatures = *np.zeros((2, MEMORY, len(start))), np.zeros(MEMORY)
    for kept in range(steps):
        if np.abs(now.gradient).max(initial=0.0) <= LEAST_SLOPE:
            break
        along = find_direction(now.gradient, moves, turns, curvatures, kept)
        slope = float(now.gradient @ along)
        if not slope < 0:
            break
        first = 1.0 if kept else min(1.0, 1 / math.sqrt(-slope))
        then = _search(cost, now, along, slope, first)
        if then is None:
            break
        i = kept % MEMORY
        moves[i], turns[i] = then.at - now.at, then.gradient - now.gradient
        curvatures[i] = moves[i] @ turns[i]
        gained, now = now.cost - then.cost, then
        if gained <= least_gain * max(abs(now.cost), abs(now.cost + gained), 1.0):
            break
    return now


def _search(cost: Cost, begin: Point, along: FloatArray, slope: float, far: float) -> Point | None:
    """Return a point along a direction at which Wolfe's conditions hold, None where none of some is one."""
    low, high = Tried(0.0, begin.cost, slope), Tried(math.inf, math.inf, 0.0)
    for _ in range(MOST_TRIALS):
        at = begin.at + far * along
        value, gradient = cost(at)
        here = Tried(far, value, float(gradient @ along))
        if not value <= begin.cost + FELL * far * slope:
            high = here
        elif here.slope < FLATTER * slope:
            before, low = low, here
            if math.isinf(high.far):
                far = _go_on(before, low)
                continue
        else:
            return Point(at, value, gradient)
        far = _between(low, high)
    return None


def _go_on(before: Tried, last: Tried) -> float:
    """Return how far to look where the cost falls still: where two slopes, continued, come to nothing."""
    flatter = last.slope - before.slope
    step = -last.slope * (last.far - before.far) / flatter if flatter > 0 else math.inf
    return last.far + min(max(step, INSIDE * last.far), (FARTHER - 1) * last.far)


def _between(low: Tried, high: Tried) -> float:
    """Return how far the least of a parabola is, by the cost and slope at one end and the cost at the other."""
    width = high.far - low.far
    bend = high.cost - low.cost - low.slope * width
    share = -low.slope * width / (2 * bend) if 0 < bend < math.inf else 0.5
    return low.far + width * min(max(share, INSIDE), 1 - INSIDE)


@kernel
def find_direction(
    gradient: FloatArray, moves: FloatArray, turns: FloatArray, curvatures: FloatArray, kept: int
) -> FloatArray:
    """Return minus H g (N,) by the last `moves` of the parameters and `turns` of the gradient, (MEMORY, N)."""
    memory = len(curvatures)
    shares, along = np.zeros(memory), -gradient
    oldest = max(kept - memory, 0)
    for k in range(kept - 1, oldest - 1, -1):
        i = k % memory
        shares[i] = np.dot(moves[i], along) / curvatures[i]
        along -= shares[i] * turns[i]
    if kept:
        last = (kept - 1) % memory
        along *= curvatures[last] / np.dot(turns[last], turns[last])
    for k in range(oldest, kept):
        i = k % memory
        along += (shares[i] - np.dot(turns[i], along) / curvatures[i]) * moves[i]
    return along

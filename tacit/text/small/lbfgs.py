"""L-BFGS (Nocedal, 1980) with the line search of Moré and Thuente (1994): the least of a smooth function by its slopes.

It goes where L-BFGS-B goes without bounds, step by step, as SciPy has that with its default settings; what bounds need
took most of the time of a fit to few reactions. `tacit.base.descent` goes other ways: few of these fits come to an end
in the steps they have, so that other starts and ridges would be chosen.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.descent import Cost, Point, find_direction

MEMORY = 10
"""Steps that the curvature is read off."""
SETTLED, FLAT = 1e7 * float(np.finfo(np.float64).eps), 1e-5
"""Share of the value that a step must gain, and the steepest slope, by which the least is reached."""
DECREASE, CURVATURE, NARROW = 1e-3, 0.9, 0.1
"""Of a line: the share of the gain foretold that is enough, of the slope that may be left, and of a bracket's end."""
TRIALS, LONGEST = 20, 1e10
"""Points tried on a line, and how far."""
SHRINK = 0.66
"""Share of its width that a bracket keeps at most in two trials."""


class Spot(NamedTuple):
    """How far along a line, the function's value there and its slope along the line."""

    step: float
    value: float
    slope: float

    def tilted(self, slope: float) -> Spot:
        """Return the same of the function less a line of a slope."""
        return Spot(self.step, self.value - self.step * slope, self.slope - slope)


class Bracket(NamedTuple):
    """The lowest spot so far, the other end, and whether the least is known to lie between."""

    low: Spot
    other: Spot
    closed: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """Return the steps between which it is, the smaller one first."""
        return min(self.low.step, self.other.step), max(self.low.step, self.other.step)

    def tilted(self, slope: float) -> Bracket:
        """Return the same of the function less a line of a slope."""
        return Bracket(self.low.tilted(slope), self.other.tilted(slope), self.closed)


def find_lowest(objective: Cost, begin: FloatArray, steps: int) -> FloatArray:
    """Return where an objective with its slopes is least, or what was reached after so many steps.

    >>> find_lowest(lambda x: (float((x - 2) @ (x - 2)), 2 * (x - 2)), np.zeros(2), 5).round(6)
    array([2., 2.])
    """
    here = Point(begin, *objective(begin))
    moves, turns, curvatures, kept = *np.zeros((2, MEMORY, len(begin))), np.zeros(MEMORY), 0
    for step in range(steps):
        if np.abs(here.gradient).max() <= FLAT:
            break
        direction = find_direction(here.gradient, moves, turns, curvatures, kept)
        there = search_line(objective, here, direction, 1.0 if step else 1 / math.sqrt(direction @ direction))
        if there is None and not kept:
            break
        if there is None:
            kept = 0  # what was remembered misled
            continue
        before, here = here, there
        if before.cost - here.cost <= SETTLED * max(abs(before.cost), abs(here.cost), 1.0):
            break
        move, turn = here.at - before.at, here.gradient - before.gradient
        if move @ turn > -np.finfo(np.float64).eps * (before.gradient @ move):
            i, kept = kept % MEMORY, kept + 1
            moves[i], turns[i], curvatures[i] = move, turn, move @ turn
    return here.at


def search_line(objective: Cost, here: Point, direction: FloatArray, first: float) -> Point | None:
    """Return a point on a line that is low and flat enough, the step tried first; None: there is none."""
    start = Spot(0.0, here.cost, float(here.gradient @ direction))
    if start.slope >= 0:
        return None
    bracket, enough, widths = Bracket(start, start), DECREASE * start.slope, (2 * LONGEST, LONGEST)
    step, ends, tilting = min(first, LONGEST), (0.0, 5 * first), True
    for _ in range(TRIALS):
        at = here.at + step * direction
        there = Point(at, *objective(at))
        spot = Spot(step, there.cost, float(there.gradient @ direction))
        low = spot.value <= start.value + step * enough
        if (low and abs(spot.slope) <= -CURVATURE * start.slope) or (bracket.closed and pinched(step, ends)):
            return there
        tilting = tilting and not (low and spot.slope >= 0)
        tilt = enough if tilting and not low and spot.value <= bracket.low.value else 0.0
        bracket, step = narrow(bracket.tilted(tilt), spot.tilted(tilt), ends)
        bracket = bracket.tilted(-tilt)
        if bracket.closed:
            ends = bracket.ends
            if ends[1] - ends[0] >= SHRINK * widths[0]:
                step = (ends[0] + ends[1]) / 2
            widths = widths[1], ends[1] - ends[0]
        else:
            away = step - bracket.low.step
            ends = step + 1.1 * away, step + 4 * away
        step = min(max(step, 0.0), LONGEST)
        if bracket.closed and pinched(step, ends):
            step = bracket.low.step
    return None


def pinched(step: float, ends: tuple[float, float]) -> bool:
    """Return whether no step is left within the ends of a bracket."""
    return not ends[0] < step < ends[1] or ends[1] - ends[0] <= NARROW * ends[1]


def narrow(bracket: Bracket, spot: Spot, ends: tuple[float, float]) -> tuple[Bracket, float]:
    """Return the bracket with a spot in it, and the step to try next."""
    low, other, closed = bracket
    if spot.value > low.value:
        return Bracket(low, spot, True), step_back(low, spot)
    if spot.slope * low.slope < 0:
        towards = least_of_cubic(spot, low), level_of_secant(spot, low)
        return Bracket(spot, low, True), max(towards, key=lambda step: abs(step - spot.step))
    if abs(spot.slope) < abs(low.slope):
        step = step_on(bracket, spot, ends)
    else:
        step = least_of_cubic(spot, other) if closed else ends[spot.step > low.step]
    return Bracket(spot, other, closed), step


def step_back(low: Spot, spot: Spot) -> float:
    """Return a step towards a higher spot: the least of a cubic, or halfway to that of a parabola if it is nearer."""
    away = spot.step - low.step
    cubic = least_of_cubic(low, spot)
    parabola = low.step + low.slope / ((low.value - spot.value) / away + low.slope) / 2 * away
    nearer = abs(cubic - low.step) < abs(parabola - low.step)
    return cubic if nearer else cubic + (parabola - cubic) / 2


def step_on(bracket: Bracket, spot: Spot, ends: tuple[float, float]) -> float:
    """Return a step past a spot that is lower and flatter, by a cubic if it has a least there, or by a secant."""
    low, other, closed = bracket
    onwards, share = spot.step > low.step, share_of_cubic(spot, low)
    cubic = least_of_cubic(spot, low) if share < 0 else ends[onwards]
    pick = min if closed else max
    step = pick(level_of_secant(spot, low), cubic, key=lambda step: abs(step - spot.step))
    if not closed:
        return min(max(step, ends[0]), ends[1])
    limit = spot.step + SHRINK * (other.step - spot.step)
    return min(limit, step) if onwards else max(limit, step)


def least_of_cubic(a: Spot, b: Spot) -> float:
    """Return the step at which the cubic through two spots is least."""
    return a.step + share_of_cubic(a, b) * (b.step - a.step)


def share_of_cubic(a: Spot, b: Spot) -> float:
    """Return how far from one spot to another the cubic through both is least; 0 where it has no least."""
    theta = 3 * (a.value - b.value) / (b.step - a.step) + a.slope + b.slope
    scale = max(abs(theta), abs(a.slope), abs(b.slope))
    root = math.sqrt(max(0.0, (theta / scale) ** 2 - (a.slope / scale) * (b.slope / scale)))
    gamma = math.copysign(scale * root, b.step - a.step)
    return (gamma - a.slope + theta) / (gamma - a.slope + gamma + b.slope) if gamma else 0.0


def level_of_secant(a: Spot, b: Spot) -> float:
    """Return the step at which the slope is 0 if it changes evenly."""
    return a.step + a.slope / (a.slope - b.slope) * (b.step - a.step)

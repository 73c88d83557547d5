"""EULER (Zanette and Brunskill, 2019) on an MDP that rewards where episodes end: reaching one state (Algorithm 2).

With n visits of (s, a), empirical next-state distribution p, L = ln(4 S K T / delta') and delta' = delta/7,
the upper and lower values obey

    V_H(s)      given: 1{s = target} for homing, upper and lower alike, as the dummy reward is known
    b(V)        = √(2 Var_p(V) L / n) + H L / (3 max(n - 1, 1))  (dev. 10)
                  + (4 J + B_p) / n + B_v ‖upper_{h+1} - lower_{h+1}‖_{2,p} / √n
    upper_h(s)  = max_a min(1, p · upper_{h+1} + b(upper_{h+1}))
    lower_h(s)  = max(0, p · lower_{h+1} - b(lower_{h+1}))  at the maximising action

with J = H L / 3, B_v = √(2 L), B_p = H B_v; `bonus_scale` multiplies b (1: the theory's constants).

Where an episode can end early, the state of those that have ended is among the next states, and what it is worth
depends on the (h, s, a) that led there. A state whose endings are to be tried is passed by its best action, or tried:
left by a uniform one, with an ending there worth as much as it can be; the larger of both values is its own.
"""

import math

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.jit import kernel
from tacit.problem.layout import Layout

FAILURE_SPLIT = 7
"""EULER's proof spends delta on seven families of events."""
NO_WORTH, NO_TRIES = np.zeros((0, 0, 0)), np.zeros((0, 0), dtype=np.bool_)
"""What early endings are worth and which are to be tried, where there are none."""


def log_factor(layout: Layout, episodes: int, delta: float) -> float:
    """Return L = ln(4 S K T / delta'), with T the number of steps and delta' = delta / 7."""
    steps = episodes * layout.horizon
    return math.log(4 * int(layout.n_states.sum()) * layout.max_actions * steps * FAILURE_SPLIT / delta)


@kernel
def plan_euler(
    counts: FloatArray | IntArray,
    mask: BoolArray,
    n_states: IntArray,
    last_upper: FloatArray,
    last_lower: FloatArray,
    ended: IntArray,
    worth: FloatArray,
    tried: BoolArray,
    log_term: float,
    bonus_scale: float,
) -> tuple[IntArray, float, float]:
    """Return (policy (H-1, S) of actions, -1 for a uniform one, upper and lower value of the start state).

    `counts` (H-1, S, K, S) are the transitions seen, `last_upper` and `last_lower` (S,) the bounds on what the
    last layer is worth: for homing both are 1 at the target and 0 elsewhere. Among actions that look equally
    good the least tried is taken (dev. 9): at first all look perfect, and an arbitrary choice would try one
    alone until it stops to.

    `ended` (H,) is the layout's. Where it is not -1 an episode may have ended: it is worth `worth` (H, S, K) to end
    after an action, and up to that in the states to be `tried` (H, S), of which it is not known.
    """
    H, S, K = mask.shape
    policy = np.zeros((H - 1, S), dtype=np.int64)
    upper, lower, nothing = last_upper.copy(), last_lower.copy(), np.zeros(K)
    for h in range(H - 2, -1, -1):
        new_upper = np.zeros(S)
        new_lower = np.zeros(S)
        over = ended[h + 1]
        for s in range(n_states[h]):
            if s == ended[h]:
                continue
            rows, offered = counts[h, s, :, : n_states[h + 1]], mask[h, s]
            tries = over >= 0 and tried[h, s]
            brings = worth[h, s] if over >= 0 and not tries else nothing
            policy[h, s], new_upper[s], new_lower[s] = bounds_of_best(
                rows, offered, upper, lower, over, brings, H, log_term, bonus_scale
            )
            if tries:
                high, low = bounds_of_uniform(
                    rows, offered, upper, lower, over, worth[h, s], H, log_term, bonus_scale
                )
                if high >= new_upper[s]:
                    policy[h, s], new_upper[s], new_lower[s] = -1, high, low
        upper, lower = new_upper, new_lower
    return policy, upper[0], lower[0]


@kernel
def bounds_of_best(
    rows: FloatArray | IntArray,
    offered: BoolArray,
    upper: FloatArray,
    lower: FloatArray,
    over: int,
    worth: FloatArray,
    horizon: int,
    log_term: float,
    bonus_scale: float,
) -> tuple[int, float, float]:
    """Return the action with the largest upper value, and its upper and lower value; next states are in `rows` (K, S).

    The state `over` of episodes that have ended, -1 if there is none, is worth `worth` (K,).
    """
    chosen, best, lowest, fewest = 0, -1.0, 0.0, np.inf
    for a in range(len(offered)):
        if offered[a]:
            if over >= 0:
                upper[over] = lower[over] = worth[a]
            visits = float(rows[a].sum())
            high, low = bounds_after(rows[a], visits, upper, lower, horizon, log_term, bonus_scale)
            if high > best or (high == best and visits < fewest):
                chosen, best, lowest, fewest = a, high, low, visits
    return chosen, best, lowest


@kernel
def bounds_of_uniform(
    rows: FloatArray | IntArray,
    offered: BoolArray,
    upper: FloatArray,
    lower: FloatArray,
    over: int,
    worth: FloatArray,
    horizon: int,
    log_term: float,
    bonus_scale: float,
) -> tuple[float, float]:
    """Return the upper and lower value of a uniform action, with next states counted in `rows` (K, S).

    The state `over` of episodes that have ended is worth from 0 to `worth` (K,), whatever `upper` and `lower` say.
    """
    high = low = lower[over] = 0.0
    for a in range(len(offered)):
        if offered[a]:
            upper[over] = worth[a]
            bounds = bounds_after(rows[a], float(rows[a].sum()), upper, lower, horizon, log_term, bonus_scale)
            high += bounds[0]
            low += bounds[1]
    n = offered.sum()
    return high / n, low / n


@kernel
def bounds_after(
    row: FloatArray | IntArray,
    visits: float,
    upper: FloatArray,
    lower: FloatArray,
    horizon: int,
    log_term: float,
    bonus_scale: float,
) -> tuple[float, float]:
    """Return the upper and lower value of an action whose next states were counted in `row`."""
    if visits == 0.0:
        return 1.0, 0.0
    mean_up = mean_low = square_up = square_low = gap = 0.0
    for j in range(row.shape[0]):
        p = row[j] / visits
        mean_up += p * upper[j]
        mean_low += p * lower[j]
        square_up += p * upper[j] ** 2
        square_low += p * lower[j] ** 2
        gap += p * (upper[j] - lower[j]) ** 2
    B_v = math.sqrt(2.0 * log_term)
    J = horizon * log_term / 3.0
    common = J / max(visits - 1.0, 1.0) + (4.0 * J + horizon * B_v) / visits + B_v * math.sqrt(gap / visits)
    spread_up = B_v * math.sqrt(max(square_up - mean_up**2, 0.0) / visits)
    spread_low = B_v * math.sqrt(max(square_low - mean_low**2, 0.0) / visits)
    high = min(1.0, mean_up + bonus_scale * (spread_up + common))
    low = max(0.0, mean_low - bonus_scale * (spread_low + common))
    return high, low

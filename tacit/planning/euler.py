"""EULER (Zanette and Brunskill, 2019) on an MDP that rewards its last layer: reaching one state (Algorithm 2).

With n visits of (s, a), empirical next-state distribution p, L = ln(4 S K T / delta') and delta' = delta/7,
the upper and lower values obey

    V_H(s)      given: 1{s = target} for homing, upper and lower alike, as the dummy reward is known
    b(V)        = √(2 Var_p(V) L / n) + H L / (3 max(n - 1, 1))  (dev. 10)
                  + (4 J + B_p) / n + B_v ‖upper_{h+1} - lower_{h+1}‖_{2,p} / √n
    upper_h(s)  = max_a min(1, p · upper_{h+1} + b(upper_{h+1}))
    lower_h(s)  = max(0, p · lower_{h+1} - b(lower_{h+1}))  at the maximising action

with J = H L / 3, B_v = √(2 L), B_p = H B_v; `bonus_scale` multiplies b (1: the theory's constants).
"""

import math

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.jit import kernel
from tacit.problem.layout import Layout

FAILURE_SPLIT = 7
"""EULER's proof spends delta on seven families of events."""


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
    log_term: float,
    bonus_scale: float,
) -> tuple[IntArray, float, float]:
    """Return (policy (H-1, S) of actions, upper and lower value of the start state).

    `counts` (H-1, S, K, S) are the transitions seen, `last_upper` and `last_lower` (S,) the bounds on what the
    last layer is worth: for homing both are 1 at the target and 0 elsewhere. Among actions that look equally
    good the least tried is taken (dev. 9): at first all look perfect, and an arbitrary choice would try one
    alone until it stops to.
    """
    H, S, K = mask.shape
    policy = np.zeros((H - 1, S), dtype=np.int64)
    upper, lower = last_upper.copy(), last_lower.copy()
    for h in range(H - 2, -1, -1):
        new_upper = np.zeros(S)
        new_lower = np.zeros(S)
        for s in range(n_states[h]):
            best = -1.0
            fewest = np.inf
            for a in range(K):
                if mask[h, s, a]:
                    row = counts[h, s, a, : n_states[h + 1]]
                    visits = float(row.sum())
                    high, low = bounds_after(row, visits, upper, lower, H, log_term, bonus_scale)
                    if high > best or (high == best and visits < fewest):
                        best, fewest = high, visits
                        policy[h, s] = a
                        new_upper[s], new_lower[s] = high, low
        upper, lower = new_upper, new_lower
    return policy, upper[0], lower[0]


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

"""Slow, obvious twins of the kernels: enumeration, and formulas straight from the papers."""

import itertools
import math

import numpy as np


def all_deterministic_policies(layout):
    """Yield every deterministic policy (H, S, K)."""
    cells = [(h, s) for h in range(layout.horizon) for s in range(layout.n_states[h])]
    for choice in itertools.product(*(range(layout.n_actions[h, s]) for h, s in cells)):
        policy = np.zeros(layout.mask.shape)
        for (h, s), a in zip(cells, choice, strict=True):
            policy[h, s, a] = 1.0
        yield policy


def paths(mdp, policy):
    """Yield (probability, states, actions) of every path under `policy`."""

    def extend(probability, states, actions):
        h, s = len(actions), states[-1]
        for a in range(mdp.layout.n_actions[h, s]):
            p = probability * policy[h, s, a]
            if h == mdp.layout.horizon - 1:
                yield p, states, [*actions, a]
            else:
                for following in range(mdp.layout.n_states[h + 1]):
                    q = p * mdp.transitions[h, s, a, following]
                    if q > 0:
                        yield from extend(q, [*states, following], [*actions, a])

    yield from extend(1.0, [0], [])


def policy_value(mdp, context, policy):
    """Return the expected reward by summing over every path."""
    return sum(p * mdp.rewards[context, states[-1], actions[-1]] for p, states, actions in paths(mdp, policy))


def euler_bounds(mean_counts, upper, lower, horizon, log_term, scale):
    """Return EULER's upper and lower value of one action, term by term as its authors write them."""
    n = mean_counts.sum()
    if n == 0:
        return 1.0, 0.0
    p = mean_counts / n

    def variance(values):
        return max(p @ values**2 - (p @ values) ** 2, 0.0)

    def phi(values):
        return math.sqrt(2 * variance(values) * log_term / n) + horizon * log_term / (3 * max(n - 1, 1))

    J = horizon * log_term / 3
    B_v = math.sqrt(2 * log_term)
    B_p = horizon * B_v
    norm = math.sqrt(p @ (upper - lower) ** 2)
    correction = ((4 * J + B_p) / math.sqrt(n) + B_v * norm) / math.sqrt(n)
    high = min(1.0, p @ upper + scale * (phi(upper) + correction))
    low = max(0.0, p @ lower - scale * (phi(lower) + correction))
    return high, low


def plan_euler(counts, layout, target, log_term, scale):
    """Return (policy, upper, lower) of the start state by EULER's backward recursion."""
    H, S = layout.horizon, layout.max_states
    policy = np.zeros((H - 1, S), dtype=int)
    upper = np.eye(S)[target]
    lower = upper.copy()
    for h in reversed(range(H - 1)):
        following = layout.n_states[h + 1]
        highs, lows = np.zeros(S), np.zeros(S)
        for s in range(layout.n_states[h]):
            options = []
            for a in range(layout.n_actions[h, s]):
                row = counts[h, s, a, :following]
                high, low = euler_bounds(row, upper[:following], lower[:following], H, log_term, scale)
                options.append((high, -row.sum(), -a, low))
            best = max(options)
            policy[h, s], highs[s], lows[s] = -best[2], best[0], best[3]
        upper, lower = highs, lows
    return policy, upper[0], lower[0]

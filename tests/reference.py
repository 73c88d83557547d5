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


def hope_after(row, values, radius):
    """Return the most hopeful mean value after counts `row`, and its q, by halving for x in f(x) = radius / n."""
    n, top = row.sum(), int(np.argmax(values))
    if n == 0:
        return values[top], np.eye(len(row))[top]
    p, d, r = row / n, values[top] - values, radius / n
    seen = p > 0
    if d[seen].max() == 0:
        return values[top], p

    def f(x):
        return p[seen] @ np.log(x + d[seen]) + math.log((p[seen] / (x + d[seen])).sum())

    x, share = 0.0, math.exp(f(0.0) - r) if d[seen].min() > 0 else 1.0
    if share >= 1.0:
        low, high, share = -60.0, 60.0, 1.0
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if f(math.exp(middle)) > r else (low, middle)
        x = math.exp(low)
    q = np.zeros(len(row))
    q[seen] = p[seen] / (x + d[seen])
    q *= share / q.sum()
    q[top] += 1 - share
    return q @ values, q


def plan_optimistic(counts, layout, ended, worth, tried, radius):
    """Return (choices, reach, value) by the backward recursion of `tacit.planning.optimism`, state by state."""
    H, S = layout.horizon, layout.max_states
    choices, hoped = np.zeros((H - 1, S), dtype=int), np.zeros((H - 1, S, S))
    values = worth[-1].max(axis=1)
    for h in reversed(range(H - 1)):
        n, over, best = layout.n_states[h + 1], ended[h + 1], np.zeros(S)

        def hope(s, a, ending, h=h, n=n, over=over, values=values):
            values = values.copy()
            if over >= 0:
                values[over] = ending
            value, q = hope_after(counts[h, s, a, :n], values[:n], radius)
            return value, np.pad(q, (0, S - n))

        for s in [s for s in range(layout.n_states[h]) if s != ended[h]]:
            actions = range(layout.n_actions[h, s])
            options = [hope(s, a, 0.0 if tried[h, s] else worth[h, s, a]) for a in actions]
            order = [(round(options[a][0], 12), -counts[h, s, a].sum(), -a) for a in actions]
            choices[h, s] = -max(order)[2]
            best[s], hoped[h, s] = options[choices[h, s]]
            if over >= 0 and tried[h, s]:
                uniform = [hope(s, a, worth[h, s, a]) for a in actions]
                if np.mean([value for value, _ in uniform]) >= best[s]:
                    choices[h, s], best[s] = -1, np.mean([value for value, _ in uniform])
                    hoped[h, s] = np.mean([q for _, q in uniform], axis=0)
        values = best
    reach, mass = np.zeros((H, S)), np.eye(S)[0]
    for h in range(H - 1):
        following = mass @ hoped[h]
        if ended[h + 1] >= 0:
            reach[h] = mass * hoped[h, :, ended[h + 1]]
            following[ended[h + 1]] = 0.0
        mass = following
    reach[-1] = mass
    return choices, reach, values[0]


def log_drawn(counts, k):
    """Return the log likelihood of counts drawn one by one, each next of k values by those before and 1/2 for each."""
    total, seen = 0.0, {}
    for z, c in enumerate(counts):
        for _ in range(int(c)):
            total += math.log((seen.get(z, 0) + 0.5) / (sum(seen.values()) + k / 2))
            seen[z] = seen.get(z, 0) + 1
    return total


def nats_apart(table, others):
    """Return by how many nats a table (K, n) is likelier drawn by laws of its own than by those of others (m, K, n)."""
    nats = 0.0
    for a in range(len(table)):
        rest = sum(other[a] for other in others)
        k = int(np.count_nonzero(table[a] + rest))
        nats += log_drawn(table[a], k) + log_drawn(rest, k) - log_drawn(table[a] + rest, k)
    return nats

"""Slow, obvious twins of `tacit.planning.occupancy`: one flat vector, dense matrices, and CVXPY's own words."""

import numpy as np


def reachable_states(transitions, masks):
    """Return, for each layer, which states some policy reaches: an existing action leads there from one."""
    reached = [np.array([True])]
    for P, mask in zip(transitions, masks, strict=False):
        reached.append(((P > 0) & (mask & reached[-1][:, None])[:, :, None]).any(axis=(0, 1)))
    return reached


def flow_system(transitions, masks):
    """Return (A, b, pairs): the flow constraints A q = b over the pairs (h, s, a) that can have mass."""
    reached = reachable_states(transitions, masks)
    states = [(h, s) for h, layer in enumerate(reached) for s in np.flatnonzero(layer)]
    pairs = [(h, s, a) for h, s in states for a in np.flatnonzero(masks[h][s])]
    row = {state: i for i, state in enumerate(states)}
    A = np.zeros((len(states), len(pairs)))
    for k, (h, s, a) in enumerate(pairs):
        A[row[h, s], k] += 1.0
        if h < len(transitions):
            for following in np.flatnonzero(reached[h + 1]):
                A[row[h + 1, following], k] -= transitions[h][s, a, following]
    return A, np.eye(len(states))[0], pairs


def flat(layers, pairs):
    """Return the entries (h, s, a) of per-layer arrays as one vector."""
    return np.array([layers[h][s, a] for h, s, a in pairs])


def objective(q, r, gamma):
    """Return sum q r + (1/gamma) sum log q."""
    return float(q @ r + np.log(q).sum() / gamma)


def carry_forward(transitions, policy):
    """Return the occupancy, one (S_h, K) array a layer, of a policy."""
    occupancy = [policy[0]]
    for P, layer in zip(transitions, policy[1:], strict=True):
        mass = np.einsum("sa,sat->t", occupancy[-1], P)
        occupancy.append(mass[:, None] * layer)
    return occupancy


def repaired(q, pairs, transitions, masks):
    """Return the feasible occupancy of the policy of an almost feasible, almost positive flat q."""
    weight = [np.where(mask, 1e-300, 0.0) for mask in masks]
    for value, (h, s, a) in zip(q, pairs, strict=True):
        weight[h][s, a] = max(value, 1e-30)
    policy = [layer / layer.sum(axis=1, keepdims=True) for layer in weight]
    return carry_forward(transitions, policy)


def solve_dense(transitions, rewards, gamma, masks, tolerance=1e-13):
    """Return (flat q, pairs): damped Newton on the dual b'u - sum log(A'u - gamma r), all matrices dense."""
    A, b, pairs = flow_system(transitions, masks)
    c = gamma * flat(rewards, pairs)
    H = len(rewards)
    margin = np.ptp(c) + 1.0
    level = {h: (H - h) * (c.max() + margin) for h in range(H)}  # every slack is at least `margin`
    u = np.array([level[h] for h, s in dict.fromkeys((h, s) for h, s, _ in pairs)])
    for _ in range(2000):
        slack = A.T @ u - c
        gradient = b - A @ (1 / slack)
        hessian = (A / slack**2) @ A.T
        scale = 1 / np.sqrt(np.diag(hessian))
        direction = -scale * np.linalg.solve(hessian * np.outer(scale, scale), scale * gradient)
        decrement = np.sqrt(max(-gradient @ direction, 0.0))
        u = u + direction / (1.0 + decrement if decrement > 0.25 else 1.0)
        if decrement < tolerance**0.5:
            return 1 / (A.T @ u - c), pairs
    raise AssertionError("the reference did not converge")


def solve_cvxpy(transitions, rewards, gamma, masks):
    """Return (flat q, pairs) as CVXPY with Clarabel finds it, or (None, pairs) where the solver gives up."""
    import cvxpy
    import scipy.sparse

    A, b, pairs = flow_system(transitions, masks)
    q = cvxpy.Variable(len(pairs))
    value = flat(rewards, pairs) @ q + cvxpy.sum(cvxpy.log(q)) / gamma
    problem = cvxpy.Problem(cvxpy.Maximize(value), [scipy.sparse.csr_array(A) @ q == b])
    try:
        problem.solve(solver=cvxpy.CLARABEL)
    except cvxpy.error.SolverError:
        return None, pairs
    return q.value, pairs

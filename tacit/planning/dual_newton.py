"""The structured dual Newton method behind `tacit.planning.occupancy`: Algorithm 4, line 6.

The dual of the occupancy problem has one variable per state,

    min over v:  v_1(s_1) - (1/gamma) sum_{h,s,a} log( v_h(s) - r_h(s,a) - sum_s' P(s'|s,a) v_{h+1}(s') ),

and q = 1 / (gamma slack), where slack is the argument of the logarithm. The kernels work in units of
1/gamma and relative to the values V of the best policy: with u = gamma (v - V) and the advantages
A = gamma (r + P V' - V) <= 0, slack = u - A - P u' loses no digits, however large gamma r is. They keep
p = 1/slack, which is q at the optimum and 0 where there is nothing to choose.

- Start: a policy gives every state its mass d; backwards, each state's u solves sum_a p(s,a) = d(s). The
  result is strictly feasible for the dual, and close to its optimum if the policy was.
- Certificate: the normalised p is a policy, and carried forward a feasible q = ratio p, ratio(s) being the
  mass it brings to s over sum_a p(s,a). Its gap is sum_{s,a} phi(ratio(s) - 1) / gamma with
  phi(t) = t - log(1 + t): a sum of positive terms, so nothing cancels.
- Step: Newton's method in primal-dual form: the weights q/slack stand where the Hessian of the dual has
  1/slack^2. They agree at the optimum and need half the steps from afar. The matrix is block-tridiagonal
  over layers. The direction descends on the dual, and an exact line search along it makes every start good.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.jit import kernel
from tacit.planning.block_cholesky import add_outer, factor, solve_transposed, solve_upper

TOLERANCE = 1e-12
"""On gamma * gap. As phi(t) is about t^2/2, every q is then within 1.5e-6 of itself of the optimum."""
MAX_ITERATIONS = 200
"""Random problems (gamma r up to 1e9; cold, warm and from wrong starts) have needed 34 at most."""
LEVEL_TOLERANCE = 1e-6
"""Relative error of a state's value in the starting sweep; Newton's method removes what is left."""
LEAST_SHARE = 1e-12
"""What the starting policy gives every action at least: a wrong start then cannot hide a state."""
LEAST_MASS = 1e-120
"""A state of less mass counts as never reached; its square would come close to underflow."""
START_LIMIT = 10.0
"""A start with a larger gamma * gap for each (s, a) is worse than none: the uniform policy replaces it."""
FULL_STEP = 0.25
"""Norm of the relative change of the slack below which the whole Newton step decreases the dual ..."""
FULL_STEP_SLOPE = 0.75
"""... if its slope is this part of the norm squared: more than 1 / (2 (1 - FULL_STEP)) is enough."""
LINE_TOLERANCE = 0.05
"""Newton decrement at which the line search ends; 1e-4 would save one Newton step in a hundred."""
SERIES_BELOW = 1e-3
"""Below it phi(t) comes from its series, of which the first term left out is then 3e-16 of the sum."""


class PackedProblem(NamedTuple):
    """A problem in arrays padded to S states and K actions."""

    transitions: FloatArray  # (H-1, S, K, S)
    rewards: FloatArray  # (H, S, K); inside the solver the advantages, -inf where there is no action
    mask: BoolArray  # (H, S, K)
    n_states: IntArray  # (H,)


@kernel
def solve_packed(
    transitions: FloatArray,
    rewards: FloatArray,
    mask: BoolArray,
    n_states: IntArray,
    gamma: float,
    start: FloatArray,
    warm: bool,
    tolerance: float = TOLERANCE,
) -> tuple[FloatArray, FloatArray, float, int, bool]:
    """Return (policy (H, S, K), v (H, S), gap, iterations, converged) of a problem in padded arrays.

    C-contiguous, not validated, not changed: transitions (H-1, S, K, S), rewards and mask (H, S, K),
    n_states (H,), and start v (H, S), read only if `warm`. What is padded or masked may be any finite number.
    """
    H, S, K = rewards.shape
    best, advantages = _advantages(transitions, rewards, mask, n_states, gamma)
    problem = PackedProblem(transitions, advantages, mask, n_states)
    u, p, ratio, gap = np.zeros((H, S)), np.zeros((H, S, K)), np.zeros((H, S)), np.inf
    if warm:
        _start(problem, gamma * start - best, True, u, p)
        gap = _certify(problem, p, ratio)
    if not gap <= START_LIMIT * mask.sum():
        _start(problem, u, False, u, p)
        gap = _certify(problem, p, ratio)
    iterations = 0
    if gap > tolerance:
        system = _System(np.zeros((H, S, S)), np.zeros((H, S, S)), np.zeros((H, S)), np.zeros((H, S, K)))
        while gap > tolerance and iterations < MAX_ITERATIONS:
            slope = _newton_direction(problem, p, ratio, system)
            _step(problem, system.direction, slope, u, p)
            gap = _certify(problem, p, ratio)
            iterations += 1
    return _policy(p, mask, n_states), (best + u) / gamma, gap / gamma, iterations, bool(gap <= tolerance)


class _System(NamedTuple):
    """The linear system of a Newton step."""

    factors: FloatArray  # (H, S, S): the diagonal blocks, then their upper Cholesky factors U
    couplings: FloatArray  # (H, S, S): the blocks between layers h and h+1, then X = U^-T times them
    direction: FloatArray  # (H, S): the right-hand side, then the step in u
    weights: FloatArray  # (H, S, K): q/slack


@kernel
def _expect(P: FloatArray, values: FloatArray, n: int, after: int, out: FloatArray) -> None:
    """Set out(s,a) = sum_s' P(s'|s,a) values(s') for n states, with `after` states in the next layer.

    Four partial sums: without fast-math a single one would wait for every addition.
    """
    whole = after - after % 4
    for s in range(n):
        for a in range(out.shape[1]):
            t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
            for j in range(0, whole, 4):
                t0 += P[s, a, j] * values[j]
                t1 += P[s, a, j + 1] * values[j + 1]
                t2 += P[s, a, j + 2] * values[j + 2]
                t3 += P[s, a, j + 3] * values[j + 3]
            for j in range(whole, after):
                t0 += P[s, a, j] * values[j]
            out[s, a] = (t0 + t1) + (t2 + t3)


@kernel
def carry_mass(P: FloatArray, q: FloatArray, n: int, after: int, mass: FloatArray) -> None:
    """Add sum_{s,a} q(s,a) P(s'|s,a) to the mass of the next layer."""
    for s in range(n):
        for a in range(q.shape[1]):
            if q[s, a] > 0.0:
                for j in range(after):
                    mass[j] += q[s, a] * P[s, a, j]


@kernel
def _advantages(
    P: FloatArray, r: FloatArray, mask: BoolArray, n: IntArray, gamma: float
) -> tuple[FloatArray, FloatArray]:
    """Return gamma V, (H, S), of the best policy and the advantages gamma (r + P V' - V), (H, S, K)."""
    H, S, K = r.shape
    best, advantages = np.zeros((H, S)), np.zeros((H, S, K))
    for h in range(H - 1, -1, -1):
        if h < H - 1:
            _expect(P[h], best[h + 1], n[h], n[h + 1], advantages[h])
        for s in range(n[h]):
            top = -np.inf
            for a in range(K):
                advantages[h, s, a] += gamma * r[h, s, a]
                if not mask[h, s, a]:
                    advantages[h, s, a] = -np.inf
                top = max(top, advantages[h, s, a])
            best[h, s] = top
            for a in range(K):
                advantages[h, s, a] -= top
    return best, advantages


@kernel
def _start(problem: PackedProblem, values: FloatArray, warm: bool, u: FloatArray, p: FloatArray) -> None:
    """Set u and p to a feasible start: forward for the mass of the states, then backward for u.

    Forward, a state responds to the next layer's `values`, or plays the uniform policy if not `warm`.
    """
    H, S, K = p.shape
    n = problem.n_states
    mass = np.zeros((H, S))
    mass[0, 0] = 1.0
    for h in range(H - 1):
        if warm:
            _respond(problem, h, values, mass[h], u[h], p[h])
        for s in range(n[h]):
            actions = 0
            for a in range(K):
                actions += problem.mask[h, s, a]
            for a in range(K):
                share = max(p[h, s, a], mass[h, s] * LEAST_SHARE) if warm else mass[h, s] / actions
                p[h, s, a] = share if problem.mask[h, s, a] else 0.0
        carry_mass(problem.transitions[h], p[h], n[h], n[h + 1], mass[h + 1])
    for h in range(H - 1, -1, -1):
        _respond(problem, h, u, mass[h], u[h], p[h])


@kernel
def _respond(
    problem: PackedProblem, h: int, values: FloatArray, mass: FloatArray, u: FloatArray, p: FloatArray
) -> None:
    """Set the u and p of layer h with sum_a p(s,a) = mass(s), given the next layer's `values`; 0 if no mass.

    p(a) = 1 / (y + max Q - Q(a)) with Q = A + P u'. The reciprocal of sum_a p is concave in y: from
    y = 1 / mass, left of the root, Newton's method rises to the root and never passes it.
    """
    K = p.shape[1]
    if h < len(problem.transitions):
        _expect(problem.transitions[h], values[h + 1], problem.n_states[h], problem.n_states[h + 1], p)
    else:
        p[:] = 0.0
    for s in range(problem.n_states[h]):
        top, u[s] = -np.inf, 0.0
        for a in range(K):
            p[s, a] += problem.rewards[h, s, a]
            top = max(top, p[s, a])
        if mass[s] < LEAST_MASS:
            p[s] = 0.0
            continue
        y, rise = 1.0 / mass[s], np.inf
        while rise > LEVEL_TOLERANCE * y:
            total, squares = 0.0, 0.0
            for a in range(K):
                share = 1.0 / (y + (top - p[s, a]))
                total += share
                squares += share * share
            rise = (total / mass[s] - 1.0) * total / squares
            y += max(rise, 0.0)
        u[s] = top + y
        for a in range(K):
            p[s, a] = 1.0 / (y + (top - p[s, a]))


@kernel
def _phi(t: float) -> float:
    """Return t - log(1 + t)."""
    if abs(t) < SERIES_BELOW:
        return t * t * (1 / 2 - t * (1 / 3 - t * (1 / 4 - t * (1 / 5 - t * (1 / 6 - t / 7)))))
    return t - math.log1p(t)


@kernel
def _certify(problem: PackedProblem, p: FloatArray, ratio: FloatArray) -> float:
    """Return gamma * gap of the policy proportional to p, and set ratio(s) = q/p, the same for all a."""
    P, _, mask, n = problem
    H, S, K = p.shape
    mass, q = np.zeros((H, S)), np.zeros((S, K))
    mass[0, 0] = 1.0
    gap = 0.0
    for h in range(H):
        for s in range(n[h]):
            total, actions = 0.0, 0
            for a in range(K):
                total += p[h, s, a]
                actions += mask[h, s, a]
            if total > 0.0:
                ratio[h, s] = mass[h, s] / total
                gap += actions * _phi(ratio[h, s] - 1.0)
            for a in range(K):
                q[s, a] = ratio[h, s] * p[h, s, a]
        if h < H - 1:
            carry_mass(P[h], q, n[h], n[h + 1], mass[h + 1])
    return gap


@kernel
def _policy(p: FloatArray, mask: BoolArray, n_states: IntArray) -> FloatArray:
    """Return p normalised in each state, (H, S, K); uniform over `mask` where it is zero."""
    H, S, K = p.shape
    policy = np.zeros((H, S, K))
    for h in range(H):
        for s in range(n_states[h]):
            total, actions = 0.0, 0
            for a in range(K):
                total += p[h, s, a]
                actions += mask[h, s, a]
            for a in range(K):
                policy[h, s, a] = p[h, s, a] / total if total > 0.0 else mask[h, s, a] / actions
    return policy


@kernel
def _newton_direction(problem: PackedProblem, p: FloatArray, ratio: FloatArray, system: _System) -> float:
    """Set the direction in u and return its slope, minus the derivative of the dual along it.

    Forward over layers, eliminate: U'U = block - X'X, X = U^-T coupling; then backward, substitute.
    """
    n = problem.n_states
    U, X, x, _ = system
    U[:], X[:], x[:] = 0.0, 0.0, 0.0
    x[0, 0] = -1.0
    slope = 0.0
    H = len(n)
    minus = np.full(p.shape[1], -1.0)
    for h in range(H):
        _add_layer(problem, h, p, ratio, system)
        factor(U[h], n[h])
        solve_transposed(U[h], x[h].reshape(-1, 1), n[h], 1)
        for s in range(n[h]):
            slope += x[h, s] * x[h, s]
        if h < H - 1:
            solve_transposed(U[h], X[h], n[h], n[h + 1])
            add_outer(U[h + 1], X[h], minus[: n[h]], n[h + 1])
            for s in range(n[h]):
                for j in range(n[h + 1]):
                    x[h + 1, j] -= X[h, s, j] * x[h, s]
    for h in range(H - 1, -1, -1):
        if h < H - 1:
            for s in range(n[h]):
                for j in range(n[h + 1]):
                    x[h, s] -= X[h, s, j] * x[h + 1, j]
        solve_upper(U[h], x[h], n[h])
    return slope


@kernel
def _add_layer(problem: PackedProblem, h: int, p: FloatArray, ratio: FloatArray, system: _System) -> None:
    """Add what the pairs (s, a) of layer h contribute to the matrix and to the right-hand side.

    With the weight w = ratio p^2: w to the diagonal of layer h, -w P to the coupling, w P P' to layer h+1; p
    and -p P to the right-hand side, which is what flows out minus what flows in.
    """
    H, S, K = p.shape
    n = problem.n_states
    U, X, x, weights = system
    for s in range(n[h]):
        for a in range(K):
            q, w = p[h, s, a], ratio[h, s] * p[h, s, a] ** 2
            weights[h, s, a] = w
            U[h, s, s] += w
            x[h, s] += q
            if h < H - 1 and q > 0.0:
                for j in range(n[h + 1]):
                    X[h, s, j] -= w * problem.transitions[h, s, a, j]
                    x[h + 1, j] -= q * problem.transitions[h, s, a, j]
    if h < H - 1:
        rows = problem.transitions[h].reshape(S * K, S)
        add_outer(U[h + 1], rows, weights[h].reshape(S * K)[: n[h] * K], n[h + 1])


@kernel
def _step(problem: PackedProblem, direction: FloatArray, slope: float, u: FloatArray, p: FloatArray) -> None:
    """Move u and p along `direction`: the whole way near the optimum, else to the minimum of the dual."""
    P, _, _, n = problem
    H, S, K = p.shape
    change = np.zeros((H, S, K))  # relative change of the slack
    norm2 = 0.0
    for h in range(H):
        if h < H - 1:
            _expect(P[h], direction[h + 1], n[h], n[h + 1], change[h])
        for s in range(n[h]):
            for a in range(K):
                change[h, s, a] = (direction[h, s] - change[h, s, a]) * p[h, s, a]
                norm2 += change[h, s, a] ** 2
    length = 1.0
    if norm2 > FULL_STEP**2 or slope < FULL_STEP_SLOPE * norm2:
        length = _line_search(change, direction[0, 0])
    for h in range(H):
        for s in range(n[h]):
            u[h, s] += length * direction[h, s]
            for a in range(K):
                p[h, s, a] /= 1.0 + length * change[h, s, a]


@kernel
def _line_search(change: FloatArray, rise: float) -> float:
    """Return the t > 0 that minimises t rise - sum log(1 + t change), by damped Newton steps from 0.

    The function is self-concordant: a step shortened by 1 + its decrement stays where it is defined.
    """
    t = 0.0
    for _ in range(MAX_ITERATIONS):
        first, second = rise, 0.0
        for e in change.ravel():
            y = e / (1.0 + t * e)
            first -= y
            second += y * y
        decrement = abs(first) / math.sqrt(second)
        if decrement < LINE_TOLERANCE:
            break
        t -= first / second / (1.0 + decrement)
    return t

"""The occupancy problem of policy learning, solved through its dual: Algorithm 4, line 6.

Each episode of Algorithm 4 asks for

    max over q in mu(P):  sum_{h,s,a} q_h(s,a) r_h(s,a) + (1/gamma) sum_{h,s,a} log q_h(s,a),

where mu(P) are the occupancy measures of the layered dynamics P: mass 1 in the start state, and what
flows into a state flows out of it. The dual has one variable per state,

    min over v:  v_1(s_1) - (1/gamma) sum_{h,s,a} log( v_h(s) - r_h(s,a) - sum_s' P(s'|s,a) v_{h+1}(s') ),

and q = 1 / (gamma slack), where slack is the argument of the logarithm; `tacit.planning.dual_newton` solves it.

A state that no policy reaches under P has no occupancy whose logarithm is finite. Such states are left
out of the sum (dev. 31): their occupancy is 0, their policy uniform.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.jit import kernel
from tacit.planning.dual_newton import LEAST_MASS, TOLERANCE, carry_mass, solve_packed

ROW_SUM_TOLERANCE = 1e-6
"""How far a transition row may miss one: the rounding of single precision, which is no mistake."""
NO_FAULT, BAD_START, BAD_MASK, BAD_REWARD, BAD_TRANSITION = range(5)
NO_FLAGS = np.zeros(0, dtype=np.bool_)
"""The masks of a problem in which every action exists."""


@dataclass(frozen=True)
class OccupancySolution:
    """The optimal occupancy measure with its certificate; every list has one array a layer.

    `occupancy` and `policy` are (S_h, K), zero where an action does not exist; `dual` is v, (S_h,),
    accepted as `start`. `gap` is the dual objective minus `objective`, that of the returned occupancy;
    `flow_residual` is the largest violation of a flow constraint.
    """

    occupancy: list[FloatArray]
    policy: list[FloatArray]
    dual: list[FloatArray]
    objective: float
    gap: float
    flow_residual: float
    iterations: int
    converged: bool


def solve_occupancy(
    transitions: Sequence[ArrayLike],
    rewards: Sequence[ArrayLike],
    gamma: float,
    start: Sequence[ArrayLike] | None = None,
    masks: Sequence[ArrayLike] | None = None,
    tolerance: float = TOLERANCE,
) -> OccupancySolution:
    """Return the occupancy measure that maximises sum q r + (1/gamma) sum log q, with its certificate.

    `transitions[h]` is (S_h, K, S_{h+1}) for every layer but the last, `rewards[h]` (S_h, K), `masks[h]`
    (S_h, K) and True where the action exists, `start` the `dual` of a similar problem. The solver stops at
    gamma * gap <= `tolerance`.

    >>> solution = solve_occupancy([], [[[1.0, 0.0]]], gamma=2.0)
    >>> solution.occupancy[0].round(4), solution.converged
    (array([[0.7071, 0.2929]]), True)
    """
    for name, value in (("gamma", gamma), ("tolerance", tolerance)):
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be positive and finite, got {value!r}; give a number above 0")
    numbers, flags, sizes, K = _string(transitions, rewards, masks, start)
    warm, n_states = start is not None, np.array(sizes)
    fault, certificate, occupancy, policy, dual = _solve(
        numbers, flags, n_states, K, float(gamma), warm, float(tolerance)
    )
    if fault.kind != NO_FAULT:
        _explain(fault, *_lay_out(numbers, flags, n_states, K, warm))
    return OccupancySolution(
        [occupancy[h, :n] for h, n in enumerate(sizes)],
        [policy[h, :n] for h, n in enumerate(sizes)],
        [dual[h, :n] for h, n in enumerate(sizes)],
        *certificate,
    )


def _string(
    transitions: Sequence[ArrayLike],
    rewards: Sequence[ArrayLike],
    masks: Sequence[ArrayLike] | None,
    start: Sequence[ArrayLike] | None,
) -> tuple[FloatArray, BoolArray, list[int], int]:
    """Return all numbers in a row, all masks in a row, the layers' sizes and K; raise if shapes do not fit.

    At the paper's size a NumPy call costs as much as a Newton step, so the arrays are strung together here
    and laid out, checked and solved in one kernel.
    """
    shapes = [np.shape(r) for r in rewards]
    if not shapes or any(len(s) != 2 or 0 in s or s[1] != shapes[0][-1] for s in shapes) or shapes[0][0] != 1:
        raise ValueError(
            "rewards must be one (states, actions) array a layer, with one state in the first layer and the "
            f"same number of actions in all, got shapes {shapes}; pad the actions and pass masks"
        )
    sizes, K = [s[0] for s in shapes], shapes[0][1]
    _check_shapes("transitions", transitions, [(n, K, after) for n, after in pairwise(sizes)])
    if start is not None:
        _check_shapes("start", start, [(n,) for n in sizes])
    numbers = np.concatenate([*transitions, *rewards, *(start or ())], axis=None, dtype=np.float64)
    if masks is None:
        return numbers, NO_FLAGS, sizes, K
    _check_shapes("masks", masks, shapes)
    return numbers, np.concatenate(masks, axis=None, dtype=np.bool_, casting="unsafe"), sizes, K


def _check_shapes(name: str, arrays: Sequence[ArrayLike], shapes: list[Any]) -> None:
    found = [np.shape(array) for array in arrays]
    if found != shapes:
        raise ValueError(
            f"{name} must have shapes {shapes} to fit the rewards, got {found}; "
            "give one array a layer (transitions: none for the last), axes in the order (s, a, s')"
        )


class _Fault(NamedTuple):
    """The kind and place of what is wrong with a problem."""

    kind: int
    h: int
    s: int
    a: int


class _Certificate(NamedTuple):
    """The fields of `OccupancySolution` that are no arrays, in its order."""

    objective: float
    gap: float
    flow_residual: float
    iterations: int
    converged: bool


def _explain(fault: _Fault, P: FloatArray, r: FloatArray, mask: BoolArray, start: FloatArray) -> NoReturn:
    """Raise the error that says what is wrong, where, and what to do."""
    kind, h, s, a = fault
    place = f"in layer {h}, state {s}"
    if kind == BAD_START:
        raise ValueError(f"start must be finite, got {start[h, s]} {place}; leave it out to start cold")
    if kind == BAD_MASK:
        raise ValueError(
            f"every state must have an action, got the mask {mask[h, s]} {place}; "
            "remove the state or give it an action"
        )
    if kind == BAD_REWARD:
        raise ValueError(
            f"rewards must be finite, got {r[h, s, a]} {place}, action {a}; "
            "mask the actions that do not exist"
        )
    raise ValueError(
        f"transition rows must be nonnegative and sum to one, got {P[h, s, a]} {place}, action {a}; "
        "normalise the row or mask the action"
    )


@kernel
def _solve(
    numbers: FloatArray, flags: BoolArray, n: IntArray, K: int, gamma: float, warm: bool, tolerance: float
) -> tuple[_Fault, _Certificate, FloatArray, FloatArray, FloatArray]:
    """Return (fault, certificate, occupancy, policy (H, S, K), dual (H, S)); no use if there is a fault."""
    P, r, mask, start = _lay_out(numbers, flags, n, K, warm)
    fault = _find_fault(P, r, mask, n, start)
    if fault.kind != NO_FAULT:
        return fault, _Certificate(0.0, 0.0, 0.0, 0, False), r, r, start
    policy, dual, gap, iterations, converged = solve_packed(P, r, mask, n, gamma, start, warm, tolerance)
    occupancy, objective, residual = _evaluate(P, r, n, gamma, policy)
    return fault, _Certificate(objective, gap, residual, iterations, converged), occupancy, policy, dual


@kernel
def _lay_out(
    numbers: FloatArray, flags: BoolArray, n: IntArray, K: int, warm: bool
) -> tuple[FloatArray, FloatArray, BoolArray, FloatArray]:
    """Return (P, r, mask, v) padded, from all transitions, rewards and start values, and all masks, in a row.

    What stands where no action exists is not looked at: it becomes zero.
    """
    H, S = len(n), n.max()
    P, r, v = np.zeros((H - 1, S, K, S)), np.zeros((H, S, K)), np.zeros((H, S))
    mask = np.zeros((H, S, K), dtype=np.bool_)
    at = 0
    flag = 0
    for h in range(H):
        for s in range(n[h]):
            for a in range(K):
                mask[h, s, a] = len(flags) == 0 or flags[flag]
                flag += 1
    for h in range(H - 1):
        for s in range(n[h]):
            for a in range(K):
                if mask[h, s, a]:
                    P[h, s, a, : n[h + 1]] = numbers[at : at + n[h + 1]]
                at += n[h + 1]
    for h in range(H):
        for s in range(n[h]):
            for a in range(K):
                if mask[h, s, a]:
                    r[h, s, a] = numbers[at]
                at += 1
    if warm:
        for h in range(H):
            v[h, : n[h]] = numbers[at : at + n[h]]
            at += n[h]
    return P, r, mask, v


@kernel
def _find_fault(P: FloatArray, r: FloatArray, mask: BoolArray, n: IntArray, start: FloatArray) -> _Fault:
    """Return the first fault."""
    H, _, K = r.shape
    for h in range(H):
        for s in range(n[h]):
            if not mask[h, s].any():
                return _Fault(BAD_MASK, h, s, 0)
            if not np.isfinite(start[h, s]):
                return _Fault(BAD_START, h, s, 0)
            for a in range(K):
                if not np.isfinite(r[h, s, a]):
                    return _Fault(BAD_REWARD, h, s, a)
                if h < H - 1 and mask[h, s, a]:
                    total, least = 0.0, 0.0
                    for j in range(n[h + 1]):
                        total += P[h, s, a, j]
                        least = min(least, P[h, s, a, j])
                    if not (least == 0.0 and abs(total - 1.0) <= ROW_SUM_TOLERANCE):
                        return _Fault(BAD_TRANSITION, h, s, a)
    return _Fault(NO_FAULT, 0, 0, 0)


@kernel
def _evaluate(
    P: FloatArray, r: FloatArray, n: IntArray, gamma: float, policy: FloatArray
) -> tuple[FloatArray, float, float]:
    """Return a policy's occupancy, (H, S, K), its objective over reached pairs and its flow residual."""
    H, S, K = policy.shape
    occupancy, inflow = np.zeros((H, S, K)), np.zeros((H, S))
    inflow[0, 0] = 1.0
    objective, residual = 0.0, 0.0
    for h in range(H):
        for s in range(n[h]):
            outflow = 0.0
            for a in range(K):
                q = inflow[h, s] * policy[h, s, a]
                occupancy[h, s, a] = q
                outflow += q
                if q > 0.0 and inflow[h, s] >= LEAST_MASS:
                    objective += q * r[h, s, a] + math.log(q) / gamma
            residual = max(residual, abs(outflow - inflow[h, s]))
        if h < H - 1:
            carry_mass(P[h], occupancy[h], n[h], n[h + 1], inflow[h + 1])
    return occupancy, objective, residual

"""The occupancy problem of policy learning, solved through its dual: Algorithm 4, line 6.

Each episode of Algorithm 4 asks for

    max over q in mu(P):  sum_{h,s,a} q_h(s,a) r_h(s,a) + (1/gamma) sum_{h,s,a} log q_h(s,a),

where mu(P) are the occupancy measures of the layered dynamics P: mass 1 in the start state, and what
flows into a state flows out of it. The dual has one variable per state,

    min over v:  v_1(s_1) - (1/gamma) sum_{h,s,a} log( v_h(s) - r_h(s,a) - sum_s' P(s'|s,a) v_{h+1}(s') ),

and q = 1 / (gamma slack), where slack is the argument of the logarithm; `tacit.dual_newton` solves it.

A state that no policy reaches under P has no occupancy whose logarithm is finite. Such states are left
out of the sum: their occupancy is 0, their policy uniform.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.dual_newton import LEAST_MASS, TOLERANCE, PackedProblem, carry_mass, solve_packed
from tacit.jit import kernel
from tacit.layout import BoolArray, FloatArray, IntArray

ROW_SUM_TOLERANCE = 1e-6
"""How far a transition row may miss one: the rounding of single precision, which is no mistake."""


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
    problem = _pack(transitions, rewards, masks)
    _check_problem(problem, gamma, tolerance)
    values = _pack_start(start, problem)
    policy, dual, gap, iterations, converged = solve_packed(
        *problem, float(gamma), values, start is not None, float(tolerance)
    )
    occupancy, objective, flow_residual = _evaluate(*problem, float(gamma), policy)
    layers = list(enumerate(problem.n_states.tolist()))
    return OccupancySolution(
        occupancy=[occupancy[h, :n] for h, n in layers],
        policy=[policy[h, :n] for h, n in layers],
        dual=[dual[h, :n] for h, n in layers],
        objective=float(objective),
        gap=float(gap),
        flow_residual=float(flow_residual),
        iterations=iterations,
        converged=bool(converged),
    )


def _pack(
    transitions: Sequence[ArrayLike], rewards: Sequence[ArrayLike], masks: Sequence[ArrayLike] | None
) -> PackedProblem:
    """Return copies of the arrays, padded with zeros, or raise if their shapes do not fit together."""
    layers = [np.asarray(r, dtype=np.float64) for r in rewards]
    shapes = [r.shape for r in layers]
    if not shapes or any(len(s) != 2 or 0 in s or s[1] != shapes[0][-1] for s in shapes) or shapes[0][0] != 1:
        raise ValueError(
            "rewards must be one (states, actions) array a layer, with one state in the first layer and the "
            f"same number of actions in all, got shapes {shapes}; pad the actions and pass masks"
        )
    n_states, K = [s[0] for s in shapes], shapes[0][1]
    rows = _arrays("transitions", transitions, np.float64, [(n, K, after) for n, after in pairwise(n_states)])
    exists = None if masks is None else _arrays("masks", masks, np.bool_, shapes)
    H, S = len(layers), max(n_states)
    P, r, mask = np.zeros((H - 1, S, K, S)), np.zeros((H, S, K)), np.zeros((H, S, K), dtype=np.bool_)
    for h, n in enumerate(n_states):
        r[h, :n], mask[h, :n] = layers[h], True if exists is None else exists[h]
        if h < H - 1:
            P[h, :n, :, : n_states[h + 1]] = rows[h]
    if exists is not None:  # what stands where no action exists is not looked at
        r[~mask], P[~mask[:-1]] = 0.0, 0.0
    return PackedProblem(P, r, mask, np.array(n_states, dtype=np.int64))


def _arrays(name: str, given: Sequence[ArrayLike], dtype: type, shapes: list[Any]) -> list[NDArray[Any]]:
    arrays: list[NDArray[Any]] = [np.asarray(array, dtype=dtype) for array in given]
    if [array.shape for array in arrays] != shapes:
        raise ValueError(
            f"{name} must have shapes {shapes} to fit the rewards, got {[array.shape for array in arrays]}; "
            "give one array a layer (transitions: none for the last), axes in the order (s, a, s')"
        )
    return arrays


def _pack_start(start: Sequence[ArrayLike] | None, problem: PackedProblem) -> FloatArray:
    values = np.zeros(problem.mask.shape[:2])
    if start is not None:
        layers = _arrays("start", start, np.float64, [(n,) for n in problem.n_states.tolist()])
        for h, layer in enumerate(layers):
            values[h, : len(layer)] = layer
        if not np.isfinite(values).all():
            raise ValueError(f"start must be finite, got {layers}; leave it out to start cold")
    return values


def _check_problem(problem: PackedProblem, gamma: float, tolerance: float) -> None:
    """Raise ValueError unless gamma, tolerance, rewards, masks and transitions are those of a problem."""
    for name, value in (("gamma", gamma), ("tolerance", tolerance)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be positive and finite, got {value!r}; give a number above 0")
    fault, h, s, a = _find_fault(*problem)
    if fault == "reward":
        raise ValueError(
            f"rewards must be finite, got {problem.rewards[h, s, a]} in layer {h}, state {s}, action {a}; "
            "mask the actions that do not exist"
        )
    if fault == "mask":
        raise ValueError(
            f"every state must have an action, got the mask {problem.mask[h, s]} in layer {h}, state {s}; "
            "remove the state or give it an action"
        )
    if fault == "transition":
        raise ValueError(
            f"transition rows must be nonnegative and sum to one, got {problem.transitions[h, s, a]} "
            f"in layer {h}, state {s}, action {a}; normalise the row or mask the action"
        )


@kernel
def _find_fault(P: FloatArray, r: FloatArray, mask: BoolArray, n: IntArray) -> tuple[str, int, int, int]:
    """Return the kind and the place (h, s, a) of the first fault, "" if there is none."""
    H, _, K = r.shape
    for h in range(H):
        for s in range(n[h]):
            if not mask[h, s].any():
                return "mask", h, s, 0
            for a in range(K):
                if not np.isfinite(r[h, s, a]):
                    return "reward", h, s, a
                if h < H - 1 and mask[h, s, a]:
                    total, least = 0.0, 0.0
                    for j in range(n[h + 1]):
                        total += P[h, s, a, j]
                        least = min(least, P[h, s, a, j])
                    if not (least == 0.0 and abs(total - 1.0) <= ROW_SUM_TOLERANCE):
                        return "transition", h, s, a
    return "", 0, 0, 0


@kernel
def _evaluate(
    P: FloatArray, r: FloatArray, mask: BoolArray, n: IntArray, gamma: float, policy: FloatArray
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

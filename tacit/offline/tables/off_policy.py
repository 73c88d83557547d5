"""Off-policy estimators of V(pi) = E[r] from n logged episodes, each with its standard error.

With rho_{1:h} the product over steps up to h of pi(a | s, x) / p(a | s, x), r the reward at the end, and, from the
estimated dynamics P and rewards f, Q_h(s, a) = f(x, s, a) at the end and sum_s' P(s' | s, a) V_{h+1}(s') before it,
V_h(s) = sum_a pi(a | s, x) Q_h(s, a):

    importance_sampling   1/n sum rho_{1:H} r
    self_normalised       sum rho_{1:H} r / sum rho_{1:H}
    model_based           1/n sum V_1(x)
    doubly_robust         1/n sum V_1(x) + sum_h rho_{1:h} ( r_h + V_{h+1}(s_{h+1}) - Q_h(s_h, a_h) )

where r_h is 0 before the end. Where an episode can end early, Q_h(s, a) is Pr[ended | s, a] f(x, s, a) more. The
 doubly robust estimate takes P and f from the half of the episodes that a term is not
in, so that it is unbiased if the logged probabilities are right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.offline.estimators import (
    MOST_WEIGHT,
    Estimated,
    are_too_large,
    episode_weights,
    estimate_mean,
    importance_sampling,
    self_normalised,
)
from tacit.offline.tables.paths import LoggedPaths

ESTIMATORS = ("importance_sampling", "self_normalised", "model_based", "doubly_robust")


class Dynamics(NamedTuple):
    """Estimated dynamics, of each layer P (S_h, K, S) and N(s, a) (S_h, K); f and its variance (S_H, G, K), tuples."""

    transitions: list[FloatArray]
    visits: list[IntArray]
    rewards: FloatArray
    spread: FloatArray
    tuples: FloatArray


class PlannedValues(NamedTuple):
    """Q (contexts, H, S, K) and V (contexts, H, S) of a policy under estimated dynamics."""

    Q: FloatArray
    V: FloatArray


def estimate_values(
    paths: LoggedPaths, policies: FloatArray, ratios: FloatArray, rewards: FloatArray
) -> dict[str, Estimated]:
    """Return every estimate; policies (contexts, H, S, K), ratios pi/p (n, H), the reward of each episode (n,).

    Those that weigh episodes are not finite where a weight is too large, or all are 0.
    """
    modelled = model_based(paths, policies, estimate_dynamics(paths, rewards))
    if are_too_large(ratios):
        weighed = dict.fromkeys(ESTIMATORS, Estimated(math.nan, math.inf))
        return weighed | {"model_based": modelled}
    weights = episode_weights(ratios)
    return {
        "importance_sampling": importance_sampling(weights, rewards),
        "self_normalised": self_normalised(weights, rewards),
        "model_based": modelled,
        "doubly_robust": doubly_robust(paths, policies, ratios, rewards, rewards),
    }


def model_based(paths: LoggedPaths, policies: FloatArray, dynamics: Dynamics) -> Estimated:
    """Return 1/n sum V_1(x); its variance by the delta method, from the rows of counts that it is made of.

        Var = 1/n Var[V_1(x)]  +  sum_{s,g,a} D(s,g,a)^2 Var[r | s,g,a] / N(s,g,a)
              + sum_{h,s,a} Var_{s' ~ P(. | s,a)}[ 1/n sum_x d_h(s,a | x) V_{h+1}(s' | x) ] / N(s,a),

    with d the occupancy of the policy and D(s,g,a) its mean over the contexts of group g.
    """
    values = backward_values(paths, policies, dynamics)
    share = np.bincount(paths.owner, minlength=len(paths.contexts)) / len(paths)  # (contexts,)
    start = values.V[:, 0, 0]
    value = float(share @ start)
    variance = float(share @ (start - value) ** 2) / len(paths)
    occupancy = forward_occupancy(policies, dynamics.transitions)  # (contexts, H, S, K)
    ended, ending_rewards = paths.layout.ended, place_rewards(paths, dynamics)
    for h, P in enumerate(dynamics.transitions):
        occupied = occupancy[:, h, : len(P)]
        reached = np.einsum("x,xsa,xk->sak", share, occupied, values.V[:, h + 1])  # (S_h, K, S)
        if ended[h + 1] >= 0:
            brought = ending_rewards[:, h, : len(P)]
            reached[:, :, ended[h + 1]] = np.einsum("x,xsa,xsa->sa", share, occupied, brought)
        spread = (P * reached**2).sum(axis=-1) - (P * reached).sum(axis=-1) ** 2
        rows = np.zeros(occupancy.shape[2:])  # summed as wide as the largest layer
        rows[: len(P)] = spread / np.maximum(dynamics.visits[h], 1)
        variance += float(rows.sum())
    mass = np.zeros_like(dynamics.tuples)
    endings, chances = paths.layout.endings, ending_chances(paths, dynamics)
    for e, (h, s) in enumerate(zip(endings.layers, endings.states, strict=True)):
        np.add.at(mass[e], paths.groups[:, e], share[:, None] * occupancy[:, h, s] * chances[e])
    variance += float((mass**2 * dynamics.spread / np.maximum(dynamics.tuples, 1)).sum())
    return Estimated(value, math.sqrt(max(variance, 0.0)))


def doubly_robust(
    paths: LoggedPaths,
    policies: FloatArray,
    ratios: FloatArray,
    earned: FloatArray,
    rewards: FloatArray,
) -> Estimated:
    """Return the mean of the doubly robust terms, each with dynamics from the half that its episode is not in.

    `earned` (n,) is what each episode brought, `rewards` (n,) what the model takes it to have brought.
    """
    terms = np.empty(len(paths))
    for side in (0, 1):
        own, other = (side, 1 - side) if len(paths) > 1 else (0, 0)
        dynamics = estimate_dynamics(paths.halves[other], rewards[other::2])
        values = backward_values(paths, policies, dynamics)
        terms[own::2] = robust_terms(paths.halves[own], ratios[own::2], earned[own::2], values)
    return estimate_mean(terms)


def robust_terms(
    paths: LoggedPaths, ratios: FloatArray, earned: FloatArray, values: PlannedValues
) -> FloatArray:
    """Return V_1(x) + sum_h rho_{1:h} (r_h + V_{h+1}(s_{h+1}) - Q_h(s_h, a_h)) of each episode, (n,)."""
    x, H = paths.owner, paths.layout.horizon
    terms, rho = np.array(values.V[x, 0, 0]), np.ones(len(paths))
    for h in range(H):
        rho = rho * ratios[:, h]
        ahead = np.where(paths.lengths == h + 1, earned, 0.0)
        if h < H - 1:
            ahead += values.V[x, h + 1, paths.states[:, h + 1]]
        terms += rho * (ahead - values.Q[x, h, paths.states[:, h], paths.actions[:, h]])
    return terms


def estimate_dynamics(paths: LoggedPaths, rewards: FloatArray) -> Dynamics:
    """Return the smoothed counts of Algorithm 4, line 5, and the mean reward of each (s, g, a).

    `rewards` (n,) are those of the episodes. An action that nobody tried is taken to be worth nothing, as in dev. 5.
    """
    total, square, n = np.zeros((3, paths.groups.shape[1], paths.n_groups, paths.layout.max_actions))
    at = (paths.endings, paths.last_group, paths.last_actions)
    for into, amount in ((n, np.ones(len(paths))), (total, rewards), (square, rewards**2)):
        np.add.at(into, at, amount)
    mean = np.where(n > 0, total / np.maximum(n, 1), 0.0)
    spread = np.where(n > 0, square / np.maximum(n, 1) - mean**2, 0.25)  # of an untried action, the largest
    transitions = [P for P, _ in paths.transitions]
    return Dynamics(transitions, [visits for _, visits in paths.transitions], mean, spread, n)


def backward_values(paths: LoggedPaths, policies: FloatArray, dynamics: Dynamics) -> PlannedValues:
    """Return Q and V of the policies by backward induction, for all contexts at once."""
    X, (H, S, K) = len(paths.contexts), paths.layout.mask.shape
    Q, V = np.zeros((X, H, S, K)), np.zeros((X, H, S))
    endings = paths.layout.endings
    Q[:, endings.layers, endings.states] = _rewards_of(paths, dynamics) * ending_chances(paths, dynamics)
    V[:, -1] = (policies[:, -1] * Q[:, -1]).sum(axis=-1)
    for h in range(H - 2, -1, -1):
        P = dynamics.transitions[h]
        Q[:, h, : len(P)] += np.einsum("sak,xk->xsa", P, V[:, h + 1])
        V[:, h] = (policies[:, h] * Q[:, h]).sum(axis=-1)
    return PlannedValues(Q, V)


def ending_chances(paths: LoggedPaths, dynamics: Dynamics) -> FloatArray:
    """Return how likely an episode ends after each action of each ending, (S_H, K)."""
    endings = paths.layout.endings
    chances = endings.mask.astype(np.float64)
    for e in range(endings.early):
        h = endings.layers[e]
        chances[e] = dynamics.transitions[h][endings.states[e], :, endings.ended[h + 1]]
    return chances


def place_rewards(paths: LoggedPaths, dynamics: Dynamics) -> FloatArray:
    """Return what ending after each action brings each context, (contexts, H, S, K)."""
    endings, placed = paths.layout.endings, np.zeros((len(paths.contexts), *paths.layout.mask.shape))
    if endings.early:
        placed[:, endings.layers, endings.states] = _rewards_of(paths, dynamics)
    return placed


def _rewards_of(paths: LoggedPaths, dynamics: Dynamics) -> FloatArray:
    """Return the rewards of each context in each ending, (contexts, S_H, K)."""
    return np.asarray(dynamics.rewards[np.arange(paths.groups.shape[1])[None, :], paths.groups])


def forward_occupancy(policies: FloatArray, transitions: Sequence[FloatArray]) -> FloatArray:
    """Return d_h(s, a | x) of the policies, (contexts, H, S, K)."""
    occupancy = np.zeros_like(policies)
    reach = np.zeros((policies.shape[0], policies.shape[2]))  # (contexts, S)
    reach[:, 0] = 1.0
    for h in range(policies.shape[1]):
        occupancy[:, h] = reach[:, :, None] * policies[:, h]
        if h < len(transitions):
            P = transitions[h]
            reach = np.einsum("xsa,sak->xk", occupancy[:, h, : len(P)], P)
    return occupancy


def untried_mass(paths: LoggedPaths, policies: FloatArray, ratios: FloatArray) -> float:
    """Return the share of the policy's episodes, at most over the steps, that take an action nobody took in that state.

    max_h 1/n sum rho_{1:h-1} sum over untried a of pi(a | s_h, x)
    """
    worst, rho = 0.0, np.ones(len(paths))
    for h in range(paths.layout.horizon):
        tried = np.zeros(paths.layout.mask.shape[1:], dtype=np.bool_)
        tried[paths.states[:, h], paths.actions[:, h]] = True
        chances = policies[paths.owner, h, paths.states[:, h]]  # (n, K)
        missed = (chances * ~tried[paths.states[:, h]]).sum(axis=1)
        worst = max(worst, float(rho @ missed) / len(paths))
        rho = np.minimum(rho * ratios[:, h], MOST_WEIGHT)
    return worst

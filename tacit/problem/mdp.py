"""The layered contextual MDP as it truly is, and exact planning and evaluation from it (section 2).

The truth is known in simulation only: environments hold one, experiments compute exact regret from it,
agents never see it. Axis order is (h, s, a, s'), padded as `Layout` says; a reward is given where an episode ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.jit import kernel
from tacit.problem.layout import Layout, existing_transitions

SUM_TOLERANCE = 1e-9
"""How far a row of probabilities may be from one: rounding of a few hundred float64 terms."""


@dataclass(frozen=True)
class ContextualMDP:
    """The true model: who comes, where actions lead, what is rewarded, how it is reported.

    `context_probabilities` (X,), `transitions` (H-1, S, K, S), `rewards` f*(x, s, a) (X, S_H, K) and
    `feedback_probabilities` Pr[y | x, s, r] (X, S_H, 2, Y) over the layout's endings. An episode that ends early makes
    the transition to the state of those that have ended. The X contexts and Y feedback values are the truth's own; an
    environment may show vectors in their place.
    """

    layout: Layout
    context_probabilities: FloatArray
    transitions: FloatArray
    rewards: FloatArray
    feedback_probabilities: FloatArray

    def __post_init__(self) -> None:
        check_mdp(self)

    @property
    def n_contexts(self) -> int:
        """Return the number of contexts the truth distinguishes."""
        return len(self.context_probabilities)


@dataclass(frozen=True)
class OptimalPlan:
    """The best that is possible: `values` V*(x) (X,), deterministic `policies` (X, H, S, K)."""

    values: FloatArray
    policies: FloatArray


def solve_optimal(mdp: ContextualMDP) -> OptimalPlan:
    """Return the optimal value and policy of every context by backward induction.

    V_h(s) = max_a [ r_h(s, a) + sum_s' P(s'|s, a) V_{h+1}(s') ].
    """
    layout = mdp.layout
    values = np.empty(mdp.n_contexts)
    policies = np.zeros((mdp.n_contexts, *layout.mask.shape))
    for x in range(mdp.n_contexts):
        rewards = expected_rewards(mdp, x)
        values[x], policies[x] = plan_backward(mdp.transitions, rewards, layout.mask, layout.n_states)
    return OptimalPlan(values, policies)


def evaluate_policy(mdp: ContextualMDP, context: int, policy: FloatArray) -> float:
    """Return V(policy) for one context: the expected reward of playing `policy` (H, S, K) there."""
    check_policy(mdp.layout, policy)
    return policy_value(mdp.transitions, expected_rewards(mdp, context), policy, mdp.layout.n_states)


def expected_rewards(mdp: ContextualMDP, context: int) -> FloatArray:
    """Return what each (h, s, a) brings a context by ending there, (H, S, K)."""
    return mdp.layout.endings.spread(mdp.rewards[context], mdp.transitions)


def largest_reach(mdp: ContextualMDP) -> FloatArray:
    """Return p*_s = max over policies of the probability of reaching s, for every state, (H, S)."""
    layout = mdp.layout
    reach = np.zeros((layout.horizon, layout.max_states))
    for h in range(layout.horizon):
        for s in range(layout.n_states[h]):
            rewards = np.zeros(layout.mask.shape)
            rewards[h, s] = 1.0
            reach[h, s], _ = plan_backward(mdp.transitions, rewards, layout.mask, layout.n_states)
    return reach


def state_distribution(mdp: ContextualMDP, policy: FloatArray) -> FloatArray:
    """Return P^policy(s), the probability of visiting each state, (H, S)."""
    check_policy(mdp.layout, policy)
    return forward_distribution(mdp.transitions, policy, mdp.layout.n_states)


def check_policy(layout: Layout, policy: FloatArray) -> None:
    """Raise ValueError unless `policy` is (H, S, K) with a distribution over each state's actions."""
    policy = np.asarray(policy)
    if policy.shape != layout.mask.shape:
        raise ValueError(
            f"a policy must have the shape {layout.mask.shape} (layers, states, actions), "
            f"got {policy.shape}; pad smaller layers with zeros"
        )
    exists = layout.n_actions > 0
    if (
        not np.all(np.isfinite(policy))
        or np.any(policy < 0)
        or np.any(policy[~layout.mask] != 0)
        or np.any(np.abs(policy.sum(axis=2)[exists] - 1) > SUM_TOLERANCE)
    ):
        raise ValueError(
            "a policy must give each state non-negative probabilities that sum to one over the actions it "
            "offers and zero elsewhere; normalise the rows and zero the padding"
        )


def check_mdp(mdp: ContextualMDP) -> None:
    """Raise ValueError unless shapes agree, rewards lie in [0, 1] and probabilities sum to one."""
    layout = mdp.layout
    H, S, K = layout.mask.shape
    X, S_H = len(mdp.context_probabilities), layout.endings.size
    check_shape("transitions", mdp.transitions, (H - 1, S, K, S))
    check_shape("rewards", mdp.rewards, (X, S_H, K))
    check_shape("feedback_probabilities", mdp.feedback_probabilities[..., :1], (X, S_H, 2, 1))
    if not np.all(np.isfinite(mdp.rewards)) or np.any(mdp.rewards < 0) or np.any(mdp.rewards > 1):
        raise ValueError(
            "rewards are probabilities of success and must be finite numbers in [0, 1], "
            f"got values from {np.min(mdp.rewards)} to {np.max(mdp.rewards)}; rescale them"
        )
    check_distributions("context_probabilities", mdp.context_probabilities)
    check_distributions("feedback_probabilities", mdp.feedback_probabilities)
    for h in range(H - 1):
        rows = mdp.transitions[h][layout.mask[h]]
        check_distributions(f"transitions of layer {h}", rows[:, : layout.n_states[h + 1]])
        if layout.ends_early and np.any(mdp.transitions[h][~existing_transitions(layout, h)] != 0):
            raise ValueError(
                f"transitions of layer {h} must lead to states of the next layer, and to that of episodes that have "
                "ended only from itself and from states in which an episode can end; see `Layout.ends`"
            )


def check_shape(what: str, array: FloatArray, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless `array` has `shape`."""
    if array.shape != shape:
        raise ValueError(f"{what} must have the shape {shape}, got {array.shape}; see tacit.problem.layout")


def check_distributions(what: str, rows: FloatArray) -> None:
    """Raise ValueError unless every row (last axis) is a probability distribution."""
    sums = rows.sum(axis=-1)
    if not np.all(np.isfinite(rows)) or np.any(rows < 0) or np.any(np.abs(sums - 1) > SUM_TOLERANCE):
        worst = sums.flat[np.argmax(np.abs(sums - 1))] if np.all(np.isfinite(sums)) else np.nan
        raise ValueError(
            f"{what} must be non-negative and each row must sum to one, got a row that sums to {worst:.6g}; "
            "divide each row by its sum"
        )


@kernel
def plan_backward(
    transitions: FloatArray, rewards: FloatArray, mask: BoolArray, n_states: IntArray
) -> tuple[float, FloatArray]:
    """Return (optimal value from the start state, deterministic optimal policy (H, S, K))."""
    H, S, K = mask.shape
    policy = np.zeros((H, S, K))
    value = np.zeros(S)
    for h in range(H - 1, -1, -1):
        upper = np.zeros(S)
        for s in range(n_states[h]):
            best = -np.inf
            chosen = 0
            for a in range(K):
                if mask[h, s, a]:
                    q = rewards[h, s, a]
                    if h < H - 1:
                        for j in range(n_states[h + 1]):
                            q += transitions[h, s, a, j] * value[j]
                    if q > best:
                        best = q
                        chosen = a
            upper[s] = best
            policy[h, s, chosen] = 1.0
        value = upper
    return value[0], policy


@kernel
def forward_distribution(transitions: FloatArray, policy: FloatArray, n_states: IntArray) -> FloatArray:
    """Return the probability of visiting each state under `policy`, (H, S)."""
    H, S, K = policy.shape
    visits = np.zeros((H, S))
    visits[0, 0] = 1.0
    for h in range(H - 1):
        for s in range(n_states[h]):
            for a in range(K):
                mass = visits[h, s] * policy[h, s, a]
                if mass > 0.0:
                    for j in range(n_states[h + 1]):
                        visits[h + 1, j] += mass * transitions[h, s, a, j]
    return visits


@kernel
def policy_value(
    transitions: FloatArray, rewards: FloatArray, policy: FloatArray, n_states: IntArray
) -> float:
    """Return the expected sum of rewards (H, S, K) of playing `policy`."""
    H, _, K = policy.shape
    visits = forward_distribution(transitions, policy, n_states)
    value = 0.0
    for h in range(H):
        for s in range(n_states[h]):
            for a in range(K):
                value += visits[h, s] * policy[h, s, a] * rewards[h, s, a]
    return value

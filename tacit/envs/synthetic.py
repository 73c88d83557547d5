"""The paper's synthetic MDP (section 5.1) and the variants that tell learners apart."""

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.envs.layered import LayeredEnv
from tacit.problem.layout import Layout
from tacit.problem.mdp import ContextualMDP

NAMES = (("s1 good",), ("s2 good", "s2 bad"), ("s3 good", "s3 bad"))

VARIANTS: dict[str, dict[str, float | bool]] = {
    "synthetic": {"honest": 0.7, "personal": False},
    "balanced": {"honest": 0.5, "personal": False},
    "personal": {"honest": 0.5, "personal": True},
    "flipped": {"honest": 0.3, "personal": False},
}
"""The paper's setting, and three in which believing the feedback fails: see `synthetic_mdp`."""


def synthetic(variant: str = "synthetic") -> LayeredEnv:
    """Return one of the named settings of `VARIANTS` as an environment.

    >>> synthetic("balanced").mdp.context_probabilities
    array([0.5, 0.5])
    """
    if variant not in VARIANTS:
        raise ValueError(f"variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    choice = VARIANTS[variant]
    return LayeredEnv(synthetic_mdp(honest=float(choice["honest"]), personal=bool(choice["personal"])))


def synthetic_mdp(
    honest: float = 0.7,
    p: float = 0.1,
    p_reward: float = 0.1,
    n_actions: int = 5,
    horizon: int = 3,
    personal: bool = False,
) -> ContextualMDP:
    """Return the paper's MDP, all its numbers free.

    Context 0 (True, with probability `honest`) reports y = r, context 1 (False) reports y = 1 - r. From a
    good state the first action stays good with probability 1 - p, any other with probability p; a bad
    state stays bad. In the last good state the best action is rewarded with probability 1 - p_reward, the
    others with p_reward; in the last bad state nothing is. With `personal`, the best last action of
    context 1 is the last one in place of the first.

    >>> from tacit.problem.mdp import solve_optimal
    >>> solve_optimal(synthetic_mdp()).values.round(3)
    array([0.729, 0.729])
    """
    sizes = [1] + [2] * (horizon - 1)
    names = NAMES if horizon == 3 else None
    layout = Layout.regular(sizes, n_actions, n_contexts=2, n_feedback=2, names=names)
    rewards = np.zeros((2, sizes[-1], n_actions))
    rewards[:, 0, :] = p_reward
    rewards[0, 0, 0] = 1 - p_reward
    rewards[1, 0, -1 if personal else 0] = 1 - p_reward
    return ContextualMDP(
        layout=layout,
        context_probabilities=np.array([honest, 1 - honest]),
        transitions=_transitions(layout, p),
        rewards=rewards,
        feedback_probabilities=_flipped_feedback(sizes[-1]),
    )


def _transitions(layout: Layout, p: float) -> FloatArray:
    H, S, K = layout.mask.shape
    transitions = np.zeros((H - 1, S, K, S))
    if H > 1:
        transitions[:, 0, 0, :] = [1 - p, p]
        transitions[:, 0, 1:, :] = [p, 1 - p]
        transitions[1:, 1, :, 1] = 1.0  # bad stays bad; the first layer has no bad state
    return transitions


def _flipped_feedback(n_last: int) -> FloatArray:
    feedback = np.zeros((2, n_last, 2, 2))  # (x, s, r, y)
    feedback[0] = np.eye(2)
    feedback[1] = np.eye(2)[::-1]
    return feedback

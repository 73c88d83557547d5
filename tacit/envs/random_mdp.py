"""Seeded random layered MDPs of any size, built to satisfy (or nearly to violate) Assumption 2.3."""

from dataclasses import dataclass

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.envs.layered import Clouds, LayeredEnv
from tacit.problem.layout import Layout, consecutive_states
from tacit.problem.mdp import ContextualMDP
from tacit.problem.records import Space
from tacit.problem.spaces import Finite, Vectors

UNLIKELY = 1e-3
"""Probability mass per row that leads to a hardly reachable state."""


@dataclass(frozen=True)
class RandomMDPSettings:
    """What kind of random problem to draw; the defaults are healthy and small.

    `theta` and `M` bound every heterogeneous last state: its best action is rewarded with at least
    `theta`, all its actions together with at most `M`. `homogeneous` and `unreachable` are numbers of last
    states, taken from the end of the layer. `ragged` gives states different numbers of actions, at least
    `min_actions`. `feedback_values` are split in two for each (context, state), one half said when
    rewarded; with `vectors` > 0 contexts and feedback are shown as vectors of that dimension.
    """

    layers: int = 3
    states: int = 4
    actions: int = 4
    contexts: int = 2
    feedback_values: int = 4
    theta: float = 0.8
    M: float = 1.2
    c: float = 0.0
    homogeneous: int = 1
    unreachable: int = 0
    ragged: bool = False
    min_actions: int = 3
    vectors: int = 0

    def __post_init__(self) -> None:
        if self.homogeneous + self.unreachable >= self.states and self.layers > 1:
            raise ValueError(
                f"homogeneous + unreachable last states must be fewer than states = {self.states}, "
                f"got {self.homogeneous} + {self.unreachable}; otherwise there is nothing to learn"
            )
        if not 0 < self.theta <= self.M or self.theta > 1:
            raise ValueError(f"0 < theta <= min(M, 1) must hold, got theta={self.theta}, M={self.M}")
        if self.feedback_values < 2 or self.actions < 2 or self.min_actions < 2:
            raise ValueError(
                "feedback_values, actions and min_actions must be at least 2, got "
                f"{self.feedback_values}, {self.actions} and {self.min_actions}"
            )


def random_mdp(seed: int, settings: RandomMDPSettings | None = None) -> LayeredEnv:
    """Return a random environment; the same seed and settings give the same problem.

    >>> env = random_mdp(3, RandomMDPSettings(layers=2, states=3))
    >>> env.layout.n_states.tolist()
    [1, 3]
    """
    settings = settings or RandomMDPSettings()
    generator = np.random.default_rng([seed, 20_26])
    layout = _layout(generator, settings)
    mdp = ContextualMDP(
        layout=layout,
        context_probabilities=generator.dirichlet(np.full(settings.contexts, 5.0)),
        transitions=_transitions(generator, layout, settings),
        rewards=_rewards(generator, layout, settings),
        feedback_probabilities=_feedback(generator, layout, settings),
    )
    if not settings.vectors:
        return LayeredEnv(mdp)
    centres = generator.standard_normal((settings.contexts + settings.feedback_values, settings.vectors))
    return LayeredEnv(mdp, Clouds(2 * centres[: settings.contexts]), Clouds(2 * centres[settings.contexts :]))


def suite_settings(seed: int) -> RandomMDPSettings:
    """Return the shape of the seed-th problem of a varied suite: 2 to 5 layers, 3 to 20 states, 3 to 8 actions.

    2 to 5 contexts, 2 to 6 feedback values, up to a third homogeneous and a quarter unreachable last states;
    theta and M leave sigma at 1.3 or more.

    >>> suite_settings(0).layers in range(2, 6)
    True
    """
    generator = np.random.default_rng([seed, 7])
    layers, states = int(generator.integers(2, 6)), int(generator.integers(3, 21))
    actions, contexts = int(generator.integers(3, 9)), int(generator.integers(2, 6))
    homogeneous = int(generator.integers(0, max(states // 3, 1) + 1))
    unreachable = int(generator.integers(0, max(states // 4, 1) + 1))
    theta = float(generator.uniform(0.6, 0.9))
    # sigma = theta (K - M) / M >= 1.3 holds up to this M.
    largest = min(theta * actions / (theta + 1.3), 0.45 * actions)
    M = max(min(theta * float(generator.uniform(1.1, 1.6)), largest), theta)
    return RandomMDPSettings(
        layers=layers,
        states=states,
        actions=actions,
        contexts=contexts,
        feedback_values=int(generator.integers(2, 7)),
        theta=theta,
        M=M,
        homogeneous=homogeneous,
        unreachable=unreachable if homogeneous + unreachable < states else 0,
    )


def _layout(generator: np.random.Generator, settings: RandomMDPSettings) -> Layout:
    sizes = [1] + [settings.states] * (settings.layers - 1)
    fewest = min(settings.min_actions, settings.actions)
    actions = tuple(
        tuple(tuple(range(_n_actions(generator, settings, fewest, h))) for _ in range(n))
        for h, n in enumerate(sizes)
    )
    spaces: tuple[Space, Space] = (
        (Vectors(settings.vectors), Vectors(settings.vectors))
        if settings.vectors
        else (Finite(tuple(range(settings.contexts))), Finite(tuple(range(settings.feedback_values))))
    )
    return Layout(consecutive_states(sizes), actions, *spaces)


def _n_actions(generator: np.random.Generator, settings: RandomMDPSettings, fewest: int, layer: int) -> int:
    if not settings.ragged or layer == 0:
        return settings.actions
    return int(generator.integers(fewest, settings.actions + 1))


def _transitions(generator: np.random.Generator, layout: Layout, settings: RandomMDPSettings) -> FloatArray:
    """Return transitions in which each action prefers a few states, and rows lead to hard states rarely."""
    H, S, K = layout.mask.shape
    transitions = np.zeros((H - 1, S, K, S))
    for h in range(H - 1):
        n = int(layout.n_states[h + 1])
        hard = settings.unreachable if h == H - 2 else 0
        for s in range(layout.n_states[h]):
            for a in range(layout.n_actions[h, s]):
                row = generator.dirichlet(np.full(n - hard, 0.3))
                transitions[h, s, a, : n - hard] = row * (1 - hard * UNLIKELY)
                transitions[h, s, a, n - hard : n] = UNLIKELY
    return transitions


def _rewards(generator: np.random.Generator, layout: Layout, settings: RandomMDPSettings) -> FloatArray:
    """Return f* (X, S_H, K): heterogeneous states within theta and M, then the homogeneous ones at c."""
    S_H, K = layout.endings.size, layout.max_actions
    rewards = np.zeros((settings.contexts, S_H, K))
    plain = range(S_H - settings.unreachable - settings.homogeneous, S_H - settings.unreachable)
    for x in range(settings.contexts):
        for s in range(S_H):
            n = int(layout.endings.n_actions[s])
            if s in plain:
                rewards[x, s, :n] = settings.c
            else:
                rewards[x, s, :n] = _heterogeneous(generator, n, settings)
    return rewards


def _heterogeneous(generator: np.random.Generator, n: int, settings: RandomMDPSettings) -> FloatArray:
    best = generator.uniform(settings.theta, min(1.0, settings.M))
    left = min(settings.M - best, (n - 1) * settings.theta / 2)
    f = np.zeros(n)
    # Dirichlet shares below 0.9 theta keep the best action the best.
    f[1:] = (
        np.minimum(left * generator.dirichlet(np.full(n - 1, 2.0)), 0.9 * settings.theta) if n > 1 else 0.0
    )
    f[0] = best
    return f[generator.permutation(n)]


def _feedback(generator: np.random.Generator, layout: Layout, settings: RandomMDPSettings) -> FloatArray:
    """Return Pr[y | x, s, r]: a random half of the values is said when rewarded, the rest when not."""
    S_H, Y = layout.endings.size, settings.feedback_values
    feedback = np.zeros((settings.contexts, S_H, 2, Y))
    for x in range(settings.contexts):
        for s in range(S_H):
            order = generator.permutation(Y)
            for r, values in enumerate((order[: Y // 2], order[Y // 2 :])):
                feedback[x, s, r, values] = generator.dirichlet(np.full(len(values), 2.0))
    return feedback

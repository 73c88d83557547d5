"""What a regression oracle may be asked and told: contexts as features, pairs (s, a) of the last layer, rewards."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.problem.layout import Layout
from tacit.problem.records import dimension_of
from tacit.problem.spaces import Encoded, Finite


class OracleInputs:
    """What an oracle may be asked: the contexts, and the pairs (s, a) of the last layer."""

    def __init__(self, layout: Layout) -> None:
        self.contexts, self.exists = layout.contexts, layout.endings.mask  # (S_H, K)
        self.n_actions = layout.endings.n_actions.tolist()
        self.dimension = dimension_of(self.contexts) + 1  # d: the context and the constant

    def n_contexts(self, method: str) -> int:
        """Return X, for a method that keeps a table over it."""
        if not isinstance(self.contexts, Finite):
            raise refused(f"{method!r} needs finite contexts", self.contexts, "use 'ogd_features' or 'vaw'")
        return self.contexts.size

    def index(self, context: Encoded) -> int:
        """Return a finite context's index, or raise: kernels do not check it."""
        if isinstance(context, (int, np.integer)) and 0 <= context < self.dimension - 1:
            return int(context)
        rule = f"a finite context must be an index below {self.dimension - 1}"
        raise refused(rule, context, "encode its label with layout.contexts.encode")

    def features(self, context: Encoded) -> FloatArray:
        """Return φ = [x, 1], (d,)."""
        phi = np.zeros(self.dimension)
        phi[-1] = 1.0
        if isinstance(self.contexts, Finite):
            phi[self.index(context)] = 1.0
        else:
            phi[:-1] = self.contexts.encode(context, "context")
        return phi

    def bounded(self, values: FloatArray) -> FloatArray:
        """Return predictions clipped to [0, 1], and 0 where no pair exists."""
        return np.minimum(np.maximum(values, 0.0), 1.0) * self.exists

    def check_outcome(self, state: int, action: int, reward: float) -> None:
        """Raise ValueError unless the pair exists and the reward lies in [0, 1]."""
        if not 0 <= state < len(self.n_actions):
            rule = f"a state of the last layer must be an index below {len(self.n_actions)}"
            raise refused(rule, state, "give the state in which the last action was taken")
        if not 0 <= action < self.n_actions[state]:
            rule = f"an action of last-layer state {state} must be an index below {self.n_actions[state]}"
            raise refused(rule, action, "give an action that the state offers")
        if not 0.0 <= reward <= 1.0:
            raise refused("reward must be a number in [0, 1]", reward, "clip or rescale what is decoded")


def refused(rule: str, value: Any, remedy: str) -> ValueError:
    """Return the error of an oracle that is asked or told something else."""
    return ValueError(f"{rule}, got {value!r}; {remedy}")

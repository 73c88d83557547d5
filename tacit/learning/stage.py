"""What an agent is made of: episodes, the plans they are played by, and the stages that make plans.

Algorithm 1 is a sequence of stages; each baseline is one too. The agent drives whatever stage it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.base.jit import kernel
from tacit.learning.settings import Settings
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded


class Plan(NamedTuple):
    """How one episode will be played; fixed when it begins.

    `policy` (H, S, K) gives the probability of each action; `stage` names who planned; `uniform_last` says
    that the last action is uniform, so the episode can become a tuple; `target` is the last-layer state
    that homing and collection steer to; `dual` is the occupancy solution to start the next one from, and
    `converged` whether it carries its certificate.
    """

    policy: FloatArray
    stage: str
    uniform_last: bool = False
    target: int = -1
    dual: FloatArray | None = None
    converged: bool = True


class Episode:
    """The handle of one episode: what it was given, what it did, whether it is still open."""

    __slots__ = (
        "actions",
        "context",
        "decoded_reward",
        "draws",
        "encoded",
        "feedback",
        "id",
        "open",
        "owner",
        "plan",
        "states",
    )

    def __init__(
        self, owner: object, number: int, context: Any, encoded: Encoded, plan: Plan, draws: FloatArray
    ) -> None:
        self.owner = owner
        self.id = number
        self.context = context
        self.encoded = encoded
        self.plan = plan
        self.draws = draws
        self.states: list[int] = []
        self.actions: list[int] = []
        self.feedback: Any = None
        self.open = True
        self.decoded_reward: float | None = None

    def __repr__(self) -> str:
        status = "open" if self.open else "ended"
        return f"Episode(id={self.id}, stage={self.plan.stage!r}, steps={len(self.actions)}, {status})"


class Stage(Protocol):
    """One stage of learning. `plan` never changes it; only `learn` does."""

    name: ClassVar[str]
    explores: ClassVar[bool]
    remarks: tuple[str, ...]
    """What the user must be told of how the stage began; the agent warns of each when it takes over."""

    def plan(self, context: Encoded, draw: float) -> Plan:
        """Return how to play an episode with this context; `draw` in [0, 1) is the episode's own chance."""

    def learn(self, episode: Episode, feedback: Encoded | None) -> float | None:
        """Learn from a finished episode (feedback None: it never came); return the decoded reward, if any.

        An episode that another stage planned teaches only what stays true: its transitions, and a tuple if
        its last action was uniform.
        """

    def next(self) -> Stage:
        """Return the stage that continues: this one until it is done."""

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values from which `from_state` rebuilds the stage bit for bit."""

    @classmethod
    def from_state(cls, layout: Layout, settings: Settings, state: Mapping[str, Any]) -> Stage:
        """Return the stage that `to_state` described."""


def deterministic_policy(choices: IntArray, layout: Layout) -> FloatArray:
    """Return the policy (H, S, K) that follows `choices` (H-1, S) and ends with a uniform action."""
    return _expand(choices, layout.n_states, layout.uniform_policy)


@kernel
def _expand(choices: IntArray, n_states: IntArray, uniform: FloatArray) -> FloatArray:
    policy = np.zeros_like(uniform)
    policy[-1] = uniform[-1]
    for h in range(choices.shape[0]):
        for s in range(n_states[h]):
            policy[h, s, choices[h, s]] = 1.0
    return policy

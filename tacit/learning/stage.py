"""The stages that an agent is made of: what plans episodes and learns from them, one handing over to the next.

Algorithm 1 is a sequence of stages; each baseline is one too. The agent drives whatever stage it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, cast

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.changes import Changes
from tacit.base.jit import kernel
from tacit.base.saved import Saved
from tacit.base.validation import is_distribution
from tacit.learning.episode import Episode, Plan
from tacit.learning.settings import Settings
from tacit.planning.transition import TransitionCounts, TransitionEstimate, extend_to_ended, transitions_shape
from tacit.problem.growth import may_change
from tacit.problem.layout import COUNTS, MISSING, Layout
from tacit.problem.silence import is_silence
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import Anchor
from tacit.trust.findings import Finding


class Lesson(NamedTuple):
    """What an episode teaches: the decoded reward and its bounds, if any, what to tell the user, what will change."""

    decoded_reward: float | None = None
    decoded_interval: tuple[float, float] | None = None
    remarks: tuple[str, ...] = ()
    changes: Changes = ()


NOTHING = Lesson()
"""The lesson of an episode that teaches nothing."""


class Stage(Protocol):
    """One stage of learning. Nothing that it is asked changes it: only the agent does, by the changes of a lesson."""

    name: ClassVar[str]
    explores: ClassVar[bool]
    """Whether all its episodes are exploration; a plan may explore in a stage that does not."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what the user must be told of how the stage began; the agent warns of each when it takes over."""

    def plan(self, context: Any, draw: float) -> Plan:
        """Return how to play an episode with this context; `draw` in [0, 1) is the episode's own chance."""

    def learn(self, episode: Episode, feedback: Any | None, outcome: int | None = None) -> Lesson:
        """Return what a finished episode teaches (feedback None: it never came); the agent makes the changes.

        An episode that another stage planned teaches only what stays true: its transitions, and a tuple if
        its last action was uniform. Silence is feedback like any other; `outcome` is the reward, 0 or 1, where this
        once it is known.
        """

    def next(self) -> Stage:
        """Return the stage that continues: this one until it is done, then a new one.

        It may take long, and be interrupted and asked again: it leaves this stage as it is.
        """

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return what speaks for and against trusting what was learned, worst first."""

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values from which the stage is rebuilt bit for bit."""


@dataclass(frozen=True)
class Setup:
    """What every stage of a layered problem is made from.

    `dynamics` makes an estimate of the dynamics: the smoothed counts of Algorithm 4 unless another is injected.
    """

    layout: Layout
    settings: Settings
    dynamics: Callable[[Layout], TransitionEstimate] = TransitionCounts


class LayeredStage(Stage, Protocol):
    """A stage of a layered problem."""

    def policy(self, context: Encoded) -> FloatArray:
        """Return the policy that it takes to be best now, (H, S, K), without exploring; uniform if it knows none."""

    @classmethod
    def from_state(cls, setup: Setup, state: Mapping[str, Any]) -> LayeredStage:
        """Return the stage that `to_state` described."""


def read_dynamics(setup: Setup, saved: Saved) -> Saved:
    """Return the dynamics that a stage saved; counts are of the layout's size before memory is taken for it."""
    dynamics = saved.part("dynamics")
    if setup.dynamics is TransitionCounts:
        dynamics.wholes("counts", transitions_shape(setup.layout))
    return dynamics


def read_duals(saved: Saved, contexts: int, layout: Layout) -> tuple[FloatArray, BoolArray]:
    """Return the saved duals of each context, (X, H, S), and which contexts have one, (X,)."""
    has_dual = saved.flags("has_dual", (contexts,))
    duals = saved.floats("duals", (contexts, layout.horizon, layout.max_states))
    saved.check(not duals[~has_dual].any(), "duals", "zero where there is none")
    return duals, has_dual


def best_policy(stage: Stage, context: Encoded) -> FloatArray:
    """Return the policy that a stage of a layered problem takes to be best now, (H, S, K)."""
    return cast(LayeredStage, stage).policy(context)


class PolicyPlan(NamedTuple):
    """How an episode of a layered problem will be played.

    `policy` (H, S, K) gives the probability of each action; `uniform_last` says that the last action is uniform, so the
    episode can become a tuple; `target` is the ending that homing and collection steer to; `dual` is the occupancy
    solution to start the next one from, and `converged` whether it carries its certificate.
    """

    policy: FloatArray
    stage: str
    explores: bool = False
    uniform_last: bool = False
    target: int = -1
    dual: FloatArray | None = None
    converged: bool = True

    def chances(self, step: int, shown: int) -> FloatArray:
        """Return the probability of each action of state `shown` of layer `step`, (K,)."""
        row: FloatArray = self.policy[step, shown]
        return row


def restore_plan(layout: Layout, state: Mapping[str, Any]) -> PolicyPlan:
    """Return the plan whose fields were saved: a policy of the layout, and a target only where it ends uniformly."""
    saved, (H, S, K) = Saved.of(state), layout.mask.shape
    policy = saved.floats("policy", (H, S, K), 0, 1)
    saved.check(is_distribution(policy, layout.exists), "policy", "distributions over what the states have")
    target, uniform = saved.whole("target", -1, layout.endings.size - 1), saved.flag("uniform_last")
    ends_so = uniform and np.array_equal(policy[-1], layout.uniform_policy[-1])
    saved.check(target < 0 or ends_so, "policy", "uniform in the end, as it steers to a target")
    dual = saved.floats("dual", (H, S)) if saved.has("dual") else None
    return PolicyPlan(
        policy, saved.text("stage"), saved.flag("explores"), uniform, target, dual, saved.flag("converged")
    )


def policy_plan(episode: Episode) -> PolicyPlan:
    """Return the plan of an episode of a layered problem."""
    plan = episode.plan
    assert isinstance(plan, PolicyPlan)
    return plan


def ending_of(layout: Layout, episode: Episode) -> tuple[int, int]:
    """Return the ending in which a whole episode of a layered problem ended, and the action taken there."""
    return layout.endings.index.item(len(episode.states) - 1, episode.states[-1]), episode.actions[-1]


def path_of(layout: Layout, episode: Episode, ended: bool) -> tuple[list[int], list[int]]:
    """Return states and actions of an episode, with where it went if it has `ended` before the last layer."""
    return extend_to_ended(layout, episode.states) if ended else episode.states, episode.actions


def refuse_early_endings(layout: Layout, who: str) -> None:
    """Raise ValueError if episodes can end before the last layer, for stages that learn from whole ones alone."""
    if layout.ends_early:
        raise ValueError(
            f"{who} learns from episodes of {layout.horizon} steps, the layout says in `ends` that they can end "
            "earlier; use the fast recipe, Settings(recipe='fast')"
        )


def refuse_open(layout: Layout, who: str) -> None:
    """Raise ValueError if a layout may grow, or actions of it are retired, for stages that keep to what there is."""
    if may_change(layout):
        raise ValueError(
            f"{who} learns what the layout has when it begins, this one is open or has retired actions; use the fast "
            "recipe, Settings(recipe='fast'), or a layout and tacit.Finite without open=True"
        )


def refuse_silence(layout: Layout, feedback: Encoded | None, who: str) -> None:
    """Raise ValueError if feedback is silence among vectors, for stages that have no place for it."""
    if isinstance(feedback, np.ndarray) and is_silence(layout, feedback):
        raise ValueError(
            f"{who} has no value for silence among vectors, got None with Layout(..., silence={COUNTS!r}); "
            f"give the layout silence={MISSING!r} if people fall silent at random, or use finite feedback"
        )


def deterministic_policy(choices: IntArray, layout: Layout) -> FloatArray:
    """Return the policy (H, S, K) that follows `choices` (H-1, S), -1 for uniform, and ends with a uniform action."""
    return _expand(choices, layout.n_states, layout.uniform_policy)


@kernel
def _expand(choices: IntArray, n_states: IntArray, uniform: FloatArray) -> FloatArray:
    policy = np.zeros_like(uniform)
    policy[-1] = uniform[-1]
    for h in range(choices.shape[0]):
        for s in range(n_states[h]):
            if choices[h, s] < 0:
                policy[h, s] = uniform[h, s]
            else:
                policy[h, s, choices[h, s]] = 1.0
    return policy

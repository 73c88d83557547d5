"""Policy learning (Algorithm 4): decode the feedback, regress on it, plan with a log barrier, repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.changes import Change, assign, put
from tacit.base.saved import Saved
from tacit.decoding.decoder import RewardDecoder, build_decoder
from tacit.decoding.inverse_kinematics import posterior_from_state
from tacit.learning.episode import Episode
from tacit.learning.stage import (
    Lesson,
    PolicyPlan,
    Setup,
    Stage,
    ending_of,
    path_of,
    policy_plan,
    read_duals,
    read_dynamics,
    refuse_silence,
)
from tacit.planning.dual_newton import solve_packed
from tacit.planning.regression import make_oracle, restore_oracle
from tacit.problem.spaces import Encoded, Finite
from tacit.trust.anchors import Anchor, find_orientation
from tacit.trust.coverage import find_unreached
from tacit.trust.diagnostics import constant_decoding, nothing_kept
from tacit.trust.findings import Finding, worst_first


class Exploration(NamedTuple):
    """What exploration found of each last-layer state, all (S_H,): for reports, and for `reachable`.

    `frequency` is p_hat, `low` and `high` are the interval of Lemma 3.2 (see `Homes.interval`), `tuples`
    were collected in `episodes` of collection.
    """

    frequency: FloatArray
    low: FloatArray
    high: FloatArray
    reachable: BoolArray
    tuples: IntArray
    episodes: IntArray

    @staticmethod
    def from_state(state: Mapping[str, Any], size: int) -> Exploration:
        """Return what was saved of so many states."""
        saved, each = Saved.of(state), (size,)
        return Exploration(
            frequency=saved.floats("frequency", each, 0, 1),
            low=saved.floats("low", each, 0, 1),
            high=saved.floats("high", each, 0, 1),
            reachable=saved.flags("reachable", each),
            tuples=saved.wholes("tuples", each),
            episodes=saved.wholes("episodes", each),
        )


class PolicyLearner:
    """Algorithm 4 without its decoder: learns from whatever reward it is handed.

    `judged` (S_H,) are the last-layer states whose rewards are known to mean something. In the others the
    planner takes the reward to be 0, the least possible, so it is not drawn to what it cannot judge
    (dev. 5).
    """

    def __init__(self, setup: Setup, judged: BoolArray) -> None:
        layout = self._layout = setup.layout
        self._schedule = setup.settings.schedule
        self.judged = judged
        self.oracle = make_oracle(layout, setup.settings.oracle)
        self.dynamics = setup.dynamics(layout)
        self.episodes = 0
        self.unconverged = 0
        n_duals = layout.contexts.size if isinstance(layout.contexts, Finite) else 1
        self._duals = np.zeros((n_duals, layout.horizon, layout.max_states))
        self._has_dual = np.zeros(n_duals, dtype=np.bool_)
        self._everything_judged = bool(judged.all())

    def plan(self, context: Encoded) -> tuple[FloatArray, FloatArray, bool]:
        """Return (policy (H, S, K), dual (H, S), converged) of the occupancy problem of line 6."""
        layout, slot = self._layout, self._slot(context)
        policy, dual, _, _, converged = solve_packed(
            self.dynamics.estimate(context),
            self.estimated_rewards(context),
            layout.mask,
            layout.n_states,
            self._schedule.gamma(self.episodes + 1, layout.horizon, layout.max_actions),  # dev. 23
            self._duals[slot],
            bool(self._has_dual[slot]),
        )
        return policy, dual, converged

    def estimated_rewards(self, context: Encoded) -> FloatArray:
        """Return f_hat(x, ., .) as rewards (H, S, K): zero before an ending and where not judged."""
        predicted = self.oracle.predict(context)
        return self._layout.endings.spread(
            predicted if self._everything_judged else predicted * self.judged[:, None],
            self.dynamics.estimate(context),
        )

    def learn(self, context: Encoded, episode: Episode, reward: float | None) -> list[Change]:
        """Return the oracle's step with the reward, if there is one, and the transitions counted."""
        plan, ended = policy_plan(episode), reward is not None
        whole = ended or len(episode.actions) == self._layout.horizon
        changes = [
            *self.dynamics.learn(context, *path_of(self._layout, episode, ended)),
            assign(self, "episodes", self.episodes + whole),
            assign(self, "unconverged", self.unconverged + (not plan.converged)),
        ]
        if reward is not None:
            changes += self.oracle.learn(context, *ending_of(self._layout, episode), reward)
        if plan.dual is not None:
            slot = self._slot(context)
            changes += put(self._duals, slot, plan.dual), put(self._has_dual, slot, True)
        return changes

    def to_state(self) -> dict[str, Any]:
        """Return all that was learned."""
        return {
            "judged": self.judged,
            "oracle": self.oracle.to_state(),
            "dynamics": self.dynamics.to_state(),
            "episodes": self.episodes,
            "unconverged": self.unconverged,
            "duals": self._duals,
            "has_dual": self._has_dual,
        }

    @staticmethod
    def from_state(setup: Setup, state: Mapping[str, Any]) -> PolicyLearner:
        """Return the learner that `to_state` described."""
        saved, layout = Saved.of(state), setup.layout
        n_duals = layout.contexts.size if isinstance(layout.contexts, Finite) else 1
        duals, dynamics = read_duals(saved, n_duals, layout), read_dynamics(setup, saved)
        oracle = restore_oracle(layout, setup.settings.oracle, saved.part("oracle"))
        learner = PolicyLearner(setup, saved.flags("judged", (layout.endings.size,)))
        learner.oracle = oracle
        learner.dynamics.restore(dynamics)
        learner.episodes, learner.unconverged = saved.whole("episodes"), saved.whole("unconverged")
        learner._duals, learner._has_dual = duals
        return learner

    def _slot(self, context: Encoded) -> int:
        return context if isinstance(context, int) else 0


class PolicyLearning:
    """The stage of Algorithm 4: the reward is what the decoder makes of the feedback. It never ends."""

    name: ClassVar[str] = "policy learning"
    explores: ClassVar[bool] = False

    def __init__(
        self,
        setup: Setup,
        decoder: RewardDecoder | None,
        exploration: Exploration,
        remarks: tuple[str, ...] = (),
    ) -> None:
        self._layout = setup.layout
        self.decoder, self.exploration, self.remarks = decoder, exploration, remarks
        nowhere = np.zeros(self._layout.endings.size, dtype=np.bool_)
        self.learner = PolicyLearner(setup, decoder.decodable if decoder is not None else nowhere)

    def plan(self, context: Encoded, draw: float) -> PolicyPlan:
        """Return the policy of the occupancy measure of line 6; uniform if there is nothing to learn from."""
        if self.decoder is None:
            return PolicyPlan(self._layout.uniform_policy, self.name)  # dev. 8
        policy, dual, converged = self.learner.plan(context)
        return PolicyPlan(policy, self.name, dual=dual, converged=converged)

    def policy(self, context: Encoded) -> FloatArray:
        """Return the policy that it plays."""
        return self.plan(context, 0.0).policy

    def learn(self, episode: Episode, feedback: Encoded | None, outcome: int | None = None) -> Lesson:
        """Decode and learn; an episode of an earlier stage only adds its transitions."""
        refuse_silence(self._layout, feedback, "the paper's recipe")
        if episode.plan.stage != self.name:
            path = episode.encoded, episode.states, episode.actions
            return Lesson(changes=self.learner.dynamics.learn(*path))
        reward = None
        if feedback is not None and self.decoder is not None:
            state, action = ending_of(self._layout, episode)
            if self.learner.judged[state]:
                reward = self.decoder.decode(episode.encoded, feedback, state, action)
        return Lesson(reward, changes=self.learner.learn(episode.encoded, episode, reward))

    def next(self) -> Stage:
        """Return itself: policy learning goes on for good."""
        return self

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return what can be said without tuples: what was reached, whether anything decodes, and by anchors."""
        tuples = self.exploration.tuples
        kept = nothing_kept(self.name, "caution")  # a decoder that is not constant is what it found
        found = [kept, *find_unreached(self._layout, tuples.astype(np.float64))]
        if self.decoder is None:
            found.append(constant_decoding(int(tuples.sum())))
        return worst_first([*found, *find_orientation(self._layout, anchors, self._meaning)])

    def to_state(self) -> dict[str, Any]:
        """Return the learner, the posterior and what exploration found."""
        return {
            "learner": self.learner.to_state(),
            "posterior": self.decoder.posterior.to_state() if self.decoder is not None else None,
            "exploration": self.exploration._asdict(),
            "remarks": self.remarks,
        }

    @classmethod
    def from_state(cls, setup: Setup, state: Mapping[str, Any]) -> PolicyLearning:
        """Return the stage that `to_state` described."""
        saved, decoder = Saved.of(state), None
        if saved.has("posterior"):
            posterior = posterior_from_state(setup.layout, saved.part("posterior"))
            decoder = build_decoder(setup.layout, posterior, setup.settings.decoder)
        learner = PolicyLearner.from_state(setup, saved.part("learner"))
        exploration = Exploration.from_state(saved.part("exploration"), setup.layout.endings.size)
        stage = cls(setup, decoder, exploration, saved.texts("remarks"))
        same = np.array_equal(learner.judged, stage.learner.judged)
        saved.check(same, "learner", "judged where the posterior was fitted, and nowhere else")
        stage.learner = learner
        return stage

    def _meaning(self, context: Encoded, ending: int, feedback: Encoded) -> float | None:
        """Return the most that feedback decodes to whatever the action was, None where nothing is decoded."""
        if self.decoder is None or not self.decoder.decodable[ending]:
            return None
        actions = range(int(self._layout.endings.n_actions[ending]))
        return max(self.decoder.decode(context, feedback, ending, a) for a in actions)

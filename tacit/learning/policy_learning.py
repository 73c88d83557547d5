"""Policy learning (Algorithm 4): decode the feedback, regress on it, plan with a log barrier, repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.decoding.decoder import RewardDecoder, build_decoder
from tacit.decoding.inverse_kinematics import posterior_from_state
from tacit.learning.settings import Settings
from tacit.learning.stage import Episode, Plan, Stage
from tacit.planning.dual_newton import solve_packed
from tacit.planning.regression import make_oracle
from tacit.planning.transition import TransitionCounts
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded, Finite


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


class PolicyLearner:
    """Algorithm 4 without its decoder: learns from whatever reward it is handed.

    `judged` (S_H,) are the last-layer states whose rewards are known to mean something. In the others the
    planner takes the reward to be 0, the least possible, so it is not drawn to what it cannot judge
    (dev. 5).
    """

    def __init__(self, layout: Layout, settings: Settings, judged: BoolArray) -> None:
        self._layout, self._settings = layout, settings
        self.judged = judged
        self.oracle = make_oracle(layout, settings.oracle)
        self.transitions = TransitionCounts(layout)
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
            self.transitions.estimate(context),
            self.estimated_rewards(context),
            layout.mask,
            layout.n_states,
            self._settings.schedule.gamma(self.episodes + 1, layout.horizon, layout.max_actions),  # dev. 23
            self._duals[slot],
            bool(self._has_dual[slot]),
        )
        return policy, dual, converged

    def estimated_rewards(self, context: Encoded) -> FloatArray:
        """Return f_hat(x, ., .) as rewards (H, S, K): zero before the last layer and where not judged."""
        rewards = np.zeros(self._layout.mask.shape)
        last = self.oracle.predict(context)
        rewards[-1, : len(last)] = last if self._everything_judged else last * self.judged[:, None]
        return rewards

    def learn(self, context: Encoded, episode: Episode, reward: float | None) -> None:
        """Update the oracle with the reward, if there is one, and count the transitions."""
        if reward is not None:
            self.oracle.update(context, episode.states[-1], episode.actions[-1], reward)
        self.transitions.add(episode.states, episode.actions)
        self.episodes += len(episode.actions) == self._layout.horizon
        self.unconverged += not episode.plan.converged
        if episode.plan.dual is not None:
            slot = self._slot(context)
            self._duals[slot], self._has_dual[slot] = episode.plan.dual, True

    def to_state(self) -> dict[str, Any]:
        """Return all that was learned."""
        return {
            "judged": self.judged,
            "oracle": self.oracle.to_state(),
            "transitions": self.transitions.to_state(),
            "episodes": self.episodes,
            "unconverged": self.unconverged,
            "duals": self._duals,
            "has_dual": self._has_dual,
        }

    @staticmethod
    def from_state(layout: Layout, settings: Settings, state: Mapping[str, Any]) -> PolicyLearner:
        """Return the learner that `to_state` described."""
        learner = PolicyLearner(layout, settings, state["judged"])
        learner.oracle.restore(state["oracle"])
        learner.transitions.restore(state["transitions"])
        learner.episodes, learner.unconverged = int(state["episodes"]), int(state["unconverged"])
        learner._duals, learner._has_dual = state["duals"], state["has_dual"]
        return learner

    def _slot(self, context: Encoded) -> int:
        return context if isinstance(context, int) else 0


class PolicyLearning:
    """The stage of Algorithm 4: the reward is what the decoder makes of the feedback. It never ends."""

    name: ClassVar[str] = "policy learning"
    explores: ClassVar[bool] = False

    def __init__(
        self,
        layout: Layout,
        settings: Settings,
        decoder: RewardDecoder | None,
        exploration: Exploration,
        remarks: tuple[str, ...] = (),
    ) -> None:
        self.decoder, self.exploration, self.remarks = decoder, exploration, remarks
        self._uniform = layout.uniform_policy
        judged = decoder.decodable if decoder is not None else np.zeros(layout.n_states[-1], dtype=np.bool_)
        self.learner = PolicyLearner(layout, settings, judged)

    def plan(self, context: Encoded, draw: float) -> Plan:
        """Return the policy of the occupancy measure of line 6; uniform if there is nothing to learn from."""
        if self.decoder is None:
            return Plan(self._uniform, self.name)  # dev. 8
        policy, dual, converged = self.learner.plan(context)
        return Plan(policy, self.name, dual=dual, converged=converged)

    def learn(self, episode: Episode, feedback: Encoded | None) -> float | None:
        """Decode and learn; an episode of an earlier stage only adds its transitions."""
        if episode.plan.stage != self.name:
            self.learner.transitions.add(episode.states, episode.actions)
            return None
        reward = None
        if feedback is not None and self.decoder is not None and self.learner.judged[episode.states[-1]]:
            reward = self.decoder.decode(episode.encoded, feedback, episode.states[-1], episode.actions[-1])
        self.learner.learn(episode.encoded, episode, reward)
        return reward

    def next(self) -> Stage:
        """Return itself: policy learning goes on for good."""
        return self

    def to_state(self) -> dict[str, Any]:
        """Return the learner, the posterior and what exploration found."""
        return {
            "learner": self.learner.to_state(),
            "posterior": self.decoder.posterior.to_state() if self.decoder is not None else None,
            "exploration": self.exploration._asdict(),
            "remarks": self.remarks,
        }

    @classmethod
    def from_state(cls, layout: Layout, settings: Settings, state: Mapping[str, Any]) -> PolicyLearning:
        """Return the stage that `to_state` described."""
        decoder = None
        if state["posterior"] is not None:
            posterior = posterior_from_state(layout, state["posterior"])
            decoder = build_decoder(layout, posterior, settings.decoder)
        stage = cls(layout, settings, decoder, Exploration(**state["exploration"]), tuple(state["remarks"]))
        stage.learner = PolicyLearner.from_state(layout, settings, state["learner"])
        return stage

"""Interaction-grounded learning on the last step alone, as in the single-step paper (Zhang et al., 2024).

The last state joins the context and the last action is a contextual bandit: uniform tuples, the posterior,
the decoder, then inverse-gap weighting. Earlier actions stay uniform: nothing says what they lead to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tacit.decoding.decoder import RewardDecoder, build_decoder
from tacit.decoding.inverse_kinematics import fit_posterior, posterior_from_state
from tacit.learning.collection import TupleBuffer
from tacit.learning.settings import Settings, check_runnable
from tacit.learning.stage import Episode, Plan, Stage
from tacit.planning.inverse_gap import gamma_at, inverse_gap_weights
from tacit.planning.regression import make_oracle
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded


class LastStepExploration:
    """Plays uniformly for N_0 episodes a last-layer state and keeps every tuple."""

    name: ClassVar[str] = "last-step exploration"
    explores: ClassVar[bool] = True
    remarks: tuple[str, ...] = ()

    def __init__(self, layout: Layout, settings: Settings) -> None:
        check_runnable(layout, settings)
        self._layout, self._settings = layout, settings
        self._wanted = settings.collection.tuples * int(layout.n_states[-1])
        self._tuples = TupleBuffer(layout)

    def plan(self, context: Encoded, draw: float) -> Plan:
        """Return the uniform policy."""
        return Plan(self._layout.uniform_policy, self.name, uniform_last=True)

    def learn(self, episode: Episode, feedback: Encoded | None) -> float | None:
        """Keep the tuple."""
        if feedback is not None:
            self._tuples.append(episode.encoded, episode.states[-1], episode.actions[-1], feedback)
        return None

    def next(self) -> Stage:
        """Return the bandit, with its decoder fitted, once there are enough tuples."""
        if self._tuples.found.sum() < self._wanted:
            return self
        posterior = fit_posterior(self._layout, self._tuples.arrays(), self._settings.posterior)
        decoder = build_decoder(self._layout, posterior, self._settings.decoder)
        return LastStepIGL(self._layout, self._settings, decoder)

    def to_state(self) -> dict[str, Any]:
        """Return the tuples."""
        return self._tuples.to_state()

    @classmethod
    def from_state(cls, layout: Layout, settings: Settings, state: Mapping[str, Any]) -> LastStepExploration:
        """Return the stage that `to_state` described."""
        stage = cls(layout, settings)
        stage._tuples = TupleBuffer.from_state(layout, state)
        return stage


class LastStepIGL:
    """Chooses the last action by inverse-gap weighting of decoded rewards, the others uniformly."""

    name: ClassVar[str] = "last-step igl"
    explores: ClassVar[bool] = False
    remarks: tuple[str, ...] = ()

    def __init__(self, layout: Layout, settings: Settings, decoder: RewardDecoder) -> None:
        self._layout, self._settings, self._decoder = layout, settings, decoder
        self._oracle = make_oracle(layout, settings.oracle)
        self._episodes = 0

    def plan(self, context: Encoded, draw: float) -> Plan:
        """Return uniform actions, and inverse-gap weights with gamma_t = √(K t) in the last layer."""
        gamma = gamma_at(self._episodes + 1, self._layout.max_actions, scale=1.0)
        policy, rewards = self._layout.uniform_policy.copy(), self._oracle.predict(context)
        for s, K in enumerate(self._layout.n_actions[-1, : len(rewards)].tolist()):
            policy[-1, s, :K] = inverse_gap_weights(rewards[s, :K], gamma)
        return Plan(policy, self.name)

    def learn(self, episode: Episode, feedback: Encoded | None) -> float | None:
        """Decode the feedback and regress on it."""
        if feedback is None or episode.plan.stage != self.name:
            return None
        state, action = episode.states[-1], episode.actions[-1]
        if not self._decoder.decodable[state]:
            return None
        reward = self._decoder.decode(episode.encoded, feedback, state, action)
        self._oracle.update(episode.encoded, state, action, reward)
        self._episodes += 1
        return reward

    def next(self) -> Stage:
        """Return itself."""
        return self

    def to_state(self) -> dict[str, Any]:
        """Return the posterior and what was regressed."""
        return {
            "posterior": self._decoder.posterior.to_state(),
            "oracle": self._oracle.to_state(),
            "episodes": self._episodes,
        }

    @classmethod
    def from_state(cls, layout: Layout, settings: Settings, state: Mapping[str, Any]) -> LastStepIGL:
        """Return the stage that `to_state` described."""
        posterior = posterior_from_state(layout, state["posterior"])
        stage = cls(layout, settings, build_decoder(layout, posterior, settings.decoder))
        stage._oracle.restore(state["oracle"])
        stage._episodes = int(state["episodes"])
        return stage

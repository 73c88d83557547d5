"""Interaction-grounded learning on the last step alone, as in the single-step paper (Zhang et al., 2024).

The last state joins the context and the last action is a contextual bandit: uniform tuples, the posterior,
the decoder, then inverse-gap weighting. Earlier actions stay uniform: nothing says what they lead to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tacit.base.arrays import FloatArray
from tacit.base.changes import assign
from tacit.base.saved import Saved
from tacit.decoding.decoder import RewardDecoder, build_decoder
from tacit.decoding.inverse_kinematics import fit_posterior, posterior_from_state
from tacit.decoding.tuples import TupleStore
from tacit.learning.episode import Episode
from tacit.learning.settings import check_runnable
from tacit.learning.stage import (
    NOTHING,
    Lesson,
    PolicyPlan,
    Setup,
    Stage,
    ending_of,
    refuse_early_endings,
    refuse_open,
    refuse_silence,
)
from tacit.planning.inverse_gap import gamma_at, inverse_gap_weights
from tacit.planning.regression import make_oracle, restore_oracle
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import Anchor
from tacit.trust.diagnostics import diagnose_nothing
from tacit.trust.findings import Finding


class LastStepExploration:
    """Plays uniformly for N_0 episodes a last-layer state and keeps every tuple."""

    name: ClassVar[str] = "last-step exploration"
    explores: ClassVar[bool] = True
    remarks: tuple[str, ...] = ()

    def __init__(self, setup: Setup) -> None:
        self._setup, self._layout = setup, setup.layout
        refuse_early_endings(self._layout, "learning on the last step alone")
        refuse_open(self._layout, "learning on the last step alone")
        check_runnable(self._layout, setup.settings)
        self._wanted = setup.settings.collection.tuples * self._layout.endings.size
        self._tuples = TupleStore(self._layout)

    def plan(self, context: Encoded, draw: float) -> PolicyPlan:
        """Return the uniform policy."""
        return PolicyPlan(self._layout.uniform_policy, self.name, explores=True, uniform_last=True)

    def policy(self, context: Encoded) -> FloatArray:
        """Return the uniform policy: what feedback means is not known yet."""
        return self._layout.uniform_policy

    def learn(self, episode: Episode, feedback: Encoded | None, outcome: int | None = None) -> Lesson:
        """Keep the tuple."""
        refuse_silence(self._layout, feedback, "learning on the last step alone")
        if feedback is None:
            return NOTHING
        return Lesson(
            changes=self._tuples.learn(episode.encoded, *ending_of(self._layout, episode), feedback)
        )

    def next(self) -> Stage:
        """Return the bandit, with its decoder fitted, once there are enough tuples."""
        if self._tuples.found.sum() < self._wanted:
            return self
        settings = self._setup.settings
        posterior = fit_posterior(self._layout, self._tuples.tuples(), settings.posterior)
        return LastStepIGL(self._setup, build_decoder(self._layout, posterior, settings.decoder))

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return that nothing was kept to diagnose."""
        return diagnose_nothing(self._layout, self.name, anchors)

    def to_state(self) -> dict[str, Any]:
        """Return the tuples."""
        return self._tuples.to_state()

    @classmethod
    def from_state(cls, setup: Setup, state: Mapping[str, Any]) -> LastStepExploration:
        """Return the stage that `to_state` described."""
        stage = cls(setup)
        stage._tuples = TupleStore.from_state(setup.layout, state)
        return stage


class LastStepIGL:
    """Chooses the last action by inverse-gap weighting of decoded rewards, the others uniformly."""

    name: ClassVar[str] = "last-step igl"
    explores: ClassVar[bool] = False
    remarks: tuple[str, ...] = ()

    def __init__(self, setup: Setup, decoder: RewardDecoder) -> None:
        self._layout, self._decoder = setup.layout, decoder
        self._oracle = make_oracle(self._layout, setup.settings.oracle)
        self._episodes = 0

    def plan(self, context: Encoded, draw: float) -> PolicyPlan:
        """Return uniform actions, and inverse-gap weights with gamma_t = √(K t) in the last layer."""
        gamma = gamma_at(self._episodes + 1, self._layout.max_actions, scale=1.0)
        policy, rewards = self._layout.uniform_policy.copy(), self._oracle.predict(context)
        for s, K in enumerate(self._layout.endings.n_actions.tolist()):
            policy[-1, s, :K] = inverse_gap_weights(rewards[s, :K], gamma)
        return PolicyPlan(policy, self.name)

    def policy(self, context: Encoded) -> FloatArray:
        """Return the policy that it plays."""
        return self.plan(context, 0.0).policy

    def learn(self, episode: Episode, feedback: Encoded | None, outcome: int | None = None) -> Lesson:
        """Decode the feedback and regress on it."""
        refuse_silence(self._layout, feedback, "learning on the last step alone")
        if feedback is None or episode.plan.stage != self.name:
            return NOTHING
        state, action = ending_of(self._layout, episode)
        if not self._decoder.decodable[state]:
            return NOTHING
        reward = self._decoder.decode(episode.encoded, feedback, state, action)
        step = self._oracle.learn(episode.encoded, state, action, reward)
        return Lesson(reward, changes=(*step, assign(self, "_episodes", self._episodes + 1)))

    def next(self) -> Stage:
        """Return itself."""
        return self

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return that nothing was kept to diagnose."""
        return diagnose_nothing(self._layout, self.name, anchors)

    def to_state(self) -> dict[str, Any]:
        """Return the posterior and what was regressed."""
        return {
            "posterior": self._decoder.posterior.to_state(),
            "oracle": self._oracle.to_state(),
            "episodes": self._episodes,
        }

    @classmethod
    def from_state(cls, setup: Setup, state: Mapping[str, Any]) -> LastStepIGL:
        """Return the stage that `to_state` described."""
        saved = Saved.of(state)
        posterior = posterior_from_state(setup.layout, saved.part("posterior"))
        oracle = restore_oracle(setup.layout, setup.settings.oracle, saved.part("oracle"))
        stage = cls(setup, build_decoder(setup.layout, posterior, setup.settings.decoder))
        stage._oracle, stage._episodes = oracle, saved.whole("episodes")
        return stage

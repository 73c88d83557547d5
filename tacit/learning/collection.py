"""Tuple collection (Algorithm 3): feedback on uniform actions, N_0 times in each reachable last state."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.changes import Change, put
from tacit.base.saved import Saved
from tacit.decoding.counts import count_tuples
from tacit.decoding.decoder import RewardDecoder, build_decoder
from tacit.decoding.inverse_kinematics import fit_posterior
from tacit.decoding.tuples import TupleStore, is_finite
from tacit.learning.episode import Episode
from tacit.learning.policy_learning import Exploration, PolicyLearning
from tacit.learning.settings import Settings, check_runnable
from tacit.learning.stage import (
    Lesson,
    PolicyPlan,
    Setup,
    Stage,
    deterministic_policy,
    ending_of,
    policy_plan,
    refuse_silence,
)
from tacit.planning.reachability import Homes
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import Anchor
from tacit.trust.diagnostics import diagnose, diagnose_nothing
from tacit.trust.findings import Finding


class Collection:
    """The stage that plays each reachable state's homing mixture until it has N_0 tuples, or its budget."""

    name: ClassVar[str] = "collection"
    explores: ClassVar[bool] = True
    remarks: tuple[str, ...] = ()

    def __init__(self, setup: Setup, homes: Homes) -> None:
        self._setup, self._homes = setup, homes
        self._layout, self._settings = setup.layout, setup.settings
        self._tuples = TupleStore(self._layout)
        self._spent = np.zeros(self._layout.endings.size, dtype=np.int64)
        self._budget = collection_budget(self._layout, self._settings)

    @property
    def target(self) -> int:
        """Return the first reachable state that still wants tuples and has budget, or -1."""
        wanting = (
            self._homes.reachable
            & (self._tuples.found < self._settings.collection.tuples)
            & (self._spent < self._budget)
        )
        return int(np.argmax(wanting)) if wanting.any() else -1

    def plan(self, context: Encoded, draw: float) -> PolicyPlan:
        """Return the policy of the target's mixture that `draw` picks."""
        target = self.target
        policy = deterministic_policy(self._homes.mixtures[target].pick(draw), self._layout)
        return PolicyPlan(policy, self.name, explores=True, uniform_last=True, target=target)

    def policy(self, context: Encoded) -> FloatArray:
        """Return the uniform policy: what feedback means is not known yet."""
        return self._layout.uniform_policy

    def learn(self, episode: Episode, feedback: Encoded | None, outcome: int | None = None) -> Lesson:
        """Return the tuple kept of an episode that reached its target, or that came late from homing (dev. 28)."""
        refuse_silence(self._layout, feedback, "the paper's recipe")
        plan = policy_plan(episode)
        ours = plan.stage == self.name
        changes: list[Change] = []
        if ours:
            changes.append(put(self._spent, plan.target, self._spent[plan.target] + 1))
        if feedback is None or not plan.uniform_last:
            return Lesson(changes=changes)
        state, action = ending_of(self._layout, episode)
        wanted = self._homes.reachable[state] and self._tuples.found[state] < self._settings.collection.tuples
        if wanted and (state == plan.target or not ours):
            changes += self._tuples.learn(episode.encoded, state, action, feedback)
        return Lesson(changes=changes)

    def next(self) -> Stage:
        """Return policy learning, with the decoder fitted, once no state wants more."""
        if self.target >= 0:
            return self
        homes = self._homes
        exploration = Exploration(
            homes.frequency, *homes.interval(), homes.reachable, self._tuples.found, self._spent
        )
        decoder = self._fit_decoder()
        remarks = tuple(self._remarks(exploration, decoder))
        return PolicyLearning(self._setup, decoder, exploration, remarks)

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return what the tuples so far show; of vectors nothing can be counted yet."""
        layout, settings = self._layout, self._settings
        if not is_finite(layout):
            return diagnose_nothing(layout, self.name, anchors)
        counts = count_tuples(layout, self._tuples.tuples())
        return diagnose(layout, counts, settings.decoder, settings.judgement, anchors=anchors)

    def to_state(self) -> dict[str, Any]:
        """Return the homes, the tuples so far and the episodes spent."""
        return {"homes": self._homes.to_state(), "tuples": self._tuples.to_state(), "spent": self._spent}

    @classmethod
    def from_state(cls, setup: Setup, state: Mapping[str, Any]) -> Collection:
        """Return the stage that `to_state` described."""
        saved, size = Saved.of(state), setup.layout.endings.size
        homes = restore_homes(setup, saved.part("homes"))
        saved.check(len(homes.mixtures) == size, "homes", f"those of all {size} endings")
        check_runnable(setup.layout, setup.settings)
        stage = cls(setup, homes)
        stage._tuples = TupleStore.from_state(setup.layout, saved.part("tuples"))
        wanted = np.where(homes.reachable, setup.settings.collection.tuples, 0)
        saved.check((stage._tuples.found <= wanted).all(), "tuples", "no more than were wanted")
        stage._spent = saved.wholes("spent", (size,))
        return stage

    def _fit_decoder(self) -> RewardDecoder | None:
        if not self._tuples.found.any():
            return None
        tuples = self._tuples.tuples()
        posterior = fit_posterior(self._layout, tuples, self._settings.posterior)
        decoder = build_decoder(self._layout, posterior, self._settings.decoder)
        return None if decoder.is_constant(tuples) else decoder  # dev. 8

    def _remarks(self, exploration: Exploration, decoder: RewardDecoder | None) -> Iterator[str]:
        """Yield what a user must know: states left out, states short of tuples, nothing to learn from."""
        homing, wanted = self._settings.homing, self._settings.collection.tuples
        names = [self._layout.endings.name(s) for s in range(len(exploration.reachable))]
        for s in np.flatnonzero(~exploration.reachable):
            yield (
                f"state {names[s]!r} was reached in {exploration.frequency[s]:.3f} of its homing episodes, below "
                f"the threshold of {4 * homing.epsilon:.3g}, and is left out; if it matters, spend more homing "
                f"episodes than {homing.episodes} on it, lower bonus_scale, or lower epsilon"
            )
        for s in np.flatnonzero(exploration.reachable & (exploration.tuples < wanted)):
            yield (
                f"state {names[s]!r} gave {exploration.tuples[s]} of {wanted} tuples within its budget of "
                f"{self._budget} episodes; what it decodes is less sure"
            )
        if decoder is None:
            yield (
                f"feedback tells no action from another in {exploration.tuples.sum()} tuples: everything decodes "
                f"to c = {self._settings.decoder.c}, so there is nothing to learn and the agent plays uniformly; "
                "check that no state is missing and that feedback belongs to its episode"
            )


def restore_homes(setup: Setup, state: Mapping[str, Any]) -> Homes:
    """Return the homes that were saved; their accuracy is that of the settings."""
    saved, homing = Saved.of(state), setup.settings.homing
    homes = Homes.from_state(setup.layout, saved)
    saved.check(homes.epsilon == homing.epsilon, "epsilon", f"that of the settings, {homing.epsilon}")
    saved.check(homes.delta == homing.delta, "delta", f"that of the settings, {homing.delta}")
    return homes


def collection_budget(layout: Layout, settings: Settings) -> int:
    """Return how many episodes one state may take (dev. 3), after Lemma 3.5's O((N_0 + log(S/delta)) / eps).

    A state of Eq. 2 is reached with probability p >= 3 epsilon (if beta of Lemma 3.2 is at most epsilon), and
    by Chernoff's bound m episodes with m p >= max(2 N_0, 8 log(S/delta)) reach it N_0 times with probability
    at least 1 - delta/S.
    """
    homing, n_last = settings.homing, layout.endings.size
    wanted = max(2 * settings.collection.tuples, 8 * math.log(n_last / homing.delta))
    return math.ceil(wanted / (3 * homing.epsilon))

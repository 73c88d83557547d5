"""Tuple collection (Algorithm 3): feedback on uniform actions, N_0 times in each reachable last state."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from tacit.decoding.decoder import RewardDecoder, build_decoder
from tacit.decoding.inverse_kinematics import fit_posterior
from tacit.decoding.tuples import Tuples
from tacit.learning.policy_learning import Exploration, PolicyLearning
from tacit.learning.settings import Settings
from tacit.learning.stage import Episode, Plan, Stage, deterministic_policy
from tacit.planning.reachability import Homes
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded


class Collection:
    """The stage that plays each reachable state's homing mixture until it has N_0 tuples, or its budget."""

    name: ClassVar[str] = "collection"
    explores: ClassVar[bool] = True
    remarks: tuple[str, ...] = ()

    def __init__(self, layout: Layout, settings: Settings, homes: Homes) -> None:
        self._layout, self._settings, self._homes = layout, settings, homes
        self._tuples = TupleBuffer(layout)
        self._spent = np.zeros(layout.n_states[-1], dtype=np.int64)
        self._budget = collection_budget(layout, settings)

    @property
    def target(self) -> int:
        """Return the first reachable state that still wants tuples and has budget, or -1."""
        wanting = (
            self._homes.reachable
            & (self._tuples.found < self._settings.collection.tuples)
            & (self._spent < self._budget)
        )
        return int(np.argmax(wanting)) if wanting.any() else -1

    def plan(self, context: Encoded, draw: float) -> Plan:
        """Return the policy of the target's mixture that `draw` picks."""
        target = self.target
        policy = deterministic_policy(self._homes.mixtures[target].pick(draw), self._layout)
        return Plan(policy, self.name, uniform_last=True, target=target)

    def learn(self, episode: Episode, feedback: Encoded | None) -> float | None:
        """Keep the tuple of an episode that reached its target, or that came late from homing (dev. 28)."""
        ours = episode.plan.stage == self.name
        if ours:
            self._spent[episode.plan.target] += 1
        if feedback is None or not episode.plan.uniform_last:
            return None
        state = episode.states[-1]
        wanted = self._homes.reachable[state] and self._tuples.found[state] < self._settings.collection.tuples
        if wanted and (state == episode.plan.target or not ours):
            self._tuples.append(episode.encoded, state, episode.actions[-1], feedback)
        return None

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
        return PolicyLearning(self._layout, self._settings, decoder, exploration, remarks)

    def to_state(self) -> dict[str, Any]:
        """Return the homes, the tuples so far and the episodes spent."""
        return {"homes": self._homes.to_state(), "tuples": self._tuples.to_state(), "spent": self._spent}

    @classmethod
    def from_state(cls, layout: Layout, settings: Settings, state: Mapping[str, Any]) -> Collection:
        """Return the stage that `to_state` described."""
        stage = cls(layout, settings, Homes.from_state(layout, state["homes"]))
        stage._tuples = TupleBuffer.from_state(layout, state["tuples"])
        stage._spent = state["spent"]
        return stage

    def _fit_decoder(self) -> RewardDecoder | None:
        if not self._tuples.found.any():
            return None
        posterior = fit_posterior(self._layout, self._tuples.arrays(), self._settings.posterior)
        decoder = build_decoder(self._layout, posterior, self._settings.decoder)
        return None if decoder.is_constant(self._tuples.arrays()) else decoder  # dev. 8

    def _remarks(self, exploration: Exploration, decoder: RewardDecoder | None) -> Iterator[str]:
        """Yield what a user must know: states left out, states short of tuples, nothing to learn from."""
        homing, wanted = self._settings.homing, self._settings.collection.tuples
        names = [self._layout.name(-1, s) for s in range(len(exploration.reachable))]
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


class TupleBuffer:
    """Tuples as they come in; `found` (S_H,) counts them by state."""

    def __init__(self, layout: Layout) -> None:
        self.found = np.zeros(layout.n_states[-1], dtype=np.int64)
        self._contexts: list[Encoded] = []
        self._states: list[int] = []
        self._actions: list[int] = []
        self._feedback: list[Encoded] = []

    def append(self, context: Encoded, state: int, action: int, feedback: Encoded) -> None:
        """Add one tuple."""
        self._contexts.append(context)
        self._states.append(state)
        self._actions.append(action)
        self._feedback.append(feedback)
        self.found[state] += 1

    def arrays(self) -> Tuples:
        """Return all tuples as arrays."""
        return Tuples(
            np.array(self._contexts),
            np.array(self._states, dtype=np.int64),
            np.array(self._actions, dtype=np.int64),
            np.array(self._feedback),
        )

    def to_state(self) -> dict[str, Any]:
        """Return the arrays, empty lists where there are none yet."""
        return {
            "contexts": np.array(self._contexts),
            "states": np.array(self._states, dtype=np.int64),
            "actions": np.array(self._actions, dtype=np.int64),
            "feedback": np.array(self._feedback),
        }

    @staticmethod
    def from_state(layout: Layout, state: Mapping[str, Any]) -> TupleBuffer:
        """Return the buffer that `to_state` described."""
        buffer = TupleBuffer(layout)
        columns = (state[key] for key in ("contexts", "states", "actions", "feedback"))
        for context, last, action, feedback in zip(*columns, strict=True):
            buffer.append(_plain(context), int(last), int(action), _plain(feedback))
        return buffer


def collection_budget(layout: Layout, settings: Settings) -> int:
    """Return how many episodes one state may take (dev. 3), after Lemma 3.5's O((N_0 + log(S/delta)) / eps).

    A state of Eq. 2 is reached with probability p >= 3 epsilon (if beta of Lemma 3.2 is at most epsilon), and
    by Chernoff's bound m episodes with m p >= max(2 N_0, 8 log(S/delta)) reach it N_0 times with probability
    at least 1 - delta/S.
    """
    homing, n_last = settings.homing, int(layout.n_states[-1])
    wanted = max(2 * settings.collection.tuples, 8 * math.log(n_last / homing.delta))
    return math.ceil(wanted / (3 * homing.epsilon))


def _plain(value: Any) -> Encoded:
    return value if isinstance(value, np.ndarray) else int(value)

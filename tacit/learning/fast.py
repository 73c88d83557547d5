"""Tacit's own recipe: one stage that explores only where it could pay, and wastes nothing it sees.

Beyond the paper, on purpose. All episodes feed one model of the dynamics and one table of counts, from which
every last state is judged in every context (`tacit.learning.places`): phi, f, its kind, and what its feedback
decodes to. Counts are kept, so a judgement that turns out wrong is revised for all that was seen before it.

An episode begins with an optimistic plan (`tacit.planning.euler`): last states that are not settled for its context are
worth 1, the others what they were judged to be worth. If that plan would end in an unsettled state often enough,
it is played, with a uniform action there; otherwise the episode is one of Algorithm 4, on the judged rewards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.changes import Change, assign, put
from tacit.base.saved import Saved
from tacit.decoding.counts import SeenCounts
from tacit.decoding.judgement import HETEROGENEOUS
from tacit.decoding.reading import FiniteReading, Reading
from tacit.decoding.tuples import counted_shape, is_finite
from tacit.learning.episode import Episode
from tacit.learning.places import Places, TuplePlace
from tacit.learning.stage import (
    Lesson,
    PolicyPlan,
    Setup,
    Stage,
    deterministic_policy,
    ending_of,
    policy_plan,
    read_duals,
    read_dynamics,
)
from tacit.planning.dual_newton import solve_packed
from tacit.planning.euler import log_factor, plan_euler
from tacit.planning.schedule import GammaSchedule
from tacit.planning.transition import TransitionEstimate
from tacit.problem.layout import Layout
from tacit.problem.mdp import forward_distribution
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import Anchor
from tacit.trust.diagnostics import diagnose, find_nothing_told
from tacit.trust.findings import Finding

DELTA = 0.05
"""Failure probability in EULER's logarithm, as in the paper's homing."""
FIRST_CHECK, CHECK_GROWTH = 500, 3
"""After so many episodes it is checked that feedback tells something, and after three times as many until it does."""

TAKEN_BACK = "feedback-tells-nothing is taken back: feedback does depend on the action, and is learned from."
"""What is said when a warning turns out to be wrong."""


class FastLearning:
    """Explores and learns in one, context by context; needs finite contexts and feedback."""

    name: ClassVar[str] = "fast learning"
    explores: ClassVar[bool] = False
    remarks: tuple[str, ...] = ()

    def __init__(self, setup: Setup) -> None:
        layout = self._layout = setup.layout
        self._settings = setup.settings
        self._schedule = GammaSchedule(scale=setup.settings.fast.gamma_scale)
        self.reading: Reading = _finite_reading(layout)
        contexts, (H, S, _) = counted_shape(self.reading.counted)[1], layout.mask.shape
        self.places = Places(self.reading.counted, setup.settings.decoder.c, setup.settings.judgement)
        self.dynamics = setup.dynamics(layout)
        self.episodes = 0
        self.explored = 0
        self._duals = np.zeros((contexts, H, S))
        self._has_dual = np.zeros(contexts, dtype=np.bool_)
        self._check_at: float = FIRST_CHECK
        self._warned = False  # that feedback tells nothing

    def plan(self, context: Encoded, draw: float) -> PolicyPlan:
        """Return the optimistic plan where it leads to unsettled states, otherwise that of Algorithm 4."""
        x = int(context)
        policy, dual, converged = self._exploit(x)
        settled = self.places.settled[:, x]
        if not all(settled.tolist()):
            explorer = self._optimistic(x, policy)
            visits = forward_distribution(self.dynamics.estimate(x), explorer, self._layout.n_states)
            if visits[-1, : len(settled)][~settled].sum() > self._settings.fast.explore_above:
                return PolicyPlan(explorer, self.name, explores=True, uniform_last=True)
        return PolicyPlan(policy, self.name, dual=dual, converged=converged)

    def policy(self, context: Encoded) -> FloatArray:
        """Return the plan of Algorithm 4 on what was judged so far."""
        return self._exploit(int(context))[0]

    def learn(self, episode: Episode, feedback: Encoded | None, outcome: int | None = None) -> Lesson:
        """Return everything counted, what the feedback decodes to, if its state is settled, and what a check found."""
        plan, x = policy_plan(episode), int(episode.encoded)
        changes = [*self.dynamics.learn(x, episode.states, episode.actions)]
        if plan.dual is not None:
            changes += put(self._duals, x, plan.dual), put(self._has_dual, x, True)
        if len(episode.actions) < self._layout.horizon:
            return Lesson(changes=changes)
        changes.append(assign(self, "episodes", self.episodes + 1))
        changes.append(assign(self, "explored", self.explored + plan.explores))
        decoded = None
        if feedback is not None:
            told = self._hear(episode, feedback)
            decoded = self.places.decode(told)
            changes += self.places.learn(told, outcome)
        remarks = self._check(changes) if self.episodes + 1 >= self._check_at else ()
        reward, bounds = decoded or (None, None)
        return Lesson(reward, bounds, remarks, changes)

    def next(self) -> Stage:
        """Return itself: there is no other stage."""
        return self

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return what the counts show of the assumptions, worst first; see `tacit.trust.diagnostics`."""
        settings = self._settings
        return diagnose(
            self.reading.counted,
            self.places.counts.seen(),
            settings.decoder,
            settings.judgement,
            self.places.judgements,
            anchors,
            unsettled=settings.fast.explore_above,
            beliefs=self.places.beliefs,
            outcomes=self.places.outcomes.seen(),
        )

    def to_state(self) -> dict[str, Any]:
        """Return the counts and what cannot be computed from them."""
        return {
            "places": self.places.to_state(),
            "dynamics": self.dynamics.to_state(),
            "episodes": self.episodes,
            "explored": self.explored,
            "duals": self._duals,
            "has_dual": self._has_dual,
            "check_at": self._check_at,
            "warned": self._warned,
        }

    @classmethod
    def from_state(cls, setup: Setup, state: Mapping[str, Any]) -> FastLearning:
        """Return the stage that `to_state` described: each state is judged again on what it was judged on."""
        saved, shape = Saved.of(state), counted_shape(_finite_reading(setup.layout).counted)
        duals, dynamics = read_duals(saved, shape[1], setup.layout), read_dynamics(setup, saved)
        stage = cls(setup)
        stage.places.restore(saved.part("places"))
        stage.dynamics.restore(dynamics)
        stage.episodes = saved.whole("episodes")
        stage.explored = saved.whole("explored", most=stage.episodes)
        stage._duals, stage._has_dual = duals
        stage._check_at = _read_check(saved, stage.episodes)
        stage._warned = saved.flag("warned")
        return stage

    @classmethod
    def from_counts(
        cls, setup: Setup, counts: SeenCounts, dynamics: TransitionEstimate, episodes: int
    ) -> FastLearning:
        """Return the stage that has seen these tuples and dynamics in so many episodes: what logs leave behind."""
        stage = cls(setup)
        stage.places.take(counts)
        stage.dynamics = dynamics
        stage.episodes = stage.explored = episodes
        stage._check_at = max(episodes + 1, FIRST_CHECK)
        return stage

    def _check(self, changes: list[Change]) -> tuple[str, ...]:
        """Return what must be said, that nothing was found where it would have been, or that it is taken back."""
        judgements = self.places.judgements
        if any(judgement.kind == HETEROGENEOUS for judgement in judgements.values()):
            changes += assign(self, "_check_at", math.inf), assign(self, "_warned", False)
            return (TAKEN_BACK,) if self._warned else ()
        changes.append(assign(self, "_check_at", CHECK_GROWTH * (self.episodes + 1)))
        found = () if self._warned else tuple(map(str, find_nothing_told(self.reading.counted, judgements)))
        changes.append(assign(self, "_warned", self._warned or bool(found)))
        return found

    def _exploit(self, x: int) -> tuple[FloatArray, FloatArray, bool]:
        """Return (policy, dual, converged) of Algorithm 4, line 6, on the rewards that were judged."""
        layout = self._layout
        policy, dual, _, _, converged = solve_packed(
            self.dynamics.estimate(x),
            layout.endings.spread(self.places.worth[:, x]),
            layout.mask,
            layout.n_states,
            self._schedule.gamma(self.episodes + 1, layout.horizon, layout.max_actions),
            self._duals[x],
            bool(self._has_dual[x]),
        )
        return policy, dual, converged

    def _optimistic(self, x: int, policy: FloatArray) -> FloatArray:
        """Return EULER's plan for unsettled states worth 1; in settled ones it ends as `policy` does."""
        layout, n = self._layout, self._layout.endings.size
        settled, best = np.ones(layout.max_states, dtype=np.bool_), np.zeros(layout.max_states)
        settled[:n], best[:n] = self.places.settled[:, x], self.places.best[:, x]
        choices, _, _ = plan_euler(
            self.dynamics.counts(x),
            layout.mask,
            layout.n_states,
            np.where(settled, best, 1.0),
            np.where(settled, best, 0.0),
            log_factor(layout, self.episodes + 1, DELTA),
            self._settings.fast.bonus_scale,
        )
        explorer = deterministic_policy(choices, layout)
        explorer[-1, settled] = policy[-1, settled]
        return explorer

    def _hear(self, episode: Episode, feedback: Encoded) -> TuplePlace:
        """Return where the tuple of an episode is counted."""
        s, a = ending_of(episode)
        x, y = self.reading.read_one(episode.encoded, s, feedback)
        return s, x, y, a


def _read_check(saved: Saved, episodes: int) -> float:
    """Return the episode at which noise is looked for again: ahead, as it was set, or never."""
    if saved.number("check_at", 1, math.inf) == math.inf:
        return math.inf
    return saved.whole("check_at", episodes + 1, max(FIRST_CHECK, CHECK_GROWTH * episodes))


def _finite_reading(layout: Layout) -> FiniteReading:
    if is_finite(layout):
        return FiniteReading(layout)
    raise ValueError(
        f"the fast recipe counts finite contexts and feedback, got {layout.contexts!r} and {layout.feedback!r}; "
        "use Settings(..., recipe='paper') with theta, M and the neural posterior"
    )

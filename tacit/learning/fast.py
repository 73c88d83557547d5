"""Tacit's own recipe: one stage that explores only where it could pay, and wastes nothing it sees.

Beyond the paper, on purpose. All episodes feed one model of the dynamics and one table of counts, from which
every last state is judged in every context (`tacit.decoding.judgement`): phi, f, its kind, and what its feedback
decodes to. Counts are kept, so a judgement that turns out wrong is revised for all that was seen before it.

An episode begins with an optimistic plan (`tacit.planning.euler`): last states that are not settled for its context are
worth 1, the others what they were judged to be worth. If that plan would end in an unsettled state often enough,
it is played, with a uniform action there; otherwise the episode is one of Algorithm 4, on the judged rewards.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.decoding.judgement import Judgement, judge
from tacit.learning.settings import Settings
from tacit.learning.stage import Episode, Plan, Stage, deterministic_policy
from tacit.planning.dual_newton import solve_packed
from tacit.planning.euler import log_factor, plan_euler
from tacit.planning.schedule import GammaSchedule
from tacit.planning.transition import TransitionCounts
from tacit.problem.layout import Layout
from tacit.problem.mdp import forward_distribution
from tacit.problem.spaces import Encoded, Finite
from tacit.trust.anchors import Anchor
from tacit.trust.diagnostics import diagnose, find_nothing_told, mostly_judged
from tacit.trust.findings import Finding

DELTA = 0.05
"""Failure probability in EULER's logarithm, as in the paper's homing."""
GROWTH = 1.1
"""A state is judged anew when its tuples have grown by this factor: a judgement costs as much as ten episodes."""
FIRST_CHECK, CHECK_GROWTH = 500, 3
"""After so many episodes it is checked that feedback tells something, and after three times as many until it does."""


class FastLearning:
    """Explores and learns in one, context by context; needs finite contexts and feedback."""

    name: ClassVar[str] = "fast learning"
    explores: ClassVar[bool] = False
    remarks: tuple[str, ...] = ()

    def __init__(self, layout: Layout, settings: Settings) -> None:
        contexts, feedback = _finite_sizes(layout)
        H, S, K = layout.mask.shape
        self._layout, self._settings = layout, settings
        self._last = int(layout.n_states[-1])
        self._schedule = GammaSchedule(scale=settings.fast.gamma_scale)
        self.counts = np.zeros((self._last, contexts, feedback, K))
        self.transitions = TransitionCounts(layout)
        self.episodes = 0
        self.explored = 0
        self._duals = np.zeros((contexts, H, S))
        self._has_dual = np.zeros(contexts, dtype=np.bool_)
        self._judged = np.zeros_like(self.counts)  # the counts that each judgement rests on
        self._due = np.ones((self._last, contexts))  # tuples at which (s, x) is judged anew
        self.judgements: dict[tuple[int, int], Judgement] = {}
        self._settled = np.zeros((contexts, S), dtype=np.bool_)
        self._best = np.zeros((contexts, S))
        self._rewards = np.zeros((contexts, H, S, K))
        self._check_at: float = FIRST_CHECK

    def plan(self, context: Encoded, draw: float) -> Plan:
        """Return the optimistic plan where it leads to unsettled states, otherwise that of Algorithm 4."""
        x = int(context)
        policy, dual, converged = self._exploit(x)
        if not self._settled[x, : self._last].all():
            explorer = self._optimistic(x, policy)
            visits = forward_distribution(self.transitions.estimate(x), explorer, self._layout.n_states)
            if visits[-1, ~self._settled[x]].sum() > self._settings.fast.explore_above:
                return Plan(explorer, self.name, uniform_last=True)
        return Plan(policy, self.name, dual=dual, converged=converged)

    def learn(self, episode: Episode, feedback: Encoded | None) -> float | None:
        """Count everything; return what the feedback decodes to, if its state is settled."""
        self.transitions.add(episode.states, episode.actions)
        if episode.plan.dual is not None:
            self._duals[int(episode.encoded)] = episode.plan.dual
            self._has_dual[int(episode.encoded)] = True
        if len(episode.actions) < self._layout.horizon:
            return None
        self.episodes += 1
        self.explored += episode.plan.dual is None
        if feedback is None:
            return None
        s, x, y, a = episode.states[-1], int(episode.encoded), int(feedback), episode.actions[-1]
        decoded = float(self.judgements[s, x].rewards[y, a]) if self._settled[x, s] else None
        self._count(s, x, y, a)
        return decoded

    def next(self) -> Stage:
        """Return itself: there is no other stage. When a check is due, as a copy that remarks what was found."""
        if self.episodes < self._check_at:
            return self
        following = copy.copy(self)
        following._check_at, following.remarks = self._check()
        return following

    def diagnose(self, anchors: Sequence[Anchor] = ()) -> tuple[Finding, ...]:
        """Return what the counts show of the assumptions, worst first; see `tacit.trust.diagnostics`."""
        return diagnose(
            self._layout,
            self.counts,
            self._settings.decoder,
            self._settings.judgement,
            self.judgements,
            anchors,
            unsettled=self._settings.fast.explore_above,
        )

    def to_state(self) -> dict[str, Any]:
        """Return the counts and what cannot be computed from them."""
        return {
            "counts": self.counts,
            "judged": self._judged,
            "due": self._due,
            "transitions": self.transitions.to_state(),
            "episodes": self.episodes,
            "explored": self.explored,
            "duals": self._duals,
            "has_dual": self._has_dual,
            "check_at": self._check_at,
        }

    @classmethod
    def from_state(cls, layout: Layout, settings: Settings, state: Mapping[str, Any]) -> FastLearning:
        """Return the stage that `to_state` described: each state is judged again on what it was judged on."""
        stage = cls(layout, settings)
        stage.counts = state["judged"].copy()
        for s, x in np.argwhere(stage.counts.sum(axis=(2, 3)) > 0):
            stage._judge(int(s), int(x))
        stage.counts, stage._due = state["counts"], state["due"]
        stage.transitions.restore(state["transitions"])
        stage.episodes, stage.explored = int(state["episodes"]), int(state["explored"])
        stage._duals, stage._has_dual = state["duals"], state["has_dual"]
        stage._check_at = state["check_at"]
        return stage

    @classmethod
    def from_counts(
        cls,
        layout: Layout,
        settings: Settings,
        counts: FloatArray,
        transitions: TransitionCounts,
        episodes: int,
    ) -> FastLearning:
        """Return the stage after episodes that explored, with tuples `counts` (S_H, X, Y, K) and these transitions."""
        stage = cls(layout, settings)
        stage.counts, stage.transitions = counts.copy(), transitions
        stage.episodes = stage.explored = episodes
        for s, x in np.argwhere(counts.sum(axis=(2, 3)) > 0):
            stage._judge(int(s), int(x))
        stage._due = GROWTH * counts.sum(axis=(2, 3)) + 1
        stage._check_at = max(episodes + 1, FIRST_CHECK)
        return stage

    def _check(self) -> tuple[float, tuple[str, ...]]:
        """Return when to check again, never once it is known, and what must be said: that this is noise."""
        if not mostly_judged(self.judgements):
            return CHECK_GROWTH * self.episodes, ()
        return math.inf, tuple(map(str, find_nothing_told(self.counts, self.judgements)))

    def _exploit(self, x: int) -> tuple[FloatArray, FloatArray, bool]:
        """Return (policy, dual, converged) of Algorithm 4, line 6, on the rewards that were judged."""
        layout = self._layout
        policy, dual, _, _, converged = solve_packed(
            self.transitions.estimate(x),
            self._rewards[x],
            layout.mask,
            layout.n_states,
            self._schedule.gamma(self.episodes + 1, layout.horizon, layout.max_actions),
            self._duals[x],
            bool(self._has_dual[x]),
        )
        return policy, dual, converged

    def _optimistic(self, x: int, policy: FloatArray) -> FloatArray:
        """Return EULER's plan for unsettled states worth 1; in settled ones it ends as `policy` does."""
        layout, settled = self._layout, self._settled[x]
        exists = layout.n_actions[-1] > 0
        choices, _, _ = plan_euler(
            self.transitions.counts,
            layout.mask,
            layout.n_states,
            np.where(settled, self._best[x], exists * 1.0),
            np.where(settled, self._best[x], 0.0),
            log_factor(layout, self.episodes + 1, DELTA),
            self._settings.fast.bonus_scale,
        )
        explorer = deterministic_policy(choices, layout)
        explorer[-1, settled] = policy[-1, settled]
        return explorer

    def _count(self, s: int, x: int, y: int, a: int) -> None:
        self.counts[s, x, y, a] += 1
        tuples = self.counts[s, x].sum()
        if tuples >= self._due[s, x]:
            self._due[s, x] = GROWTH * tuples + 1
            self._judge(s, x)

    def _judge(self, s: int, x: int) -> None:
        """Judge (s, x) on its counts, and write down what planning and decoding need of it."""
        K = int(self._layout.n_actions[-1, s])
        self._judged[s, x] = self.counts[s, x]
        judgement = judge(self.counts[s, x, :, :K], self._settings.decoder.c, self._settings.judgement)
        self.judgements[s, x] = judgement
        self._settled[x, s], self._best[x, s] = judgement.settled, judgement.best
        # Not settled, not judged: worth nothing to the planner, so that it is not drawn there (dev. 5).
        self._rewards[x, -1, s, :K] = judgement.expected if judgement.settled else 0.0


def _finite_sizes(layout: Layout) -> tuple[int, int]:
    contexts, feedback = layout.contexts, layout.feedback
    if isinstance(contexts, Finite) and isinstance(feedback, Finite):
        return contexts.size, feedback.size
    raise ValueError(
        f"the fast recipe counts finite contexts and feedback, got {contexts!r} and {feedback!r}; "
        "use Settings(..., recipe='paper') with theta, M and the neural posterior"
    )

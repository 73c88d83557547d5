"""Tacit's own recipe: one stage that explores only where it could pay, and wastes nothing it sees.

Beyond the paper, on purpose. All episodes feed one model of the dynamics and one table of counts, from which
every last state is judged in every context (`tacit.decoding.judgement`): phi, f, its kind, and what its feedback
decodes to. Counts are kept, so a judgement that turns out wrong is revised for all that was seen before it.

An episode begins with an optimistic plan (`tacit.planning.euler`): last states that are not settled for its context are
worth 1, the others what they were judged to be worth. If that plan would end in an unsettled state often enough,
it is played, with a uniform action there; otherwise the episode is one of Algorithm 4, on the judged rewards.

Where feedback or dynamics are found to have changed (`tacit.learning.vigilance`), what came before is forgotten.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.changes import Change, Changes, assign, commit, put, remove
from tacit.base.saved import Saved
from tacit.decoding.counts import RunningCounts, SeenCounts, flat_cells
from tacit.decoding.judgement import Judgement, judge
from tacit.decoding.reading import FiniteReading, Reading
from tacit.decoding.tuples import counted_shape, is_finite
from tacit.learning.episode import Episode
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
from tacit.learning.vigilance import Vigilance
from tacit.planning.dual_newton import solve_packed
from tacit.planning.euler import log_factor, plan_euler
from tacit.planning.schedule import GammaSchedule
from tacit.planning.transition import TransitionCounts, TransitionEstimate
from tacit.problem.layout import Layout
from tacit.problem.mdp import forward_distribution
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import Anchor
from tacit.trust.diagnostics import diagnose, find_nothing_told, mostly_judged
from tacit.trust.findings import Finding, worst_first
from tacit.trust.watches import Alarm

DELTA = 0.05
"""Failure probability in EULER's logarithm, as in the paper's homing."""
GROWTH = 1.1
"""A state is judged anew when its tuples have grown by this factor: a judgement costs as much as ten episodes."""
FIRST_CHECK, CHECK_GROWTH = 500, 3
"""After so many episodes it is checked that feedback tells something, and after three times as many until it does."""
HALVED = 2
"""What counts are divided by when they are more than is to be remembered."""

TuplePlace = tuple[int, int, int, int]
"""Where a tuple is counted: ending, group, value, action."""


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
        shape = counted_shape(self.reading.counted)
        contexts, (H, S, K) = shape[1], layout.mask.shape
        self.counts = RunningCounts(shape)
        self.dynamics = setup.dynamics(layout)
        self.episodes = 0
        self.explored = 0
        self._duals = np.zeros((contexts, H, S))
        self._has_dual = np.zeros(contexts, dtype=np.bool_)
        self._judged = RunningCounts(shape)  # the counts that each judgement rests on
        self._due = np.ones(shape[:2])  # tuples at which (s, x) is judged anew
        self.judgements: dict[tuple[int, int], Judgement] = {}
        self._settled = np.zeros((contexts, S), dtype=np.bool_)
        self._best = np.zeros((contexts, S))
        self._rewards = np.zeros((contexts, H, S, K))
        self._check_at: float = FIRST_CHECK
        self.vigilance = Vigilance(self.reading.counted, setup.settings.drift)

    def plan(self, context: Encoded, draw: float) -> PolicyPlan:
        """Return the optimistic plan where it leads to unsettled states, otherwise that of Algorithm 4."""
        x = int(context)
        policy, dual, converged = self._exploit(x)
        if not all(self._settled[x, : self._layout.endings.size].tolist()):
            explorer = self._optimistic(x, policy)
            visits = forward_distribution(self.dynamics.estimate(x), explorer, self._layout.n_states)
            if visits[-1, ~self._settled[x]].sum() > self._settings.fast.explore_above:
                return PolicyPlan(explorer, self.name, explores=True, uniform_last=True)
        return PolicyPlan(policy, self.name, dual=dual, converged=converged)

    def policy(self, context: Encoded) -> FloatArray:
        """Return the plan of Algorithm 4 on what was judged so far."""
        return self._exploit(int(context))[0]

    def learn(self, episode: Episode, feedback: Encoded | None) -> Lesson:
        """Return everything counted, what the feedback decodes to, if its state is settled, and what a check found."""
        plan, x = policy_plan(episode), int(episode.encoded)
        changes = [*self.dynamics.learn(x, episode.states, episode.actions)]
        if plan.dual is not None:
            changes += put(self._duals, x, plan.dual), put(self._has_dual, x, True)
        remarks = self._follow(episode, changes)
        if len(episode.actions) < self._layout.horizon:
            return Lesson(None, remarks, changes)
        changes.append(assign(self, "episodes", self.episodes + 1))
        changes.append(assign(self, "explored", self.explored + plan.explores))
        told = None if feedback is None else self._hear(episode, feedback)
        decoded = self._decode(told)
        judgement = None if told is None else self._count(told, changes)
        if self.episodes + 1 >= self._check_at:
            remarks += self._check(told, judgement, changes)
        if told is not None:
            remarks += self._hear_changes(told, changes)
        return Lesson(decoded, remarks, changes)

    def next(self) -> Stage:
        """Return itself: there is no other stage."""
        return self

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return what the counts show of the assumptions, worst first; see `tacit.trust.diagnostics`."""
        settings = self._settings
        found = diagnose(
            self.reading.counted,
            self.counts.seen(),
            settings.decoder,
            settings.judgement,
            self.judgements,
            anchors,
            unsettled=settings.fast.explore_above,
        )
        return worst_first([*found, *self.vigilance.find_drift()])

    def to_state(self) -> dict[str, Any]:
        """Return the counts and what cannot be computed from them."""
        return {
            "counts": self.counts.seen().to_state(),
            "judged": self._judged.seen().to_state(),
            "due": self._due,
            "dynamics": self.dynamics.to_state(),
            "episodes": self.episodes,
            "explored": self.explored,
            "duals": self._duals,
            "has_dual": self._has_dual,
            "check_at": self._check_at,
            "vigilance": self.vigilance.to_state(),
        }

    @classmethod
    def from_state(cls, setup: Setup, state: Mapping[str, Any]) -> FastLearning:
        """Return the stage that `to_state` described: each state is judged again on what it was judged on."""
        saved, counted = Saved.of(state), _finite_reading(setup.layout).counted
        shape = counted_shape(counted)
        counts = SeenCounts.from_state(counted, saved.part("counts"), whole=True)
        judged = SeenCounts.from_state(counted, saved.part("judged"), whole=True)
        saved.check(judged.is_within(counts), "judged", "no more than was counted")
        due = saved.floats("due", shape[:2])
        duals, dynamics = read_duals(saved, shape[1], setup.layout), read_dynamics(setup, saved)
        stage = cls(setup)
        stage._judge_all(judged)
        stage.counts, stage._due = RunningCounts(shape, counts), judging_due(judged)
        still = all(tuples < due[place] for place, tuples in zip(counts.places, counts.tuples, strict=True))
        saved.check(
            still and np.array_equal(due, stage._due),
            "due",
            f"{GROWTH} times what was judged, and 1, which the tuples have not reached",
        )
        stage.dynamics.restore(dynamics)
        stage.episodes = saved.whole("episodes")
        stage.explored = saved.whole("explored", most=stage.episodes)
        stage._duals, stage._has_dual = duals
        stage._check_at = _read_check(saved, stage.episodes)
        stage.vigilance.restore(saved.part("vigilance"), stage.episodes)
        return stage

    @classmethod
    def from_counts(
        cls, setup: Setup, counts: SeenCounts, dynamics: TransitionEstimate, episodes: int
    ) -> FastLearning:
        """Return the stage that has seen these tuples and dynamics in so many episodes: what logs leave behind."""
        stage = cls(setup)
        stage._judge_all(counts)
        stage.counts, stage.dynamics = RunningCounts(counts.shape, counts), dynamics
        stage._due = judging_due(counts)
        stage.episodes = stage.explored = episodes
        stage._check_at = max(episodes + 1, FIRST_CHECK)
        return stage

    def _check(
        self, told: TuplePlace | None, judgement: Judgement | None, changes: list[Change]
    ) -> tuple[str, ...]:
        """Return what must be said, that this is noise; add when to check again: never once it is known.

        It is checked what there will be with the tuple that is `told`, and with the judgement that it led to.
        """
        seen, judgements = self.counts.seen(), dict(self.judgements)
        if told is not None:
            seen = seen.plus(flat_cells(seen.shape, *map(np.atleast_1d, told)), np.ones(1))
            if judgement is not None:
                judgements[told[:2]] = judgement
        if not mostly_judged(judgements):
            changes.append(assign(self, "_check_at", CHECK_GROWTH * (self.episodes + 1)))
            return ()
        changes.append(assign(self, "_check_at", math.inf))
        return tuple(map(str, find_nothing_told(seen, judgements)))

    def _exploit(self, x: int) -> tuple[FloatArray, FloatArray, bool]:
        """Return (policy, dual, converged) of Algorithm 4, line 6, on the rewards that were judged."""
        layout = self._layout
        policy, dual, _, _, converged = solve_packed(
            self.dynamics.estimate(x),
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
            self.dynamics.counts(x),
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

    def _hear(self, episode: Episode, feedback: Encoded) -> TuplePlace:
        """Return where the tuple of an episode is counted."""
        s, a = ending_of(episode)
        x, y = self.reading.read_one(episode.encoded, s, feedback)
        return s, x, y, a

    def _decode(self, told: TuplePlace | None) -> float | None:
        """Return what a tuple's feedback decodes to, None if its state is not settled."""
        if told is None or not self._settled[told[1], told[0]]:
            return None
        s, x, y, a = told
        return float(self.judgements[s, x].rewards[y, a])

    def _count(self, told: TuplePlace, changes: list[Change]) -> Judgement | None:
        """Return the new judgement of (s, x), if one is due after this tuple; add what both change."""
        s, x, y, a = told
        changes += self.counts.learn(*told)
        tuples = self.counts.tuples(s, x) + 1
        if tuples < self._due[s, x]:
            return None
        counts = self.counts.table(s, x)
        counts[y, a] += 1.0
        if 0 < self._settings.drift.memory < tuples:
            counts = counts // HALVED
            tuples = int(counts.sum())
            changes += self.counts.replace(s, x, counts)
        judgement = self._judge(s, counts)
        changes.append(put(self._due, (s, x), GROWTH * tuples + 1))
        changes += self._take(judgement, s, x, counts)
        return judgement

    def _follow(self, episode: Episode, changes: list[Change]) -> tuple[str, ...]:
        """Return what must be said of dynamics that changed; add what is noticed, and forget what came before."""
        if not isinstance(
            self.dynamics, TransitionCounts
        ):  # others may depend on the context, as policies do
            return ()
        states, actions = episode.states, episode.actions
        noticed, alarms = self.vigilance.follow(states, actions, self.episodes)
        changes += noticed
        memory, moved = self._settings.drift.memory, {alarm.place for alarm in alarms}
        for h, following in enumerate(states[1:]):
            if (h, states[h]) in moved:
                changes += self.dynamics.forget(h, states[h], actions[h], following)
            elif 0 < memory <= self.dynamics.counts(episode.encoded)[h, states[h]].sum():
                changes += self.dynamics.forget(h, states[h], actions[h], following, HALVED)
        return self._tell(alarms, changes)

    def _hear_changes(self, told: TuplePlace, changes: list[Change]) -> tuple[str, ...]:
        """Return what must be said of feedback that changed; add what is noticed, and forget what came before."""
        s, x, y, a = told
        noticed, alarms = self.vigilance.hear((s, x), y, a, self.judgements.get((s, x)), self.episodes)
        changes += noticed
        for alarm in alarms:
            for place in self.vigilance.doubtful(alarm):
                changes += self._forget(*place)
        return self._tell(alarms, changes)

    def _tell(self, alarms: Sequence[Alarm], changes: list[Change]) -> tuple[str, ...]:
        if alarms:
            changes.append(self.vigilance.remember(alarms))
        return tuple(map(self.vigilance.describe, alarms))

    def _forget(self, s: int, x: int) -> Changes:
        """Return what makes (s, x) a place of which nothing is known, so that it is explored again."""
        return (
            *self.vigilance.forget((s, x)),
            *self.counts.forget(s, x),
            *self._judged.forget(s, x),
            put(self._due, (s, x), 1.0),
            remove(self.judgements, (s, x)),
            put(self._settled, (x, s), False),
            put(self._best, (x, s), 0.0),
            put(self._rewards, (x, -1, s), 0.0),
        )

    def _judge_all(self, counts: SeenCounts) -> None:
        for (s, x), table in counts.tables():
            commit(self._take(self._judge(s, table), s, x, table))

    def _judge(self, s: int, counts: FloatArray) -> Judgement:
        """Return the judgement of a last state on counts (Y, K)."""
        K, settings = int(self._layout.endings.n_actions[s]), self._settings
        return judge(counts[:, :K], settings.decoder.c, settings.judgement)

    def _take(self, judgement: Judgement, s: int, x: int, counts: FloatArray) -> Changes:
        """Return a judgement of (s, x) written down as planning and decoding need it, and what it rests on."""
        # Not settled, not judged: worth nothing to the planner, so that it is not drawn there (dev. 5).
        worth = judgement.expected if judgement.settled else 0.0
        return (
            *self._judged.replace(s, x, counts),
            put(self.judgements, (s, x), judgement),
            put(self._settled, (x, s), judgement.settled),
            put(self._best, (x, s), judgement.best),
            put(self._rewards, (x, -1, s, slice(int(self._layout.endings.n_actions[s]))), worth),
        )


def judging_due(judged: SeenCounts) -> FloatArray:
    """Return at how many tuples each (s, x) is judged anew, (S_H, X), by what it was judged on."""
    due: FloatArray = np.ones(judged.shape[:2])
    for place, tuples in zip(judged.places, judged.tuples, strict=True):
        due[place] = GROWTH * tuples + 1
    return due


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

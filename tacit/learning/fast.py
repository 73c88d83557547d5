"""Tacit's own recipe: one stage that explores only where it could pay, and wastes nothing it sees.

Beyond the paper, on purpose. All episodes feed one model of the dynamics and one table of counts, from which
every last state is judged in every context (`tacit.decoding.judgement`): phi, f, its kind, and what its feedback
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

from tacit.base.arrays import BoolArray, FloatArray
from tacit.base.changes import Change, Changes, assign, commit, put
from tacit.base.saved import Saved
from tacit.decoding.common_meaning import find_common_meaning, read_by
from tacit.decoding.counts import RunningCounts, SeenCounts, flat_cells
from tacit.decoding.judgement import Judgement
from tacit.decoding.reading import FiniteReading, Reading
from tacit.decoding.tuples import counted_shape, is_finite
from tacit.learning.early_endings import (
    bound_by_siblings,
    find_passing,
    judge_endings,
    read_early,
    save_early,
)
from tacit.learning.episode import Episode
from tacit.learning.stage import (
    Lesson,
    PolicyPlan,
    Setup,
    Stage,
    deterministic_policy,
    ending_of,
    path_of,
    policy_plan,
    read_duals,
    read_dynamics,
)
from tacit.planning.dual_newton import solve_packed
from tacit.planning.euler import NO_TRIES, NO_WORTH, log_factor, plan_euler
from tacit.planning.schedule import GammaSchedule
from tacit.planning.transition import TransitionEstimate
from tacit.problem.layout import Layout
from tacit.problem.mdp import forward_distribution
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import Anchor
from tacit.trust.diagnostics import diagnose, find_nothing_told, mostly_judged
from tacit.trust.findings import Finding

DELTA = 0.05
"""Failure probability in EULER's logarithm, as in the paper's homing."""
GROWTH = 1.1
"""A state is judged anew when its tuples have grown by this factor: a judgement costs as much as ten episodes."""
FIRST_CHECK, CHECK_GROWTH = 500, 3
"""After so many episodes it is checked that feedback tells something, and after three times as many until it does."""

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
        contexts, (H, S, K), E = shape[1], layout.mask.shape, layout.endings.size
        self.counts = RunningCounts(shape)
        self.dynamics = setup.dynamics(layout)
        self.episodes = 0
        self.explored = 0
        self._duals = np.zeros((contexts, H, S))
        self._has_dual = np.zeros(contexts, dtype=np.bool_)
        self._judged = RunningCounts(shape)  # the counts that each judgement rests on
        self._due = np.ones(shape[:2])  # tuples at which (s, x) is judged anew
        self.judgements: dict[tuple[int, int], Judgement] = {}
        self._common: dict[
            int, FloatArray | None
        ] = {}  # what words mean to a context, where episodes end early
        self._nowhere = np.zeros(K, dtype=np.bool_)
        self._left_out: dict[
            tuple[int, int], BoolArray
        ] = {}  # actions (K,) that a judgement does not rest on
        self._settled = np.zeros((contexts, E), dtype=np.bool_)
        self._best = np.zeros((contexts, E))
        self._rewards = np.zeros((contexts, E, K))
        self._check_at: float = FIRST_CHECK

    def plan(self, context: Encoded, draw: float) -> PolicyPlan:
        """Return the optimistic plan where it leads to unsettled states, otherwise that of Algorithm 4."""
        x = int(context)
        policy, dual, converged = self._exploit(x)
        if not all(self._settled[x].tolist()):
            explored = self._unsettled(x)
            explorer = self._optimistic(x, policy, explored)
            estimate = self.dynamics.estimate(x)
            visits = forward_distribution(estimate, explorer, self._layout.n_states)
            if self._share_ending(visits, explorer, estimate, explored) > self._settings.fast.explore_above:
                return PolicyPlan(explorer, self.name, explores=True, uniform_last=True)
        return PolicyPlan(policy, self.name, dual=dual, converged=converged)

    def policy(self, context: Encoded) -> FloatArray:
        """Return the plan of Algorithm 4 on what was judged so far."""
        return self._exploit(int(context))[0]

    def learn(self, episode: Episode, feedback: Encoded | None) -> Lesson:
        """Return everything counted, what the feedback decodes to, if its state is settled, and what a check found."""
        plan, x = policy_plan(episode), int(episode.encoded)
        ended = feedback is not None
        changes = [*self.dynamics.learn(x, *path_of(self._layout, episode, ended))]
        if plan.dual is not None:
            changes += put(self._duals, x, plan.dual), put(self._has_dual, x, True)
        if not ended and len(episode.actions) < self._layout.horizon:
            return Lesson(changes=changes)
        changes.append(assign(self, "episodes", self.episodes + 1))
        changes.append(assign(self, "explored", self.explored + plan.explores))
        told = None if feedback is None else self._hear(episode, feedback)
        decoded = self._decode(told)
        judgement = None if told is None else self._count(told, changes)
        due = self.episodes + 1 >= self._check_at
        return Lesson(decoded, self._check(told, judgement, changes) if due else (), changes)

    def next(self) -> Stage:
        """Return itself: there is no other stage."""
        return self

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return what the counts show of the assumptions, worst first; see `tacit.trust.diagnostics`."""
        settings = self._settings
        return diagnose(
            self.reading.counted,
            self.counts.seen(),
            settings.decoder,
            settings.judgement,
            self.judgements,
            anchors,
            unsettled=settings.fast.explore_above,
        )

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
            "early": save_early(self.counts.shape, self._left_out, self._common),
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
        stage._left_out, stage._common = read_early(setup.layout, shape, saved.part("early"))
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
        return stage

    @classmethod
    def from_counts(
        cls, setup: Setup, counts: SeenCounts, dynamics: TransitionEstimate, episodes: int
    ) -> FastLearning:
        """Return the stage that has seen these tuples and dynamics in so many episodes: what logs leave behind."""
        stage = cls(setup)
        stage.counts, stage.dynamics = RunningCounts(counts.shape, counts), dynamics
        stage._judge_anew(counts)
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
            layout.endings.spread(self._rewards[x], self.dynamics.estimate(x)),
            layout.mask,
            layout.n_states,
            self._schedule.gamma(self.episodes + 1, layout.horizon, layout.max_actions),
            self._duals[x],
            bool(self._has_dual[x]),
        )
        return policy, dual, converged

    def _unsettled(self, x: int) -> BoolArray:
        """Return the endings that are worth exploring for a context, (S_H,): not settled, and episodes do end there."""
        unsettled: BoolArray = ~self._settled[x]
        if self._layout.ends_early:
            endings, passing = self._layout.endings, find_passing(self._layout, self.dynamics.counts(x))
            unsettled &= (endings.mask & ~passing).any(axis=1)
        return unsettled

    def _optimistic(self, x: int, policy: FloatArray, explored: BoolArray) -> FloatArray:
        """Return EULER's plan for endings to be explored worth 1; in the others it ends as `policy` does."""
        layout, endings, early = self._layout, self._layout.endings, self._layout.endings.early
        last = explored[early:]
        hope = self._hopes(x)
        upper, lower = np.zeros((2, layout.max_states))
        upper[: len(last)] = np.where(last, hope[early:], self._best[x, early:])
        lower[: len(last)] = np.where(last, 0.0, self._best[x, early:])
        worth = np.where(explored[:, None], hope[:, None], self._rewards[x])
        choices, _, _ = plan_euler(
            self.dynamics.counts(x),
            layout.mask,
            layout.n_states,
            upper,
            lower,
            layout.ended,
            endings.place(worth) if early else NO_WORTH,
            endings.place(explored) if early else NO_TRIES,
            log_factor(layout, self.episodes + 1, DELTA),
            self._settings.fast.bonus_scale,
        )
        explorer = deterministic_policy(choices, layout)
        explorer[-1, : len(last)][~last] = policy[-1, : len(last)][~last]
        return explorer

    def _hopes(self, x: int) -> FloatArray:
        """Return what an ending that is not settled can be worth, (S_H,)."""
        if self._layout.endings.early:
            return bound_by_siblings(self._layout.endings.siblings, self._settled[x], self._best[x])
        return np.ones(self._layout.endings.size)

    def _share_ending(
        self, visits: FloatArray, explorer: FloatArray, estimate: FloatArray, explored: BoolArray
    ) -> float:
        """Return the share of an explorer's episodes that end where there is something to explore."""
        endings = self._layout.endings
        at = visits[endings.layers, endings.states]
        if endings.early:
            at = at * (explorer[endings.layers, endings.states] * endings.chances(estimate)).sum(axis=1)
        return float(at[explored].sum())

    def _hear(self, episode: Episode, feedback: Encoded) -> TuplePlace:
        """Return where the tuple of an episode is counted."""
        s, a = ending_of(self._layout, episode)
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
        passing = find_passing(self._layout, self.dynamics.counts(x))[s]
        judgement, left_out = self._judge(s, x, counts, passing)
        changes.append(put(self._due, (s, x), GROWTH * tuples + 1))
        changes += self._take(judgement, s, x, counts)
        if self._layout.ends_early:
            changes += put(self._left_out, (s, x), left_out), *self._pool(judgement, s, x, counts)
        return judgement

    def _pool(self, judgement: Judgement, s: int, x: int, counts: FloatArray) -> list[Change]:
        """Return the common meaning of words in a context with one more judgement in it, and what it changes."""
        known = {e: (j, self._judged.table(e, x)) for (e, of), j in self.judgements.items() if of == x}
        known[s] = judgement, counts
        phi = find_common_meaning(
            ((j, table[:, : len(j.tuples)]) for j, table in known.values()), self._settings.judgement
        )
        before = self._common.get(x)
        if phi is before or (phi is not None and before is not None and np.array_equal(phi, before)):
            return []
        changes: list[Change] = [put(self._common, x, phi)]
        for e, (j, table) in known.items():
            changes += self._take(
                read_by(phi, j, table[:, : len(j.tuples)], self._settings.decoder.c), e, x, table
            )
        return changes

    def _judge_all(self, counts: SeenCounts) -> None:
        """Judge every place by counts, without those actions that were left out before."""
        for (s, x), table in counts.tables():
            judgement, left_out = self._judge(s, x, table, self._left_out.get((s, x), self._nowhere))
            commit(self._take(judgement, s, x, table))
            if left_out.any():
                self._left_out[s, x] = left_out

    def _judge_anew(self, counts: SeenCounts) -> None:
        """Judge every place by counts and by the dynamics that are known."""
        for (s, x), _ in counts.tables() if self._layout.ends_early else ():
            passing = find_passing(self._layout, self.dynamics.counts(x))[s]
            self._left_out[s, x] = passing[: self._layout.endings.n_actions[s]]
        self._judge_all(counts)
        for x in sorted({x for _, x in self.judgements}) if self._layout.ends_early else ():
            s, judgement = next((s, j) for (s, of), j in self.judgements.items() if of == x)
            commit(self._pool(judgement, s, x, self._judged.table(s, x)))

    def _judge(self, s: int, x: int, counts: FloatArray, passing: BoolArray) -> tuple[Judgement, BoolArray]:
        """Return the judgement of an ending on counts (Y, K), and the actions that it does not rest on."""
        K, settings = int(self._layout.endings.n_actions[s]), self._settings
        judgement, left_out = judge_endings(
            counts[:, :K], passing[:K], settings.decoder.c, settings.judgement
        )
        return read_by(self._common.get(x), judgement, counts[:, :K], settings.decoder.c), left_out

    def _take(self, judgement: Judgement, s: int, x: int, counts: FloatArray) -> Changes:
        """Return a judgement of (s, x) written down as planning and decoding need it, and what it rests on."""
        # Not settled, not judged: worth nothing to the planner, so that it is not drawn there (dev. 5).
        worth = judgement.expected if judgement.settled else 0.0
        return (
            *self._judged.replace(s, x, counts),
            put(self.judgements, (s, x), judgement),
            put(self._settled, (x, s), judgement.settled),
            put(self._best, (x, s), judgement.best),
            put(self._rewards, (x, s, slice(int(self._layout.endings.n_actions[s]))), worth),
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

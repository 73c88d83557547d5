"""Tacit's own recipe: one stage that explores only where it could pay, and wastes nothing it sees.

Beyond the paper, on purpose. All episodes feed one model of the dynamics and one table of counts, from which
every last state is judged in every context (`tacit.learning.places`): phi, f, its kind, and what its feedback
decodes to. Counts are kept, so a judgement that turns out wrong is revised for all that was seen before it.

An episode follows a hopeful plan, with a uniform action in unsettled states, if there is one that pays; otherwise it is
one of Algorithm 4, on the judged rewards (`tacit.learning.outlook`).

Where feedback or dynamics are found to have changed (`tacit.learning.vigilance`), what came before is forgotten.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray
from tacit.base.changes import Change, assign, put
from tacit.base.saved import Saved
from tacit.decoding.counts import SeenCounts
from tacit.decoding.judgement import HETEROGENEOUS
from tacit.decoding.reading import FiniteReading, Reading
from tacit.decoding.tuples import counted_shape, is_finite
from tacit.learning.early_endings import find_passing
from tacit.learning.episode import Episode
from tacit.learning.outlook import Outlook, Planner, Solution
from tacit.learning.places import HALVED, Places, TuplePlace
from tacit.learning.recurring_endings import RecurringEndings, Regrouped
from tacit.learning.regrowth import regrow_state
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
)
from tacit.learning.vigilance import Vigilance
from tacit.planning.exploring import hope_radius
from tacit.planning.optimism import bound_reach
from tacit.planning.schedule import GammaSchedule
from tacit.planning.transition import TransitionCounts, TransitionEstimate
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import Anchor
from tacit.trust.diagnostics import diagnose, find_nothing_told
from tacit.trust.findings import Finding, worst_first
from tacit.trust.watches import Alarm

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
        self.places = self._make_places()
        self.endings = RecurringEndings(self.reading.counted)
        self.dynamics = setup.dynamics(layout)
        self.episodes = 0
        self.explored = 0
        self._duals = np.zeros((contexts, H, S))
        self._has_dual = np.zeros(contexts, dtype=np.bool_)
        self._check_at: float = FIRST_CHECK
        self.vigilance = Vigilance(self.reading.counted, setup.settings.drift)
        self._warned = False  # that feedback tells nothing

    def plan(self, context: Encoded, draw: float) -> PolicyPlan:
        """Return the plan of Algorithm 4, or a hopeful one where it pays to settle what that one leads to."""
        x = int(context)
        outlook = self._outlook(x)
        policy, dual, converged = self._exploit(x, outlook)
        explorer = self._planner.hope(x, outlook, policy, self.episodes)
        if explorer is not None:
            return PolicyPlan(explorer, self.name, explores=True, uniform_last=True)
        return PolicyPlan(policy, self.name, dual=dual, converged=converged)

    def policy(self, context: Encoded) -> FloatArray:
        """Return the plan of Algorithm 4 on what was judged so far."""
        x = int(context)
        return self._exploit(x, self._outlook(x)).policy

    def learn(self, episode: Episode, feedback: Encoded | None, outcome: int | None = None) -> Lesson:
        """Return everything counted, what the feedback decodes to, if its state is settled, and what a check found."""
        plan, x = policy_plan(episode), int(episode.encoded)
        ended = feedback is not None
        changes = [*self.dynamics.learn(x, *path_of(self._layout, episode, ended))]
        if plan.dual is not None:
            changes += put(self._duals, x, plan.dual), put(self._has_dual, x, True)
        remarks = self._follow(episode, ended, changes)
        if not ended and len(episode.actions) < self._layout.horizon:
            return Lesson(None, None, remarks, changes)
        changes.append(assign(self, "episodes", self.episodes + 1))
        changes.append(assign(self, "explored", self.explored + plan.explores))
        decoded = None
        if feedback is not None:
            heard = self._hear(episode, feedback)
            told = self.endings.place_of(heard)
            decoded = self.places.decode(told)
            remarks += self._take_in(heard, told, outcome, changes)
        if self.episodes + 1 >= self._check_at:
            remarks += self._check(changes)
        reward, bounds = decoded or (None, None)
        return Lesson(reward, bounds, remarks, changes)

    def place_of(self, ending: int, group: int) -> tuple[int, int]:
        """Return the place, a key of `places.judgements`, that an ending is in a context group."""
        return int(self.endings.places[ending, group]), group

    def bound_reach(self, context: Encoded, endings: Sequence[int]) -> FloatArray:
        """Return how likely an episode could end in each of some endings, whatever was played, by what was seen so far.

        1 means that nothing is known of the way there; near 0, that it was looked for everywhere it could be.
        """
        layout, counts = self._layout, self.dynamics.counts(context)
        known = counts, layout.mask, layout.n_states, layout.ended
        radius, at = hope_radius(self.episodes), layout.endings
        places = [(int(at.layers[ending]), int(at.states[ending])) for ending in endings]
        return np.array([bound_reach(*known, layer, s, radius) for layer, s in places])

    def grown(self, setup: Setup) -> FastLearning:
        """Return the stage in a layout that has grown out of its own; this one is not to be used any more.

        With a context or a word more it shares what it can with this one. Beyond that, places are judged again.
        """
        if not isinstance(self.dynamics, TransitionCounts):
            raise ValueError(
                f"layouts grow with Tacit's own dynamics, got {type(self.dynamics).__name__}; leave `dynamics` out"
            )
        old, layout = self._layout, setup.layout
        more = [n - m for n, m in zip(counted_shape(layout), counted_shape(old), strict=True)]
        menus = layout.actions is old.actions and layout.retired == old.retired
        if not menus or more[2]:
            known = regrow_state(self.to_state(), old, layout, setup.settings.judgement)
            stage = FastLearning.from_state(setup, known)
            if self.endings.recur or stage.endings.recur:
                stage._take(stage.endings.seen(), stage.endings.outcomes.seen())
            return stage
        wider = copy(self)
        wider._layout, wider.reading = layout, FiniteReading(layout)
        wider.places, wider.vigilance = self.places.widened(layout), self.vigilance.widened(layout)
        wider.endings = self.endings.widened(layout)
        if more[1]:
            wider._duals = np.pad(self._duals, ((0, more[1]), (0, 0), (0, 0)))
            wider._has_dual = np.pad(self._has_dual, (0, more[1]))
        return wider

    def next(self) -> Stage:
        """Return itself: there is no other stage."""
        return self

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return what the counts show of the assumptions, worst first; see `tacit.trust.diagnostics`."""
        settings = self._settings
        found = diagnose(
            self.reading.counted,
            self.places.counts.seen(),
            settings.decoder,
            settings.judgement,
            self.places.judgements,
            anchors,
            beliefs=self.places.beliefs,
            outcomes=self.places.outcomes.seen(),
            heard=self.endings.seen() if self.endings.recur else None,
        )
        return worst_first([*found, *self.vigilance.find_drift(self.episodes)])

    def to_state(self) -> dict[str, Any]:
        """Return the counts and what cannot be computed from them."""
        return {
            "places": self.places.to_state(),
            "endings": self.endings.to_state(),
            "dynamics": self.dynamics.to_state(),
            "episodes": self.episodes,
            "explored": self.explored,
            "duals": self._duals,
            "has_dual": self._has_dual,
            "check_at": self._check_at,
            "vigilance": self.vigilance.to_state(),
            "warned": self._warned,
        }

    @classmethod
    def from_state(cls, setup: Setup, state: Mapping[str, Any]) -> FastLearning:
        """Return the stage that `to_state` described: each state is judged again on what it was judged on."""
        saved, shape = Saved.of(state), counted_shape(_finite_reading(setup.layout).counted)
        duals, dynamics = read_duals(saved, shape[1], setup.layout), read_dynamics(setup, saved)
        stage = cls(setup)
        stage.places.restore(saved.part("places"))
        stage.endings.restore(stage.reading.counted, saved.part("endings"))
        stage.dynamics.restore(dynamics)
        stage.episodes = saved.whole("episodes")
        stage.explored = saved.whole("explored", most=stage.episodes)
        stage._duals, stage._has_dual = duals
        stage._check_at = _read_check(saved, stage.episodes)
        stage.vigilance.restore(saved.part("vigilance"), stage.episodes)
        stage._warned = saved.flag("warned")
        return stage

    @classmethod
    def from_counts(
        cls,
        setup: Setup,
        counts: SeenCounts,
        dynamics: TransitionEstimate,
        episodes: int,
        outcomes: SeenCounts | None = None,
    ) -> FastLearning:
        """Return the stage that has seen these tuples, dynamics and outcomes in so many episodes: what logs leave."""
        stage = cls(setup)
        stage.dynamics = dynamics
        stage._take(counts, SeenCounts.empty((*counts.shape[:3], 2)) if outcomes is None else outcomes)
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

    def _exploit(self, x: int, outlook: Outlook) -> Solution:
        """Return the plan of Algorithm 4, line 6, on the rewards that were judged."""
        layout = self._layout
        gamma = self._schedule.gamma(self.episodes + 1, layout.horizon, layout.max_actions)
        return self._planner.earn(x, outlook.worth, gamma, self._duals[x] if self._has_dual[x] else None)

    @property
    def _planner(self) -> Planner:
        return Planner(self._layout, self.dynamics)

    def _outlook(self, x: int) -> Outlook:
        outlook = self.places.outlook(x)
        if not self.endings.recur:
            return outlook
        passing = find_passing(self._layout, self.dynamics.counts(x))
        return self.endings.look(outlook, self.places.judgements, x, passing)

    def _make_places(self) -> Places:
        settings = self._settings
        return Places(self.reading.counted, settings.decoder.c, settings.judgement, settings.drift.memory)

    def _take(self, heard: SeenCounts, outcomes: SeenCounts) -> None:
        """Take up what was heard in each ending, and the outcomes that are known."""
        self.places = self._judge_all(self.endings.take(heard, outcomes))

    def _judge_all(self, grouped: Regrouped) -> Places:
        """Return all places judged anew, on what their endings have heard."""
        places = self._make_places()
        passing = find_passing(self._layout, self.dynamics.counts(0)) if self._layout.ends_early else None
        places.take(grouped.counts, grouped.outcomes, passing)
        return places

    def _take_in(
        self, heard: TuplePlace, told: TuplePlace, outcome: int | None, changes: list[Change]
    ) -> tuple[str, ...]:
        """Return what must be said of feedback heard in an ending and `told` of its place; add what it teaches."""
        changes += self.endings.learn(heard, outcome)
        grouped = self.endings.compare(heard, outcome)
        if grouped is None:
            changes += self.places.learn(told, outcome, self._passing(told))
            return self._hear_changes(told, changes)
        changes += self.endings.adopt(grouped), assign(self, "places", self._judge_all(grouped))
        changes += (change for place in grouped.changed for change in self.vigilance.forget(place))
        return ()

    def _passing(self, told: TuplePlace) -> BoolArray | None:
        """Return the actions (K,) of an ending that hardly ever end an episode, None where all do."""
        if not self._layout.ends_early:
            return None
        passing: BoolArray = find_passing(self._layout, self.dynamics.counts(told[1]))[told[0]]
        return passing

    def _hear(self, episode: Episode, feedback: Encoded) -> TuplePlace:
        """Return where the tuple of an episode is counted."""
        s, a = ending_of(self._layout, episode)
        x, y = self.reading.read_one(episode.encoded, s, feedback)
        return s, x, y, a

    def _follow(self, episode: Episode, ended: bool, changes: list[Change]) -> tuple[str, ...]:
        """Return what must be said of dynamics that changed; add what is noticed, and forget what came before."""
        if not isinstance(
            self.dynamics, TransitionCounts
        ):  # others may depend on the context, as policies do
            return ()
        states, actions = path_of(self._layout, episode, ended)
        noticed, alarms = self.vigilance.follow(states, actions, self.episodes)
        changes += noticed
        memory, counts = self._settings.drift.memory, self.dynamics.counts(episode.encoded)
        passed = [(h, states[h]) for h in range(len(states) - 1)]
        kept = {at: HALVED for at in passed if 0 < memory <= counts[at].sum()} | {
            alarm.place: 0 for alarm in alarms
        }
        if kept:
            changes += self.dynamics.forget(states, actions, kept)
        return self._tell(alarms, changes)

    def _hear_changes(self, told: TuplePlace, changes: list[Change]) -> tuple[str, ...]:
        """Return what must be said of feedback that changed; add what is noticed, and forget what came before."""
        s, x, y, a = told
        judgement = self.places.judgements.get((s, x))
        noticed, alarms = self.vigilance.hear((s, x), y, a, judgement, self.episodes)
        changes += noticed
        doubtful = {place for alarm in alarms for place in self.vigilance.doubtful(alarm)}
        if doubtful:
            changes += (change for place in sorted(doubtful) for change in self.vigilance.forget(place))
            changes += self.places.forget(sorted(doubtful))
            changes += self.endings.forget(doubtful)
        return self._tell(alarms, changes)

    def _tell(self, alarms: Sequence[Alarm], changes: list[Change]) -> tuple[str, ...]:
        if alarms:
            changes.append(self.vigilance.remember(alarms))
        return tuple(map(self.vigilance.describe, alarms))


def _read_check(saved: Saved, episodes: int) -> float:
    """Return the episode at which noise is looked for again: ahead, as it was set, or never."""
    if saved.number("check_at", 1, math.inf) == math.inf:
        return math.inf
    return saved.whole("check_at", episodes + 1, max(FIRST_CHECK, CHECK_GROWTH * episodes))


def _finite_reading(layout: Layout) -> FiniteReading:
    if is_finite(layout):
        return FiniteReading(layout)
    raise ValueError(
        f"this stage counts finite contexts and feedback, got {layout.contexts!r} and {layout.feedback!r}; use "
        "tacit.learning.generalising.GeneralisingLearning, as tacit.Agent(layout) does"
    )

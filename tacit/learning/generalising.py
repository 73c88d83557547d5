"""Tacit's own recipe where contexts cannot be counted one by one: vectors, texts, many labels, and vectors as feedback.

Every tuple is kept. Now and then, when there are a third more than before, what feedback means and what pleases whom is
fitted on all of them (`tacit.decoding.understanding`), whatever policy drew the actions; a fit that turned out wrong is
undone by the next. Until a fit shows, on tuples that it was not fitted on, that feedback depends on the action,
episodes explore: they go where least was seen, or where most seems to be told, and end with a uniform action.

From then on an episode is one of Algorithm 4 on what actions are expected to please in its context, and ends with each
action as often as it may be the best, by the uncertainty of the fit there (Thompson sampling, its chances written out,
so that every probability is known). Endings that may be better than what is known are looked at where that pays
(`tacit.learning.outlook`). Some episodes still end with a uniform action, ever fewer once fresh looks at them change
nothing: they undo what a wrong fit would never look at again, and are what a diagnosis rests on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from copy import copy
from typing import Any, ClassVar

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.beside import Beside
from tacit.base.changes import Change, Changes, assign, commit, put
from tacit.base.saved import Saved
from tacit.decoding.action_evidence import RunningEvidence
from tacit.decoding.counts import RunningCounts, SeenCounts
from tacit.decoding.people import SURE_NATS
from tacit.decoding.together import judge_together
from tacit.decoding.tuples import Tuples, TupleStore, counted_shape, is_finite
from tacit.decoding.understanding import RANKED_VALUES, Understanding, fit_understanding, ranked_layout
from tacit.decoding.word_sharpening import understand_sharply
from tacit.learning.episode import Episode
from tacit.learning.outlook import Planner
from tacit.learning.settings import INLINE
from tacit.learning.stage import (
    Lesson,
    PolicyPlan,
    Setup,
    Stage,
    ending_of,
    path_of,
    policy_plan,
    read_dynamics,
)
from tacit.learning.understood_outlook import DRAWS, UnderstoodOutlook, fixed_normals
from tacit.planning.schedule import GammaSchedule
from tacit.planning.transition import TransitionEstimate
from tacit.problem.growth import may_change
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded
from tacit.trust.anchors import Anchor, encode_anchor
from tacit.trust.diagnostics import diagnose
from tacit.trust.findings import Finding
from tacit.trust.held_out import rest_on_held_out

FIRST_FIT, GROWTH = 250, 1.33
"""Tuples of the first fit, and how many times more there are at each that follows."""
MANY, STEADY_GROWTH = 4000, 1.5
"""Tuples from which on, once all is steady, there are so many times more."""
LOOKS = 100
"""Over t: the chance that episode t ends with a uniform action once what is understood is steady."""
UNSTEADY_LOOKS = 0.3
"""That chance until then."""
FEW, MOST_CELLS = 24, 20_000_000
"""Labels that contexts may have to be judged each by itself; and cells (ending, label, word, action) beyond which more
of them are, too."""
Fits = tuple[tuple[int, int], ...]
"""The fits that were adopted: on how many tuples each, and after how many episodes had ended or broken off."""


class GeneralisingLearning:
    """Explores and learns in one, whatever contexts and feedback are; see the module."""

    name: ClassVar[str] = "generalising"
    explores: ClassVar[bool] = False
    remarks: tuple[str, ...] = ()

    def __init__(self, setup: Setup, replayed: Fits | None = None) -> None:
        if may_change(setup.layout):
            raise ValueError(
                "where contexts or feedback are vectors, or contexts are many, labels are those that the layout has "
                "when the agent begins, this one is open or has retired actions; name all labels, without open=True"
            )
        self._layout, self._settings = setup.layout, setup.settings
        self._schedule = GammaSchedule(scale=setup.settings.fast.gamma_scale)
        self.dynamics = setup.dynamics(setup.layout)
        self.tuples = TupleStore(setup.layout)
        self.episodes = 0
        self.explored = 0
        self.understanding: Understanding | None = None
        self.sure = False
        """Whether held-out tuples show that feedback depends on the action, so that episodes earn."""
        self.steady = False
        """Whether fresh looks have changed little, so that they become ever fewer."""
        S, K = setup.layout.endings.mask.shape
        self.ranked = RunningCounts((S, 1, RANKED_VALUES, K))
        """Tuples of uniform actions as they were read before they were learned from."""
        self.evidence = RunningEvidence()
        """That feedback depends on the action, by tuples of uniform actions read before they were learned from."""
        self.known: dict[int, int] = {}
        """Outcomes that are known, by the number of their tuple."""
        self.lessons = 0
        self.fits: Fits = ()
        self._replayed, self._due, self._not_before = replayed, FIRST_FIT, 0
        self._beside: Beside[tuple[int, Understanding]] = Beside()
        self._normals = fixed_normals((DRAWS, *setup.layout.endings.mask.shape))

    @classmethod
    def from_tuples(
        cls,
        setup: Setup,
        tuples: TupleStore,
        dynamics: TransitionEstimate,
        episodes: int,
        understanding: Understanding,
    ) -> GeneralisingLearning:
        """Return the stage that met these tuples and dynamics in so many episodes, and understood so much of them."""
        stage, n = cls(setup), len(tuples.rows)
        stage.tuples, stage.dynamics = tuples, dynamics
        stage.episodes = stage.explored = stage.lessons = episodes
        stage.understanding, stage.sure = understanding, understanding.is_sure
        stage.steady = understanding.people.is_steady
        stage._due = stage._next_due(n)
        return stage

    def plan(self, context: Encoded, draw: float) -> PolicyPlan:
        """Return the plan of Algorithm 4 on what was understood, or one that explores where that pays."""
        if self.understanding is None or not self.sure:
            explorer = self._planner.hope(
                context,
                self._outlooks.unknown(self.understanding),
                self._layout.uniform_policy,
                self.episodes,
            )
            policy = self._layout.uniform_policy if explorer is None else explorer
            return PolicyPlan(policy, self.name, explores=True, uniform_last=True)
        chances, outlook = self._outlooks.weigh(context, self.understanding)
        policy = self._earn(context, outlook.worth)
        if draw < (LOOKS / (self.episodes + 1) if self.steady else UNSTEADY_LOOKS):
            policy[-1] = self._layout.uniform_policy[-1]
            return PolicyPlan(policy, self.name, explores=True, uniform_last=True)
        policy[-1] = chances
        explorer = self._planner.hope(context, outlook, policy, self.episodes)
        if explorer is None:
            return PolicyPlan(policy, self.name)
        explorer[-1] = chances
        return PolicyPlan(explorer, self.name, explores=True)

    def policy(self, context: Encoded) -> FloatArray:
        """Return the plan of Algorithm 4 on what was understood so far; uniform while nothing was."""
        if self.understanding is None or not self.sure:
            return self._layout.uniform_policy
        return self._earn(context, self.understanding.rewards(context))

    def learn(self, episode: Episode, feedback: Encoded | None, outcome: int | None = None) -> Lesson:
        """Return what is kept of an episode, and what its feedback decodes to, once something is understood."""
        plan, x, ended = policy_plan(episode), episode.encoded, feedback is not None
        changes: list[Change] = [*self.dynamics.learn(x, *path_of(self._layout, episode, ended))]
        changes.append(assign(self, "lessons", self.lessons + 1))
        if not ended and len(episode.actions) < self._layout.horizon:
            return Lesson(changes=changes)
        changes.append(assign(self, "episodes", self.episodes + 1))
        changes.append(assign(self, "explored", self.explored + plan.explores))
        if feedback is None:
            return Lesson(changes=changes)
        s, a = ending_of(self._layout, episode)
        weight = 1 / (self._layout.endings.n_actions[s] * episode.probability)
        changes += self.tuples.learn(x, s, a, feedback, float(weight))
        if outcome is not None:
            changes.append(put(self.known, len(self.tuples.rows), outcome))
        if self.understanding is None:
            return Lesson(changes=changes)
        changes += self._read(self.understanding, episode, feedback)
        changes += self.understanding.learn(x, s, a, feedback)
        if outcome is not None:
            known = [*self._list_known(), (x, s, a, feedback, outcome)]
            turned = self.understanding.turned_by(known)
            changes.append(assign(self, "understanding", turned))
            if turned is not self.understanding:  # what was read the other way round speaks against nothing
                changes.append(assign(self, "ranked", RunningCounts(self.ranked.seen().shape)))
        return Lesson(self.understanding.told(x, s, a, feedback) if self.sure else None, None, (), changes)

    def next(self) -> Stage:
        """Return itself, with what feedback means fitted anew whenever there are enough tuples more.

        A fit beside is begun here, and taken up when it is done; what was adopted when is kept in `fits`, by which a
        run can be replayed.
        """
        if self._replayed is not None:
            n, lessons = self._replayed[0] if self._replayed else (0, -1)
            return self._adopt(n, self._fit(n)) if self.lessons == lessons else self
        n = len(self.tuples.rows)
        if self._beside.done:
            try:
                return self._adopt(*self._beside.wait())
            except BrokenProcessPool:
                return self._do_without(n)
        if n < max(self._due, self._not_before) or self._beside.busy:
            return self
        if self._settings.fast.fits == INLINE:
            return self._adopt(n, self._fit(n))
        self._beside.begin(fit_tuples, self._layout, self.tuples.tuples(), *self._known)
        return self

    def replay(self, fits: Fits | None) -> None:
        """Adopt these fits, in the moments that they tell, and no others; None: adopt what is due, from now on."""
        self._replayed = fits

    def stop(self) -> None:
        """End the process in which fits are made beside, if there is one; a fit that is under way is lost."""
        self._beside.stop()

    def _fit(self, n: int) -> Understanding:
        """Return what the first n tuples tell."""
        return fit_tuples(self._layout, self.tuples.tuples().part(slice(n)), *self._known)[1]

    @property
    def _known(self) -> tuple[float, Understanding | None]:
        """Return what a fit begins with: c, and what was understood so far, if that is sure."""
        return self._settings.decoder.c, self.understanding if self.sure else None

    def _do_without(self, n: int) -> GeneralisingLearning:
        """Return the stage that goes on as it was, after a fit whose process was killed, and tries again later."""
        renewed = copy(self)
        renewed._not_before = int(GROWTH * n) + 1
        renewed.remarks = (
            f"a fit is made in a process of its own, which was killed each time, with {n} tuples; decisions go on by "
            f"the last one, and it is tried again with {renewed._not_before}: is there enough memory?",
        )
        return renewed

    def _adopt(self, n: int, understanding: Understanding) -> GeneralisingLearning:
        """Return the stage that goes on with what the first n tuples told; those since then are learned from, too."""
        for x, s, a, y, *_ in self.tuples.rows[n:]:
            commit(understanding.learn(x, s, a, y))
        renewed = copy(self)
        renewed.remarks = ()
        renewed.understanding = understanding.turned_by(self._list_known())
        renewed.sure = self.sure or understanding.is_sure or self.evidence.gain >= SURE_NATS
        turned = self.understanding is not None and renewed.understanding.turned != self.understanding.turned
        if turned or (renewed.sure and not self.sure):  # what was read before that speaks against nothing
            renewed.ranked = RunningCounts(self.ranked.seen().shape)
        renewed.steady = self.steady or understanding.people.is_steady
        renewed._due = renewed._next_due(n)
        renewed.fits = (*self.fits, (n, self.lessons))
        renewed._replayed = None if self._replayed is None else self._replayed[1:]
        return renewed

    def _next_due(self, n: int) -> int:
        """Return the number of tuples of the fit after one of n."""
        return int((STEADY_GROWTH if self.steady and n >= MANY else GROWTH) * n) + 1

    def diagnose(self, anchors: Sequence[Anchor]) -> tuple[Finding, ...]:
        """Return what tuples that were read before they were learned from show of what was understood, worst first."""
        settings, ranked = self._settings, ranked_layout(self._layout)
        read, outcomes, c = self.ranked.seen(), self._read_known(()), settings.decoder.c
        judged = judge_together(ranked, read, outcomes, c, settings.judgement, {})
        outcomes = self._read_known(anchors)
        known: dict[str, Any] = {"judgements": judged.judgements, "beliefs": judged.beliefs}
        known |= {"visits": self.tuples.found, "outcomes": outcomes}
        found = diagnose(ranked, read, settings.decoder, settings.judgement, **known)
        if self.understanding is None or not self.sure:
            return found
        people = self.understanding.people
        return rest_on_held_out(found, people.gain, people.z, people.unread, people.strangers)

    def to_state(self) -> dict[str, Any]:
        """Return the tuples, the dynamics and what was understood."""
        return {
            "tuples": self.tuples.to_state(),
            "dynamics": self.dynamics.to_state(),
            "episodes": self.episodes,
            "explored": self.explored,
            "due": self._due,
            "lessons": self.lessons,
            "fits": np.array(self.fits, dtype=np.int64).reshape(-1, 2),
            "sure": self.sure,
            "steady": self.steady,
            "ranked": self.ranked.seen().to_state(),
            "evidence": self.evidence._asdict(),
            "known": np.array(sorted(self.known.items()), dtype=np.int64).reshape(-1, 2),
            "understanding": None if self.understanding is None else self.understanding.to_state(),
        }

    @classmethod
    def from_state(cls, setup: Setup, state: Mapping[str, Any]) -> GeneralisingLearning:
        """Return the stage that `to_state` described."""
        saved = Saved.of(state)
        stage = cls(setup)
        stage.dynamics.restore(read_dynamics(setup, saved))
        stage.tuples = TupleStore.from_state(setup.layout, saved.part("tuples"))
        stage.episodes = saved.whole("episodes", len(stage.tuples.rows))
        stage.explored = saved.whole("explored", most=stage.episodes)
        stage._due = saved.whole("due", 1)
        stage.lessons = saved.whole("lessons", stage.episodes)
        fits = saved.wholes("fits", (None, 2))
        stage.fits = tuple((int(n), int(lessons)) for n, lessons in fits)
        stage.sure, stage.steady = saved.flag("sure"), saved.flag("steady")
        ranked = SeenCounts.from_state(ranked_layout(setup.layout), saved.part("ranked"), whole=True)
        stage.ranked = RunningCounts(ranked.shape, ranked)
        read = saved.part("evidence")
        stage.evidence = RunningEvidence(*(read.number(name) for name in RunningEvidence._fields))
        known = saved.wholes("known", (None, 2))
        fits_in = bool((known < [max(len(stage.tuples.rows), 1), 2]).all())
        saved.check(fits_in, "known", "outcomes 0 or 1 of tuples that there are")
        stage.known = dict(known.tolist())
        if saved.has("understanding"):
            stage.understanding = Understanding.from_state(setup.layout, saved.part("understanding"))
        return stage

    def _earn(self, context: Encoded, worth: FloatArray) -> FloatArray:
        """Return the plan of Algorithm 4, line 6, on what actions are worth, (H, S, K)."""
        layout = self._layout
        gamma = self._schedule.gamma(self.episodes + 1, layout.horizon, layout.max_actions)
        return self._planner.earn(context, worth, gamma, None).policy

    def _read(self, understanding: Understanding, episode: Episode, feedback: Encoded) -> Changes:
        """Return a tuple counted as it is read now, before it is learned from, if its action was uniform."""
        if not (policy_plan(episode).uniform_last and len(episode.states) == self._layout.horizon):
            return ()
        (s, a), x = ending_of(self._layout, episode), episode.encoded
        value, rank = understanding.rank(x, s, a, feedback)
        evidence = self.evidence.after(understanding.ratio(x, s, a, feedback))
        return *self.ranked.learn(s, 0, value, rank), assign(self, "evidence", evidence)

    def _list_known(self) -> list[tuple[Any, int, int, Any, int]]:
        """Return context, ending, action, feedback and reward of tuples whose outcome is known."""
        return [(*self.tuples.rows[n][:4], outcome) for n, outcome in self.known.items()]

    def _read_known(self, anchors: Sequence[Anchor]) -> SeenCounts:
        """Return known outcomes as counts (S_H, 1, values, 2) of whether their feedback is like a reward."""
        counts, understanding = np.zeros((self._layout.endings.size, 1, RANKED_VALUES, 2)), self.understanding
        if understanding is None:
            return SeenCounts.of_dense(counts)
        told = self._list_known()
        for anchor in anchors:
            x, s, y = encode_anchor(self._layout, anchor)
            if y is not None:
                told.append((x, s, 0, y, anchor.reward))
        for x, s, a, y, outcome in told:
            counts[s, 0, understanding.rank(x, s, a, y)[0], outcome] += 1
        return SeenCounts.of_dense(counts)

    @property
    def _planner(self) -> Planner:
        return Planner(self._layout, self.dynamics)

    @property
    def _outlooks(self) -> UnderstoodOutlook:
        c = self._settings.decoder.c
        return UnderstoodOutlook(self._layout, self._normals, self.tuples.found, self.episodes, c)


def fit_tuples(
    layout: Layout, tuples: Tuples, c: float, before: Understanding | None
) -> tuple[int, Understanding]:
    """Return how many tuples there are, and what they tell; until that is sure, vectors are cut in several ways."""
    if before is None:
        return len(tuples), understand_sharply(layout, tuples, c)
    return len(tuples), fit_understanding(layout, tuples, c, before)


def is_counted(layout: Layout) -> bool:
    """Return whether contexts are few enough, and words are words, so that each context is judged by itself.

    Sets that grow are counted, too: what is met while an agent runs has a place of its own. So are labels of whom
    tables would be too large.
    """
    if not is_finite(layout):
        return False
    S, X, Y, K = counted_shape(layout)
    return bool(layout.contexts.open or X <= FEW or S * X * Y * K > MOST_CELLS)

"""What planning asks of whoever judges, and the two plans that it makes of that: one that earns, one that hopes.

Whoever judges says of one context what each ending is worth, whether that is settled, and how much more it may hide: an
outlook. Earning is Algorithm 4 on what actions are worth. Hoping takes endings that are not settled to be worth what
they may be, the others what they were judged to be worth, and lets what was seldom tried lead anywhere
(`tacit.planning.optimism`); it is played if it pays (`tacit.planning.exploring`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.learning.early_endings import bound_by_siblings, find_passing, sum_by
from tacit.learning.stage import deterministic_policy
from tacit.planning.dual_newton import solve_packed
from tacit.planning.exploring import hope_radius, pays_to_explore
from tacit.planning.optimism import expect_seen, plan_optimistic
from tacit.planning.transition import TransitionEstimate
from tacit.problem.layout import Layout
from tacit.problem.mdp import forward_distribution
from tacit.problem.spaces import Encoded

AIMED = 2
"""A hopeful plan aims at a place in which it would end more than so many times as often as the present one does, and at
one that may be the other way round: the present one does what seems best there, and learns nothing by it."""


class Outlook(NamedTuple):
    """What is known of all endings in one context.

    `worth` (S_H, K) is what actions are worth, 0 where nothing is settled. Of each ending (S_H,): whether it is
    `settled`, and `doubtful`, that is, may be the other way round; what it is worth (`best`) and may be worth (`hope`);
    how many tuples are `wanted` to settle it. `played` returns how many tuples there are in all. Endings that are
    judged as one have the same `place` (S_H,); None where each is judged by itself. `hopes` (S_H, K) say what each
    action may be worth, where that is known.
    """

    worth: FloatArray
    settled: BoolArray
    doubtful: BoolArray
    best: FloatArray
    hope: FloatArray
    wanted: FloatArray
    played: Callable[[], int]
    place: IntArray | None = None
    hopes: FloatArray | None = None

    def seen_at(self, place: IntArray) -> Outlook:
        """Return it for endings that are each judged as the one that stands in `place` (S_H,)."""
        settled, doubtful = self.settled[place], self.doubtful[place]
        worths = (self.best[place], self.hope[place], self.wanted[place])
        return Outlook(self.worth[place], settled, doubtful, *worths, self.played, place)


class Solution(NamedTuple):
    """What Algorithm 4, line 6, comes to: the policy (H, S, K), its dual (H, S), and whether it is certified."""

    policy: FloatArray
    dual: FloatArray
    converged: bool


class Planner:
    """Makes plans of outlooks, for a layout and what is known of its dynamics."""

    def __init__(self, layout: Layout, dynamics: TransitionEstimate) -> None:
        self._layout, self._dynamics = layout, dynamics

    def earn(self, context: Encoded, worth: FloatArray, gamma: float, dual: FloatArray | None) -> Solution:
        """Return the plan of Algorithm 4, line 6, on what actions are worth, begun from a dual if there is one."""
        layout, estimate = self._layout, self._dynamics.estimate(context)
        has_dual = dual is not None
        begin = dual if dual is not None else np.zeros(layout.mask.shape[:2])
        rewards = layout.endings.spread(worth, estimate)
        solved = solve_packed(estimate, rewards, layout.mask, layout.n_states, gamma, begin, has_dual)
        return Solution(solved[0], solved[1], solved[4])

    def hope(
        self, context: Encoded, outlook: Outlook, policy: FloatArray, episodes: int
    ) -> FloatArray | None:
        """Return a plan for unsettled endings that pays, which ends like `policy` in settled ones, or None."""
        open_ones = self._unsettled(context, outlook)
        if not any(open_ones.tolist()):
            return None
        layout, counts = self._layout, self._dynamics.counts(context)
        endings = layout.endings
        hopes = self._hopes(outlook) * endings.mask
        may_earn = np.where(open_ones[:, None], hopes, outlook.worth)
        tried, worth = endings.place(open_ones), endings.place(outlook.worth)
        known, radius = (counts, layout.mask, layout.n_states, layout.ended), hope_radius(episodes)
        hope = plan_optimistic(*known, endings.place(may_earn), tried, radius)
        reach, ends = hope.reach[endings.layers, endings.states], self._ends_of(context, policy)
        if outlook.place is not None:  # episodes of one place count together, wherever they end
            reach, ends = (sum_by(outlook.place, each) for each in (reach, ends))
            open_ones = open_ones & (outlook.place == np.arange(endings.size))
        aimed = open_ones & (outlook.doubtful | (reach > AIMED * ends))
        if not aimed.any():
            return None
        explorer = deterministic_policy(hope.choices, layout)
        explorer[-1, ~tried[-1]] = policy[-1, ~tried[-1]]
        gain = hope.value - plan_optimistic(*known, worth, np.zeros_like(tried), radius).value
        earned, on_the_way = (
            expect_seen(counts, each, layout.n_states, layout.ended, worth) for each in (policy, explorer)
        )
        pays = pays_to_explore(
            outlook.played(), gain, reach[aimed], outlook.wanted[aimed], earned, on_the_way
        )
        return explorer if pays else None

    def _ends_of(self, context: Encoded, policy: FloatArray) -> FloatArray:
        """Return how likely episodes end in each ending by a policy, (S_H,)."""
        endings, estimate = self._layout.endings, self._dynamics.estimate(context)
        visits = forward_distribution(estimate, policy, self._layout.n_states)[endings.layers, endings.states]
        ends = (policy[endings.layers, endings.states] * endings.chances(estimate)).sum(axis=1)
        return np.asarray(visits * ends)

    def _unsettled(self, context: Encoded, outlook: Outlook) -> BoolArray:
        """Return the endings to look at, (S_H,): not settled, or such that may hide more than is known.

        Where hardly any episode ends there is nothing to look at.
        """
        settled, hope = outlook.settled, outlook.hope
        unsettled: BoolArray = ~settled | (hope > np.max(outlook.best, where=settled, initial=0.0))
        if self._layout.ends_early:
            endings, passing = (
                self._layout.endings,
                find_passing(self._layout, self._dynamics.counts(context)),
            )
            unsettled &= (endings.mask & ~passing).any(axis=1)
        return unsettled

    def _hopes(self, outlook: Outlook) -> FloatArray:
        """Return what actions of an ending that is not settled can be worth, (S_H, K), or (S_H, 1) if all alike."""
        hopes = outlook.hope[:, None] if outlook.hopes is None else outlook.hopes
        if not self._layout.ends_early:
            return hopes
        bounds = bound_by_siblings(self._layout.endings.siblings, outlook.settled, outlook.best)
        return np.minimum(hopes, bounds[:, None])

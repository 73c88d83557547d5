"""A problem whose people differ by what is known of them, and the exact values of what can be done for each.

A person comes with a context x, a vector or a label; an episode has H turns, whose states lead on whoever it is; at
the last one, the person is pleased with chance f(x, s, a), and says p(y | x, s, r). Axis order is (h, n, s, a, s'),
n for one of the people who came.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import tacit
from tacit.base.arrays import FloatArray
from tacit.base.randomness import draw_index

Array = np.ndarray[Any, np.dtype[Any]]
"""Vectors (n, d) of people, or their labels by number, (n,)."""
LEAST_WORTH = 0.15
"""Problems in which the optimum earns less above uniform play than this are drawn anew: shares of it would be noise."""
SAMPLE = 2_000
"""People by whom it is found what a problem is worth, and how often most are pleased by anything."""
MINORITY = 0.97
"""Share of people who are pleased by less than half of what uniform play does: nobody could tell the others' words."""


@dataclass(frozen=True)
class Words:
    """What is said in words: `chances` (Z, S, 2, Y) for each meaning, state, and whoever is pleased or not."""

    chances: FloatArray

    def space(self) -> tacit.Finite:
        """Return the words."""
        return tacit.Finite(tuple(f"word {y}" for y in range(self.chances.shape[-1])))

    def say(self, meaning: int, state: int, reward: int, generator: np.random.Generator) -> str:
        """Return a word."""
        return f"word {draw_index(self.chances[meaning, state, reward], generator.random())}"


@dataclass(frozen=True)
class Points:
    """What is said in vectors: noise around `points` (Z, S, 2, D), one for each meaning, state and reward."""

    points: FloatArray

    def space(self) -> tacit.Vectors:
        """Return the vectors."""
        return tacit.Vectors(self.points.shape[-1])

    def say(self, meaning: int, state: int, reward: int, generator: np.random.Generator) -> FloatArray:
        """Return a point with noise of variance 1."""
        point: FloatArray = self.points[meaning, state, reward]
        return point + generator.standard_normal(len(point))


@dataclass(frozen=True)
class People:
    """Who comes: `draw` gives n of them, and of those the other functions tell what is asked.

    `pleasing` (n, S, K) at the last turn; `meanings` (n, Z), with what chance a person speaks in each way; `features`
    (n, F), what a learner of the same class that sees the reward is told of them, None where it is told the label;
    `show` what everybody else is shown, in `space`; it may add what is no part of the person.
    """

    space: tacit.Finite | tacit.Vectors
    draw: Callable[[np.random.Generator, int], Array]
    pleasing: Callable[[Array], FloatArray]
    meanings: Callable[[Array], FloatArray]
    features: Callable[[Array], FloatArray] | None
    show: Callable[[np.random.Generator, Array], Array] = lambda generator, people: people


@dataclass(frozen=True)
class Problem:
    """Something to learn: people, what they say, and where actions lead, `transitions` (H - 1, S, K, S).

    `sizes` are the numbers of states of each turn. With `regresses_on_shown`, the learner that sees the reward is told
    what everybody is shown in place of the `features`.
    """

    sizes: tuple[int, ...]
    transitions: FloatArray
    people: People
    voice: Words | Points
    regresses_on_shown: bool = False

    @property
    def n_turns(self) -> int:
        return len(self.sizes)

    @property
    def n_actions(self) -> int:
        return int(self.transitions.shape[2])

    def layout(self) -> tacit.Layout:
        """Return what an agent is told."""
        actions = tuple((tuple(range(self.n_actions)),) * size for size in self.sizes)
        labels = tuple(tuple(f"turn {h + 1}, state {s}" for s in range(n)) for h, n in enumerate(self.sizes))
        return tacit.Layout(labels, actions, self.people.space, self.voice.space())


class Values(NamedTuple):
    """What is earned from each state on by the best play, `best` (H, n, S), after an action, `actions` (H, n, S, K),
    and by uniform play from the start, `plain` (n,).
    """

    best: FloatArray
    actions: FloatArray
    plain: FloatArray

    def earned(self, person: int, states: list[int], taken: list[int]) -> float:
        """Return an unbiased estimate of what a policy earns that took these actions: exact where they are the best.

        V*(s_1) - sum_h [ V*(s_h) - Q*(s_h, a_h) ], the lemma of performance differences: where actions lead adds no
        noise, and with one turn it is the chance that the person is pleased.
        """
        total = float(self.best[0, person, 0])
        for h, (s, a) in enumerate(zip(states, taken, strict=True)):
            total -= float(self.best[h, person, s] - self.actions[h, person, s, a])
        return total


def solve(transitions: FloatArray, pleasing: FloatArray) -> Values:
    """Return the values for each person, whom the last turn pleases by (n, S, K).

    Q_h(s, a) = sum_s' P(s'|s, a) V_{h+1}(s'), V_h(s) = max_a Q_h(s, a), and the mean over a for uniform play.
    """
    actions, plain = [pleasing], pleasing.mean(axis=2)
    for following in transitions[::-1]:
        actions.insert(0, np.einsum("skj,nj->nsk", following, actions[0].max(axis=2)))
        plain = np.einsum("skj,nj->ns", following, plain) / pleasing.shape[2]
    stacked = np.array(actions)
    return Values(stacked.max(axis=3), stacked, plain[:, 0])


def worth_learning(problem: Problem, generator: np.random.Generator) -> bool:
    """Return whether the optimum earns enough above uniform play, and reward is for most the rarer outcome."""
    pleasing = problem.people.pleasing(problem.people.draw(generator, SAMPLE))
    values = solve(problem.transitions, pleasing)
    rare = (pleasing[:, : problem.sizes[-1]].mean(axis=2) < 0.5).mean()
    return bool((values.best[0, :, 0] - values.plain).mean() >= LEAST_WORTH and rare >= MINORITY)


def draw_worthwhile(
    draw: Callable[[np.random.Generator], Problem], generator: np.random.Generator
) -> Problem:
    """Return the first problem drawn that is worth learning."""
    while True:
        problem = draw(generator)
        if worth_learning(problem, generator):
            return problem

"""What was understood of feedback where contexts or words cannot be counted one by one.

Feedback becomes words: labels are words already, vectors fall into cells (`tacit.decoding.word_cells`). Contexts become
what pleases them (`tacit.decoding.people`): vectors by a regression, labels by their class, by the voice in which they
speak, or by themselves. All are fitted to tuples whatever policy drew the actions, by likelihood, and choose among
several ways by tuples that were held back.

To check it, tuples are counted as they are read: was the action the first, the second, ... of what pleases there, and
was the word more like a reward or less? All contexts share one table of these, so that a few tuples tell whether what
is understood holds for tuples that it was not fitted on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.base.changes import Changes
from tacit.base.saved import Saved
from tacit.decoding.centres import find_centres, nearest
from tacit.decoding.class_questions import NO_QUESTION
from tacit.decoding.context_bases import fit_basis
from tacit.decoding.label_fit import fit_labels
from tacit.decoding.people import SURE_NATS, LabelPeople, People, VectorPeople, restore_people
from tacit.decoding.personal_fit import fit_personal_meaning
from tacit.decoding.tuples import Tuples
from tacit.decoding.word_cells import WordCells, fit_cells
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded, Finite

UNLIKE, LIKE = "like no reward", "like a reward"
"""What a word is, read in its context."""
SURE_ERRORS = 1.5
"""Standard errors of what held-out tuples gain from which on it is taken for sure, beside its nats."""
LEAST_WRONG, NEARLY_ALL, BETWEEN = 5, 0.8, 0.2
"""Known outcomes that must contradict what is understood to turn it, and of all that are told clearly what share; what
is told is not clear if it is so near to a half."""
RANKED_VALUES = 3
"""Of feedback as it is read: unlike a reward, like one, and silence, which is one of the two there."""
TUPLES_A_REGION, MOST_REGIONS = 100, 16
"""Of contexts, within which feedback is looked at to cut it into cells."""


@dataclass(frozen=True, eq=False)
class Understanding:
    """Words, and what pleases whom: `cells` make words of vectors, None where feedback are labels.

    `turned` says that known outcomes overruled the belief that rewards are the minority: all is read the other way.
    """

    layout: Layout
    cells: WordCells | None
    people: People
    turned: bool = False
    name: str = "understanding"

    @property
    def is_sure(self) -> bool:
        """Return whether held-out tuples show that feedback depends on the action."""
        return self.people.gain >= SURE_NATS and self.people.z >= SURE_ERRORS

    def word(self, feedback: Encoded) -> int:
        """Return the word that a feedback is."""
        return int(feedback) if self.cells is None else self.cells.word(np.asarray(feedback))

    def rewards(self, context: Encoded) -> FloatArray:
        """Return the chance that each action pleases in each ending, (S_H, K)."""
        return self._turn(self.people.rewards(context))

    def draw_rewards(self, context: Encoded, normals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what `rewards` does, and what these may be by standard normal numbers (B, S_H, K)."""
        mean, draws = self.people.draw_rewards(context, normals)
        return self._turn(mean), self._turn(draws)

    def questions(self, context: Encoded) -> IntArray:
        """Return what is done in each ending to learn who somebody is, (S_H,); -1 where chance does as well.

        What known outcomes turned is read the other way round than it is asked, so that nothing is.
        """
        asked = self.people.questions(context)
        return np.full_like(asked, NO_QUESTION) if self.turned else asked

    def told(self, context: Encoded, ending: int, action: int, feedback: Encoded) -> float:
        """Return Pr[r = 1 | x, s, a, y]."""
        told = self.people.told(context, ending, action, self.word(feedback))
        return 1 - told if self.turned else told

    def ratio(self, context: Encoded, ending: int, action: int, feedback: Encoded) -> float:
        """Return how much likelier a feedback is after an action than after any (`tacit.decoding.action_evidence`)."""
        chances = self.people.chances(context, ending, self.word(feedback))
        usual = float(chances[self.layout.endings.known[ending]].mean())
        return float(chances[action]) / usual if usual > 0 else 1.0

    def turned_by(self, known: Iterable[tuple[Encoded, int, int, Encoded, int]]) -> Understanding:
        """Return it the way round that known outcomes (x, s, a, y, r) say: turned, if nearly all contradict it.

        Where half of what is understood is wrong, half of them do, and turning would not mend it.
        """
        told = [(self.told(x, s, a, y), outcome) for x, s, a, y, outcome in known]
        clear = [(each > 0.5) == bool(outcome) for each, outcome in told if abs(each - 0.5) > BETWEEN]
        wrong = clear.count(False)
        if wrong < LEAST_WRONG or wrong < NEARLY_ALL * len(clear):
            return self
        return replace(self, turned=not self.turned)

    def learn(self, context: Encoded, ending: int, action: int, feedback: Encoded) -> Changes:
        """Return what one tuple changes at once, before the next fit: of which class its label is."""
        return self.people.learn(context, ending, action, self.word(feedback))

    def _turn(self, rewards: FloatArray) -> FloatArray:
        """Return rewards (..., S_H, K) the way round that known outcomes say; 0 where there is no action."""
        return np.asarray(np.where(self.layout.endings.known, 1 - rewards, 0.0)) if self.turned else rewards

    def rank(self, context: Encoded, ending: int, action: int, feedback: Encoded) -> tuple[int, int]:
        """Return (value, rank): whether a word is like a reward, and the place of the action among what pleases."""
        f = self.rewards(context)[ending]
        K = int(self.layout.endings.n_actions[ending])
        place = int((f[:K] > f[action]).sum()) + int((f[:action] == f[action]).sum())
        return int(self.told(context, ending, action, feedback) > f[action]), place

    @cached_property
    def counted(self) -> Layout:
        """Return the layout with a group for each action that may please most, and two words."""
        groups = tuple(f"best action {a + 1}" for a in range(self.layout.max_actions))
        return replace(self.layout, contexts=Finite(groups), feedback=Finite((UNLIKE, LIKE)))

    def read(
        self, contexts: Sequence[Encoded], states: IntArray, feedback: Sequence[Encoded]
    ) -> tuple[IntArray, IntArray]:
        """Return the group and the word of each episode that ended in `states`, both (n,): see `counted`."""
        return self.people.read(contexts, np.asarray(states), self.words(np.asarray(feedback)))

    def read_one(self, context: Encoded, ending: int, feedback: Encoded) -> tuple[int, int]:
        """Return the group and the word of one episode."""
        groups, values = self.read([context], np.array([ending]), [feedback])
        return int(groups[0]), int(values[0])

    def words(self, feedback: IntArray | FloatArray) -> IntArray:
        """Return the words that feedback (n,) or (n, d) is."""
        if self.cells is None:
            return feedback.astype(np.int64)
        return self.cells.words(feedback.astype(np.float64))

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {
            "name": self.name,
            "cells": None if self.cells is None else self.cells.to_state(),
            "turned": self.turned,
            "people": self.people.to_state(),
        }

    @staticmethod
    def from_state(layout: Layout, state: Mapping[str, Any]) -> Understanding:
        """Return the understanding that `to_state` described."""
        saved = Saved.of(state)
        saved.choice("name", (Understanding.name,))
        cells = WordCells.from_state(saved.part("cells")) if saved.has("cells") else None
        fits = (cells is None) == isinstance(layout.feedback, Finite)
        saved.check(fits, "cells", "there where feedback are vectors, and only there")
        labels = layout.contexts.room if isinstance(layout.contexts, Finite) else None
        people = restore_people(saved.part("people"), labels)
        return Understanding(layout, cells, people, saved.flag("turned"))


def ranked_layout(layout: Layout) -> Layout:
    """Return a layout of one context and two words in which actions of endings are places: first, second, ..."""
    places = tuple(f"number {n + 1}" for n in range(layout.max_actions))
    last = {(int(h), int(s)) for h, s in zip(layout.endings.layers, layout.endings.states, strict=True)}
    actions = tuple(
        tuple(places[: len(menu)] if (h, s) in last else menu for s, menu in enumerate(layer))
        for h, layer in enumerate(layout.actions)
    )
    return replace(
        layout,
        actions=actions,
        contexts=Finite(("everybody",)),
        feedback=Finite((UNLIKE, LIKE)),
        retired=(),
        open=False,
    )


def fit_understanding(
    layout: Layout, tuples: Tuples, c: float, before: Understanding | None, cells: WordCells | None = None
) -> Understanding:
    """Return what tuples tell, whatever policy drew their actions; `before` is what was understood of fewer of them.

    `cells` make words of vectors, if they are known; otherwise they are those of before, or cut.
    """
    generator = np.random.default_rng([len(tuples), 23])
    cells = before.cells if cells is None and before is not None else cells
    cells, words, n_words = _make_words(layout, tuples, cells, generator)
    told = tuples.states, tuples.actions, words
    mask, uniform = layout.endings.known, np.abs(tuples.weights - 1.0) < 1e-9
    known = None if before is None else before.people
    people: People
    if isinstance(layout.contexts, Finite):
        labels, room = tuples.contexts.astype(np.int64), layout.contexts.room
        reading = known.model if isinstance(known, LabelPeople) else None
        fitted = fit_labels(labels, *told, uniform, room, mask, n_words, generator, reading, c)
        people = LabelPeople(fitted, {})
    else:
        contexts = tuples.contexts.astype(np.float64)
        model = known.model if isinstance(known, VectorPeople) else None
        people = VectorPeople(fit_personal_meaning(contexts, *told, uniform, mask, n_words, generator, model))
    return Understanding(layout, cells, people, before is not None and before.turned)


def _make_words(
    layout: Layout, tuples: Tuples, cells: WordCells | None, generator: np.random.Generator
) -> tuple[WordCells | None, IntArray, int]:
    """Return the cells that make words of vectors, the word of each tuple, and how many words there are.

    Cells that are known are kept: other ones would be other words.
    """
    if isinstance(layout.feedback, Finite):
        return None, tuples.feedback.astype(np.int64), layout.feedback.room + 1
    feedback = tuples.feedback.astype(np.float64)
    if cells is None:
        regions = find_context_regions(layout, tuples, generator)
        cells = fit_cells(feedback, tuples.states, tuples.actions, regions, generator)
    return cells, cells.words(feedback), cells.n_words


def find_context_regions(layout: Layout, tuples: Tuples, generator: np.random.Generator) -> IntArray:
    """Return a region of contexts for each tuple, (n,): the label, if they are few, or what vectors are near to."""
    n = len(tuples)
    if isinstance(layout.contexts, Finite):
        few = layout.contexts.size * TUPLES_A_REGION <= n
        return tuples.contexts.astype(np.int64) if few else np.zeros(n, dtype=np.int64)
    contexts = tuples.contexts.astype(np.float64)
    basis = fit_basis(contexts)
    J = min(MOST_REGIONS, n // TUPLES_A_REGION)
    if J < 2 or basis.n_terms < 2:
        return np.zeros(n, dtype=np.int64)
    z = basis.standardised(contexts)
    return nearest(z, find_centres(z, J, generator))

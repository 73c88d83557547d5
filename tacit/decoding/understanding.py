"""What was understood of feedback where contexts or words cannot be counted one by one.

Feedback becomes words: labels are words already, vectors fall into cells (`tacit.decoding.word_cells`). Contexts become
what pleases them: vectors by a regression of what pleases and of what words mean (`tacit.decoding.personal_meaning`),
labels by their class, or by themselves (`tacit.decoding.label_classes`). Both are fitted to tuples whatever policy drew
the actions, by likelihood, and choose among several ways by the likelihood of tuples that were held back.

To check it, tuples are counted as they are read: was the action the first, the second, ... of what pleases there, and
was the word more like a reward or less? All contexts share one table of these, so that a few tuples tell whether what
is understood holds for tuples that it was not fitted on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.changes import Changes, put
from tacit.base.saved import Saved
from tacit.decoding.centres import find_centres, nearest
from tacit.decoding.context_bases import fit_basis
from tacit.decoding.label_classes import LabelClasses, fit_classes
from tacit.decoding.personal_fit import fit_personal_meaning
from tacit.decoding.personal_forms import MOST_FOR_UNITS
from tacit.decoding.personal_meaning import PersonalMeaning
from tacit.decoding.tuples import Tuples
from tacit.decoding.word_cells import WordCells, fit_cells
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded, Finite

UNLIKE, LIKE = "like no reward", "like a reward"
"""What a word is, read in its context."""
SURE_NATS, SURE_ERRORS = 8.0, 1.5
"""Nats that held-out tuples gain, and standard errors of that, from which on feedback is taken to depend on the action:
by chance alone e^8 to one are hardly met in a dozen fits."""
CLEAR = 0.05
"""The doubt up to which words leave nothing open that could still be found."""
FEW_LOOKS, MANY_LOOKS, MOST_LOOKS = 800, 1500, 3000
"""Tuples of uniform actions, where they tell, from which on what was understood may be steady: few, where it is clear,
or features are so many that only regions are tried; more, where something may still show. From the last on it is steady
in any case."""
RANKED_VALUES = 3
"""Of feedback as it is read: unlike a reward, like one, and silence, which is one of the two there."""
EAGERNESS = 1.0
"""Of the standard error of a logit: what chance plays with."""
TUPLES_A_REGION, MOST_REGIONS = 100, 16
"""Of contexts, within which feedback is looked at to cut it into cells."""


@dataclass(frozen=True, eq=False)
class Understanding:
    """Words, and what pleases whom: `cells` make words of vectors, None where feedback are labels.

    `moved` are the rows of labels that said something since the fit (`tacit.decoding.label_classes`).
    """

    layout: Layout
    cells: WordCells | None
    model: PersonalMeaning | LabelClasses
    moved: dict[int, FloatArray]
    name: str = "understanding"

    @property
    def is_sure(self) -> bool:
        """Return whether held-out tuples show that feedback depends on the action."""
        return self.model.gain >= SURE_NATS and self.model.z >= SURE_ERRORS

    @property
    def gains(self) -> FloatArray:
        """Return how many nats held-out tuples of each ending gain by that, (S_H,); 0 where that is not told apart."""
        if isinstance(self.model, LabelClasses):
            return np.zeros(self.layout.endings.size)
        return self.model.gains

    @property
    def telling(self) -> BoolArray:
        """Return the endings in which feedback tells actions apart, (S_H,); of labels each class has its own."""
        if isinstance(self.model, LabelClasses):
            return np.ones(self.layout.endings.size, dtype=np.bool_)
        return self.model.telling

    def hopes(self, found: IntArray) -> FloatArray:
        """Return what the best action of each ending may be worth in which nothing was found after its tuples, (S_H,).

        Were it as good as where most was found, its tuples would have gained as much; what they gain falls with the
        square of how good it is.
        """
        if isinstance(self.model, LabelClasses):
            return np.ones(len(found))
        rate = float((self.gains / np.maximum(self.model.looked, 1)).max())
        return np.asarray(np.sqrt(np.minimum(1.0, SURE_NATS / np.maximum(rate * found, 1e-9))))

    @property
    def is_steady(self) -> bool:
        """Return whether a fresh look at enough tuples of uniform actions came to nothing better."""
        if isinstance(self.model, LabelClasses):
            return True
        looked = int(self.model.looked[self.model.telling].sum())
        clear = self.model.doubt <= CLEAR or self.model.basis.n_components > MOST_FOR_UNITS
        enough = FEW_LOOKS if clear else MANY_LOOKS
        return looked >= (enough if self.model.steady else MOST_LOOKS)

    def word(self, feedback: Encoded) -> int:
        """Return the word that a feedback is."""
        return int(feedback) if self.cells is None else self.cells.word(np.asarray(feedback))

    def rewards(self, context: Encoded) -> FloatArray:
        """Return the chance that each action pleases in each ending, (S_H, K)."""
        if isinstance(self.model, LabelClasses):
            return self.model.rewards(int(context), self.moved.get(int(context)))
        return self.model.rewards(np.asarray(context))

    def draw_rewards(self, context: Encoded, normals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what `rewards` does, and what these may be by standard normal numbers (B, S_H, K)."""
        if isinstance(self.model, LabelClasses):
            u = int(context)
            row = self.moved.get(u)
            return self.model.rewards(u, row), self.model.draws(u, normals, row)
        mean, error = self.model.logits(np.asarray(context))
        return np.asarray(expit(mean)), np.asarray(expit(mean + EAGERNESS * error * normals))

    def told(self, context: Encoded, ending: int, action: int, feedback: Encoded) -> float:
        """Return Pr[r = 1 | x, s, a, y]."""
        w = self.word(feedback)
        if isinstance(self.model, LabelClasses):
            return self.model.told(int(context), ending, action, w, self.moved.get(int(context)))
        return self.model.told(np.asarray(context), ending, action, w)

    def learn(self, context: Encoded, ending: int, action: int, feedback: Encoded) -> Changes:
        """Return what one tuple changes at once, before the next fit: of which class its label is."""
        if not isinstance(self.model, LabelClasses):
            return ()
        u = int(context)
        row = self.model.after(u, ending, action, self.word(feedback), self.moved.get(u))
        return (put(self.moved, u, row),)

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
        endings, words = np.asarray(states), self.words(np.asarray(feedback))
        if isinstance(self.model, LabelClasses):
            return self._read_labels(np.asarray(contexts, dtype=np.int64), endings, words)
        x = np.asarray(contexts, dtype=np.float64)
        f = self.model.rewards_many(x)[np.arange(len(x)), endings]  # (n, K)
        return np.asarray(f.argmax(axis=1)), self.model.like_rewards(x, endings, words).astype(np.int64)

    def read_one(self, context: Encoded, ending: int, feedback: Encoded) -> tuple[int, int]:
        """Return the group and the word of one episode."""
        groups, values = self.read([context], np.array([ending]), [feedback])
        return int(groups[0]), int(values[0])

    def words(self, feedback: IntArray | FloatArray) -> IntArray:
        """Return the words that feedback (n,) or (n, d) is."""
        if self.cells is None:
            return feedback.astype(np.int64)
        return self.cells.words(feedback.astype(np.float64))

    def _read_labels(self, labels: IntArray, endings: IntArray, words: IntArray) -> tuple[IntArray, IntArray]:
        assert isinstance(self.model, LabelClasses)
        rows, places = np.unique(np.stack([labels, endings, words], axis=1), axis=0, return_inverse=True)
        found = np.zeros((len(rows), 2), dtype=np.int64)
        for n, (u, s, w) in enumerate(rows.tolist()):
            f = self.model.rewards(u, self.moved.get(u))[s]
            best = int(f.argmax())
            found[n] = best, self.model.told(u, s, best, w, self.moved.get(u)) > f[best]
        return found[places.ravel(), 0], found[places.ravel(), 1]

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        state = {
            "name": self.name,
            "cells": None if self.cells is None else self.cells.to_state(),
            "model": self.model.to_state(),
        }
        if not isinstance(self.model, LabelClasses):
            return state
        labels = sorted(self.moved)
        rows = [self.moved[u] for u in labels]
        moved = np.array(rows).reshape(len(labels), self.model.n_classes)
        return state | {"labels": np.array(labels, dtype=np.int64), "rows": moved}

    @staticmethod
    def from_state(layout: Layout, state: Mapping[str, Any]) -> Understanding:
        """Return the understanding that `to_state` described."""
        saved = Saved.of(state)
        saved.choice("name", (Understanding.name,))
        cells = WordCells.from_state(saved.part("cells")) if saved.has("cells") else None
        fits = (cells is None) == isinstance(layout.feedback, Finite)
        saved.check(fits, "cells", "there where feedback are vectors, and only there")
        if not isinstance(layout.contexts, Finite):
            personal = PersonalMeaning.from_state(saved.part("model"))
            return Understanding(layout, cells, personal, {})
        classes = LabelClasses.from_state(saved.part("model"))
        labels = saved.indices("labels", layout.contexts.room)
        rows = saved.floats("rows", (len(labels), classes.n_classes), high=1e-9)
        return Understanding(layout, cells, classes, dict(zip(labels.tolist(), rows, strict=True)))


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
    mask, known = layout.endings.known, None if before is None else before.model
    model: PersonalMeaning | LabelClasses
    if isinstance(layout.contexts, Finite):
        assert not isinstance(known, PersonalMeaning)
        labels = tuples.contexts.astype(np.int64)
        model = fit_classes(labels, *told, layout.contexts.room, mask, n_words, generator, known, c)
    else:
        assert not isinstance(known, LabelClasses)
        contexts, uniform = tuples.contexts.astype(np.float64), np.abs(tuples.weights - 1.0) < 1e-9
        model = fit_personal_meaning(contexts, *told, uniform, mask, n_words, generator, known)
    return Understanding(layout, cells, model, {})


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

"""Who people are to what was understood: one small protocol, and the two ways to know them, by a vector or by a label.

Contexts that are vectors are known by a regression (`tacit.decoding.personal_meaning`), which changes at a fit alone.
Labels are known by their class, their voice or by themselves (`tacit.decoding.label_fit`), and move with every tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.special import expit

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.changes import Changes, put
from tacit.base.saved import Saved
from tacit.decoding.class_questions import NO_QUESTION
from tacit.decoding.label_classes import LabelClasses
from tacit.decoding.label_fit import LabelReading
from tacit.decoding.personal_forms import MOST_FOR_UNITS
from tacit.decoding.personal_meaning import PersonalMeaning
from tacit.decoding.voiced_labels import VoicedLabels
from tacit.problem.spaces import Encoded

SURE_NATS = 8.0
"""Nats that held-out tuples gain from which on feedback is taken to depend on the action: by chance alone e^8 to one
are hardly met in a dozen fits."""
CLEAR = 0.05
"""The doubt up to which words leave nothing open that could still be found."""
FEW_LOOKS, MANY_LOOKS, MOST_LOOKS = 600, 1000, 3000
"""Tuples of uniform actions, where they tell, from which on what was understood may be steady: few, where it is clear,
or features are so many that only regions are tried; more, where something may still show. From the last on it is steady
in any case."""
EAGERNESS = 0.5
"""Of what may please beyond what is expected: what chance plays with where a regression says it. Half of the error in
all draws earned 0.004 to 0.105 more of 12,000 episodes than all of it, on six problems of three families (seeds
1,000,002 and 1,000,003 of `benchmarks/context_world`)."""


Contexts = Sequence[Encoded] | IntArray | FloatArray


class People(Protocol):
    """What pleases whom, in S endings after K actions, and what words mean to them."""

    @property
    def gain(self) -> float:
        """Return the nats by which held-out tuples show that words depend on the action."""

    @property
    def z(self) -> float:
        """Return their standard errors."""

    @property
    def gains(self) -> FloatArray:
        """Return the nats of each ending, (S,)."""

    @property
    def telling(self) -> BoolArray:
        """Return the endings in which words tell actions apart, (S,)."""

    @property
    def unread(self) -> float:
        """Return the share of tuples of people of whom it is not known what pleases them."""

    @property
    def strangers(self) -> int:
        """Return how many of the labels these people are."""

    @property
    def is_steady(self) -> bool:
        """Return whether a fresh look at enough tuples of uniform actions came to nothing better."""

    @property
    def eagerness(self) -> float:
        """Return how far chance plays with what may please beyond what is expected."""

    def hopes(self, found: IntArray) -> FloatArray:
        """Return what the best action of each ending may be worth in which nothing was found after its tuples, (S,)."""

    def rewards(self, context: Encoded) -> FloatArray:
        """Return the chance that each action pleases in each ending, (S, K)."""

    def draw_rewards(self, context: Encoded, normals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what `rewards` does, and what these may be by standard normal numbers (B, S, K)."""

    def questions(self, context: Encoded) -> IntArray:
        """Return what is done in each ending to learn who somebody is, (S,); -1 where chance does as well."""

    def told(self, context: Encoded, ending: int, action: int, word: int) -> float:
        """Return Pr[r = 1 | x, s, a, w]."""

    def chances(self, context: Encoded, ending: int, word: int) -> FloatArray:
        """Return the chance of a word after each action, (K,)."""

    def learn(self, context: Encoded, ending: int, action: int, word: int) -> Changes:
        """Return what one tuple changes at once, before the next fit."""

    def read(self, contexts: Contexts, endings: IntArray, words: IntArray) -> tuple[IntArray, IntArray]:
        """Return the action that pleases most, and whether the word is like a reward, of each tuple, both (n,)."""

    def expect_words(self, contexts: Contexts, endings: IntArray, actions: IntArray) -> FloatArray:
        """Return the chance of each word, (n, W), before it is heard."""

    def to_state(self) -> dict[str, Any]:
        """Return what `restore_people` reads."""


@dataclass(frozen=True, eq=False)
class VectorPeople:
    """People who are known by a vector."""

    model: PersonalMeaning

    @property
    def gain(self) -> float:
        """Return the gain of all endings."""
        return self.model.gain

    @property
    def z(self) -> float:
        """Return its standard errors."""
        return self.model.z

    @property
    def gains(self) -> FloatArray:
        """Return the gain of each ending, (S,)."""
        return self.model.gains

    @property
    def telling(self) -> BoolArray:
        """Return the endings whose held-out tuples gain enough, (S,)."""
        return self.model.telling

    @property
    def unread(self) -> float:
        """Return that nobody is: a regression says something of everybody."""
        return 0.0

    @property
    def strangers(self) -> int:
        """Return that nobody is."""
        return 0

    @property
    def is_steady(self) -> bool:
        """Return whether a fresh look at enough tuples of uniform actions came to nothing better."""
        looked = int(self.model.looked[self.model.telling].sum())
        clear = self.model.doubt <= CLEAR or self.model.basis.n_components > MOST_FOR_UNITS
        enough = FEW_LOOKS if clear else MANY_LOOKS
        return looked >= (enough if self.model.steady else MOST_LOOKS)

    @property
    def eagerness(self) -> float:
        """Return that of a regression."""
        return EAGERNESS

    def hopes(self, found: IntArray) -> FloatArray:
        """Return what the best action of each ending may be worth in which nothing was found after its tuples, (S,).

        Were it as good as where most was found, its tuples would have gained as much; what they gain falls with the
        square of how good it is.
        """
        rate = float((self.gains / np.maximum(self.model.looked, 1)).max())
        return np.asarray(np.sqrt(np.minimum(1.0, SURE_NATS / np.maximum(rate * found, 1e-9))))

    def rewards(self, context: Encoded) -> FloatArray:
        """Return f (S, K)."""
        return self.model.rewards(np.asarray(context))

    def draw_rewards(self, context: Encoded, normals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return f, and what it may be by the errors of its logits."""
        x = np.asarray(context)
        (mean, error), stretch = self.model.logits(x), self.model.stretches(x)
        return np.asarray(expit(mean) / stretch), np.asarray(expit(mean + error * normals) / stretch)

    def questions(self, context: Encoded) -> IntArray:
        """Return that none is asked, (S,): who somebody is their vector tells."""
        return np.full(len(self.model.mask), NO_QUESTION)

    def told(self, context: Encoded, ending: int, action: int, word: int) -> float:
        """Return Pr[r = 1 | x, s, a, w]."""
        return self.model.told(np.asarray(context), ending, action, word)

    def chances(self, context: Encoded, ending: int, word: int) -> FloatArray:
        """Return f g_1(w) + (1 - f) g_0(w) of each action, (K,)."""
        x = np.asarray(context)
        f, (other, pleased) = self.model.rewards(x)[ending], self.model.meanings(x, ending)[:, word]
        return np.asarray(other + f * (pleased - other))

    def learn(self, context: Encoded, ending: int, action: int, word: int) -> Changes:
        """Return nothing: a regression changes at a fit."""
        return ()

    def read(self, contexts: Contexts, endings: IntArray, words: IntArray) -> tuple[IntArray, IntArray]:
        """Return the action that pleases most, and whether the word is like a reward."""
        x = np.asarray(contexts, dtype=np.float64)
        f = self.model.rewards_many(x)[np.arange(len(x)), endings]  # (n, K)
        return np.asarray(f.argmax(axis=1)), self.model.like_rewards(x, endings, words).astype(np.int64)

    def expect_words(self, contexts: Contexts, endings: IntArray, actions: IntArray) -> FloatArray:
        """Return f g_1 + (1 - f) g_0, (n, W)."""
        x = np.asarray(contexts, dtype=np.float64)
        f = self.model.rewards_many(x)[np.arange(len(x)), endings, actions][:, None]
        meant = np.array([self.model.meanings(each, int(s)) for each, s in zip(x, endings, strict=True)])
        expected = f * meant[:, 1] + (1 - f) * meant[:, 0]
        return np.asarray(expected / expected.sum(axis=1, keepdims=True))

    def to_state(self) -> dict[str, Any]:
        """Return what `restore_people` reads."""
        return {"known_by": "vectors", "model": self.model.to_state()}


@dataclass(frozen=True, eq=False)
class LabelPeople:
    """People who are known by a label; `moved` are the rows of those who said something since the fit."""

    model: LabelReading
    moved: dict[int, FloatArray]

    @property
    def gain(self) -> float:
        """Return the gain of all endings."""
        return self.model.gain

    @property
    def z(self) -> float:
        """Return its standard errors."""
        return self.model.z

    @property
    def gains(self) -> FloatArray:
        """Return the gain of each ending, (S,)."""
        return self.model.evidence.gains

    @property
    def telling(self) -> BoolArray:
        """Return all endings, (S,): each class has its own."""
        return np.ones(len(self.model.mask), dtype=np.bool_)

    @property
    def unread(self) -> float:
        """Return the share of tuples of labels in no class or voice of which something is known."""
        return self.model.unread

    @property
    def strangers(self) -> int:
        """Return of how many labels nothing was known at the fit."""
        return self.model.strangers

    @property
    def is_steady(self) -> bool:
        """Return that it is: classes are found as soon as they show at all."""
        return True

    @property
    def eagerness(self) -> float:
        """Return that it is whole: of which class a label is, chance must try."""
        return 1.0

    def hopes(self, found: IntArray) -> FloatArray:
        """Return that anything may be hoped for, (S,)."""
        return np.ones(len(found))

    def rewards(self, context: Encoded) -> FloatArray:
        """Return what pleases a label, (S, K)."""
        return self.model.rewards(*self._of(context))

    def draw_rewards(self, context: Encoded, normals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what pleases a label, and what may."""
        u, row = self._of(context)
        return self.model.rewards(u, row), self.model.draws(u, normals, row)

    def questions(self, context: Encoded) -> IntArray:
        """Return what is done in each ending to learn of which class a label is, (S,)."""
        return self.model.questions(*self._of(context))

    def told(self, context: Encoded, ending: int, action: int, word: int) -> float:
        """Return Pr[r = 1 | u, s, a, w]."""
        u, row = self._of(context)
        return self.model.told(u, ending, action, word, row)

    def chances(self, context: Encoded, ending: int, word: int) -> FloatArray:
        """Return what a label may say after each action, (K,)."""
        u, row = self._of(context)
        return self.model.chances(u, ending, word, row)

    def learn(self, context: Encoded, ending: int, action: int, word: int) -> Changes:
        """Return where a label is after one tuple more."""
        u, row = self._of(context)
        return (put(self.moved, u, self.model.after(u, ending, action, word, row)),)

    def read(self, contexts: Contexts, endings: IntArray, words: IntArray) -> tuple[IntArray, IntArray]:
        """Return the action that pleases most, and whether the word is like a reward."""
        labels = np.asarray(contexts, dtype=np.int64)
        best, like = np.zeros((2, len(labels)), dtype=np.int64)
        if not len(labels):
            return best, like
        order = np.argsort(labels, kind="stable")
        for here in np.split(
            order, np.flatnonzero(np.diff(labels[order])) + 1
        ):  # all tuples of a label at once
            (u, row), s = self._of(labels[here[0]]), endings[here]
            f = self.model.rewards(u, row)
            best[here] = a = f.argmax(axis=1)[s]
            like[here] = self.model.told_each(u, s, a, words[here], row) > f[s, a]
        return best, like

    def expect_words(self, contexts: Contexts, endings: IntArray, actions: IntArray) -> FloatArray:
        """Return what each label says, (n, W), as it was at the fit."""
        rows = zip(np.asarray(contexts).tolist(), endings.tolist(), actions.tolist(), strict=True)
        return np.array([self.model.expect_words(*row) for row in rows])

    def to_state(self) -> dict[str, Any]:
        """Return what `restore_people` reads."""
        labels = sorted(self.moved)
        rows = np.array([self.moved[u] for u in labels]).reshape(len(labels), self.model.rows.shape[1])
        known_by = "voices" if isinstance(self.model, VoicedLabels) else "classes"
        moved = {"labels": np.array(labels, dtype=np.int64), "rows": rows}
        return {"known_by": known_by, "model": self.model.to_state(), **moved}

    def _of(self, context: Encoded) -> tuple[int, FloatArray | None]:
        """Return a label, and its row if it moved."""
        u = int(context)
        return u, self.moved.get(u)


LABELS: Mapping[str, Callable[[Saved], LabelReading]] = {
    "classes": LabelClasses.from_state,
    "voices": VoicedLabels.from_state,
}
"""Who restores which reading of labels."""


def restore_people(saved: Saved, n_labels: int | None) -> People:
    """Return the people that `to_state` described: of so many labels, or known by vectors (None)."""
    if n_labels is None:
        saved.choice("known_by", ("vectors",))
        return VectorPeople(PersonalMeaning.from_state(saved.part("model")))
    model = LABELS[saved.choice("known_by", tuple(LABELS))](saved.part("model"))
    labels = saved.indices("labels", n_labels)
    rows = model.restore_rows(saved, len(labels))
    return LabelPeople(model, dict(zip(labels.tolist(), rows, strict=True)))

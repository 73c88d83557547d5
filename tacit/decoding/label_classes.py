"""Many labels as contexts, most of which come rarely: classes of labels share what they have in common.

A label is of one of C latent classes (`tacit.decoding.label_mixture`); what pleases a class is judged from the soft
counts of its labels (`tacit.decoding.group_rewards`), and what pleases a label is the mean over the classes that it may
be of. Every tuple says more of the class, at once: log p(z | u) grows by log p_z(w | s, a).

How many classes there are, held-out tuples say. A fifth of each label's is predicted from the others,

    Pr[w | u, s, a] = sum_z p(z | u) p_z(w | s, a),

and there are more classes only while these predict better by more than chance. Labels that have nothing in common are
predicted better by tables of their own, as far as they were heard; then they are read by themselves, endings in which
nothing was found of a label yet still by classes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.decoding.action_evidence import ActionEvidence, restore_evidence
from tacit.decoding.class_questions import LIKELY, NO_QUESTION, find_questions
from tacit.decoding.group_rewards import GroupRewards, judge_groups
from tacit.decoding.judgement import JudgementSettings
from tacit.decoding.label_held_out import (
    SplitTuples,
    after_any_action,
    check_columns,
    predict,
    predict_alone,
    split_tuples,
    weigh_held_out,
)
from tacit.decoding.label_mixture import (
    ClassMixture,
    TupleCells,
    classify,
    climb_classes,
    fit_mixture,
    normalise,
    pool,
)

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Numbers of classes that are tried, until two in a row are no better."""
ERRORS = 1.5
"""Standard errors by which more classes must predict better. Of 48 problems of two groups (seeds 1,000,000 and up) none
had more than two classes then; with 1, one of 24 had. With 2 or 1.5, 1,000 labels of four kinds may be three after
2,000 tuples, in one problem of four or five."""
LABELS_EACH = 3
"""Labels that there must be for each class."""
SIGNIFICANCE = 0.01
"""Of feedback that depends on the action, in an ending of a class. A hundredth of it, as contexts are judged by, costs
three tenths of what few tuples earn (20 labels that differ, 2,000 tuples)."""
FINAL_ROUNDS = 20
"""Of expectation maximisation on all tuples, from what was found without the held-out ones."""


@dataclass(frozen=True, eq=False)
class LabelClasses:
    """Labels as they were read: `mixture` and `rewards` of C classes, log p(z | u) in `rows` (U, C).

    `own` are the rewards of each label by itself where that is the better reading, otherwise None. `evidence` is that
    words depend on the action, by held-out tuples; `unread` the share of tuples where it is not known what pleases.
    """

    mask: BoolArray
    n_words: int
    mixture: ClassMixture
    rows: FloatArray
    judged: GroupRewards
    own: GroupRewards | None
    evidence: ActionEvidence
    unread: float

    @property
    def n_classes(self) -> int:
        """Return C."""
        return self.mixture.n_classes

    @property
    def shared(self) -> bool:
        """Return whether labels are read by their classes, and not by themselves."""
        return self.own is None

    @property
    def gain(self) -> float:
        """Return the nats by which held-out tuples show that words depend on the action."""
        return self.evidence.gain

    @property
    def z(self) -> float:
        """Return the standard errors of that."""
        return self.evidence.z

    @property
    def knows(self) -> BoolArray:
        """Return of which labels it is known in some ending what pleases them, (U,): by class or by themselves."""
        known: BoolArray = np.asarray(self.judged.known.any(axis=1))[self.rows.argmax(axis=1)]
        return known if self.own is None else known | np.asarray(self.own.known.any(axis=1))

    @property
    def strangers(self) -> int:
        """Return of how many labels nothing is known."""
        return int((~self.knows).sum())

    def row(self, u: int) -> FloatArray:
        """Return log p(z | u), (C,), as it was at the fit; a label that is new is of a class as labels mostly are."""
        return np.asarray(self.rows[u] if u < len(self.rows) else self.mixture.log_pi)

    def after(self, u: int, s: int, a: int, w: int, row: FloatArray | None = None) -> FloatArray:
        """Return log p(z | u), (C,), after one more tuple; `row` is where the label is if it moved since the fit."""
        moved = (self.row(u) if row is None else row) + self.mixture.log_tables[:, self._cell(s, a, w)]
        return np.asarray(normalise(moved[None])[0][0])

    def posterior(self, u: int, row: FloatArray | None = None) -> FloatArray:
        """Return p(z | u), (C,)."""
        return np.exp(self.row(u) if row is None else row)

    def rewards(self, u: int, row: FloatArray | None = None) -> FloatArray:
        """Return the chance that each action pleases a label, (S, K): sum_z p(z | u) f_z."""
        mixed = np.tensordot(self.posterior(u, row), self.judged.f, 1)
        own = self._own(u)
        return mixed if own is None else np.where(own.known[u][:, None], own.f[u], mixed)

    def draws(self, u: int, normals: FloatArray, row: FloatArray | None = None) -> FloatArray:
        """Return what may please a label, (B, S, K), by normal numbers: each class as often as it may be its."""
        B, own = len(normals), self._own(u)
        places = (np.arange(B) + 0.5) / B
        classes = np.minimum(np.searchsorted(np.cumsum(self.posterior(u, row)), places), self.n_classes - 1)
        drawn = self.judged.draws(classes, self.mask, normals)
        if own is None:
            return drawn
        alone = own.draws(np.full(B, u), self.mask, normals)
        return np.where(own.known[u][:, None], alone, drawn)

    def questions(self, u: int, row: FloatArray | None = None) -> IntArray:
        """Return what is done in each ending to learn of which class a label is, (S,); -1 where chance does as well.

        Nothing is asked of labels that are read by themselves, or where it is not known what pleases some class.
        """
        p, S = self.posterior(u, row), len(self.mask)
        likely = np.flatnonzero(p > LIKELY)
        if len(likely) < 2 or not self.shared:
            return np.full(S, NO_QUESTION)
        tables = np.exp(self.mixture.log_tables[likely]).reshape(-1, *self.mask.shape, self.n_words)
        asked = find_questions(p[likely], self.judged.f[likely], tables, self.mask)
        return np.where(self.judged.known[likely].all(axis=0), asked, NO_QUESTION)

    def told(self, u: int, s: int, a: int, w: int, row: FloatArray | None = None) -> float:
        """Return Pr[r = 1 | u, s, a, w]: by what the word means to the classes that may have said it."""
        return float(self.told_each(u, np.array([s]), np.array([a]), np.array([w]), row)[0])

    def told_each(
        self, u: int, s: IntArray, a: IntArray, w: IntArray, row: FloatArray | None = None
    ) -> FloatArray:
        """Return what `told` says of each of n tuples of one label, (n,)."""
        here = self.row(u) if row is None else row
        after = normalise(here + self.mixture.log_tables[:, self._cell(s, a, w)].T)[0]  # (n, C)
        told = (np.exp(after) * self.judged.meant[:, s, a, w].T).sum(axis=1)
        own = self._own(u)
        return np.asarray(told if own is None else np.where(own.known[u, s], own.meant[u, s, a, w], told))

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {
            "mask": self.mask,
            "words": self.n_words,
            "log_pi": self.mixture.log_pi,
            "log_tables": self.mixture.log_tables,
            "rows": self.rows,
            "rewards": self.judged.to_state(),
            "own": None if self.own is None else self.own.to_state(),
            "evidence": self.evidence._asdict(),
            "unread": self.unread,
        }

    @staticmethod
    def from_state(state: Mapping[str, Any]) -> LabelClasses:
        """Return the classes that `to_state` described, the same to the last bit."""
        saved = Saved.of(state)
        mask, W = saved.flags("mask", (None, None)), saved.whole("words", 1)
        cells = (*mask.shape, W)
        log_pi = saved.floats("log_pi", (None,), high=0)
        C = len(log_pi)
        saved.check(C > 0, "log_pi", "of one class or more")
        log_tables = saved.floats("log_tables", (C, math.prod(cells)), high=0)
        rows = saved.floats("rows", (None, C), high=1e-9)
        for name, each in (("log_pi", log_pi[None]), ("rows", rows)):
            saved.check(
                bool(np.allclose(np.exp(each).sum(axis=1), 1)), name, "logs of chances that add up to 1"
            )
        rewards = GroupRewards.from_state(saved.part("rewards"), cells)
        saved.check(len(rewards.f) == C, "rewards", f"of {C} classes")
        own = GroupRewards.from_state(saved.part("own"), cells) if saved.has("own") else None
        saved.check(own is None or len(own.f) == len(rows), "own", f"of {len(rows)} labels")
        evidence = restore_evidence(saved.part("evidence"), len(mask))
        mixture, unread = ClassMixture(log_pi, log_tables), saved.number("unread", 0, 1)
        return LabelClasses(mask, W, mixture, rows, rewards, own, evidence, unread)

    def chances(self, u: int, s: int, w: int, row: FloatArray | None = None) -> FloatArray:
        """Return the chance of a word after each action, (K,), by the classes that a label may be of."""
        cells = self._cell(s, 0, w) + self.n_words * np.arange(self.mask.shape[1])
        return np.asarray(self.posterior(u, row) @ np.exp(self.mixture.log_tables[:, cells]))

    def expect_words(self, u: int, s: int, a: int, row: FloatArray | None = None) -> FloatArray:
        """Return the chance of each word, (W,), by the classes that a label may be of."""
        begin = self._cell(s, a, 0)
        return self.posterior(u, row) @ np.exp(self.mixture.log_tables[:, begin : begin + self.n_words])

    def restore_rows(self, saved: Saved, n: int) -> FloatArray:
        """Return the rows of n labels that moved since the fit, as they were saved."""
        return saved.floats("rows", (n, self.n_classes), high=1e-9)

    def _cell(self, s: int | IntArray, a: int | IntArray, w: int | IntArray) -> int | IntArray:
        return (s * int(self.mask.shape[1]) + a) * self.n_words + w

    def _own(self, u: int) -> GroupRewards | None:
        """Return what was judged of labels by themselves, None if they are not read so, or not this one."""
        return self.own if u < len(self.rows) else None


def fit_classes(
    labels: IntArray,
    endings: IntArray,
    actions: IntArray,
    words: IntArray,
    n_labels: int,
    mask: BoolArray,
    n_words: int,
    generator: np.random.Generator,
    before: LabelClasses | None = None,
    c: float = 0.0,
    settings: JudgementSettings | None = None,
) -> LabelClasses:
    """Return classes of labels from n tuples, in endings with the actions of a mask (S, K).

    `before` is an earlier fit, from which one beginning is taken. An ending in which feedback tells nothing is worth c.
    """
    cells = TupleCells(mask.shape[0], mask.shape[1], n_words)
    check_columns(labels, endings, actions, words, n_labels, cells)
    data = split_tuples(labels, cells.of(endings, actions, words), n_labels, cells, generator)
    return fit_split(data, mask, generator, before, c, settings)[0]


def fit_split(
    data: SplitTuples,
    mask: BoolArray,
    generator: np.random.Generator,
    before: LabelClasses | None = None,
    c: float = 0.0,
    settings: JudgementSettings | None = None,
) -> tuple[LabelClasses, FloatArray, FloatArray]:
    """Return classes of labels, the log chance of each held-out tuple, (n,), and chances after each action, (n, K)."""
    cells, n_words = data.shape, data.shape.n_words
    settings = settings or JudgementSettings(significance=SIGNIFICANCE)
    found, predicted = choose_mixture(data, n_words, generator, before)
    alone = predict_alone(data)
    shared = bool((predicted - alone)[data.judges].sum() >= 0)
    chances = after_any_action(data, found if shared else None)
    evidence = weigh_held_out(data, chances, mask)
    counts = data.everything
    mixture, _ = climb_classes(counts, found, pool(counts, cells), n_words, FINAL_ROUNDS)
    rows, _ = classify(counts, mixture)
    said = np.asarray((counts.T @ np.exp(rows)).T).reshape(-1, *cells)
    judged = judge_groups(said, mask, c, settings)
    own = None if shared else judge_groups(counts.toarray().reshape(-1, *cells), mask, c, settings)
    unread = 1 - share_known(said if own is None else counts.toarray().reshape(-1, *cells), own or judged)
    classes = LabelClasses(mask.copy(), n_words, mixture, rows, judged, own, evidence, unread)
    return classes, predicted if shared else alone, chances


def forget_rewards(classes: LabelClasses, c: float) -> LabelClasses:
    """Return classes of whom it is not known what pleases them, so that anything is worth c."""
    judged = classes.judged
    nothing = GroupRewards(
        np.full_like(judged.f, c),
        np.zeros_like(judged.spread),
        np.zeros_like(judged.known),
        np.ones_like(judged.hope),
        np.full_like(judged.meant, c),
    )
    return replace(classes, judged=nothing, own=None, unread=1.0)


def share_known(said: FloatArray, judged: GroupRewards) -> float:
    """Return the share of tuples, counted (G, S, K, W), of groups and endings in which it is known what pleases."""
    total = float(said.sum())
    return min(float(said.sum(axis=(2, 3))[judged.known].sum()) / total, 1.0) if total > 0 else 0.0


def is_better(more: FloatArray) -> bool:
    """Return whether held-out tuples are likelier, each by so many nats (n,), by more than chance."""
    return bool(len(more) and more.sum() > ERRORS * more.std() * math.sqrt(len(more)))


def choose_mixture(
    data: SplitTuples, n_words: int, generator: np.random.Generator, before: LabelClasses | None
) -> tuple[ClassMixture, FloatArray]:
    """Return the mixture that predicts held-out tuples best, with no more classes than it takes, and what it predicts.

    >>> generator = np.random.default_rng(0)
    >>> who = np.repeat(np.arange(40), 20)
    >>> what = (generator.random(800) < np.where(who < 20, 0.1, 0.9)).astype(int)  # one ending, one action
    >>> choose_mixture(split_tuples(who, what, 40, TupleCells(1, 1, 2), generator), 2, generator, None)[0].n_classes
    2
    """
    known = (
        () if before is None or before.mixture.log_tables.shape[1] != len(data.pooled) else (before.mixture,)
    )
    heard = int((np.diff(data.counts.indptr) > 0).sum())
    best = last = fit_mixture(data.counts, 1, data.pooled, n_words, generator)
    predicted, failures = predict(data, best), 0
    for C in SIZES[1:]:
        if failures == 2 or heard < C * LABELS_EACH:
            break
        near = (last, *(mixture for mixture in known if mixture.n_classes == C))
        last = fit_mixture(data.counts, C, data.pooled, n_words, generator, near)
        now = predict(data, last)
        more = now - predicted
        if is_better(more) or is_better(more[data.judges]):
            best, predicted, failures = last, now, 0
        else:
            failures += 1
    return best, predicted

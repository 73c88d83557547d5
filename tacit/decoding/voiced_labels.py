"""Labels that are read by the voice in which they speak: what each said of every action, at every level of pleasing.

A label's row holds all that it said, in the terms of the voices (`tacit.decoding.label_voices`), so that each tuple
tells at once which voice it is and what pleases it. Who speaks in none is read by classes or by itself
(`tacit.decoding.label_classes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.jit import kernel
from tacit.base.saved import Saved
from tacit.decoding.action_evidence import ActionEvidence, restore_evidence
from tacit.decoding.class_questions import NO_QUESTION
from tacit.decoding.label_classes import LabelClasses
from tacit.decoding.label_mixture import normalise
from tacit.decoding.label_voices import (
    LEVELS,
    SaidByLabels,
    Voices,
    find_grids,
    read_ways,
    speak_alone,
    speak_in,
)


class LabelRow(NamedTuple):
    """What a label said: `grid` (T, S, K, L), the log chance in no voice, `words` (E, W), and its row of classes."""

    grid: FloatArray
    alone: float
    words: FloatArray
    classes: FloatArray

    def flat(self) -> FloatArray:
        """Return it as one row of numbers."""
        return np.concatenate([self.grid.ravel(), [self.alone], self.words.ravel(), self.classes])


class Heights(NamedTuple):
    """Of a label: the chance of each of 2 T + 1 ways to speak, and of each level, (2 T, S, K, L), by the way."""

    ways: FloatArray
    levels: FloatArray


@dataclass(frozen=True, eq=False)
class VoicedLabels:
    """Labels and the voices in which they speak; `rows` (U, R) are what each said, `others` read who is in none.

    `evidence` is that words depend on the action, by held-out tuples; `unread` is the share of tuples where what
    pleases is not known.
    """

    mask: BoolArray
    n_words: int
    voices: Voices
    rows: FloatArray
    others: LabelClasses
    evidence: ActionEvidence
    unread: float

    @property
    def gain(self) -> float:
        """Return the nats by which held-out tuples show that words depend on the action."""
        return self.evidence.gain

    @property
    def z(self) -> float:
        """Return the standard errors of that."""
        return self.evidence.z

    @property
    def strangers(self) -> int:
        """Return of how many labels nothing is known: those in no voice, as far as the others do not know them."""
        alone = [self._weigh(self._open(u, None)).ways[-1] > 0.5 for u in range(len(self.rows))]
        return int((np.array(alone, dtype=np.bool_) & ~self.others.knows).sum())

    def row(self, u: int) -> FloatArray:
        """Return what a label had said when it was fitted, (R,); of one that is new, nothing."""
        if u < len(self.rows):
            return np.asarray(self.rows[u])
        (T, _, E, W), L = self.voices.sides.shape, len(LEVELS)
        nothing = np.zeros((T, *self.mask.shape, L)), 0.0, np.zeros((E, W))
        return LabelRow(*nothing, self.others.row(u)).flat()

    def after(self, u: int, s: int, a: int, w: int, row: FloatArray | None = None) -> FloatArray:
        """Return a label's row after one more tuple; `row` is where it is if it moved since the fit."""
        said, e = self._open(u, row), self._table(s)
        grid, words = said.grid.copy(), said.words.copy()
        grid[:, s, a] += self._logs[:, e, w]
        alone = said.alone + float(np.log(self._said_alone(said.words, e, w)))
        words[e, w] += 1
        return LabelRow(grid, alone, words, self.others.after(u, s, a, w, said.classes)).flat()

    def rewards(self, u: int, row: FloatArray | None = None) -> FloatArray:
        """Return the chance that each action pleases a label, (S, K)."""
        said = self._open(u, row)
        ways, levels = self._weigh(said)
        f = np.tensordot(ways[:-1], (levels * self._pleased).sum(axis=3), 1)
        return np.asarray(np.where(self.mask, f + ways[-1] * self.others.rewards(u, said.classes), 0.0))

    def questions(self, u: int, row: FloatArray | None = None) -> IntArray:
        """Return that none is asked, (S,): what pleases a label does not follow from its voice."""
        return np.full(len(self.mask), NO_QUESTION)

    def draws(self, u: int, normals: FloatArray, row: FloatArray | None = None) -> FloatArray:
        """Return what may please a label, (B, S, K), by normal numbers: each way to speak as often as it may be its."""
        said, B = self._open(u, row), len(normals)
        ways, levels = self._weigh(said)
        chosen = np.minimum(np.searchsorted(np.cumsum(ways), (np.arange(B) + 0.5) / B), len(ways) - 1)
        drawn = np.empty(normals.shape)
        for k in np.unique(chosen):
            here = np.flatnonzero(chosen == k)
            if k == len(ways) - 1:
                drawn[here] = self.others.draws(u, normals[here], said.classes)
            else:
                drawn[here] = draw_levels(levels[k], ndtr(normals[here]), self._pleased[k, 0, 0])
        return np.asarray(np.where(self.mask, drawn, 0.0))

    def told(self, u: int, s: int, a: int, w: int, row: FloatArray | None = None) -> float:
        """Return Pr[r = 1 | u, s, a, w]: by what the word means in the voices in which it may be said."""
        return float(self.told_each(u, np.array([s]), np.array([a]), np.array([w]), row)[0])

    def told_each(
        self, u: int, s: IntArray, a: IntArray, w: IntArray, row: FloatArray | None = None
    ) -> FloatArray:
        """Return what `told` says of each of n tuples of one label, (n,)."""
        said, e = self._open(u, row), s if len(self.voices.usual) > 1 else np.zeros_like(s)
        ways, levels = self._weigh(said)
        both = self._say(levels[:, s, a], e, w)  # (2, 2 T, n): not pleased, pleased
        alone = ways[-1] * self._said_alone(said.words, e, w)
        pleased = ways[:-1] @ both[1]
        total = ways[:-1] @ both.sum(axis=0) + alone
        meant = pleased + alone * self.others.told_each(u, s, a, w, said.classes)
        return np.asarray(np.divide(meant, total, out=np.zeros(len(total)), where=total > 0))

    def chances(self, u: int, s: int, w: int, row: FloatArray | None = None) -> FloatArray:
        """Return the chance of a word after each action, (K,)."""
        said, e = self._open(u, row), self._table(s)
        ways, levels = self._weigh(said)
        often = levels[:, s] @ LEVELS  # (2 T, K): how often side 1 speaks
        other, pleased = np.tile(self.voices.sides[:, :, e, w], (2, 1)).T  # (2 T,)
        spoken = other[:, None] + often * (pleased - other)[:, None]
        return np.asarray(ways[:-1] @ spoken + ways[-1] * self._said_alone(said.words, e, w))

    def expect_words(self, u: int, s: int, a: int, row: FloatArray | None = None) -> FloatArray:
        """Return the chance of each word, (W,)."""
        said, e = self._open(u, row), self._table(s)
        ways, levels = self._weigh(said)
        often = levels[:, s, a] @ LEVELS  # (2 T,): how often side 1 speaks
        other, pleased = np.moveaxis(np.tile(self.voices.sides[:, :, e], (2, 1, 1)), 1, 0)  # (2 T, W)
        m, words = self.voices.strength, said.words[e]
        alone = (words + m * self.voices.usual[e]) / (words.sum() + m)
        spoken = often[:, None] * pleased + (1 - often[:, None]) * other
        return np.asarray(ways[:-1] @ spoken + ways[-1] * alone)

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {
            "mask": self.mask,
            "words": self.n_words,
            "voices": self.voices._asdict(),
            "rows": self.rows,
            "others": self.others.to_state(),
            "evidence": self.evidence._asdict(),
            "unread": self.unread,
        }

    @staticmethod
    def from_state(state: Mapping[str, Any]) -> VoicedLabels:
        """Return the labels that `to_state` described, the same to the last bit."""
        saved = Saved.of(state)
        mask, W = saved.flags("mask", (None, None)), saved.whole("words", 1)
        part = saved.part("voices")
        usual = part.floats("usual", (None, W), 0, 1)
        E = len(usual)
        part.check(E in (1, len(mask)), "usual", "of one ending or of all")
        sides = part.floats("sides", (None, 2, E, W), 0, 1)
        T = len(sides)
        levels = part.floats("levels", (len(mask), len(LEVELS)), 0, 1)
        shares = part.floats("log_shares", (2 * T + 1,), high=0)
        voices = Voices(sides, levels, shares, usual, part.number("strength", 0))
        others = LabelClasses.from_state(saved.part("others"))
        evidence, unread = restore_evidence(saved.part("evidence"), len(mask)), saved.number("unread", 0, 1)
        empty = VoicedLabels(mask, W, voices, np.zeros((0, 0)), others, evidence, unread)
        rows = saved.floats("rows", (len(others.rows), len(empty.row(len(others.rows)))))
        return replace(empty, rows=rows)

    def restore_rows(self, saved: Saved, n: int) -> FloatArray:
        """Return the rows of n labels that moved since the fit, as they were saved."""
        return saved.floats("rows", (n, self.rows.shape[1]))

    @cached_property
    def _logs(self) -> FloatArray:
        return self.voices.logs()

    @cached_property
    def _pleased(self) -> FloatArray:
        """Return how often somebody is pleased at each level, (2 T, 1, 1, L): turned round the other side is."""
        each = np.stack([LEVELS, 1 - LEVELS])
        return np.repeat(each, self.voices.n_voices, axis=0)[:, None, None]

    def _table(self, s: int) -> int:
        """Return where words of an ending stand: words mean the same in all, or something else in each."""
        return s if len(self.voices.usual) > 1 else 0

    def _open(self, u: int, row: FloatArray | None) -> LabelRow:
        """Return the parts of a label's row."""
        flat = self.row(u) if row is None else row
        (T, _, E, W), shape = self.voices.sides.shape, (*self.mask.shape, len(LEVELS))
        i = T * int(np.prod(shape))
        j = i + 1 + E * W
        return LabelRow(flat[:i].reshape(T, *shape), float(flat[i]), flat[i + 1 : j].reshape(E, W), flat[j:])

    def _weigh(self, said: LabelRow) -> Heights:
        """Return in which ways a label may speak, and what pleases it then."""
        levels, logs = read_ways(said.grid, self.voices)  # (2, T, S, K, L), (2, T, S)
        joint = np.append(logs.sum(axis=2).ravel(), said.alone) + self.voices.log_shares
        return Heights(np.exp(normalise(joint[None])[0][0]), levels.reshape(-1, *levels.shape[2:]))

    def _say(self, levels: FloatArray, e: IntArray, w: IntArray) -> FloatArray:
        """Return the chance of words with whoever is not pleased and with whoever is, (2, 2 T, n).

        `levels` (2 T, n, L) are of what was done before each.
        """
        pleased = (levels * self._pleased[:, 0]).sum(axis=2)
        side = self.voices.sides[:, :, e, w]  # (T, 2, n)
        says = np.concatenate([side, side[:, ::-1]])  # turned round the other side is pleased
        return np.stack([(1 - pleased) * says[:, 0], pleased * says[:, 1]])

    def _said_alone(self, words: FloatArray, e: int | IntArray, w: int | IntArray) -> FloatArray:
        """Return the chance of words (n,) of a label that speaks in no voice and said these words (E, W)."""
        m = self.voices.strength
        return np.asarray((words[e, w] + m * self.voices.usual[e, w]) / (words[e].sum(axis=-1) + m))


@kernel
def draw_levels(levels: FloatArray, chances: FloatArray, pleased: FloatArray) -> FloatArray:
    """Return what may please, (B, S, K), by uniform numbers of that shape, as levels (S, K, L) are likely.

    `pleased` (L,) is how often somebody is at each level.
    """
    B, S, K = chances.shape
    drawn = np.empty((B, S, K))
    for b in range(B):
        for s in range(S):
            for a in range(K):
                level, below = 0, levels[s, a, 0]
                while level < len(pleased) - 1 and chances[b, s, a] > below:
                    level += 1
                    below += levels[s, a, level]
                drawn[b, s, a] = pleased[level]
    return drawn


def write_rows(heard: SaidByLabels, voices: Voices, classes: FloatArray) -> FloatArray:
    """Return the row of each label, (U, R), by what it said."""
    grids, alone = find_grids(heard, voices), speak_alone(heard.words, voices.usual, voices.strength)
    U = len(alone)
    parts = np.moveaxis(grids, 1, 0).reshape(U, -1), alone[:, None], heard.words.reshape(U, -1), classes
    return np.concatenate(parts, axis=1)


def share_unread(heard: SaidByLabels, voices: Voices, mask: BoolArray, of_strangers: float) -> float:
    """Return the share of tuples of labels and endings in which it is not known which action pleases most.

    In a voice it is known if the best by what is expected is the best of all with a chance of a half; of labels in none
    a share `of_strangers` is not.
    """
    weights, U = speak_in(heard, voices), heard.shape[0]
    levels, _ = read_ways(find_grids(heard, voices), voices)  # (2, T, U, S, K, L)
    ways = weights[:, :-1].argmax(axis=1)
    own = levels.reshape(-1, *levels.shape[2:])[ways, np.arange(U)]  # (U, S, K, L)
    own = np.where((ways >= voices.n_voices)[:, None, None, None], own[..., ::-1], own)  # levels of pleasing
    doubtful = chance_of_best(own, mask) < 0.5
    often = np.asarray(heard.pairs.sum(axis=1)).reshape(heard.shape).sum(axis=2)  # (U, S)
    strange = weights[:, -1:]
    unread = strange * of_strangers + (1 - strange) * doubtful
    return float((often * unread).sum() / max(often.sum(), 1.0))


def chance_of_best(levels: FloatArray, mask: BoolArray) -> FloatArray:
    """Return how likely the action that is expected to please most is the best, (..., S), by levels (..., S, K, L).

    Half of the ties are counted; a mask (S, K) says which actions there are.

    >>> one, two = np.ones((1, 2), dtype=bool), np.array([[[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]])
    >>> chance_of_best(two, one).item(), chance_of_best(np.full((1, 2, 100), 0.01), one).round(2).item()
    (1.0, 0.5)
    """
    expected = np.where(mask, levels @ np.arange(levels.shape[-1]), -1.0)
    best = np.arange(mask.shape[1]) == expected.argmax(axis=-1)[..., None]  # (..., S, K)
    below = np.cumsum(levels, axis=-1) - levels / 2
    below = np.where((best | ~mask)[..., None], 1.0, below)
    return np.asarray(((levels * best[..., None]).sum(axis=-2) * below.prod(axis=-2)).sum(axis=-1))


def chances_after(
    heard: SaidByLabels, voices: Voices, labels: IntArray, endings: IntArray, words: IntArray
) -> FloatArray:
    """Return the chance of words (n,) of labels (n,) after each action of their endings (n,), (n, K), in any way."""
    grids, alone = find_grids(heard, voices), speak_alone(heard.words, voices.usual, voices.strength)
    levels, logs = read_ways(grids, voices)  # (2, T, U, S, K, L), (2, T, U, S)
    joint = np.concatenate([logs.sum(axis=3).reshape(-1, len(alone)), alone[None]]).T + voices.log_shares
    ways = np.exp(normalise(joint)[0])[labels]  # (n, 2 T + 1)
    e = endings if len(voices.usual) > 1 else np.zeros_like(endings)
    m = voices.strength
    said, heard_of = heard.words[labels, e], heard.words[labels, e].sum(axis=1)
    own = (said[np.arange(len(words)), words] + m * voices.usual[e, words]) / (heard_of + m)
    chances = np.repeat((ways[:, -1] * own)[:, None], heard.shape[2], axis=1)
    T = voices.n_voices
    for k in range(2 * T):
        f = levels[k // T, k % T, labels, endings] @ LEVELS  # (n, K): how often side 1 speaks
        other, pleased = voices.sides[k % T, :, e, words].T[:, :, None]
        chances += ways[:, k, None] * (f * pleased + (1 - f) * other)
    return chances

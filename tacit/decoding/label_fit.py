"""The fit of many labels: by classes, by themselves, or by the voices in which they speak, as held-out tuples choose.

Classes share what words mean and what pleases (`tacit.decoding.label_classes`); labels by themselves share nothing;
voices share what words mean alone (`tacit.decoding.label_voices`). Voices are added while held-out tuples are
likelier by more than chance, words meaning the same in all endings or something else in each. Who speaks in none of
them is read by classes, if these tell anything of such labels.
"""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.decoding.label_classes import LabelClasses, fit_split, forget_rewards, is_better
from tacit.decoding.label_held_out import SplitTuples, check_columns, split_tuples, weigh_held_out
from tacit.decoding.label_mixture import TupleCells
from tacit.decoding.label_voices import (
    LARGEST,
    LEVELS,
    SaidByLabels,
    Voices,
    begin_voices,
    climb_voices,
    gather_said,
    speak_in,
)
from tacit.decoding.voiced_labels import VoicedLabels, chances_after, share_unread, write_rows

MOST_VOICES = 4
"""Voices that are looked for."""
LEAST_TUPLES = 500
"""Tuples below which no voice is."""
FINAL_ROUNDS = 15
"""Of expectation maximisation on all tuples, from what was found without the held-out ones."""
STRANGER_NATS = 8.0
"""Nats that held-out tuples of labels in no voice must gain by classes for these to say what pleases them: classes of
all labels follow those who speak in voices, too. They are as many as show anything at all
(`tacit.decoding.people`)."""

LabelReading = LabelClasses | VoicedLabels


def fit_labels(
    labels: IntArray,
    endings: IntArray,
    actions: IntArray,
    words: IntArray,
    uniform: BoolArray,
    n_labels: int,
    mask: BoolArray,
    n_words: int,
    generator: np.random.Generator,
    before: LabelReading | None = None,
    c: float = 0.0,
) -> LabelReading:
    """Return the reading of labels under which held-out tuples are likeliest, from n tuples.

    `uniform` (n,) says whose action was drawn so: by those it is judged whether words depend on the action at all.
    `before` is an earlier fit, which is one beginning. An ending in which feedback tells nothing is worth c.
    """
    cells = TupleCells(mask.shape[0], mask.shape[1], n_words)
    check_columns(labels, endings, actions, words, n_labels, cells)
    data = split_tuples(labels, cells.of(endings, actions, words), n_labels, cells, generator, uniform)
    known = before.others if isinstance(before, VoicedLabels) else before
    classes, likely, by_classes = fit_split(data, mask, generator, known, c)
    voiced = isinstance(before, VoicedLabels) and before.n_words == n_words
    found = find_voices(data, before.voices if voiced and isinstance(before, VoicedLabels) else None)
    if found is None or not is_better((found[1] - likely)[data.judges]):
        return classes
    voices, _, chances = found
    evidence, by_ending = weigh_held_out(data, chances, mask), len(voices.usual) > 1
    strangers = speak_in(gather_said(data.counts, cells, by_ending), voices)[:, -1] > 0.5
    if weigh_held_out(data, by_classes, mask, strangers).gain < STRANGER_NATS:
        classes = forget_rewards(classes, c)
    heard = gather_said(data.everything, cells, by_ending)
    voices, _ = climb_voices(heard, voices, FINAL_ROUNDS)
    unread = share_unread(heard, voices, mask, classes.unread)
    rows = write_rows(heard, voices, classes.rows)
    return VoicedLabels(mask.copy(), n_words, voices, rows, classes, evidence, unread)


def find_voices(data: SplitTuples, known: Voices | None) -> tuple[Voices, FloatArray, FloatArray] | None:
    """Return the likeliest voices, the log chance of each held-out tuple (n,), and that after each action (n, K).

    None where tuples are too few, or labels too many.
    """
    S, K, _ = data.shape
    size = data.counts.shape[0] * S * K * len(LEVELS)
    if data.counts.sum() < LEAST_TUPLES or size > LARGEST:
        return None
    found = [
        add_voices(data, gather_said(data.counts, data.shape, by_ending), known)
        for by_ending in (False, True)[: 2 if S > 1 else 1]
    ]
    return max(found, key=lambda each: float(each[1][data.judges].sum()))


def add_voices(
    data: SplitTuples, heard: SaidByLabels, known: Voices | None
) -> tuple[Voices, FloatArray, FloatArray]:
    """Return voices, one after the other among labels that speak in none so far, as long as that is likelier."""
    best = _climb(data, heard, begin_voices(heard))
    if known is not None and known.usual.shape == best[0].usual.shape:
        again = _climb(data, heard, known)
        best = max(best, again, key=lambda each: float(each[1][data.judges].sum()))
    while best[0].n_voices < MOST_VOICES:
        weights = speak_in(heard, best[0])
        if (weights[:, -1] > 0.5).sum() < 2:
            break
        more = _climb(data, heard, begin_voices(heard, best[0], weights))
        if not is_better((more[1] - best[1])[data.judges]):
            break
        best = more
    return best


def _climb(data: SplitTuples, heard: SaidByLabels, begin: Voices) -> tuple[Voices, FloatArray, FloatArray]:
    """Return the voices that a beginning leads to, the log chance of held-out tuples (n,), and after each action."""
    voices, _ = climb_voices(heard, begin)
    W, K = data.shape.n_words, data.shape.n_actions
    chances = chances_after(heard, voices, data.labels, data.endings, data.cells % W)
    taken = data.cells // W % K
    return voices, np.log(np.maximum(chances[np.arange(len(taken)), taken], 1e-300)), chances

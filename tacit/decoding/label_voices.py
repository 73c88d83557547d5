"""Labels that share what words mean, and not what pleases them: a few ways of speaking, each with its own tastes.

A label u speaks in one of T voices, or in none of them. A voice is two ways of talking, g_0 and g_1, in every ending or
in each its own; how often a label is pleased by an action is its own, one of L levels l, and nothing of it is shared
but how common levels are in an ending:

    Pr[n_u | t] = prod_{s,a} sum_l pi_s(l) prod_w (l g_1(w) + (1 - l) g_0(w))^n_u(s, a, w).

People may speak in a voice the other way round, pi_s(1 - l) in place of pi_s(l): rewards are the minority, so that low
levels are common, and all that a label said tells which of the two it is. Who speaks in none says words as often as
they say them, whatever was done. Expectation maximisation climbs from words that go together
(`tacit.decoding.voice_starts`): what is said twice of one (u, s, a) is said by the same side more often than not.

All of this sums levels out, so that three tuples of a label, an ending and an action tell as much as they can: where
a label alone would need hundreds to learn what fifty words mean, it borrows that, and learns what pleases it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import gammaln

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.label_mixture import PRIOR, TupleCells, normalise
from tacit.decoding.voice_starts import split_words

LEVELS = np.linspace(0.02, 0.98, 11)
"""How often an action may please: fine enough for what few tuples tell."""
ROUNDS, GLOBAL_ROUNDS = 40, 10
"""Of expectation maximisation, and how many of them have one pi for all endings, while ways round are settled."""
ENOUGH = 0.5
"""The gain of a round, in nats, below which it was the last."""
WORDS_BEFORE = 1.0
"""Tuples of each side of a voice beforehand, distributed as those of all labels."""
LEVELS_BEFORE, ENDING_BEFORE = 10.0, 30.0
"""Pairs of an ending and an action that all labels have beforehand, low levels more often; and that an ending has, as
all endings are."""
STRENGTHS = (2.0, 8.0, 32.0, 128.0)
"""Tuples of an ending that a label in no voice has beforehand, as all labels say them; the likeliest is taken."""
MINORITY_COST = 200.0
"""Nats a label and ending, times the square of how far the mean of what pleases is above a half: three actions, each
by its own level, would tell which way round a label is by two to one."""
LARGEST = 4_000_000
"""Numbers (label, ending, action, level) beyond which voices are not looked for."""


class Voices(NamedTuple):
    """T voices: `sides` (T, 2, E, W) what is said by either, in each ending or in all (E = 1); `levels` (S, L) = pi.

    `log_shares` (2 T + 1,) are of labels in each voice, in each turned round, and in none. Who is in none says `usual`
    (E, W) words, by so much `strength`, and their own.
    """

    sides: FloatArray
    levels: FloatArray
    log_shares: FloatArray
    usual: FloatArray
    strength: float

    @property
    def n_voices(self) -> int:
        """Return T."""
        return len(self.sides)

    @property
    def log_levels(self) -> FloatArray:
        """Return log pi as voices have it and turned round, (2, S, 1, L)."""
        return np.log(np.stack([self.levels, self.levels[:, ::-1]]))[:, :, None]

    def logs(self) -> FloatArray:
        """Return log(l g_1(w) + (1 - l) g_0(w)), (T, E, W, L)."""
        other, pleased = self.sides[:, 0, ..., None], self.sides[:, 1, ..., None]
        return np.asarray(np.log(pleased * LEVELS + other * (1 - LEVELS)))


class SaidByLabels(NamedTuple):
    """What labels said: `pairs` (U S K, E W), sparse, by (u, s, a), and `words` (U, E, W) whatever was done."""

    pairs: Any
    words: FloatArray
    shape: tuple[int, int, int]

    def among(self, labels: IntArray) -> SaidByLabels:
        """Return what some labels said."""
        _, S, K = self.shape
        rows = (labels[:, None] * (S * K) + np.arange(S * K)).ravel()
        return SaidByLabels(self.pairs[rows], self.words[labels], (len(labels), S, K))


def gather_said(counts: Any, cells: TupleCells, by_ending: bool) -> SaidByLabels:
    """Return what labels said of counts (U, cells), words meaning the same in all endings or not."""
    (S, K, W), coo = cells, counts.tocoo()
    pairs, words = coo.row * (S * K) + coo.col // W, coo.col % W
    columns = words + W * (coo.col // (K * W)) if by_ending else words
    U, E = counts.shape[0], S if by_ending else 1
    said = csr_matrix((coo.data, (pairs, columns)), shape=(U * S * K, E * W))
    fold = csr_matrix((np.ones(U * S * K), (np.repeat(np.arange(U), S * K), np.arange(U * S * K))))
    return SaidByLabels(said, np.asarray((fold @ said).todense()).reshape(U, E, W), (U, S, K))


def usual_words(heard: SaidByLabels) -> tuple[FloatArray, float]:
    """Return what all labels say, (E, W), and how strongly that holds for one of them."""
    total = heard.words.sum(axis=0) + PRIOR
    usual = total / total.sum(axis=1, keepdims=True)
    return usual, max(STRENGTHS, key=lambda m: float(speak_alone(heard.words, usual, m).sum()))


def speak_alone(words: FloatArray, usual: FloatArray, strength: float) -> FloatArray:
    """Return the log chance of what labels say, (U,), of words (U, E, W) in no voice: Dirichlet's."""
    before = strength * usual
    each = (gammaln(words + before) - gammaln(before)).sum(axis=2)
    return np.asarray((each + gammaln(strength) - gammaln(words.sum(axis=2) + strength)).sum(axis=1))


def find_grids(heard: SaidByLabels, voices: Voices) -> FloatArray:
    """Return the log chance of what was said of each (u, s, a) at each level, (T, U, S, K, L)."""
    return np.stack(
        [(heard.pairs @ own.reshape(-1, len(LEVELS))).reshape(*heard.shape, -1) for own in voices.logs()]
    )


class SpokenWays(NamedTuple):
    """Of each of the 2 T + 1 ways to speak: log Pr[n_u, k] `joint` (U, 2 T + 1), and `by_ending` (2, T, U, S).

    `levels` (2, T, U, S, K, L) are the chances of each level in it.
    """

    joint: FloatArray
    by_ending: FloatArray
    levels: FloatArray


def weigh_labels(grids: FloatArray, alone: FloatArray, voices: Voices) -> SpokenWays:
    """Return how likely all is that labels said, in each of the ways to speak."""
    levels, by_ending = read_ways(grids, voices)
    of_voices = by_ending.sum(axis=-1).reshape(-1, by_ending.shape[2]).T  # (U, 2 T)
    joint = np.concatenate([of_voices, alone[:, None]], axis=1) + voices.log_shares
    return SpokenWays(joint, by_ending, levels)


def speak_in(heard: SaidByLabels, voices: Voices) -> FloatArray:
    """Return the chance that each label speaks in each of 2 T + 1 ways, (U, 2 T + 1): in voices, turned, in none."""
    alone = speak_alone(heard.words, voices.usual, voices.strength)
    return np.exp(normalise(weigh_labels(find_grids(heard, voices), alone, voices).joint)[0])


def read_ways(grids: FloatArray, voices: Voices) -> tuple[FloatArray, FloatArray]:
    """Return the chance of each level, and the log chance of what was said in each ending, (2, ..., S).

    That is less where what pleases would be the majority: turned round it is 1 - l.
    """
    levels, logs = read_levels(grids, voices)
    mean = (levels @ LEVELS).mean(axis=-1)
    mean[1] = 1 - mean[1]
    return levels, logs.sum(axis=-1) - MINORITY_COST * np.maximum(mean - 0.5, 0.0) ** 2


def read_levels(grids: FloatArray, voices: Voices) -> tuple[FloatArray, FloatArray]:
    """Return the chance of each level, as voices have pi and turned round, and log sum_l pi_s(l) exp grid.

    Of grids (..., S, K, L) they are (2, ..., S, K, L) and (2, ..., S, K).
    """
    S, K, L = grids.shape[-3:]
    flat = grids.reshape(-1, L)
    said = np.flatnonzero(
        flat.any(axis=1)
    )  # of most (u, s, a) nothing was, as long as tuples are few: pi is all
    rows = flat[said] + voices.log_levels[:, said // K % S, 0]  # (2, n, L)
    top = rows.max(axis=-1, keepdims=True)
    rows -= top
    np.exp(rows, out=rows)
    total = rows.sum(axis=-1, keepdims=True)
    rows /= total
    levels, logs = np.empty((2, len(flat), L)), np.zeros((2, len(flat)))
    levels.reshape(2, -1, S, K, L)[:] = np.exp(voices.log_levels)[:, None]
    levels[:, said], logs[:, said] = rows, (top + np.log(total))[..., 0]
    return levels.reshape(2, *grids.shape), logs.reshape(2, *grids.shape[:-1])


def climb_voices(heard: SaidByLabels, voices: Voices, rounds: int = ROUNDS) -> tuple[Voices, float]:
    """Return the voices that rounds of expectation maximisation lead to, and the log chance of what was said."""
    alone = speak_alone(heard.words, voices.usual, voices.strength)
    worth = -np.inf
    for done in range(rounds):
        grids = find_grids(heard, voices)
        joint, by_ending, levels = weigh_labels(grids, alone, voices)
        if done < GLOBAL_ROUNDS and len(voices.usual) > 1:
            turned = turn_endings(by_ending, np.exp(normalise(joint)[0]))
            if turned.any():
                voices = _turn(voices, turned)
                continue
        rows, totals = normalise(joint)
        before, worth = worth, float(totals.sum())
        if done > GLOBAL_ROUNDS and worth - before < ENOUGH:
            break
        voices = _renew(heard, voices, levels, np.exp(rows), done < GLOBAL_ROUNDS)
    return voices, worth


def turn_endings(by_ending: FloatArray, weights: FloatArray) -> Any:
    """Return which endings of which voices, (T, S), are the other way round than what labels say in the others."""
    _, T, _, S = by_ending.shape
    turned = np.zeros((T, S), dtype=np.bool_)
    for t in range(T):
        own = by_ending[:, t].copy()  # (2, U, S)
        share = weights[:, t] + weights[:, T + t]
        total = own.sum(axis=2)  # (2, U)
        for s in range(S):
            other = total - own[:, :, s] + own[::-1, :, s]
            gain = np.logaddexp(*other) - np.logaddexp(*total)
            if float(share @ gain) > ENOUGH:
                turned[t, s], total, own[:, :, s] = True, other, own[::-1, :, s]
    return turned


def _turn(voices: Voices, turned: Any) -> Voices:
    """Return voices with the sides of some endings (T, S) exchanged."""
    sides = np.where(turned[:, None, :, None], voices.sides[:, ::-1], voices.sides)
    return voices._replace(sides=sides)


def _renew(
    heard: SaidByLabels, voices: Voices, levels: FloatArray, weights: FloatArray, one_pi: bool
) -> Voices:
    """Return the likeliest voices for labels that speak in them by weights (U, 2 T + 1), each at its `levels`."""
    T, L = voices.n_voices, len(LEVELS)
    levels = levels * weights[:, : 2 * T].T.reshape(2, T, -1)[..., None, None, None]
    sides = np.empty_like(voices.sides)
    chances = np.exp(voices.logs())  # (T, E, W, L)
    for t in range(T):
        often = np.asarray(heard.pairs.T @ levels[:, t].sum(axis=0).reshape(-1, L)).reshape(chances[t].shape)
        pleased = voices.sides[t, 1][..., None] * LEVELS / chances[t]
        sides[t, 1] = (often * pleased).sum(axis=2) + WORDS_BEFORE * voices.usual
        sides[t, 0] = (often * (1 - pleased)).sum(axis=2) + WORDS_BEFORE * voices.usual
    sides /= sides.sum(axis=3, keepdims=True)
    said = np.asarray(heard.pairs.sum(axis=1)).reshape(heard.shape)[..., None] > 0
    counted = ((levels[0] + levels[1, ..., ::-1]) * said).sum(axis=(0, 1, 3))  # (S, L)
    shares = weights.sum(axis=0) + 1.0
    return voices._replace(
        sides=sides, levels=_share_levels(counted, one_pi), log_shares=np.log(shares / shares.sum())
    )


def low_levels() -> FloatArray:
    """Return how common levels are beforehand, (L,): low ones more."""
    before = (1 - LEVELS) ** 2 + 0.05
    return np.asarray(before / before.sum())


def _share_levels(counted: FloatArray, one_pi: bool) -> FloatArray:
    """Return pi (S, L) of levels counted (S, L): of all endings alike, or each by itself; rewards are the minority."""
    everywhere = counted.sum(axis=0) + LEVELS_BEFORE * low_levels()
    everywhere /= everywhere.sum()
    if everywhere @ LEVELS > 0.5:
        everywhere, counted = everywhere[::-1], counted[:, ::-1]
    each = (0.0 if one_pi else 1.0) * counted + ENDING_BEFORE * everywhere
    return np.asarray(each / each.sum(axis=1, keepdims=True))


def begin_voices(
    heard: SaidByLabels, known: Voices | None = None, weights: FloatArray | None = None
) -> Voices:
    """Return voices to climb from: one of words that go together, after those that are `known`.

    It is looked for among labels that speak in none of them by `weights` (U, 2 T + 1).
    """
    usual, strength = usual_words(heard)
    others = heard
    if weights is not None:
        others = heard.among(np.flatnonzero(weights[:, -1] > 0.5))
    sides = split_words(others.pairs, others.shape, usual)[None]
    T, S = 1 if known is None else known.n_voices + 1, heard.shape[1]
    levels = np.tile(low_levels(), (S, 1)) if known is None else known.levels
    if known is not None:
        sides = np.concatenate([known.sides, sides])
    shares = np.append(np.full(2 * T, 0.25 / T), 0.5)
    return Voices(sides, levels, np.log(shares), usual, strength)

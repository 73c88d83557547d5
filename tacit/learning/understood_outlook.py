"""What planning is told of a context by what was understood of feedback: what may please, how sure, and what to hope.

The chances with which an episode ends are those of each action to be the best, by draws of what may please (Thompson
sampling, its chances written out, so that every probability is known). Where what may please somebody does not tell
who they are, what does is done instead (`tacit.decoding.class_questions`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.decoding.understanding import Understanding
from tacit.learning.outlook import Outlook
from tacit.problem.layout import Layout
from tacit.problem.spaces import Encoded

FOCUS = 6.0
"""Nats that the held-out tuples of an ending must gain to be looked at as if it had been seen half as often."""
DRAWS, HOPED = 64, 57
"""Draws of what actions may please, of which each gives one action its chance to be the best; and the one of them, in
order, that is hoped for: nine in ten are less."""
SETTLED_WITHIN = 0.1
"""An ending is settled in a context if no more than this is hoped for beyond what is expected of its best action."""
FIRST_WANTED = 40
"""Tuples an action that an ending is given before any fit."""


class UnderstoodOutlook(NamedTuple):
    """Makes outlooks: `normals` (DRAWS, S_H, K) are drawn with, `found` (S_H,) are the tuples of each ending."""

    layout: Layout
    normals: FloatArray
    found: IntArray
    episodes: int
    c: float

    def unknown(self, understanding: Understanding | None) -> Outlook:
        """Return the outlook while nothing is understood: the less was seen of an ending, the more is hoped for."""
        endings, found = self.layout.endings, self.found.astype(np.float64)
        wanted = FIRST_WANTED * endings.n_actions
        if understanding is not None:
            found = found / (1 + np.maximum(understanding.people.gains, 0.0) / FOCUS)
        nothing, none = np.zeros(endings.mask.shape), np.zeros(endings.size, dtype=np.bool_)
        hope = np.sqrt(wanted / (wanted + found))
        return Outlook(
            nothing, none, none, nothing[:, 0], hope, wanted.astype(np.float64), lambda: self.episodes
        )

    def weigh(self, context: Encoded, understanding: Understanding) -> tuple[FloatArray, Outlook]:
        """Return how likely each action of the last layer is the best, (S, K), and the outlook of a context."""
        endings, found = self.layout.endings, self.found
        worth, draws = understanding.draw_rewards(context, self.normals)  # (S_H, K), (DRAWS, S_H, K)
        # What is hoped for takes all that may be; what is played with, less of it.
        played = worth + understanding.people.eagerness * (draws - worth)
        wins = count_wins(np.where(endings.mask, played, -1.0), endings.mask)
        asked = understanding.questions(context)
        wins = np.where(asked[:, None] < 0, wins, np.arange(wins.shape[1]) == asked[:, None])
        best = np.max(worth, axis=1, where=endings.mask, initial=0.0)
        hope = np.maximum(np.sort(draws.max(axis=2), axis=0)[HOPED], best)
        telling, c = understanding.people.telling, self.c
        if not telling.all():
            worth, best = np.where(telling[:, None], worth, c), np.where(telling, best, c)
            hope = np.where(telling, hope, np.maximum(understanding.people.hopes(found), c))
            wins = np.where(telling[:, None], wins, endings.uniform)
        outlook = Outlook(
            worth,
            hope - best < SETTLED_WITHIN,
            np.zeros(endings.size, dtype=np.bool_),
            best,
            hope,
            np.maximum(found, FIRST_WANTED * endings.n_actions).astype(np.float64),
            lambda: self.episodes,
        )
        return self._last_rows(wins), outlook

    def _last_rows(self, chances: FloatArray) -> FloatArray:
        """Return chances of the endings (S_H, K) as rows of the last layer, (S, K); uniform where none is."""
        endings = self.layout.endings
        rows: FloatArray = self.layout.uniform_policy[-1].copy()
        last = endings.layers == self.layout.horizon - 1
        rows[endings.states[last]] = chances[last]
        return rows


def fixed_normals(shape: tuple[int, ...]) -> FloatArray:
    """Return standard normal numbers, always the same: what is drawn for an episode does not depend on others."""
    return np.random.default_rng(7).standard_normal(shape)


def count_wins(draws: FloatArray, mask: Any) -> FloatArray:
    """Return in what share of the draws (B, S, K) each action is the best, (S, K); a drawn tie is shared.

    >>> count_wins(np.array([[[0.2, 0.7]], [[0.9, 0.1]], [[0.3, 0.6]], [[0.1, 0.4]]]), np.array([[True, True]]))
    array([[0.25, 0.75]])
    """
    best = (draws == draws.max(axis=2, keepdims=True)) & mask
    shares = best / best.sum(axis=2, keepdims=True)
    return np.asarray(shares.mean(axis=0))

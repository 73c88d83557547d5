"""What Tacit's own recipe needs where episodes can end before the last layer.

Such a state is a place to pass and a place to end. An action that was taken there often and hardly ever ended the episode
has no tuples, and none are waited for: the place is judged by the others, and what little was heard after such an action
is read as it is after them. A place of which that holds for all actions is none to explore.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.decoding.judgement import Judgement, JudgementSettings, judge
from tacit.problem.layout import Layout

OFTEN = 12
"""Times that an action must have been taken before it can be said that it hardly ever ends an episode."""
HARDLY = 0.1
"""Of these times: the share that ended is below. What is not known then is worth at most as much."""


def find_passing(layout: Layout, counts: IntArray) -> BoolArray:
    """Return which actions of each ending were taken often and hardly ever ended an episode, (S_H, K).

    `counts` (H-1, S, K, S) are transitions. No action of the last layer is among them.
    """
    endings = layout.endings
    n = endings.early
    passing: BoolArray = np.zeros(endings.mask.shape, dtype=np.bool_)
    if n:
        layers = endings.layers[:n]
        rows = counts[layers, endings.states[:n]]  # (n, K, S)
        taken = rows.sum(axis=2)
        over = rows[np.arange(n), :, endings.ended[layers + 1]]
        passing[:n] = (taken >= OFTEN) & (over < HARDLY * taken)
    return passing


def judge_endings(
    counts: FloatArray, passing: BoolArray, c: float, settings: JudgementSettings
) -> tuple[Judgement, BoolArray]:
    """Return what counts (Y, K) say of a place, and which of its `passing` actions (K,) were left out of it.

    Those are left out that have too few tuples. Without any other action the place is judged by all, which says that
    it is not known.
    """
    left_out = passing & (counts.sum(axis=0) < settings.least_each)
    if left_out.all() or not left_out.any():
        return judge(counts, c, settings), np.zeros_like(left_out)
    return widen(judge(counts[:, ~left_out], c, settings), counts, left_out), left_out


def widen(judgement: Judgement, counts: FloatArray, left_out: BoolArray) -> Judgement:
    """Return a judgement of some actions as one of all (K,): the others are worth what their own few tuples mean."""
    K, tuples = len(left_out), counts.sum(axis=0)
    share = judgement.phi @ counts / np.maximum(tuples, 1)  # (K,)
    f, expected = share, share.copy()
    rewards = np.repeat(judgement.phi[:, None], K, axis=1)
    f[~left_out], expected[~left_out] = judgement.f, judgement.expected
    rewards[:, ~left_out] = judgement.rewards
    return replace(judgement, tuples=tuples, f=f, expected=expected, rewards=rewards)

"""What pleases several groups of people, from soft counts of what they said: judged together, and drawn from.

Groups are classes of labels (`tacit.decoding.label_classes`) or labels by themselves. Each (ending, group) is judged by
`tacit.decoding.judgement.judge` and turned by what all of them say, as contexts are (`tacit.decoding.together`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    Judgement,
    JudgementSettings,
    judge,
    posterior_reward,
    smoothed_variance,
)
from tacit.decoding.orientation import Leanings
from tacit.decoding.together import telling_by, turn_by

LEAST = 1e-3
"""Chances of pleasing are at least this far from 0 and 1 on the logit scale."""
OTHERS = 4.0
"""Where nothing is known, one action is best and the others please Beta(1, 4) times as often, as in
`tacit.decoding.orientation`."""
NO_SPREAD, MOST_SPREAD = 0.0, 20.0


class GroupRewards(NamedTuple):
    """What pleases G groups: `f` (G, S, K), the standard error of its logit `spread`, `known` (G, S) whether feedback
    tells there, `hope` (G, S) what the best action may be worth, and `meant` (G, S, K, W) = Pr[r = 1 | w, s, a].
    """

    f: FloatArray
    spread: FloatArray
    known: BoolArray
    hope: FloatArray
    meant: FloatArray

    def draws(self, groups: IntArray, mask: BoolArray, normals: FloatArray) -> FloatArray:
        """Return what f of each of some groups (B,) may be, (B, S, K), by standard normal numbers of that shape.

        Where it is known, by its error; where it is not, one action is best, and pleases up to what may be hoped for.
        """
        told = expit(logit(np.clip(self.f[groups], LEAST, 1 - LEAST)) + self.spread[groups] * normals)
        known = self.known[groups]
        if known.all():
            return np.where(mask, told, 0.0)
        chances = ndtr(normals)
        best = np.where(mask, chances, -1.0).argmax(axis=2)[:, :, None]
        others = np.where(np.arange(mask.shape[1]) == best, 1.0, 1 - chances ** (1 / OTHERS))  # Beta(1, 4)
        level = self.hope[groups] * chances[::-1, :, 0]  # the first number of another draw
        return np.where(mask, np.where(known[:, :, None], told, others * level[:, :, None]), 0.0)

    def to_state(self) -> dict[str, Any]:
        """Return the arrays that `from_state` reads."""
        return dict(self._asdict())

    @staticmethod
    def from_state(state: Mapping[str, Any], cells: tuple[int, int, int]) -> GroupRewards:
        """Return the rewards that `to_state` described, in S endings after K actions of W words."""
        saved, (S, K, W) = Saved.of(state), cells
        f = saved.floats("f", (None, S, K), 0, 1)
        G = len(f)
        return GroupRewards(
            f,
            saved.floats("spread", (G, S, K), NO_SPREAD, MOST_SPREAD),
            saved.flags("known", (G, S)),
            saved.floats("hope", (G, S), 0, 1),
            saved.floats("meant", (G, S, K, W), 0, 1),
        )


def judge_groups(counts: FloatArray, mask: BoolArray, c: float, settings: JudgementSettings) -> GroupRewards:
    """Return what soft counts (G, S, K, W) say of what pleases each group, of the actions of a mask (S, K).

    >>> table = np.array([[[[27.0, 3.0], [3.0, 27.0], [3.0, 27.0]]]])
    >>> judge_groups(table, np.ones((1, 3), dtype=bool), 0.0, JudgementSettings()).f.round(1)
    array([[[0.9, 0.1, 0.1]]])
    """
    G, S, K, W = counts.shape
    found = {(s, g): judge(counts[g, s][mask[s]].T.copy(), c, settings) for g in range(G) for s in range(S)}
    turned = _turn_all(found, counts, mask, c, settings)
    rewards = GroupRewards(
        np.full((G, S, K), c),
        np.zeros((G, S, K)),
        np.zeros((G, S), dtype=bool),
        np.ones((G, S)),
        np.full((G, S, K, W), c),
    )
    for (s, g), judgement in turned.items():
        rewards.hope[g, s] = judgement.hope
        if judgement.kind == HETEROGENEOUS:
            f, tuples = judgement.f, judgement.tuples
            rewards.known[g, s] = True
            rewards.f[g, s, mask[s]] = f
            rewards.spread[g, s, mask[s]] = logit_error(f, tuples)
            rewards.meant[g, s, mask[s]] = posterior_reward(judgement.f, judgement.phi, tuples).T
    return rewards


def logit_error(f: FloatArray, tuples: FloatArray) -> FloatArray:
    """Return the standard error of the logit of each f (K,) after so many tuples.

    >>> logit_error(np.array([0.5, 0.5]), np.array([12.0, 396.0])).round(2)
    array([0.5, 0.1])
    """
    p = (f * tuples + 2) / (tuples + 4)
    return np.sqrt(smoothed_variance(f, tuples)) / (p * (1 - p))


def _turn_all(
    found: Mapping[tuple[int, int], Judgement],
    counts: FloatArray,
    mask: BoolArray,
    c: float,
    settings: JudgementSettings,
) -> dict[tuple[int, int], Judgement]:
    """Return judgements of (ending, group) turned by what all of them say, as `judge_together` does."""
    G, S, _, W = counts.shape
    nothing = np.zeros((W, 2))
    said = {at: each.says(nothing) for at, each in found.items() if each.kind == HETEROGENEOUS}
    leanings = Leanings.none((S, G)).with_all(said)
    beliefs = leanings.weigh()
    if telling_by(beliefs) != (1.0,):
        found = {
            (s, g): judge(
                counts[g, s][mask[s]].T.copy(), c, settings, telling_by(beliefs), readings=each.readings
            )
            if each.kind == HOMOGENEOUS
            else each
            for (s, g), each in found.items()
        }
    return {at: turn_by(each, at, leanings, beliefs, settings) for at, each in found.items()}

"""All places judged together: each by its own tuples, and turned by what all of them and known outcomes say.

Where episodes end early, a place is judged without actions that hardly ever end one there (`left_out`), and homogeneous
places are read by what words mean in the others of their group (`tacit.decoding.common_meaning`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray
from tacit.decoding.common_meaning import find_common_meaning, read_by
from tacit.decoding.counts import PlaceIndex, SeenCounts
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    Judgement,
    JudgementSettings,
    judge,
    posterior_reward,
    ramp_among,
    smoothed_variance,
    turn,
)
from tacit.decoding.orientation import Beliefs, Leanings, lean
from tacit.decoding.power import is_faint, likely_found
from tacit.problem.layout import Layout

UNKNOWN_TELLING = (1.0, 1 / 16)
"""What feedback may tell before any was understood: all, or as little as where four in ten talk like the other side."""

LIKE_C = 2
"""Known outcomes in a homogeneous place that count as much as c, which somebody supposed."""


class Judged(NamedTuple):
    """All places that have tuples: judgements as they were `found`, what all say, and each turned by it."""

    found: dict[PlaceIndex, Judgement]
    leanings: Leanings
    beliefs: Beliefs
    judgements: dict[PlaceIndex, Judgement]
    left_out: dict[PlaceIndex, BoolArray]
    """The actions (K,) that each was judged without, where there are any."""


def judge_all(
    layout: Layout, counts: SeenCounts, c: float, settings: JudgementSettings
) -> dict[PlaceIndex, Judgement]:
    """Return the judgement of every (ending, context) that has tuples, no outcome being known."""
    nothing = SeenCounts.empty((*counts.shape[:3], 2))
    return judge_together(layout, counts, nothing, c, settings, {}).judgements


def judge_together(
    layout: Layout,
    counts: SeenCounts,
    outcomes: SeenCounts,
    c: float,
    settings: JudgementSettings,
    left_out: Mapping[PlaceIndex, BoolArray],
) -> Judged:
    """Return every (ending, context) that has tuples, turned by known outcomes (S_H, G, Y, 2) and by each other."""
    without = {at: left_out[at] for at in counts.places if at in left_out and left_out[at].any()}

    def whole(at: PlaceIndex) -> FloatArray:
        return counts.table(*at)[:, : layout.endings.n_actions[at[0]]]

    def part(at: PlaceIndex) -> FloatArray:
        return whole(at)[:, ~without[at]] if at in without else whole(at)

    found = {at: judge(part(at), c, settings, between=False) for at in counts.places}
    said = {at: each.says(outcomes.table(*at)) for at, each in found.items() if each.kind == HETEROGENEOUS}
    leanings = Leanings.none(counts.shape[:2]).with_all(said)
    between = leanings.weigh().between
    for at in said:
        if at[1] in between:
            found[at] = judge(part(at), c, settings, between=True, readings=found[at].readings)
            said[at] = found[at].says(outcomes.table(*at))
    leanings = leanings.with_all(said)
    beliefs = leanings.weigh()
    for at, each in found.items():
        if each.kind == HOMOGENEOUS and telling_by(beliefs) != (1.0,):
            found[at] = judge(part(at), c, settings, telling_by(beliefs), readings=each.readings)
    turned = {
        at: worth_by_outcomes(turn_by(each, at, leanings, beliefs, settings), outcomes.table(*at), c)
        for at, each in found.items()
    }
    turned |= {at: widen(turned[at], whole(at), out) for at, out in without.items()}
    if layout.ends_early:
        for group in sorted({x for _, x in turned}):
            here = {at: turned[at] for at in turned if at[1] == group}
            known = sum((outcomes.table(*at) for at in here), np.zeros((counts.shape[2], 2)))
            turned |= read_alike(here, {at: whole(at) for at in here}, known, c, settings)
    return Judged(found, leanings, beliefs, turned, without)


def turn_by(
    judgement: Judgement, at: PlaceIndex, leanings: Leanings, beliefs: Beliefs, settings: JudgementSettings
) -> Judgement:
    """Return what was found of a place as it is where these beliefs hold."""
    if judgement.kind == HOMOGENEOUS and at[1] in beliefs.overlapping and is_faint(telling_by(beliefs)[0]):
        return guess(judgement, at[1] in beliefs.between)
    if judgement.kind != HETEROGENEOUS:
        return judgement
    return turn(judgement, leanings.odds(at, beliefs), at[1] in beliefs.overlapping, settings)


def guess(judgement: Judgement, between: bool) -> Judgement:
    """Return a homogeneous judgement with its actions worth what they seem to be, if something was nearly found there.

    That is what they are either way round, by how likely that is where words overlap, times how likely feedback depends
    on the action at all. A guess is played where nothing is known to earn more, and no place is understood for it.
    """
    if judgement.readings is None or not (likely := likely_found(judgement.readings.types.p_value)):
        return judgement
    f = judgement.readings.choose(between).f
    f = 1 - f if f.sum() > len(f) / 2 else f
    odds = lean(f, np.sqrt(smoothed_variance(f, judgement.tuples))).standing
    rewarded = 1 / (1 + math.exp(-odds))
    return replace(judgement, expected=likely * (rewarded * f + (1 - rewarded) * (1 - f)), counts_now=True)


def worth_by_outcomes(judgement: Judgement, known: FloatArray, c: float) -> Judgement:
    """Return a homogeneous judgement as worth what known outcomes (Y, 2) there say: c counts as a few of them.

    >>> counts = np.full((2, 3), 60.0)
    >>> plain = judge(counts, 0.0, JudgementSettings())
    >>> worth_by_outcomes(plain, np.array([[0.0, 4.0], [0.0, 4.0]]), 0.0).expected
    array([0.8, 0.8, 0.8])
    """
    if judgement.kind != HOMOGENEOUS or not known.any():
        return judgement
    share = float((known[:, 1].sum() + LIKE_C * c) / (known.sum() + LIKE_C))
    worth, rewards = np.full_like(judgement.f, share), np.full_like(judgement.rewards, share)
    hope = max(judgement.hope, share)
    return replace(judgement, f=worth, expected=worth, rewards=rewards, hope=hope, counts_now=True)


def telling_by(beliefs: Beliefs) -> tuple[float, ...]:
    """Return what part feedback may tell, of what words of one side alone would, where nothing was found.

    As long as nothing was found anywhere it may be little: looking on costs nothing then.
    """
    return (0.5**beliefs.halvings,) if beliefs.found else UNKNOWN_TELLING


def leave_out(counts: FloatArray, passing: BoolArray, settings: JudgementSettings) -> BoolArray:
    """Return which `passing` actions (K,) a place is judged without, on counts (Y, K): those with too few tuples.

    None is left out where there is no other: the place is not known then.
    """
    left_out: BoolArray = passing & (counts.sum(axis=0) < settings.least_each)
    return np.zeros_like(left_out) if left_out.all() else left_out


def leave_out_all(
    layout: Layout, counts: SeenCounts, passing: BoolArray, settings: JudgementSettings
) -> dict[PlaceIndex, BoolArray]:
    """Return which `passing` actions (S_H, K) each place is judged without."""
    n_actions = layout.endings.n_actions
    return {
        (s, x): leave_out(table[:, : n_actions[s]], passing[s, : n_actions[s]], settings)
        for (s, x), table in counts.tables()
    }


def widen(judgement: Judgement, counts: FloatArray, left_out: BoolArray) -> Judgement:
    """Return a judgement of some actions as one of all (K,): the others are worth what their own few tuples mean."""
    if not left_out.any():
        return judgement
    K, tuples = len(left_out), counts.sum(axis=0)
    share = judgement.phi @ counts / np.maximum(tuples, 1)  # (K,)
    f, expected = share, share.copy()
    rewards = np.repeat(judgement.phi[:, None], K, axis=1)
    f[~left_out], expected[~left_out] = judgement.f, judgement.expected
    rewards[:, ~left_out] = judgement.rewards
    return replace(judgement, tuples=tuples, f=f, expected=expected, rewards=rewards)


def among_offered(judgement: Judgement, retired: BoolArray) -> Judgement:
    """Return a judgement in which actions are worth what they are among those that are not `retired`.

    What was heard after a retired one still says what words mean, but J is a ramp by the best action: held against one
    that is gone, all others of its state would be worth nothing.
    """
    retired = retired[: len(judgement.f)]
    if not retired.any():
        return judgement
    judgement, offered = replace(judgement, retired=retired), ~retired
    if judgement.kind != HETEROGENEOUS:
        return judgement
    f, told = judgement.f[offered], judgement.settled and not judgement.waits
    judgement = replace(judgement, hope=float(f.max() if told else max(f.max(), 1 - f.min())))
    if judgement.turned:  # there is no ramp
        return judgement
    rewards, expected = judgement.rewards.copy(), judgement.expected.copy()
    meant = posterior_reward(judgement.f, judgement.phi, judgement.tuples)
    ramp = ramp_among(f, judgement.tuples[offered])
    rewards[:, offered] = meant[:, offered] * ramp
    expected[offered] = f * ramp  # what feedback means has the mean f
    return replace(judgement, rewards=rewards, expected=expected)


def read_alike(
    here: Mapping[PlaceIndex, Judgement],
    tables: Mapping[PlaceIndex, FloatArray],
    outcomes: FloatArray,
    c: float,
    settings: JudgementSettings,
) -> dict[PlaceIndex, Judgement]:
    """Return the homogeneous places of one group as the common meaning of its words, in all of them, reads them.

    `outcomes` (Y, 2) are those known of all its endings.
    """
    phi = find_common_meaning(((here[at], tables[at]) for at in sorted(here)), settings, outcomes)
    return {
        at: read_by(phi, judgement, tables[at], c)
        for at, judgement in here.items()
        if judgement.kind == HOMOGENEOUS
    }

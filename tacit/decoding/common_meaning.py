"""What words mean to a context wherever they are said, for endings that cannot tell by themselves.

Where episodes can end early, a state may have one action alone that ends them, or several that please alike: then
feedback does not depend on the action, and nothing there says what it means. Other endings of the same context do. All
of them are one table, a column for each action of a heterogeneous ending and one for each other ending, whose two types
of words (`tacit.decoding.word_types`) tell good ends from bad ones; rewards are the minority of its columns, or as most
heterogeneous endings have it.

The paper lets words mean something else in every last state (Assumption 2.2). So the common meaning is used in
homogeneous endings alone, and only while the heterogeneous ones, which have their own, agree with it, and two types say
nearly all that words tell of columns: where words mean something else in each, they do not. Of two words they always
do: then it is taken to be so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy.special import chdtrc

from tacit.base.arrays import FloatArray
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    SETTLED_BELOW,
    Judgement,
    JudgementSettings,
    smoothed_variance,
)
from tacit.decoding.orientation import BELIEF, outcome_odds
from tacit.decoding.word_types import fit_types, likelihood_ratio

AGREEMENT = 0.8
"""The share of what is said in heterogeneous endings that must mean there what it means in common."""
EXPLAINED = 0.9
"""The share of what words tell of columns that two types must say: where words mean the same everywhere it is all, and
where they do not, a half to four fifths."""
DOUBTED = 0.05
"""A heterogeneous ending that is more likely than this the other way round does not say what words mean: where several
actions lead to the same good end, the one that does not stands out."""
ERRORS = 2.0
"""Standard errors by which the share of good words may fall short of what an ending is worth."""
SHOWN = 12.0
"""Rewarded tuples of an ending that would have shown a common meaning: each tells a nat of where it was said."""
PRIOR = 5
"""Tuples by which an action of an ending, in which feedback does not depend on it, is held to be as the others."""


def find_common_meaning(
    endings: Iterable[tuple[Judgement, FloatArray]],
    settings: JudgementSettings,
    outcomes: FloatArray | None = None,
) -> FloatArray | None:
    """Return phi (Y,) of the words of one context from its endings and their counts (Y, K), None if there is none.

    Known `outcomes` (Y, 2) of all its endings turn it where they contradict it by more than is believed of minorities.

    >>> from tacit.decoding.judgement import judge
    >>> tables = [np.array([[19.0], [1.0]]), np.array([[1.0], [19.0]]), np.array([[1.0], [19.0]])]
    >>> settings = JudgementSettings()
    >>> find_common_meaning([(judge(table, 0.0, settings), table) for table in tables], settings)
    array([1., 0.])
    """
    known = list(endings)
    columns = [
        column for judgement, counts in known for column in _columns(judgement, counts, settings.least_each)
    ]
    if len(columns) < 2:
        return None
    table = np.stack(columns, axis=1)
    types = fit_types(table)
    p_value = min(types.p_value, most_different(table))
    if p_value >= settings.significance or types.gain < EXPLAINED * told_by_words(table):
        return None
    phi = np.round(types.positions)
    own = [(j.phi, counts.sum(axis=1)) for j, counts in known if says_which(j)]
    if not own:
        phi = phi if types.f.sum() < len(columns) / 2 else 1 - phi
        turned = outcomes is not None and outcome_odds(outcomes, phi) < -BELIEF
        return 1 - phi if turned else phi
    said = sum(float(n.sum()) for _, n in own)
    agreement = sum(float(n @ (np.round(theirs) == phi)) for theirs, n in own) / said
    if max(agreement, 1 - agreement) < AGREEMENT:
        return None
    return phi if agreement >= AGREEMENT else 1 - phi


def most_different(table: FloatArray) -> float:
    """Return the p-value of the column of counts (Y, columns) that differs most from the others, of all there are.

    One good end among twenty bad ones is seen long before a test of all of them sees that they are not alike.

    >>> bad = np.repeat(np.array([[1.0], [19.0]]), 20, axis=1)
    >>> most_different(np.column_stack((bad, [9.0, 3.0]))) < 1e-4 < most_different(bad)
    True
    """
    words, rest = np.count_nonzero(table.sum(axis=1)), table.sum(axis=1, keepdims=True) - table
    ratios = [likelihood_ratio(np.stack(pair, axis=1)) for pair in zip(table.T, rest.T, strict=True)]
    return float(min(len(ratios) * chdtrc(max(words - 1, 1), max(ratios)), 1.0))


def says_which(judgement: Judgement) -> bool:
    """Return whether it is known of an ending, from its own tuples, which of its words mean a reward."""
    return judgement.kind == HETEROGENEOUS and judgement.settled and judgement.doubt <= DOUBTED


def read_by(phi: FloatArray | None, judgement: Judgement, counts: FloatArray, c: float) -> Judgement:
    """Return a homogeneous judgement with its feedback read by a common meaning, or as c if there is none.

    Any other is returned as it is. An action has the share of good words of its own tuples and of `PRIOR` more as all;
    an ending that was seldom heard may be better than that. While there is no common meaning, it may please as far as
    its tuples would not have shown one: no action stands out in it, so that nothing else would.
    """
    if judgement.kind != HOMOGENEOUS:
        return judgement
    Y, K = counts.shape
    if phi is None:
        unseen = max(judgement.hope, min(SHOWN / counts.sum(), 1.0))
        judgement = replace(judgement, hope=unseen, settled=unseen <= SETTLED_BELOW)
        if not judgement.phi.any():
            return judgement
        worth = np.full(K, c)
        return replace(judgement, f=worth, expected=worth, phi=np.zeros(Y), rewards=np.full((Y, K), c))
    all_of_them = float(phi @ counts.sum(axis=1) / counts.sum())
    share = (phi @ counts + PRIOR * all_of_them) / (counts.sum(axis=0) + PRIOR)
    rewards = np.repeat(phi[:, None], K, axis=1)
    error = math.sqrt(smoothed_variance(np.array(all_of_them), counts.sum()))
    hope = max(judgement.hope, min(all_of_them + ERRORS * error, 1.0))
    settled = judgement.hope <= SETTLED_BELOW
    known = replace(judgement, settled=settled, f=share, expected=share, phi=phi, rewards=rewards)
    return replace(known, hope=hope, counts_now=False)


def told_by_words(table: FloatArray) -> float:
    """Return the nats that words tell of columns, by counts (Y, columns), less what they would seem to by chance.

    >>> round(told_by_words(np.array([[40.0, 0.0], [0.0, 40.0]])) / math.log(2), 1)
    79.3
    """
    by_chance: int = (int(np.count_nonzero(table.sum(axis=1))) - 1) * (table.shape[1] - 1)
    return (likelihood_ratio(table) - by_chance) / 2


def _columns(judgement: Judgement, counts: FloatArray, least: int) -> Iterable[FloatArray]:
    if judgement.kind != HETEROGENEOUS:
        counts = counts.sum(axis=1, keepdims=True)
    return (column for column in counts.T if column.sum() >= least)

"""How well a meaning of feedback goes with the choices before the last: what they foretell of it when it is left out.

Where few are pleased, last choices say little of what feedback means, or of how many are pleased: fits in which half of
all remarks are kind explain those about as well. The first choice decides what can be reached, so that who is pleased
goes with it. With v_h how likely the choice of turn h leads to a reward, learned from what the other parts of the
reactions are taken to mean (`tacit.text.small.values`), and q of v_h as in `tacit.text.small.likelihood`,

    sum over turns h before the last, over reactions, of log of the mean of 1 and (1 + q (e^t - 1)) / (1 + c (e^t - 1))

is half in doubt, as gains by last choices are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from tacit.base.arrays import FloatArray, IntArray
from tacit.text.conversation import Reaction
from tacit.text.small.cross_fitting import DOUBT
from tacit.text.small.features import TextFeatures
from tacit.text.small.likelihood import SURE, Believed, Design, rewards_of_taken
from tacit.text.small.likelihood_kernels import share_of_kind
from tacit.text.small.posterior import log_ratio
from tacit.text.small.sampling import SentenceVectors, steps_of, texts_of
from tacit.text.small.values import Pairs, climb_value, make_pairs

RIDGE = 1.0
"""How strongly what is learned of a turn is held to nothing: meanings are compared, values are fitted by themselves."""
FOLDS = 3


class EarlierTurn(NamedTuple):
    """The choices of a turn before the last: `rows` (m,) of the reactions that had it, and `pairs` (m, ...)."""

    rows: IntArray
    pairs: Pairs

    def part(self, some: IntArray) -> EarlierTurn:
        """Return the turn of some reactions, rising, as rows of these."""
        kept = np.isin(self.rows, some)
        return EarlierTurn(np.searchsorted(some, self.rows[kept]), self.pairs.part(kept))


def list_earlier(
    features: TextFeatures, reactions: Sequence[Reaction], parts: int
) -> tuple[EarlierTurn, ...]:
    """Return the turns before the last, each of the reactions that had one of several candidates there."""
    episodes = [steps_of(reaction) for reaction in reactions]
    vectors = SentenceVectors(
        features, (t for e in episodes for c in e for t in (*texts_of(c.conversation), *c.candidates))
    )
    turns = []
    for turn in range(max(len(episode) for episode in episodes) - 1):
        rows = [n for n, e in enumerate(episodes) if len(e) > turn + 1 and len(e[turn].candidates) > 1]
        if rows:
            pairs, _, _ = make_pairs(*vectors.chosen([episodes[n][turn] for n in rows]), parts)
            turns.append(EarlierTurn(np.array(rows), pairs))
    return tuple(turns)


def weigh_foregoing(design: Design, weights: FloatArray, earlier: Sequence[EarlierTurn]) -> float:
    """Return the sum of the module's docstring for the meaning that weights say."""
    if not earlier:
        return 0.0
    f, believed = rewards_of_taken(design, weights)
    f, plain = np.clip(f, SURE, 1 - SURE), np.log(believed.plain) - np.log1p(-believed.plain)
    meant = expit(np.log(f) - np.log1p(-f) + log_ratio(believed.ratio, plain))
    return sum(weigh_turn(turn, meant, believed) for turn in earlier)


def weigh_turn(turn: EarlierTurn, meant: FloatArray, believed: Believed) -> float:
    """Return the part of one turn, `meant` (n,) how likely each reaction was rewarded."""
    led_to, fold = meant[turn.rows], np.arange(len(turn.rows)) % FOLDS
    believed = Believed(*(each[turn.rows] for each in believed))
    if len(led_to) < FOLDS:
        return 0.0
    v = np.zeros(len(led_to))
    for n in range(FOLDS):
        out = fold == n
        weights = climb_value(turn.pairs.part(~out), led_to[~out], RIDGE)
        v[out] = expit(turn.pairs.part(out).score(weights))
    more = np.expm1(believed.ratio)
    ratio = (1 + believed.kind(v) * more) / (1 + share_of_kind(believed.ratio) * more)
    return float(np.log(DOUBT + (1 - DOUBT) * ratio).sum())

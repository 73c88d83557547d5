"""Whether feedback goes with the choices of all turns: those of each turn, beside choices drawn anew.

Where feedback has nothing to do with choices, the one of a turn is a draw like any other given what had been said by
then, whatever came of it (`tacit.text.small.redrawing`). A first choice that decides what can be reached shows hundreds
of episodes before the last one does. The chances p_1 ... p_H that turns give are independent there, each drawn given
what came before it, so that the last may tell it, or all of them together (Fisher), with two fifths of the level each,
or one of the others, which share what is left:

    min { p_H / 0.4,  P(chi-squared of 2 H degrees of freedom >= -2 sum over h of log p_h) / 0.4,
          (H - 1) min over h < H of p_h / 0.2 }
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2

from tacit.text.conversation import Reaction
from tacit.text.evidence import Evidence
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.features import TextFeatures
from tacit.text.small.fitting import fit_frame, make_design, weigh_choices_anew
from tacit.text.small.sampling import make_sample

LAST, TOGETHER, OTHERS = 0.4, 0.4, 0.2
"""Shares of the level: of the last choice, which is what is decoded; of all turns together; of each other alone."""


def weigh_turns(
    evidence: Evidence, features: TextFeatures, reactions: Sequence[Reaction], settings: FittingSettings
) -> Evidence:
    """Return evidence with the chance of the choices of all turns, drawn anew.

    As it was where there are no choices before the last, or too few were uniform.
    """
    found = weigh_earlier(features, reactions, settings, evidence.looks)
    if not found:
        return evidence
    return evidence._replace(together=combine_chances(found, evidence.chance))


def share_of_last(reactions: Sequence[Reaction]) -> float:
    """Return the share of a look's level that the last choice has for itself: all of it where there is one turn."""
    return LAST if any(reaction.before for reaction in reactions) else 1.0


def weigh_earlier(
    features: TextFeatures, reactions: Sequence[Reaction], settings: FittingSettings, looks: int
) -> list[float]:
    """Return the chance of each turn before the last, where enough were uniform."""
    found, turns = [], max(len(reaction.before) for reaction in reactions)
    for turn in range(turns):
        chosen = [
            Reaction(reaction.before[turn], reaction.feedback)
            for reaction in reactions
            if len(reaction.before) > turn and len(reaction.before[turn].candidates) > 1
        ]
        if chosen:
            sample = make_sample(features, chosen, words=False)
            frame = fit_frame(sample, settings)
            found.append(
                weigh_choices_anew(make_design(sample, frame), frame, looks, OTHERS / turns, turn + 1)
            )
    return [chance for chance in found if chance]


def combine_chances(earlier: Sequence[float], last: float) -> float:
    """Return the chance with which independent ones are as small; the last is 0 where it is not known.

    >>> round(combine_chances([1.0], 0.001), 4), round(combine_chances([0.001], 1.0), 4)
    (0.0025, 0.005)
    >>> round(combine_chances([0.01], 0.01), 4)
    0.0026
    """
    chances = [*earlier, last] if last else list(earlier)
    together = float(chi2.sf(-2 * np.log(chances).sum(), 2 * len(chances))) / TOGETHER
    return min(1.0, together, len(earlier) * min(earlier) / OTHERS, *([last / LAST] if last else ()))

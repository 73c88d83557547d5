"""Whether feedback goes with the choices of all turns: those of each turn, beside choices drawn anew.

Where feedback has nothing to do with choices, the one of a turn is a draw like any other given what had been said by
then, whatever came of it (`tacit.text.small.redrawing`). A first choice that decides what can be reached shows hundreds
of episodes before the last one does. The chances p_1 ... p_H that turns give are independent there, each drawn given
what came before it, so that one turn may tell it, or all of them together (Fisher), each with half of the level:

    2 min { H min over h of p_h,  P(chi-squared of 2 H degrees of freedom >= -2 sum over h of log p_h) }
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


def weigh_turns(
    evidence: Evidence, features: TextFeatures, reactions: Sequence[Reaction], settings: FittingSettings
) -> Evidence:
    """Return evidence with the chance of the choices of all turns, drawn anew.

    As it was where there are no choices before the last, or too few were uniform.
    """
    found = weigh_earlier(features, reactions, settings, evidence.looks)
    if not found:
        return evidence
    turns = [*found, evidence.chance] if evidence.chance else found
    return evidence._replace(together=combine_chances(turns))


def share_of_turn(reactions: Sequence[Reaction]) -> float:
    """Return the share of a look's level that each turn has for itself: half of it is for all of them together."""
    turns = 1 + max(len(reaction.before) for reaction in reactions)
    return 1.0 if turns == 1 else 1 / (2 * turns)


def weigh_earlier(
    features: TextFeatures, reactions: Sequence[Reaction], settings: FittingSettings, looks: int
) -> list[float]:
    """Return the chance of each turn before the last, where enough were uniform."""
    found, share = [], share_of_turn(reactions)
    for turn in range(max(len(reaction.before) for reaction in reactions)):
        chosen = [
            Reaction(reaction.before[turn], reaction.feedback)
            for reaction in reactions
            if len(reaction.before) > turn and len(reaction.before[turn].candidates) > 1
        ]
        if chosen:
            sample = make_sample(features, chosen, words=False)
            frame = fit_frame(sample, settings)
            found.append(weigh_choices_anew(make_design(sample, frame), frame, looks, share, turn + 1))
    return [chance for chance in found if chance]


def combine_chances(chances: Sequence[float]) -> float:
    """Return the chance with which one of as many independent ones is as small, or all of them are together.

    >>> round(combine_chances([0.001, 1.0]), 4), round(combine_chances([0.01, 0.01]), 4)
    (0.004, 0.002)
    """
    turns = len(chances)
    all_together = float(chi2.sf(-2 * np.log(chances).sum(), 2 * turns))
    return min(1.0, 2 * turns * min(chances), 2 * all_together)

"""Whether feedback goes with choices before the last: those of each turn, beside choices drawn anew.

Where feedback has nothing to do with choices, the one of a turn is a draw like any other given what had been said by
then, whatever came of it (`tacit.text.small.redrawing`). A first choice that decides what can be reached shows hundreds
of episodes before the last one does. The chances p_1 ... p_H that turns give are independent there, each drawn given
what came before it, so that all of them are weighed together, too (Fisher):

    -2 sum over h of log p_h   is at most chi-squared, of 2 H degrees of freedom
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2

from tacit.text.conversation import Reaction
from tacit.text.evidence import LAST, TOGETHER, Evidence
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.features import TextFeatures
from tacit.text.small.fitting import fit_frame, make_design, weigh_choices_anew
from tacit.text.small.sampling import make_sample


def weigh_turns(
    evidence: Evidence, features: TextFeatures, reactions: Sequence[Reaction], settings: FittingSettings
) -> Evidence:
    """Return evidence with the chance of choices before the last, drawn anew, and that of all turns together.

    The first is that any of the turns goes with feedback as well as the least likely one. As it was where there are no
    choices before the last, or too few were uniform.
    """
    found = weigh_earlier(features, reactions, settings, evidence.looks)
    if not found:
        return evidence
    turns = [*found, evidence.chance] if evidence.chance else found
    return evidence._replace(before=min(1.0, len(found) * min(found)), together=combine_chances(turns))


def weigh_earlier(
    features: TextFeatures, reactions: Sequence[Reaction], settings: FittingSettings, looks: int
) -> list[float]:
    """Return the chance of each turn before the last, where enough were uniform."""
    turns = max(len(reaction.before) for reaction in reactions)
    found = []
    for turn in range(turns):
        chosen = [
            Reaction(reaction.before[turn], reaction.feedback)
            for reaction in reactions
            if len(reaction.before) > turn and len(reaction.before[turn].candidates) > 1
        ]
        if chosen:
            sample = make_sample(features, chosen, words=False)
            frame, share = fit_frame(sample, settings), (1 - TOGETHER - LAST) / turns
            found.append(weigh_choices_anew(make_design(sample, frame), frame, looks, share, turn + 1))
    return [chance for chance in found if chance]


def combine_chances(chances: Sequence[float]) -> float:
    """Return the chance with which as many independent ones are as small together.

    >>> round(combine_chances([0.05]), 4), round(combine_chances([0.05, 0.05]), 4)
    (0.05, 0.0175)
    """
    return float(chi2.sf(-2 * np.log(chances).sum(), 2 * len(chances)))

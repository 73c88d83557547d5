"""Whether feedback goes with choices before the last: those of each turn, beside choices drawn anew.

Where feedback has nothing to do with choices, the one of a turn is a draw like any other given what had been said by
then, whatever came of it (`tacit.text.small.redrawing`). Turns share a half of the level, the last choice has the rest.
A first choice that decides what can be reached shows hundreds of episodes before the last one does.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.text.conversation import Reaction
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.features import TextFeatures
from tacit.text.small.fitting import fit_frame, make_design, weigh_choices_anew
from tacit.text.small.sampling import make_sample

OF_THE_LAST = 0.5
"""Share of the level that the last choice has where there are others before it."""


def weigh_before(
    features: TextFeatures, reactions: Sequence[Reaction], settings: FittingSettings, looks: int
) -> float:
    """Return the chance that choices before the last, drawn anew, go with feedback as well, by its share of the level.

    The least of all turns; 0 where there are none, or where too few were uniform.
    """
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
            frame = fit_frame(sample, settings)
            share = (1 - OF_THE_LAST) / turns
            found.append(weigh_choices_anew(make_design(sample, frame), frame, looks, share))
    return min((chance for chance in found if chance), default=0.0)

"""Reactions are read by a fit that did not see them.

What fits is learned from feedback: where remarks overlap, a candidate that was praised by chance is held to be right
*because* it was praised, and its label would be sure of itself. So a reaction that a model was fitted to is read with
the rewards of a fit that left it out; one that it has never met, with those of the whole. What feedback means is
that of the whole for both: it was read off rewards that were foretold without the reaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.text.conversation import Reaction
from tacit.text.small.ensemble import Ensemble
from tacit.text.small.recurring import DIGEST, number_text

NEVER_MET = -1
"""In place of a part."""


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Fits that each left a part of the reactions out.

    `digests` (n,) of the reactions, in order, and the part of each, `parts` (n,); `weights` (P, E, m) of what fits, by
    part and by member of an ensemble, fitted without that part.
    """

    digests: IntArray
    parts: IntArray
    weights: FloatArray

    @classmethod
    def of(cls, reactions: Sequence[Reaction], weights: FloatArray) -> LeftOut:
        """Return the fits of which the one of row p left every P-th reaction out, from the p-th on."""
        digests, firsts = np.unique([reaction_number(reaction) for reaction in reactions], return_index=True)
        return cls(digests, firsts % len(weights), weights)

    def parts_of(self, reactions: Sequence[Reaction]) -> IntArray:
        """Return the part that each reaction was left out with, (n,); `NEVER_MET` of others."""
        asked = np.array([reaction_number(reaction) for reaction in reactions], np.int64)
        places = np.minimum(np.searchsorted(self.digests, asked), len(self.digests) - 1)
        return np.where(self.digests[places] == asked, self.parts[places], NEVER_MET)

    def readers(self, whole: Ensemble, reactions: Sequence[Reaction]) -> Iterator[tuple[IntArray, Ensemble]]:
        """Yield rows of reactions, and the posterior that they are read by."""
        parts = self.parts_of(reactions)
        for part in np.unique(parts):
            rows = np.flatnonzero(parts == part)
            yield rows, whole if part == NEVER_MET else whole.put_fitting(self.weights[part])

    def to_tree(self) -> dict[str, Any]:
        """Return arrays that `from_tree` reads."""
        return dict(vars(self))

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any], whole: Ensemble) -> LeftOut:
        """Return what `to_tree` described, of fits that have the weights of a posterior."""
        saved, size = Saved.of(tree), sum(each.size for each in whole.leading.fitting)
        weights = saved.floats("weights", (None, len(whole.members), size))
        digests = saved.indices("digests", 1 << DIGEST)
        saved.check(len(weights) > 0 and len(digests) > 0, "digests", "of one reaction and one fit at least")
        parts = saved.wholes("parts", (len(digests),), high=len(weights) - 1)
        return cls(digests, parts, weights)


def reaction_number(reaction: Reaction) -> int:
    """Return a number of a reaction that others have with hardly any chance."""
    choice = reaction.choice
    told = [choice.conversation.to_json(), choice.candidates, choice.action, reaction.feedback]
    return number_text(json.dumps(told))

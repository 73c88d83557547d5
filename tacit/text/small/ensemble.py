"""Several readings of the same reactions, each with a share: what fits of several starts say together.

Fits that foretell reactions left out about as well disagree where little is known; one of them alone would be too sure
of itself there. Their probabilities are averaged, of rewards and of what feedback means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.saved import Saved
from tacit.text.small.posterior import Sample, TextPosterior

SUM_TOLERANCE = 1e-9
"""How far shares that were saved may be from 1 all together."""


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Posteriors over the same components of texts, the one with the largest share first; `shares` (E,) sum to 1."""

    members: tuple[TextPosterior, ...]
    shares: FloatArray

    @property
    def leading(self) -> TextPosterior:
        """Return the member with the largest share."""
        return self.members[0]

    @property
    def as_fitted(self) -> Ensemble:
        """Return members whose feedback is read as boldly as they were fitted."""
        return replace(self, members=tuple(member.as_fitted for member in self.members))

    def rewards(self, sample: Sample) -> FloatArray:
        """Return f(x, s, a), (n, K)."""
        return self._mean(lambda member: member.rewards(sample))

    def predict(self, sample: Sample) -> FloatArray:
        """Return h(x, y, s), (n, K)."""
        return self._mean(lambda member: member.predict(sample))

    def rewarded(self, sample: Sample) -> FloatArray:
        """Return how likely the candidate taken was rewarded, given the feedback, (n,)."""
        return self._mean(lambda member: member.rewarded(sample))

    def promising(self, sample: Sample) -> FloatArray:
        """Return how likely some candidate would have earned a reward, given the feedback, (n,)."""
        return self._mean(lambda member: member.promising(sample))

    def confidence(self, sample: Sample) -> FloatArray:
        """Return the probability of the likelier reward of the candidate taken, (n,): at least 1/2."""
        good = self.rewarded(sample)
        return np.asarray(np.maximum(good, 1 - good))

    def put_fitting(self, weights: FloatArray) -> Ensemble:
        """Return the same with other weights of what fits, (E, m)."""
        pairs = zip(self.members, weights, strict=True)
        return replace(self, members=tuple(member.put_fitting(row) for member, row in pairs))

    def to_state(self) -> dict[str, Any]:
        """Return arrays and plain values; what members have in common, components of texts, stands there once."""
        return {
            "leading": self.leading.to_state(),
            "weights": np.array([np.concatenate([*m.fitting, *m.meaning]) for m in self.members]),
            "scales": np.array([[m.boldness, m.sharpness] for m in self.members]),
            "shares": self.shares,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Ensemble:
        """Return what `to_state` described."""
        saved = Saved.of(state)
        leading = TextPosterior.from_state(saved.part("leading"))
        shares = saved.floats("shares", (None,), low=0)
        saved.check(len(shares) > 0 and abs(shares.sum() - 1) <= SUM_TOLERANCE, "shares", "1 all together")
        n, fitting = len(shares), sum(part.size for part in leading.fitting)
        weights = saved.floats("weights", (n, fitting + sum(part.size for part in leading.meaning)))
        scales = saved.floats("scales", (n, 2), low=0)
        members = (
            replace(leading.put_fitting(row[:fitting]).put_meaning(row[fitting:]), boldness=b, sharpness=t)
            for row, (b, t) in zip(weights, scales.tolist(), strict=True)
        )
        return cls(tuple(members), shares)

    def _mean(self, read: Callable[[TextPosterior], FloatArray]) -> FloatArray:
        return np.asarray(sum(share * read(m) for m, share in zip(self.members, self.shares, strict=True)))

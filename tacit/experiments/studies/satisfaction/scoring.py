"""How labels agree with ratings: of all that is shown of a learner, the numbers of one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from tacit.base.arrays import BoolArray, FloatArray

MIDDLE = 3.0
"""The rating that says neither; who was rated so is not scored."""
POINTS = 20
SCALARS = (
    "decoded",
    "agreement",
    "rewarded_of_decoded_as_such",
    "decoded_rewarded",
    "decoded_unrewarded",
    "ranked_right",
    "rewarded",
)
"""What is known of each run."""


class ReadRewards(NamedTuple):
    """What a learner made of each place: a reward (NaN: none), and whether it stands by it."""

    rewards: FloatArray
    sure: BoolArray


def score_labels(labels: ReadRewards, ratings: FloatArray) -> dict[str, Any]:
    """Return scalars and the curve of one run; places of a middling rating are left out."""
    clear = ratings != MIDDLE
    rewarded = ratings[clear] > MIDDLE
    decoded, sure = labels.rewards[clear], labels.sure[clear] & ~np.isnan(labels.rewards[clear])
    taken = decoded >= 0.5
    scalars: dict[str, float | None] = {
        "decoded": float(sure.mean()),
        "agreement": _mean(taken[sure] == rewarded[sure]),
        "rewarded_of_decoded_as_such": _mean(rewarded[sure & taken]),
        "decoded_rewarded": _mean(_known(decoded[rewarded])),
        "decoded_unrewarded": _mean(_known(decoded[~rewarded])),
        "ranked_right": rank_right(decoded, rewarded),
        "rewarded": float(rewarded.mean()),
    }
    kept = np.arange(1, POINTS + 1) / POINTS
    return {"scalars": scalars, "curves": {"kept": kept, "rewarded": keep_best(decoded, rewarded, kept)}}


def rank_right(decoded: FloatArray, rewarded: BoolArray) -> float | None:
    """Return the chance that a rewarded place has a higher label than one that is not; ties count half.

    >>> rank_right(np.array([0.9, 0.2, 0.2]), np.array([True, True, False]))
    0.75
    """
    known = ~np.isnan(decoded)
    ranks, good = rankdata(decoded[known]), rewarded[known]
    pairs = int(good.sum()) * int((~good).sum())
    if not pairs:
        return None
    return float((ranks[good].sum() - good.sum() * (good.sum() + 1) / 2) / pairs)


def keep_best(decoded: FloatArray, rewarded: BoolArray, kept: FloatArray) -> FloatArray:
    """Return how many are rewarded among the shares `kept` with the highest labels; ties in a random order, expected.

    >>> keep_best(np.array([1.0, 0.0, 0.0]), np.array([True, True, False]), np.array([1 / 3, 2 / 3]))
    array([1.  , 0.75])
    """
    known = ~np.isnan(decoded)
    filled = np.where(known, decoded, decoded[known].mean() if known.any() else 0.0)
    levels, place = np.unique(-filled, return_inverse=True)
    rates = np.array([rewarded[place == level].mean() for level in range(len(levels))])
    expected = np.concatenate([[0.0], np.cumsum(np.sort(place) * 0.0 + rates[np.sort(place)])])
    return np.asarray(
        np.interp(kept * len(decoded), np.arange(len(decoded) + 1), expected) / (kept * len(decoded))
    )


def _known(values: FloatArray) -> FloatArray:
    return values[~np.isnan(values)]


def _mean(values: Sequence[float] | FloatArray | BoolArray) -> float | None:
    return float(np.mean(values)) if len(values) else None

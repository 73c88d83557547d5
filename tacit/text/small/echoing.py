"""Whether feedback names the candidate that came before it, beyond what it is taken to mean (Assumption 2.1).

Where people react to the outcome alone, feedback y tells of candidates what its meaning tells, h, and nothing more. So
a stake that is moved from h to candidates that y is like wins nothing, on average:

    e^(c likeness(y, a)) / sum_b h_b e^(c likeness(y, b)) - 1        a the candidate taken

Likeness is the cosine of MiniLM's vectors: a text is like one that repeats it, and like one that answers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.validation import SIMPLEX_TOLERANCE
from tacit.text.conversation import NO_REMARK
from tacit.text.small.ensemble import Ensemble
from tacit.text.small.features import TextFeatures
from tacit.text.small.posterior import Sample

BOLDNESS = 5.0
"""c above: what fits best where people answer the reply they got, 4 to 9 on two collections of real conversations."""
FEWEST_HEARD = 30
"""Remarks on uniform choices below which nothing is said: an error that so few show is hardly known."""


class Echo(NamedTuple):
    """What a stake on candidates that feedback is like wins against its meaning, on average, and the standard error."""

    gain: float
    error: float


def measure_echo(
    features: TextFeatures, posterior: Ensemble, sample: Sample, feedback: Sequence[str]
) -> Echo | None:
    """Return how far feedback names candidates that were taken uniformly; None where too few of them were heard of."""
    heard = np.array([text != NO_REMARK for text in feedback])
    even = np.abs(sample.chance * sample.mask.sum(axis=1) - 1) <= SIMPLEX_TOLERANCE
    rows = np.flatnonzero(heard & even)
    if len(rows) < FEWEST_HEARD:
        return None
    vectors = features.sentences([feedback[row] for row in rows.tolist()])
    part = sample.part(rows)
    likeness = np.einsum("nd,nkd->nk", vectors, part.items[part.offer], dtype=np.float64)
    won = stake_on_echo(likeness, posterior.as_fitted.predict(part))[np.arange(len(rows)), part.taken]
    return Echo(float(won.mean()), float(won.std() / np.sqrt(len(rows))))


def stake_on_echo(likeness: FloatArray, h: FloatArray) -> FloatArray:
    """Return what the stake of the module's docstring wins if a candidate was taken, (n, K); h is 0 of those not there.

    >>> stake_on_echo(np.array([[0.2, 0.2]]), np.array([[0.7, 0.3]]))
    array([[0., 0.]])
    """
    more = np.exp(BOLDNESS * likeness)
    return np.asarray(more / (h * more).sum(axis=1, keepdims=True) - 1)

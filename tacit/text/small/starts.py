"""Where fits of the text posterior begin: the likelihood has several summits, and each start leads to one.

What echoes the request is right, and remarks go with that, or mean what they sound like; or nothing is known of what
is right, and the remarks' leading component is kindness, or unkindness, or they mean what they sound like; or each
person is as contrary as they say the commoner kind of thing, since rewards are the minority. That they are where
candidates are taken evenly, and no longer where a policy takes the right ones: so who is contrary is read off choices
that were no likelier than chance, and the fit is made to these before it is made to all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray
from tacit.base.validation import SIMPLEX_TOLERANCE
from tacit.text.small.likelihood import SURE, Design, believed_of, rewards_of_taken

FIRST_WEIGHT = 4.0
"""Every match weight where echo is the start: a word that fits makes a candidate e^4 times as likely."""
FIRST_GOODNESS, FIRST_PLAINNESS = 1.0, 2.0
"""Log-odds, before anything is known, that some candidate is right and that a person means what they say."""
FIRST_KINDNESS = 2.0
"""Log-odds of a remark one standard deviation out on the component that is taken for kindness."""

FIRST_LOUDNESS = 8.0
"""Log-odds of a remark that sounds one unit kind: half a unit is what kind sentences do, on average."""

RATHER, FIRMLY = 5.0, 25.0
"""How much more strongly feedback is held to what it sounds like in some starts, or to what it was found to mean."""
AS_IT_SOUNDS = 5.0
"""Log-odds, before anything is known, that people mean what they sound like: 150 to 1."""

FEWEST_EVEN = 20
"""Rows taken evenly below which nothing is read off them alone: a fit to fewer finds nothing in development worlds."""


class Start(NamedTuple):
    """Where a fit begins, what its ridges hold it to, and whether it is made first to the rows taken evenly.

    What feedback means is held `firmly` times as strongly as settings say. `likely` is by how much it is thought the
    likelier before anything is known, a log-likelihood.
    """

    weights: FloatArray
    centre: FloatArray
    evenly: bool = False
    firmly: float = 1.0
    likely: float = 0.0


def list_starts(design: Design, rewards: FloatArray | None) -> list[Start]:
    """Return where fits begin; see the module's docstring."""
    echo, nothing = first_weights(design, FIRST_WEIGHT), first_weights(design, 0.0)
    if rewards is not None:
        return [Start(echo, echo), Start(nothing, nothing)]
    f, _ = rewards_of_taken(design, echo)
    going_along = regress_ridge(design.reading, f - f.mean())
    leading = leading_reading(design)
    placed = [(echo, going_along), (nothing, leading), (nothing, -leading)]
    starts = [Start(read_as(design, centre, along), centre, evenly=True) for centre, along in placed]
    sounds = bool(design.sounds.any())
    starts += [
        Start(held, held, evenly=True, firmly=firmly, likely=AS_IT_SOUNDS * sounds)
        for held in (read_as_heard(design, echo), read_as_heard(design, nothing))
        for firmly in ((1.0, RATHER, FIRMLY) if sounds else (1.0,))
    ]
    if design.profiled.any():
        starts += [
            Start(contrary(design, read_as_heard(design, centre)), centre, evenly=True)
            for centre in (echo, nothing)
        ]
    return starts


def leading_reading(design: Design) -> FloatArray:
    """Return the direction in which readings vary most, (E,)."""
    leading = np.zeros(design.reading.shape[1])
    leading[1] = 1.0
    return leading


def sounding_kind(design: Design) -> FloatArray:
    """Return the direction of readings that sound kind, (E,); the leading one where nothing sounds at all."""
    if not design.sounds.any():
        return leading_reading(design)
    kind = np.zeros(design.reading.shape[1])
    kind[0] = 1.0
    return kind


def taken_evenly(design: Design) -> BoolArray:
    """Return which candidates were taken with no more than an even chance, (n,): uniform choices, and unlikely ones.

    At most one in K - 1 of them is right, whoever chose. All rows where there are too few such.
    """
    even = design.chance * design.mask.sum(axis=1) <= 1 + SIMPLEX_TOLERANCE
    return np.asarray(even | (even.sum() < FEWEST_EVEN))


def first_weights(design: Design, echo: float) -> FloatArray:
    """Return the weights that believe as much in echo and know nothing of what feedback means."""
    weights = [np.zeros(size) for size in design.sizes]
    weights[0][:] = echo
    weights[2][-1], weights[4][-1] = FIRST_GOODNESS, FIRST_PLAINNESS
    return np.concatenate(weights)


def hold_meaning(design: Design, found: Start) -> Start:
    """Return a start that holds feedback firmly to what it was found to mean, and learns anew what fits.

    Own values of remarks were read off rewards of all reactions: they are left out here, and read anew.
    """
    centre = np.concatenate([found.centre[: design.fitting], found.weights[design.fitting :]])
    centre[sum(design.sizes[:-1]) :] = 0.0
    return Start(centre, centre, firmly=FIRMLY, likely=found.likely)


def read_as(design: Design, weights: FloatArray, along: FloatArray) -> FloatArray:
    """Return the weights with kindness along a direction of the readings, (E,)."""
    parts = design.split(weights.copy())
    spread = float((design.reading @ along).std())
    parts[3][:] = FIRST_KINDNESS * along / max(spread, SURE)
    return np.concatenate(parts)


def read_as_heard(design: Design, weights: FloatArray) -> FloatArray:
    """Return the weights by which remarks mean what they sound like: what sounds like neither side means nothing."""
    if not design.sounds.any():
        return read_as(design, weights, leading_reading(design))
    parts = design.split(weights.copy())
    parts[3][:] = FIRST_LOUDNESS * sounding_kind(design)
    return np.concatenate(parts)


def contrary(design: Design, weights: FloatArray) -> FloatArray:
    """Return the weights with people the more contrary the more of what they say is called kind.

    Rewards are the minority where candidates are taken evenly: who says mostly kind things there means the opposite.
    """
    parts, those = design.split(weights.copy()), design.profiled & taken_evenly(design)
    kindness = np.tanh(believed_of(design, weights).ratio)
    parts[4][:] = -2 * FIRST_PLAINNESS * regress_ridge(design.profile[those], kindness[those], 1.0)
    return np.concatenate(parts)


def regress_ridge(features: FloatArray, values: FloatArray, ridge: float | None = None) -> FloatArray:
    """Return the weights of a ridge regression; by default as strong as a twentieth of the rows."""
    n, size = features.shape
    hold = n / 20 if ridge is None else ridge
    return np.asarray(np.linalg.solve(features.T @ features + hold * np.eye(size), features.T @ values))

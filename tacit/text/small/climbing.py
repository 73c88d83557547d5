"""Climbing the likelihood of reactions: all weights at once, or what feedback means by itself (L-BFGS, held by ridges).

Fitted at once, meaning and rewards of the same reactions foretell each other by heart: a kind remark is called unkind,
and the choices it followed by chance are called wrong. Where a policy is right nearly always that explains more than
the truth does. So in the end meaning is read off rewards that were foretold without the reaction
(`tacit.text.small.cross_fitting`), and rewards are fitted with the meaning fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.base.saved import LARGEST
from tacit.base.validation import check_number, check_whole
from tacit.text.small.lbfgs import find_lowest
from tacit.text.small.likelihood import (
    Design,
    explain_feedback,
    explain_fixed,
    explain_meaning,
    explain_rewards,
)
from tacit.text.small.likelihood_kernels import believe_meaning
from tacit.text.small.starts import Start, taken_evenly

MOST_PARTS = 1 << 16
"""Principal components and steps that may be asked for: encoders have some hundreds, and 100 steps settle."""
BIAS_RIDGE = 1e-3
"""How strongly biases are held to where they start."""


@dataclass(frozen=True)
class FittingSettings:
    """How strongly weights are held to their starts (ridge) and how many principal components are kept.

    Chosen on development worlds and on dialogues of seed 0; the effects are in docs/decisions.
    """

    match_ridge: float = 0.5
    state_ridge: float = 0.1
    feedback_ridge: float = 0.2
    profile_ridge: float = 0.05
    own_ridge: float = 0.1
    said_parts: int = 80
    state_parts: int = 32
    feedback_parts: int = 48
    profile_parts: int = 24
    steps: int = 120

    def __post_init__(self) -> None:
        for name in ("match_ridge", "state_ridge", "feedback_ridge", "profile_ridge", "own_ridge"):
            check_number(name, getattr(self, name), 0, LARGEST)
        for name in ("said_parts", "state_parts", "feedback_parts", "profile_parts", "steps"):
            check_whole(name, getattr(self, name), 1, MOST_PARTS)


def climb_weights(
    design: Design,
    start: Start,
    ridge: float,
    steps: int,
    settings: FittingSettings,
    rewards: FloatArray | None = None,
) -> FloatArray:
    """Return the weights at the summit that is reached from a start, or on the way there after so many steps.

    A start that asks for it is climbed from on rows taken evenly first.
    """
    hold = hold_of(design, ridge, settings, start.firmly)

    def objective(weights: FloatArray) -> tuple[float, FloatArray]:
        value, slopes = (
            explain_feedback(design, weights)
            if rewards is None
            else explain_rewards(design, weights, rewards)
        )
        away = weights - start.centre
        return float(-value + (hold * away * away).sum()), -slopes + 2 * hold * away

    begin, even = start.weights, taken_evenly(design)
    if start.evenly and not even.all():
        known = None if rewards is None else rewards[even]
        begin = climb_weights(design.part(even), start, ridge, steps, settings, known)
    return find_lowest(objective, begin, steps)


def climb_rewards(
    design: Design, start: Start, ridge: float, steps: int, settings: FittingSettings
) -> FloatArray:
    """Return the weights whose rewards explain feedback best that means what the start says."""
    n = design.fitting
    hold, centre, meaning = hold_of(design, ridge, settings)[:n], start.centre[:n], start.weights[n:]
    t, plain = believe_meaning(*design.remarks, meaning)

    def objective(fitting: FloatArray) -> tuple[float, FloatArray]:
        value, slopes = explain_fixed(design, fitting, t, plain)
        away = fitting - centre
        return float(-value + (hold * away * away).sum()), -slopes + 2 * hold * away

    return np.concatenate([find_lowest(objective, start.weights[:n], steps), meaning])


def climb_meaning(
    design: Design, f: FloatArray, start: Start, steps: int, settings: FittingSettings
) -> FloatArray:
    """Return the weights of a start with the meaning that explains rewards f (n,) best."""
    n = design.fitting
    hold, centre = hold_of(design, 0.0, settings, start.firmly)[n:], start.centre[n:]

    def objective(meaning: FloatArray) -> tuple[float, FloatArray]:
        value, slopes = explain_meaning(design, f, meaning)
        away = meaning - centre
        return float(-value + (hold * away * away).sum()), -slopes + 2 * hold * away

    return np.concatenate([start.weights[:n], find_lowest(objective, start.weights[n:], steps)])


def hold_of(design: Design, ridge: float, settings: FittingSettings, firmly: float = 1.0) -> FloatArray:
    """Return how strongly each weight is held to its start; biases, the last of their parts, hardly are."""
    ridges = (
        settings.match_ridge,
        ridge,
        settings.state_ridge,
        firmly * settings.feedback_ridge,
        settings.profile_ridge,
        settings.own_ridge,
    )
    hold = np.repeat(ridges, design.sizes)
    hold[np.cumsum(design.sizes)[2:5] - 1] = BIAS_RIDGE
    return hold

"""What a start is worth: each part of the reactions is foretold from the others, and meaning is read off that.

Parts are fitted in turns: f to the other parts with the meaning fixed, then the meaning to f that was foretold of each
reaction without it. A remark that was called unkind because of what it happened to follow is called kind again when
the same choices, foretold from others, turn out to be right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray
from tacit.text.small.climbing import FittingSettings, climb_meaning, climb_rewards, climb_weights
from tacit.text.small.likelihood import SURE, Design, believed_of, rewards_of_taken
from tacit.text.small.posterior import bayes, log_ratio
from tacit.text.small.starts import Start

FOLDS, FINE_FOLDS, FINE = 3, 6, 400
"""Parts of which each is foretold from the others, more of them up to `FINE` reactions: then every one counts."""
ROUNDS = 3
"""Times that meaning is read off what was foretold: then it stays."""
DOUBT = 0.5
"""Share of chance in what is foretold when starts are compared: without, the boldest wrong guess would decide."""


class Trial(NamedTuple):
    """A start that was tried: what it gained and stakes won on reactions left out, (n,), and where its fits ended.

    `start` begins where the best of them did, with the meaning that all reactions together have.
    """

    gains: FloatArray
    won: FloatArray
    start: Start
    ridge: float

    @property
    def gain(self) -> float:
        """Return the mean gain."""
        return float(self.gains.mean())


def try_start(
    design: Design,
    start: Start,
    ridge: float,
    settings: FittingSettings,
    rewards: FloatArray | None,
    hasty: bool = False,
) -> Trial:
    """Return what a start is worth; see the module's docstring. Where rewards are known there is no meaning to read.

    In haste meaning is read once, in as few parts as of many reactions.
    """
    folds = FOLDS if hasty or len(design) > FINE else FINE_FOLDS
    rounds = 0 if rewards is not None else 1 if hasty else ROUNDS
    parts = [np.arange(len(design)) % folds == n for n in range(folds)]
    steps = settings.steps // 2
    fits = []
    for part in parts:
        known = None if rewards is None else rewards[~part]
        fits.append(climb_weights(design.part(~part), start, ridge, steps, settings, known))
    for _ in range(rounds):
        f = foretell_rewards(design, parts, fits)
        for n, part in enumerate(parts):
            rest, reached = design.part(~part), Start(fits[n], start.centre)
            read = climb_meaning(rest, f[~part], reached, steps, settings)
            fits[n] = climb_rewards(rest, reached._replace(weights=read), ridge, steps, settings)
    won, gains = np.zeros(len(design)), np.zeros(len(design))
    for part, fit in zip(parts, fits, strict=True):
        rest = design.part(part)
        won[part] = stake(rest, fit)
        gains[part] = foretold(rest, fit, None if rewards is None else rewards[part])
    best = Start(fits[int(np.argmax([gains[part].mean() for part in parts]))], start.centre)
    if rewards is None:
        read = climb_meaning(design, foretell_rewards(design, parts, fits), best, steps, settings)
        best = best._replace(weights=read)
    return Trial(gains, won, best, ridge)


def foretell_rewards(design: Design, parts: list[BoolArray], fits: list[FloatArray]) -> FloatArray:
    """Return f of the candidates taken, (n,), each by the fit that its reaction was left out of."""
    f = np.zeros(len(design))
    for part, fit in zip(parts, fits, strict=True):
        f[part] = rewards_of_taken(design.part(part), fit)[0]
    return f


def stake(design: Design, weights: FloatArray) -> FloatArray:
    """Return what a stake of 1, spread over candidates as h says, wins on each reaction, (n,)."""
    believed = believed_of(design, weights)
    plain = np.log(believed.plain) - np.log1p(-believed.plain)
    h = bayes(believed.good[:, None] * believed.fits, log_ratio(believed.ratio, plain), design.mask)
    return np.asarray(h[np.arange(len(design)), design.taken] / design.chance - 1)


def foretold(design: Design, weights: FloatArray, rewards: FloatArray | None) -> FloatArray:
    """Return how well weights foretell reactions, (n,): their log-likelihood against chance, half in doubt."""
    f, believed = rewards_of_taken(design, weights)
    if rewards is not None:
        f = np.clip(f, SURE, 1 - SURE)
        return np.asarray(rewards * np.log(f) + (1 - rewards) * np.log1p(-f))
    q, more = believed.kind(f), np.expm1(believed.ratio)
    ratio = (1 + q * more) / (1 + q.mean() * more)
    return np.asarray(np.log(DOUBT + (1 - DOUBT) * ratio))

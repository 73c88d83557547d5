"""What a start is worth: each part of the reactions is foretold from the others, and meaning is read off that.

Parts are fitted in turns: f to the other parts with the meaning fixed, then the meaning to f that was foretold of each
reaction without it. A remark that was called unkind because of what it happened to follow is called kind again when
the same choices, foretold from others, turn out to be right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray
from tacit.text.small.calibration import BOLDER, foretell
from tacit.text.small.climbing import FittingSettings, climb_meaning, climb_rewards, climb_weights
from tacit.text.small.likelihood import SURE, Design, believed_of, rewards_of_taken
from tacit.text.small.likelihood_kernels import share_of_kind, weigh_feedback
from tacit.text.small.posterior import bayes, log_ratio
from tacit.text.small.starts import Start

FOLDS, FINE_FOLDS, FINE = 3, 6, 400
"""Parts of which each is foretold from the others, more of them up to `FINE` reactions: then every one counts."""
ROUNDS = 3
"""Times that meaning is read off what was foretold: then it stays."""
BETTER = 0.01
"""What reading wins by itself, as what was foretold knows the part left out a little: it is believed if it gains more,
and counts for that much less beside fits in which nothing was read."""
DOUBT = 0.5
"""Share of chance in what is foretold when starts are compared: without, the boldest wrong guess would decide."""


PartFits = tuple[FloatArray, ...]
"""Weights, one fit for each part that was left out."""


class Trial(NamedTuple):
    """A start that was tried: what it gained on reactions left out, on average, and where its fits ended.

    Of what it gained after meaning was `read` off what they foretold, what reading wins by itself is taken off. `start`
    begins where the best of them did; where meaning was read, with the meaning that all reactions together have.
    Before that it gained `first`, and stakes `won` (n,), which is what is evidence. Reaction n was left out of fit n
    modulo their number. Fits of all `rounds` are kept: those before meaning was read, and after each time; the `best`
    is counted from 0. What choices before the last foretell, on all reactions together, is `foregoing`.
    """

    gain: float
    first: float
    won: FloatArray
    start: Start
    ridge: float
    rounds: tuple[PartFits, ...]
    best: int
    foregoing: float = 0.0

    @property
    def fits(self) -> PartFits:
        """Return the fits of the best round."""
        return self.rounds[self.best]

    @property
    def read(self) -> bool:
        """Return whether meaning was read off what was foretold."""
        return self.best > 0


def try_start(
    design: Design,
    start: Start,
    ridge: float,
    settings: FittingSettings,
    rewards: FloatArray | None,
    hasty: bool = False,
    begun: Trial | None = None,
) -> Trial:
    """Return what a start is worth; see the module's docstring. Where rewards are known there is no meaning to read.

    In haste meaning is read once, in as few parts as of many reactions. What was `begun` so is gone on with, if it is
    in as many parts as this.
    """
    folds = FOLDS if hasty or len(design) > FINE else FINE_FOLDS
    readings = 0 if rewards is not None else min(1, ROUNDS) if hasty else ROUNDS
    parts = [np.arange(len(design)) % folds == n for n in range(folds)]
    rests = [design.part(~part) for part in parts]
    if begun is not None and len(begun.fits) == folds:
        rounds = list(begun.rounds)
    else:
        known = [None if rewards is None else rewards[~part] for part in parts]
        rounds = [tuple(fit_rest(*each, start, ridge, settings) for each in zip(rests, known, strict=True))]
    while len(rounds) <= readings:
        f = foretell_rewards(design, parts, rounds[-1])
        known_f = [f[~part] for part in parts]
        rounds.append(
            tuple(
                read_anew(*each, start, ridge, settings)
                for each in zip(rests, known_f, rounds[-1], strict=True)
            )
        )
    told = [weigh_fits(design, parts, fits, rewards) for fits in rounds]
    best = best_round([float(each.mean()) for each in told])
    weights = rounds[best][int(np.argmax([told[best][part].mean() for part in parts]))]
    if best:
        f = foretell_rewards(design, parts, rounds[best])
        weights = climb_meaning(design, f, start._replace(weights=weights), settings.steps // 2, settings)
    return Trial(
        float(told[best].mean()) - BETTER * (best > 0),
        float(told[0].mean()),
        gather_left_out(design, parts, rounds[0], stake),
        start._replace(weights=weights, evenly=False),
        ridge,
        tuple(rounds),
        best,
    )


def fit_rest(
    rest: Design, known: FloatArray | None, start: Start, ridge: float, settings: FittingSettings
) -> FloatArray:
    """Return the weights of a start fitted to the other parts, before meaning is read."""
    return climb_weights(rest, start, ridge, settings.steps // 2, settings, known)


def read_anew(
    rest: Design, f: FloatArray, fit: FloatArray, start: Start, ridge: float, settings: FittingSettings
) -> FloatArray:
    """Return a fit to the other parts with the meaning read off rewards f, and what fits learned from that."""
    steps = settings.steps // 2
    read = climb_meaning(rest, f, start._replace(weights=fit), steps, settings)
    return climb_rewards(rest, start._replace(weights=read), ridge, steps, settings)


def best_round(gains: Sequence[float]) -> int:
    """Return which round gains most; one in which meaning was read must be better than the first by `BETTER`."""
    best = 0
    for n, gain in enumerate(gains):
        if gain > max(gains[best], gains[0] + BETTER):
            best = n
    return best


def weigh_fits(
    design: Design, parts: Sequence[BoolArray], fits: Sequence[FloatArray], rewards: FloatArray | None
) -> FloatArray:
    """Return how well each reaction is foretold by the fit that it was left out of, (n,)."""
    told = np.zeros(len(design))
    for part, fit in zip(parts, fits, strict=True):
        told[part] = foretold(design.part(part), fit, None if rewards is None else rewards[part])
    return told


def foretell_rewards(design: Design, parts: Sequence[BoolArray], fits: Sequence[FloatArray]) -> FloatArray:
    """Return f of the candidates taken, (n,), each by the fit that its reaction was left out of.

    As boldly as feedback is likeliest: a fit to few reactions is too sure of itself, and what is read off it, too.
    """
    t, plain = np.zeros(len(design)), np.zeros(len(design))
    for part, fit in zip(parts, fits, strict=True):
        _, _, t[part], plain[part] = believed_of(design.part(part), fit)

    def likelihood(f: FloatArray) -> float:
        value, _, _ = weigh_feedback(f * plain + (1 - f) * (1 - plain), t)
        return value

    return max((foretell(design, fits, boldness) for boldness in BOLDER), key=likelihood)


def gather_left_out(
    design: Design,
    parts: Sequence[BoolArray],
    fits: Sequence[FloatArray],
    read: Callable[[Design, FloatArray], FloatArray],
) -> FloatArray:
    """Return a number of each reaction, (n,), by the fit that it was left out of."""
    numbers = np.zeros(len(design))
    for part, fit in zip(parts, fits, strict=True):
        numbers[part] = read(design.part(part), fit)
    return numbers


def stake(design: Design, weights: FloatArray) -> FloatArray:
    """Return what a stake of 1, spread over candidates as h says, wins on each reaction, (n,)."""
    believed = believed_of(design, weights)
    plain = np.log(believed.plain) - np.log1p(-believed.plain)
    h = bayes(believed.good[:, None] * believed.fits, log_ratio(believed.ratio, plain), design.mask)
    return np.asarray(h[np.arange(len(design)), design.taken] / design.chance - 1)


def foretold(design: Design, weights: FloatArray, rewards: FloatArray | None) -> FloatArray:
    """Return how well weights foretell each reaction, (n,): its log-likelihood against chance, half in doubt."""
    f, believed = rewards_of_taken(design, weights)
    if rewards is not None:
        f = np.clip(f, SURE, 1 - SURE)
        return np.asarray(rewards * np.log(f) + (1 - rewards) * np.log1p(-f))
    q, more = believed.kind(f), np.expm1(believed.ratio)
    ratio = (1 + q * more) / (1 + share_of_kind(believed.ratio) * more)
    return np.asarray(np.log(DOUBT + (1 - DOUBT) * ratio))

"""Fitting the text posterior: the likelihood is climbed from several starts, and reactions left out of the fit choose.

All weights are climbed at once (L-BFGS), held by ridges. Start and ridge are those that foretell reactions left out
best. The same reactions show whether the fit tells anything: h_a of the candidate taken, drawn with probability p_a, is
p_a on average where it does not, so that h_a / p_a - 1 is what a stake of 1 would win. That feedback tells anything at
all is shown by choices drawn anew (`tacit.text.small.redrawing`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from tacit.base.arrays import FloatArray, IntArray
from tacit.base.saved import LARGEST
from tacit.base.validation import check_number, check_whole
from tacit.text.evidence import Evidence, level_of
from tacit.text.small.affinity import Affinity, Projection, fit_components, fit_projection
from tacit.text.small.likelihood import (
    SURE,
    Design,
    believed_of,
    explain_feedback,
    explain_rewards,
    rewards_of_taken,
)
from tacit.text.small.posterior import Sample, TextPosterior, bayes, log_ratio
from tacit.text.small.redrawing import weigh_redraws
from tacit.text.small.starts import Start, list_starts, taken_evenly

MOST_PARTS = 1 << 16
"""Principal components and steps that may be asked for: encoders have some hundreds, and 100 steps settle."""
RIDGES = (0.005, 0.03, 0.2)
"""Of W, among which reactions left out choose."""
BIAS_RIDGE = 1e-3
"""How strongly biases are held to where they start."""
FOLDS, FINE_FOLDS, FINE = 3, 6, 400
"""Parts of which each is foretold from the others, more of them up to `FINE` reactions: then every one counts."""
MOST_COMPARED = 1_500
"""Reactions that starts and ridges are compared on; the fit itself is made on all."""
FEW = 10
"""Reactions of which the spread of what was won is not known at all: of few, an error is taken for larger."""
DOUBT = 0.5
"""Share of chance in what is foretold when starts are compared: without, the boldest wrong guess would decide."""


@dataclass(frozen=True)
class FittingSettings:
    """How strongly weights are held to their starts (ridge) and how many principal components are kept.

    Chosen on development worlds and on dialogues of seed 0; the effects are in docs/decisions.
    """

    match_ridge: float = 0.5
    state_ridge: float = 0.1
    feedback_ridge: float = 0.2
    profile_ridge: float = 0.05
    said_parts: int = 40
    state_parts: int = 32
    feedback_parts: int = 48
    profile_parts: int = 24
    steps: int = 120
    sharpness: float = 6.0

    def __post_init__(self) -> None:
        for name in ("match_ridge", "state_ridge", "feedback_ridge", "profile_ridge", "sharpness"):
            check_number(name, getattr(self, name), 0, LARGEST)
        for name in ("said_parts", "state_parts", "feedback_parts", "profile_parts", "steps"):
            check_whole(name, getattr(self, name), 1, MOST_PARTS)


class Frame(NamedTuple):
    """The projections of a fit: of what was said, candidates, states, feedback and profiles."""

    said: tuple[Projection, ...]
    item: Projection
    state: Projection
    feedback: Projection
    profile: Projection


class FittedText(NamedTuple):
    """A posterior, and the evidence that feedback tells anything, None where rewards were told."""

    posterior: TextPosterior
    evidence: Evidence | None


def fit_text_posterior(
    sample: Sample, settings: FittingSettings, rewards: FloatArray | None = None, looks: int = 1
) -> FittedText:
    """Return the posterior fitted to reactions, whoever chose what they are to; the evidence is of that many looks.

    With 0 looks no evidence is weighed. Known `rewards` (n,), of a judge or an oracle, take the place of what the
    feedback is found to mean.
    """
    frame = fit_frame(sample, settings)
    design = make_design(sample, frame)
    chosen = choose_start(design, settings, rewards)
    weights = climb_weights(design, chosen.start, chosen.ridge, settings.steps, settings, rewards)
    evidence = weigh_won(design, frame, chosen.won, looks) if looks and rewards is None else None
    return FittedText(make_posterior(frame, design, weights, settings.sharpness), evidence)


def weigh_won(design: Design, frame: Frame, won: FloatArray, looks: int) -> Evidence:
    """Return what stakes won on reactions left out, and the chance that choices drawn anew go with feedback as well."""
    n = len(won)
    error = float(won.std() / np.sqrt(n)) * (1 + FEW / n)
    roles = [project.size for project in frame.said]
    chance = weigh_redraws(design, roles, level_of(looks), np.random.default_rng([looks, len(design)]))
    return Evidence(float(won.mean()), error, looks, chance=chance or 0.0)


def fit_frame(sample: Sample, settings: FittingSettings) -> Frame:
    """Return the projections of a sample."""
    offered = np.unique(sample.offer[sample.mask])
    said, item = fit_components(sample.said, sample.items[offered], settings.said_parts)
    return Frame(
        said,
        item,
        fit_projection(sample.state, settings.state_parts),
        fit_projection(sample.reading, settings.feedback_parts),
        fit_projection(sample.profile[sample.profiled], settings.profile_parts),
    )


def make_design(sample: Sample, frame: Frame) -> Design:
    """Return what weights multiply."""
    asked = Affinity(np.zeros(0), frame.said, frame.item, np.zeros((0, 0))).asked(sample.said)
    return Design(
        sample.match,
        sample.mask,
        asked,
        frame.item.components(sample.items)[sample.offer],
        frame.state(sample.state),
        frame.feedback(sample.reading),
        frame.profile(sample.profile),
        sample.profiled,
        sample.taken,
        sample.chance,
    )


def make_posterior(frame: Frame, design: Design, weights: FloatArray, sharpness: float) -> TextPosterior:
    """Return the posterior with these weights."""
    echo, W, state, feedback, profile = design.split(weights)
    affinity = Affinity(echo, frame.said, frame.item, W.reshape(design.asked.shape[1], -1))
    return TextPosterior(
        affinity, frame.state, state, frame.feedback, feedback, frame.profile, profile, sharpness
    )


class Trial(NamedTuple):
    """A start that was tried: its gain on what was left out, what stakes won there, where its best fit ended."""

    gain: float
    won: FloatArray
    start: Start
    ridge: float


def choose_start(design: Design, settings: FittingSettings, rewards: FloatArray | None) -> Trial:
    """Return the start and the ridge by which reactions that were left out are foretold best.

    All starts are compared at the middle ridge, then the best two at all. The start returned begins where the fit to
    the best part of the sample ended.
    """
    if len(design) > MOST_COMPARED:
        some = compared_rows(design)
        return choose_start(design.part(some), settings, None if rewards is None else rewards[some])
    starts = list_starts(design, rewards)
    trials = [try_start(design, start, RIDGES[1], settings, rewards) for start in starts]
    best = np.argsort([-trial.gain for trial in trials], kind="stable")[:2]
    trials += [
        try_start(design, starts[n], ridge, settings, rewards)
        for n in best
        for ridge in (RIDGES[0], RIDGES[2])
    ]
    return max(trials, key=lambda trial: trial.gain)


def compared_rows(design: Design) -> IntArray:
    """Return `MOST_COMPARED` rows, evenly spread; up to half of them are uniform choices if there are as many.

    A policy's choices soon outnumber those that tell most. Which were uniform has nothing to do with what was taken.
    """
    even, others = np.flatnonzero(design.uniform), np.flatnonzero(~design.uniform)
    n = min(len(others), MOST_COMPARED - min(len(even), MOST_COMPARED // 2))
    parts = ((even, MOST_COMPARED - n), (others, n))
    spread = [rows[np.linspace(0, len(rows) - 1, k).astype(np.int64)] for rows, k in parts if k]
    return np.sort(np.concatenate(spread))


def try_start(
    design: Design, start: Start, ridge: float, settings: FittingSettings, rewards: FloatArray | None
) -> Trial:
    """Return what a start is worth: each part of the reactions is foretold from the others."""
    folds = FINE_FOLDS if len(design) <= FINE else FOLDS
    fold, won, found = np.arange(len(design)) % folds, np.zeros(len(design)), []
    for n in range(folds):
        fitted, left_out = fold != n, fold == n
        known, held = (None, None) if rewards is None else (rewards[fitted], rewards[left_out])
        weights = climb_weights(design.part(fitted), start, ridge, settings.steps // 2, settings, known)
        rest = design.part(left_out)
        won[left_out] = stake(rest, weights)
        found.append((foretold(rest, weights, held), weights))
    best = max(found, key=lambda each: each[0])[1]
    return Trial(float(np.mean([gain for gain, _ in found])), won, Start(best, start.centre), ridge)


def stake(design: Design, weights: FloatArray) -> FloatArray:
    """Return what a stake of 1, spread over candidates as h says, wins on each reaction, (n,)."""
    believed = believed_of(design, weights)
    plain = np.log(believed.plain) - np.log1p(-believed.plain)
    h = bayes(believed.good[:, None] * believed.fits, log_ratio(believed.ratio, plain), design.mask)
    return np.asarray(h[np.arange(len(design)), design.taken] / design.chance - 1)


def foretold(design: Design, weights: FloatArray, rewards: FloatArray | None) -> float:
    """Return how well weights foretell reactions, on average: their log-likelihood against chance, half in doubt."""
    f, believed = rewards_of_taken(design, weights)
    if rewards is not None:
        f = np.clip(f, SURE, 1 - SURE)
        return float((rewards * np.log(f) + (1 - rewards) * np.log1p(-f)).mean())
    q, more = believed.kind(f), np.expm1(believed.ratio)
    ratio = (1 + q * more) / (1 + q.mean() * more)
    return float(np.log(DOUBT + (1 - DOUBT) * ratio).mean())


def climb_weights(
    design: Design,
    start: Start,
    ridge: float,
    steps: int,
    settings: FittingSettings,
    rewards: FloatArray | None,
) -> FloatArray:
    """Return the weights at the summit that is reached from a start, or on the way there after so many steps.

    A start that asks for it is climbed from on rows taken evenly first.
    """
    hold = hold_of(design, ridge, settings)

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
    return np.asarray(minimize(objective, begin, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x)


def hold_of(design: Design, ridge: float, settings: FittingSettings) -> FloatArray:
    """Return how strongly each weight is held to its start; biases, the last of their parts, hardly are."""
    ridges = (
        settings.match_ridge,
        ridge,
        settings.state_ridge,
        settings.feedback_ridge,
        settings.profile_ridge,
    )
    hold = np.repeat(ridges, design.sizes)
    hold[np.cumsum(design.sizes)[2:] - 1] = BIAS_RIDGE
    return hold

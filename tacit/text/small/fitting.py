"""Fitting the text posterior: the likelihood is climbed from several starts, and reactions left out of the fit choose.

Starts and ridges are those that foretell reactions left out best (`tacit.text.small.choosing`), each part of them from
the others; what feedback means is read off the rewards that were foretold so (`tacit.text.small.cross_fitting`). The
same reactions show whether the fit tells anything: h_a of the candidate taken, drawn with probability p_a, is p_a on
average where it does not, so that h_a / p_a - 1 is what a stake of 1 would win. That feedback tells anything at all is
shown by choices drawn anew (`tacit.text.small.redrawing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.text.evidence import Evidence, level_of
from tacit.text.small.affinity import Affinity, Projection, fit_components, fit_projection
from tacit.text.small.calibration import Scales, calibrate
from tacit.text.small.choosing import choose_trials
from tacit.text.small.climbing import FittingSettings, climb_rewards, climb_weights
from tacit.text.small.cross_fitting import Trial
from tacit.text.small.ensemble import Ensemble
from tacit.text.small.foregoing import EarlierTurn
from tacit.text.small.gauging import Gauge, gauge_rewards
from tacit.text.small.likelihood import Design
from tacit.text.small.posterior import Sample, TextPosterior, reading_of
from tacit.text.small.recurring import list_recurring, mark_recurring
from tacit.text.small.redrawing import weigh_redraws

FEW = 10
"""Reactions of which the spread of what was won is not known at all: of few, an error is taken for larger."""


class Frame(NamedTuple):
    """The projections of a fit: of what was said, candidates, states, feedback and profiles; remarks heard again."""

    said: tuple[Projection, ...]
    item: Projection
    state: Projection
    feedback: Projection
    profile: Projection
    recurring: IntArray


class FittedText(NamedTuple):
    """Posteriors, and the evidence that feedback tells anything, None where rewards were told.

    `left_out` (P, E, m): the weights of what fits, each part fitted without every P-th reaction, by member.
    `gauge`: theta and M, not known where rewards were told.
    """

    posterior: Ensemble
    evidence: Evidence | None
    left_out: FloatArray
    gauge: Gauge


def fit_text_posterior(
    sample: Sample,
    settings: FittingSettings,
    rewards: FloatArray | None = None,
    looks: int = 1,
    share: float = 1.0,
    earlier: Sequence[EarlierTurn] = (),
) -> FittedText:
    """Return the posterior fitted to reactions, whoever chose what they are to; the evidence is of that many looks.

    Choices drawn anew have a `share` of its level. Meanings are compared by choices of `earlier` turns, too. With 0
    looks no evidence is weighed. Known `rewards` (n,), of a judge or an oracle, take the place of what the feedback is
    found to mean.
    """
    frame = fit_frame(sample, settings)
    design = make_design(sample, frame)
    chosen = choose_trials(design, settings, rewards, earlier)
    climbed = (climb_all(design, trial, settings, rewards) for trial in chosen.trials)
    members = []
    for weights, trial in zip(climbed, chosen.trials, strict=True):
        scales = calibrate(design, weights, trial.fits) if rewards is None else Scales()
        members.append(make_posterior(frame, design, weights, scales))
    posterior = Ensemble(tuple(members), chosen.shares)
    left_out = np.array([[f[: design.fitting] for f in t.fits] for t in chosen.trials]).swapaxes(0, 1)
    evidence = weigh_won(design, frame, chosen.won, looks, share) if looks and rewards is None else None
    gauge = Gauge() if rewards is not None else gauge_rewards(posterior, sample, left_out)
    return FittedText(posterior, evidence, left_out, gauge)


def climb_all(
    design: Design, trial: Trial, settings: FittingSettings, rewards: FloatArray | None
) -> FloatArray:
    """Return the weights that all reactions come to from where a trial ended; meaning that was read is held."""
    if trial.read:
        return climb_rewards(design, trial.start, trial.ridge, settings.steps, settings)
    return climb_weights(design, trial.start, trial.ridge, settings.steps, settings, rewards)


def weigh_won(design: Design, frame: Frame, won: FloatArray, looks: int, share: float) -> Evidence:
    """Return what stakes won on reactions left out, and the chance that choices drawn anew go with feedback as well."""
    n = len(won)
    error = float(won.std() / np.sqrt(n)) * (1 + FEW / n)
    return Evidence(float(won.mean()), error, looks, chance=weigh_choices_anew(design, frame, looks, share))


def weigh_choices_anew(design: Design, frame: Frame, looks: int, share: float, turn: int = 0) -> float:
    """Return the chance that choices drawn anew go with feedback as well, 0 where too few choices were uniform.

    As many are drawn as a share of the level of that look asks for; those of each turn are drawn by themselves.
    """
    roles, draws = [project.size for project in frame.said], np.random.default_rng([looks, len(design), turn])
    return weigh_redraws(design, roles, share * level_of(looks), draws) or 0.0


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
        list_recurring(sample.remark),
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
        reading_of(sample, frame.feedback),
        frame.profile(sample.profile),
        sample.profiled,
        sample.taken,
        sample.chance,
        sample.sounds,
        mark_recurring(frame.recurring, sample.remark),
    )


def make_posterior(frame: Frame, design: Design, weights: FloatArray, scales: Scales) -> TextPosterior:
    """Return the posterior with these weights, to be read with these scales."""
    echo, W, state, feedback, profile, own = design.split(weights)
    affinity = Affinity(echo, frame.said, frame.item, W.reshape(design.asked.shape[1], -1))
    projected = (frame.state, state, frame.feedback, feedback, frame.profile, profile)
    return TextPosterior(affinity, *projected, frame.recurring, own, *scales)

"""Fitting the text posterior: the likelihood is climbed from several starts, and reactions left out of the fit choose.

Start and ridge are those that foretell reactions left out best, each part of them from the others; what feedback means
is read off the rewards that were foretold so (`tacit.text.small.cross_fitting`). The same reactions show whether the
fit tells anything: h_a of the candidate taken, drawn with probability p_a, is p_a on average where it does not, so that
h_a / p_a - 1 is what a stake of 1 would win. That feedback tells anything at all is shown by choices drawn anew
(`tacit.text.small.redrawing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.text.evidence import Evidence, level_of
from tacit.text.small.affinity import Affinity, Projection, fit_components, fit_projection
from tacit.text.small.calibration import Scales, calibrate
from tacit.text.small.climbing import FittingSettings, climb_rewards, climb_weights
from tacit.text.small.cross_fitting import Trial, try_start
from tacit.text.small.gauging import Gauge, gauge_rewards
from tacit.text.small.likelihood import Design
from tacit.text.small.posterior import Sample, TextPosterior
from tacit.text.small.redrawing import weigh_redraws
from tacit.text.small.starts import Start, hold_meaning, list_starts

RIDGES = (0.005, 0.03, 0.2, 5.0)
"""Of W, among which reactions left out choose: by the last, nearly all is said of states and nothing of candidates."""
MOST_COMPARED = 1_500
"""Reactions that starts and ridges are compared on; the fit itself is made on all."""
FEW = 10
"""Reactions of which the spread of what was won is not known at all: of few, an error is taken for larger."""


class Frame(NamedTuple):
    """The projections of a fit: of what was said, candidates, states, feedback and profiles."""

    said: tuple[Projection, ...]
    item: Projection
    state: Projection
    feedback: Projection
    profile: Projection


class FittedText(NamedTuple):
    """A posterior, and the evidence that feedback tells anything, None where rewards were told.

    `left_out` (P, m): the weights of what fits, each row fitted without every P-th reaction; nothing if not asked for.
    `gauge`: theta and M, not known where rewards were told.
    """

    posterior: TextPosterior
    evidence: Evidence | None
    left_out: FloatArray | None = None
    gauge: Gauge = Gauge()


def fit_text_posterior(
    sample: Sample,
    settings: FittingSettings,
    rewards: FloatArray | None = None,
    looks: int = 1,
    leaves_out: bool = False,
    share: float = 1.0,
) -> FittedText:
    """Return the posterior fitted to reactions, whoever chose what they are to; the evidence is of that many looks.

    Choices drawn anew have a `share` of the level. With 0 looks no evidence is weighed. Known `rewards` (n,), of a
    judge or an oracle, take the place of what the feedback is found to mean. If asked for, fits that leave reactions
    out come with it.
    """
    frame = fit_frame(sample, settings)
    design = make_design(sample, frame)
    chosen = choose_start(design, settings, rewards)
    weights = (
        climb_rewards(design, chosen.start, chosen.ridge, settings.steps, settings)
        if chosen.read
        else climb_weights(design, chosen.start, chosen.ridge, settings.steps, settings, rewards)
    )
    evidence = weigh_won(design, frame, chosen.won, looks, share) if looks and rewards is None else None
    part = design.part(chosen.rows)
    scales = calibrate(part, weights, chosen.fits) if rewards is None else Scales()
    posterior = make_posterior(frame, design, weights, scales)
    left_out = fit_left_out(design, chosen, settings, rewards) if leaves_out else None
    gauge = Gauge()
    if rewards is None:
        gauge = gauge_rewards(posterior, sample.part(chosen.rows), fitting_rows(design, chosen.fits))
    return FittedText(posterior, evidence, left_out, gauge)


def fit_left_out(
    design: Design, chosen: Trial, settings: FittingSettings, rewards: FloatArray | None
) -> FloatArray:
    """Return the weights of what fits, (P, m), each row fitted without every P-th reaction."""
    if len(chosen.rows) < len(design):
        chosen = try_start(design, chosen.start, chosen.ridge, settings, rewards, hasty=True)
    return fitting_rows(design, chosen.fits)


def fitting_rows(design: Design, fits: Sequence[FloatArray]) -> FloatArray:
    """Return the weights of what fits alone, (P, m)."""
    return np.array([fit[: design.fitting] for fit in fits])


def weigh_won(design: Design, frame: Frame, won: FloatArray, looks: int, share: float) -> Evidence:
    """Return what stakes won on reactions left out, and the chance that choices drawn anew go with feedback as well."""
    n = len(won)
    error = float(won.std() / np.sqrt(n)) * (1 + FEW / n)
    return Evidence(float(won.mean()), error, looks, chance=weigh_choices_anew(design, frame, looks, share))


def weigh_choices_anew(design: Design, frame: Frame, looks: int, share: float) -> float:
    """Return the chance that choices drawn anew go with feedback as well, divided by the share of the level it has.

    0 where too few choices were uniform.
    """
    roles, draws = [project.size for project in frame.said], np.random.default_rng([looks, len(design)])
    return min(1.0, (weigh_redraws(design, roles, share * level_of(looks), draws) or 0.0) / share)


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
        sample.sounds,
    )


def make_posterior(frame: Frame, design: Design, weights: FloatArray, scales: Scales) -> TextPosterior:
    """Return the posterior with these weights, to be read with these scales."""
    echo, W, state, feedback, profile = design.split(weights)
    affinity = Affinity(echo, frame.said, frame.item, W.reshape(design.asked.shape[1], -1))
    return TextPosterior(
        affinity, frame.state, state, frame.feedback, feedback, frame.profile, profile, *scales
    )


def choose_start(design: Design, settings: FittingSettings, rewards: FloatArray | None) -> Trial:
    """Return the start and the ridge by which reactions that were left out are foretold best.

    All starts are compared in haste, then the best two, then the better of these at all ridges, then what it found
    feedback to mean, held firmly, at the best of all ridges: where little is learned of candidates, what states tell
    shows the meaning first. What stakes won is that of the best before meaning was read. Of many reactions some are
    compared, and all say in the end what is meant.
    """
    if len(design) > MOST_COMPARED:
        some = compared_rows(design)
        chosen = choose_start(design.part(some), settings, None if rewards is None else rewards[some])
        if not chosen.read:
            return chosen._replace(rows=some)
        whole = try_start(design, chosen.start, chosen.ridge, settings, rewards, hasty=True)
        return chosen._replace(start=whole.start, rounds=whole.rounds, best=whole.best, rows=whole.rows)

    def tried(start: Start, ridge: float, hasty: bool = False, begun: Trial | None = None) -> Trial:
        return try_start(design, start, ridge, settings, rewards, hasty, begun)

    def worth(trial: Trial) -> float:
        return trial.gain + trial.start.likely / len(design)

    starts = list_starts(design, rewards)
    hasty = [{ridge: tried(start, ridge, hasty=True) for ridge in RIDGES[1:]} for start in starts]
    foremost = [max(each.values(), key=worth) for each in hasty]
    best = sorted(range(len(starts)), key=lambda n: -worth(foremost[n]))[:2]
    trials = [tried(starts[n], foremost[n].ridge, begun=foremost[n]) for n in best]
    ahead = int(np.argmax([worth(trial) for trial in trials]))
    others, begun = [ridge for ridge in RIDGES if ridge != trials[ahead].ridge], hasty[best[ahead]]
    trials += [tried(starts[best[ahead]], ridge, begun=begun.get(ridge)) for ridge in others]
    won = max(trials, key=lambda trial: trial.first).won  # by fits that know nothing of what was left out
    if rewards is None:
        meant = hold_meaning(design, max(trials, key=worth).start)
        first = max((tried(meant, ridge, hasty=True) for ridge in RIDGES), key=worth)
        trials.append(tried(meant, first.ridge, begun=first))
    return max(trials, key=worth)._replace(won=won)


def compared_rows(design: Design) -> IntArray:
    """Return `MOST_COMPARED` rows, evenly spread; up to half of them are uniform choices if there are as many.

    A policy's choices soon outnumber those that tell most. Which were uniform has nothing to do with what was taken.
    """
    even, others = np.flatnonzero(design.uniform), np.flatnonzero(~design.uniform)
    n = min(len(others), MOST_COMPARED - min(len(even), MOST_COMPARED // 2))
    parts = ((even, MOST_COMPARED - n), (others, n))
    spread = [rows[np.linspace(0, len(rows) - 1, k).astype(np.int64)] for rows, k in parts if k]
    return np.sort(np.concatenate(spread))

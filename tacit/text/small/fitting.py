"""Fitting the text posterior: expectation-maximisation from a start that needs no reward, judged by ERM (eq. 5).

Hidden in each reaction are the reward r, whether the remark is kind and whether the person is plain, with
kind = (r = plain). A round expects the three given the weights, then fits the weights to that: two logistic
regressions for t and k, and the likelihood of r under f.

It starts from equal weights of all kinds of match: what fits the conversation is likelier to be rewarded. That is
not taken for granted: the fit is also made from the opposite, and the one with the smaller squared loss on the
candidates taken (eq. 5) is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from tacit.base.arrays import FloatArray
from tacit.base.saved import LARGEST
from tacit.base.validation import check_number, check_whole
from tacit.text.evidence import Evidence
from tacit.text.small.posterior import LARGEST_RATIO, Sample, TextPosterior, fit_projection, softmax_match

FIRST_WEIGHT = 4.0
"""Every match weight before anything is known: a word that fits makes a candidate e^4 times as likely."""
FIRST_GOODNESS = -0.5
"""The bias of g before anything is known: a little less than a half of the states are good."""
FIRST_KINDNESS = 4.0
"""How many standard deviations of the first principal component of reactions make one unit of log-odds."""
SETTLED = 1e-3
"""A round that changes no expected reward by more than this is the last."""
MOST_PARTS = 1 << 16
"""Principal components that may be asked for, and rounds: encoders have some hundreds, and 30 rounds settle."""
SURE = 1e-9
"""How near probabilities may come to 0 and 1 in a likelihood."""


@dataclass(frozen=True)
class FittingSettings:
    """How strongly weights are held to their starts (ridge) and how many principal components are kept.

    Chosen on dialogues of seed 0 with exploration seeds 0 to 3; the effects are in docs/decisions/0007-text.md.
    """

    match_ridge: float = 0.5
    state_ridge: float = 0.1
    feedback_ridge: float = 0.2
    profile_ridge: float = 0.05
    state_parts: int = 64
    feedback_parts: int = 48
    profile_parts: int = 48
    rounds: int = 30
    sharpness: float = 6.0

    def __post_init__(self) -> None:
        for name in ("match_ridge", "state_ridge", "feedback_ridge", "profile_ridge", "sharpness"):
            check_number(name, getattr(self, name), 0, LARGEST)
        for name in ("state_parts", "feedback_parts", "profile_parts", "rounds"):
            check_whole(name, getattr(self, name), 1, MOST_PARTS)


class Expected(NamedTuple):
    """The probabilities that the reward is 1, that the remark is kind, that the person is plain, (n,) each."""

    reward: FloatArray
    kind: FloatArray
    plain: FloatArray


def fit_text_posterior(
    sample: Sample,
    settings: FittingSettings,
    rewards: FloatArray | None = None,
    weights: FloatArray | None = None,
) -> TextPosterior:
    """Return the posterior fitted to reactions whose candidate was taken at random.

    Known `rewards` (n,), of a judge or an oracle, take the place of what the feedback is found to mean. Candidates
    need not have been uniform: the likelihood that a round climbs is of the feedback given the candidate. Only the
    loss of eq. 5 is of candidates, and `weights` (n,), 1/(K p) each, make it that of uniform ones.
    """
    equal = np.full(sample.match.shape[2], FIRST_WEIGHT)
    fitted = [maximise(sample, sign * equal, settings, rewards) for sign in (1.0, -1.0)]
    return min(fitted, key=lambda posterior: squared_loss(posterior, sample, rewards, weights))


def cross_validate(sample: Sample, settings: FittingSettings, weights: FloatArray | None = None) -> Evidence:
    """Return the evidence that feedback tells anything: each half of the reactions is foretold from the other.

    `weights` (n,) are those of `fit_text_posterior`.
    """
    each = np.ones(len(sample)) if weights is None else weights / weights.mean()
    odd = np.arange(len(sample)) % 2 == 1
    gains = np.empty(len(sample))
    for half in (odd, ~odd):
        posterior = fit_text_posterior(sample.part(~half), settings, weights=each[~half])
        left_out = sample.part(half)
        uniform = 1 - 1 / left_out.mask.sum(axis=1)
        gains[half] = each[half] * (uniform - squared_losses(posterior, left_out))
    return Evidence(float(gains.mean()), float(gains.std() / np.sqrt(len(sample))))


def squared_loss(
    posterior: TextPosterior,
    sample: Sample,
    rewards: FloatArray | None = None,
    weights: FloatArray | None = None,
) -> float:
    """Return the mean squared distance of h from the candidate taken (eq. 5); of f from known rewards."""
    taken = np.arange(len(sample)), sample.taken
    if rewards is not None:
        return float(((posterior.rewards(sample)[taken] - rewards) ** 2).mean())
    return float(np.average(squared_losses(posterior, sample), weights=weights))


def squared_losses(posterior: TextPosterior, sample: Sample) -> FloatArray:
    """Return the squared distance of h from the candidate taken, (n,)."""
    predicted = posterior.predict(sample)
    predicted[np.arange(len(sample)), sample.taken] -= 1
    return np.asarray((predicted**2).sum(axis=1))


def maximise(
    sample: Sample, first: FloatArray, settings: FittingSettings, rewards: FloatArray | None
) -> TextPosterior:
    """Return the posterior after at most `settings.rounds` rounds, from match weights `first`."""
    posterior = first_posterior(sample, first, settings)
    if rewards is not None:
        return fit_to_rewards(posterior, sample, rewards, first, settings)
    expected = first_expectation(posterior, sample)
    for _ in range(settings.rounds):
        posterior = fit_meaning(posterior, sample, expected, settings)
        expected = expect(posterior, sample)
        posterior = fit_to_rewards(posterior, sample, expected.reward, first, settings)
        before, expected = expected, expect(posterior, sample)
        if np.abs(expected.reward - before.reward).max() < SETTLED:
            break
    return replace(posterior, sharpness=settings.sharpness)


def first_posterior(sample: Sample, first: FloatArray, settings: FittingSettings) -> TextPosterior:
    """Return the posterior that knows the first match weights and nothing of what feedback means."""
    profiled = sample.profile[sample.profile.any(axis=1)]
    projections = (
        fit_projection(sample.state, settings.state_parts),
        fit_projection(sample.reading, settings.feedback_parts),
        fit_projection(profiled, settings.profile_parts),
    )
    state, feedback, profile = (np.zeros(projection.axes.shape[1] + 1) for projection in projections)
    state[-1] = FIRST_GOODNESS
    return TextPosterior(
        first, projections[0], state, projections[1], feedback, projections[2], profile, sharpness=1.0
    )


def first_expectation(posterior: TextPosterior, sample: Sample) -> Expected:
    """Return what can be expected before feedback has a meaning.

    With no profile a remark is as kind as the candidate is good. With one, reactions differ most in how kind they
    are (their first principal component); which end is kind does not matter, as a contrary person reverses it.
    """
    f = rewards_of_taken(posterior, sample)
    main = posterior.feedback_projection(sample.reading)[:, 0]
    kind = expit(FIRST_KINDNESS * main / max(float(main.std()), SURE))
    profiled = sample.profile.any(axis=1)
    plain = np.where(profiled, f * kind + (1 - f) * (1 - kind), 1.0)
    return Expected(f, np.where(profiled, kind, f), plain)


def expect(posterior: TextPosterior, sample: Sample) -> Expected:
    """Return the expected hidden values given the weights: Bayes' rule over the four cases of (r, plain)."""
    f, ratio = rewards_of_taken(posterior, sample), np.exp(clipped(posterior.kindness(sample)))
    plain = expit(clipped(posterior.plainness(sample)))
    cases = np.array([f * plain * ratio, f * (1 - plain), (1 - f) * plain, (1 - f) * (1 - plain) * ratio])
    good_plain, good_contrary, bad_plain, bad_contrary = cases / cases.sum(axis=0)
    return Expected(good_plain + good_contrary, good_plain + bad_contrary, good_plain + bad_plain)


def fit_meaning(
    posterior: TextPosterior, sample: Sample, expected: Expected, settings: FittingSettings
) -> TextPosterior:
    """Return the posterior with t and k fitted to the expected kindness and plainness.

    t is a likelihood ratio, so that kind and unkind remarks weigh the same together, however rare one is.
    """
    n, share = len(sample), float(np.clip(expected.kind.mean(), SURE, 1 - SURE))
    reading = posterior.feedback_projection(sample.reading)
    weights = np.concatenate([expected.kind / share, (1 - expected.kind) / (1 - share)]) / 2
    feedback = fit_logistic(
        np.concatenate([reading, reading]),
        np.repeat([1.0, 0.0], n),
        weights,
        settings.feedback_ridge,
        posterior.feedback_weights,
    )
    profiled = sample.profile.any(axis=1)
    profile = fit_logistic(
        posterior.profile_projection(sample.profile[profiled]),
        expected.plain[profiled],
        np.ones(int(profiled.sum())),
        settings.profile_ridge,
        posterior.profile_weights,
    )
    return replace(posterior, feedback_weights=feedback, profile_weights=profile)


def fit_logistic(
    features: FloatArray, labels: FloatArray, weights: FloatArray, ridge: float, start: FloatArray
) -> FloatArray:
    """Return the weights of a logistic regression on labels in [0, 1]; the last one, the bias, is hardly held."""
    hold = np.full(len(start), ridge)
    hold[-1] = 1e-6

    def objective(v: FloatArray) -> tuple[float, FloatArray]:
        odds = features @ v
        loss = -(weights * (labels * log_expit(odds) + (1 - labels) * log_expit(-odds))).sum()
        gradient = features.T @ (weights * (expit(odds) - labels)) + 2 * hold * v
        return float(loss + (hold * v * v).sum()), gradient

    return np.asarray(minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x)


def fit_to_rewards(
    posterior: TextPosterior,
    sample: Sample,
    expected: FloatArray,
    first: FloatArray,
    settings: FittingSettings,
) -> TextPosterior:
    """Return the posterior with f fitted to expected rewards: the likelihood of r under g(s) softmax_a(w·match)."""
    rows, F = np.arange(len(sample)), len(first)
    state, taken = posterior.state_projection(sample.state), sample.match[rows, sample.taken]
    hold = np.concatenate([np.full(F, settings.match_ridge), np.full(state.shape[1], settings.state_ridge)])
    hold[-1] = 0.0
    centre = np.concatenate([first, np.zeros(state.shape[1])])

    def objective(weights: FloatArray) -> tuple[float, FloatArray]:
        fits = softmax_match(sample.match, sample.mask, weights[:F])
        g = expit(state @ weights[F:])
        f = np.clip(g * fits[rows, sample.taken], SURE, 1 - SURE)
        loss = -(expected * np.log(f) + (1 - expected) * np.log1p(-f)).sum()
        slope = f * (1 - expected) / (1 - f) - expected  # of the loss in log f
        match = taken - (fits[..., None] * sample.match).sum(axis=1)  # of log f in w
        gradient = np.concatenate([slope @ match, (slope * (1 - g)) @ state])
        away = weights - centre
        return float(loss + (hold * away * away).sum()), gradient + 2 * hold * away

    start = np.concatenate([posterior.match_weights, posterior.state_weights])
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 100}).x
    return replace(posterior, match_weights=found[:F], state_weights=found[F:])


def rewards_of_taken(posterior: TextPosterior, sample: Sample) -> FloatArray:
    """Return f of the candidates that were taken, (n,)."""
    return posterior.rewards(sample)[np.arange(len(sample)), sample.taken]


def clipped(odds: FloatArray) -> FloatArray:
    """Return log-odds within ±`LARGEST_RATIO`."""
    return np.clip(odds, -LARGEST_RATIO, LARGEST_RATIO)

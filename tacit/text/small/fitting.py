"""Fitting the text posterior: how much likelier feedback makes the choice that came before it (eq. 5, by likelihood).

A remark is kind with probability q = f P + (1 - f)(1 - P), f the reward of the candidate taken and P = sigmoid(k) that the
person is plain. Of all choices of the sample, feedback y of ratio e^t makes a choice with q

    (1 + q (e^t - 1)) / (1 + mean(q) (e^t - 1))

times as likely. The sum of its logarithms is climbed in all weights at once (L-BFGS), held by ridges. It has several
summits, so it is climbed from several starts: what echoes the request is right, and remarks go with that; the remarks'
leading component is kindness, or unkindness; or each person is as contrary as they say the commoner kind of thing.
Start and ridge are those that foretell reactions left out of the fit best. The same reactions are the evidence that
feedback tells anything: h_a of the candidate taken, drawn with probability p_a, is p_a on average where it does not,
so that h_a / p_a - 1 is what a stake of 1 would win.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, softmax

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import LARGEST
from tacit.base.validation import check_number, check_whole
from tacit.text.evidence import Evidence
from tacit.text.small.affinity import Affinity, Projection, fit_components, fit_projection
from tacit.text.small.posterior import LARGEST_RATIO, Sample, TextPosterior, bayes, clipped, log_ratio

FIRST_WEIGHT = 4.0
"""Every match weight where echo is the start: a word that fits makes a candidate e^4 times as likely."""
FIRST_GOODNESS, FIRST_PLAINNESS = 1.0, 2.0
"""Log-odds, before anything is known, that some candidate is right and that a person means what they say."""
FIRST_KINDNESS = 2.0
"""Log-odds of a remark one standard deviation out on the component that is taken for kindness."""
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
SURE = 1e-9
"""How near probabilities may come to 0 and 1 in a likelihood."""


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


@dataclass(frozen=True, eq=False)
class Design:
    """What the weights of a fit multiply, (n, ...) each: see `tacit.text.small.posterior`."""

    match: FloatArray
    mask: BoolArray
    asked: FloatArray
    offered: FloatArray
    state: FloatArray
    reading: FloatArray
    profile: FloatArray
    profiled: BoolArray
    taken: IntArray
    chance: FloatArray

    def __len__(self) -> int:
        return len(self.taken)

    def part(self, rows: BoolArray | IntArray) -> Design:
        """Return some rows as a design of their own."""
        return Design(*(each[rows] for each in vars(self).values()))

    @property
    def sizes(self) -> list[int]:
        """Return how many weights there are of match, W, state, feedback and profile."""
        W = self.asked.shape[1] * self.offered.shape[2]
        return [self.match.shape[2], W, *(each.shape[1] for each in (self.state, self.reading, self.profile))]

    def split(self, weights: FloatArray) -> list[FloatArray]:
        """Return the weights of each part."""
        return np.split(weights, np.cumsum(self.sizes)[:-1])


class Start(NamedTuple):
    """Where a fit begins, and what its ridges hold it to."""

    weights: FloatArray
    centre: FloatArray


class Believed(NamedTuple):
    """What weights say of each row: fits (n, K), g, t and P (n,)."""

    fits: FloatArray
    good: FloatArray
    ratio: FloatArray
    plain: FloatArray

    def kind(self, f: FloatArray) -> FloatArray:
        """Return q of rewards f: how likely a remark is kind."""
        return f * self.plain + (1 - f) * (1 - self.plain)


class Fitted(NamedTuple):
    """A posterior, and the evidence that feedback tells anything, None where rewards were told."""

    posterior: TextPosterior
    evidence: Evidence | None


def fit_text_posterior(
    sample: Sample, settings: FittingSettings, rewards: FloatArray | None = None, looks: int = 1
) -> Fitted:
    """Return the posterior fitted to reactions, whoever chose what they are to; the evidence is of that many looks.

    Known `rewards` (n,), of a judge or an oracle, take the place of what the feedback is found to mean.
    """
    frame = fit_frame(sample, settings)
    design = make_design(sample, frame)
    chosen = choose_start(design, settings, rewards)
    weights = climb(design, chosen.start, chosen.ridge, settings.steps, settings, rewards)
    n = len(chosen.won)
    error = float(chosen.won.std() / np.sqrt(n)) * (1 + FEW / n)
    evidence = Evidence(float(chosen.won.mean()), error, looks) if rewards is None else None
    return Fitted(make_posterior(frame, design, weights, settings.sharpness), evidence)


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
        some = np.linspace(0, len(design) - 1, MOST_COMPARED).astype(np.int64)
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


def try_start(
    design: Design, start: Start, ridge: float, settings: FittingSettings, rewards: FloatArray | None
) -> Trial:
    """Return what a start is worth: each part of the reactions is foretold from the others."""
    folds = FINE_FOLDS if len(design) <= FINE else FOLDS
    fold, won, found = np.arange(len(design)) % folds, np.zeros(len(design)), []
    for n in range(folds):
        fitted, left_out = fold != n, fold == n
        known, held = (None, None) if rewards is None else (rewards[fitted], rewards[left_out])
        weights = climb(design.part(fitted), start, ridge, settings.steps // 2, settings, known)
        rest = design.part(left_out)
        won[left_out] = stake(rest, weights)
        found.append((foretold(rest, weights, held), weights))
    best = max(found, key=lambda each: each[0])[1]
    return Trial(float(np.mean([gain for gain, _ in found])), won, Start(best, start.centre), ridge)


def stake(design: Design, weights: FloatArray) -> FloatArray:
    """Return what a stake of 1, spread over candidates as h says, wins on each reaction, (n,)."""
    believed = believe(design, weights)
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


def climb(
    design: Design,
    start: Start,
    ridge: float,
    steps: int,
    settings: FittingSettings,
    rewards: FloatArray | None,
) -> FloatArray:
    """Return the weights at the summit that is reached from a start, or on the way there after so many steps."""
    hold = hold_of(design, ridge, settings)

    def objective(weights: FloatArray) -> tuple[float, FloatArray]:
        value, slopes = (
            explain_feedback(design, weights)
            if rewards is None
            else explain_rewards(design, weights, rewards)
        )
        away = weights - start.centre
        return float(-value + (hold * away * away).sum()), -slopes + 2 * hold * away

    options = {"maxiter": steps}
    return np.asarray(minimize(objective, start.weights, jac=True, method="L-BFGS-B", options=options).x)


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


def believe(design: Design, weights: FloatArray) -> Believed:
    """Return what weights say of each row."""
    echo, W, state, feedback, profile = design.split(weights)
    asked = design.asked @ W.reshape(design.asked.shape[1], -1)
    scores = design.match @ echo + np.einsum("nkq,nq->nk", design.offered, asked)
    odds = np.where(design.profiled, clipped(design.profile @ profile), LARGEST_RATIO)
    return Believed(
        np.asarray(softmax(np.where(design.mask, scores, -np.inf), axis=1)),
        np.asarray(expit(design.state @ state)),
        clipped(design.reading @ feedback),
        np.asarray(expit(odds)),
    )


def rewards_of_taken(design: Design, weights: FloatArray) -> tuple[FloatArray, Believed]:
    """Return f of the candidates that were taken, (n,), and what it was made of."""
    believed = believe(design, weights)
    return believed.good * believed.fits[np.arange(len(design)), design.taken], believed


def explain_feedback(design: Design, weights: FloatArray) -> tuple[float, FloatArray]:
    """Return the log-likelihood of the module's docstring, and its slopes in the weights."""
    f, believed = rewards_of_taken(design, weights)
    q, plain = believed.kind(f), believed.plain
    ratio = np.exp(believed.ratio)
    more, mean = ratio - 1, q.mean()
    own, pooled = 1 + q * more, 1 + mean * more
    in_q = more / own - (more / pooled).mean()
    in_t = ratio * (q / own - mean / pooled)
    in_k = in_q * (2 * f - 1) * plain * (1 - plain) * design.profiled
    slopes = [
        slopes_of_rewards(design, believed, f * in_q * (2 * plain - 1)),
        design.reading.T @ in_t,
        design.profile.T @ in_k,
    ]
    return float((np.log(own) - np.log(pooled)).sum()), np.concatenate(slopes)


def explain_rewards(design: Design, weights: FloatArray, rewards: FloatArray) -> tuple[float, FloatArray]:
    """Return the log-likelihood of known rewards under f, and its slopes in the weights; others are not touched."""
    f, believed = rewards_of_taken(design, weights)
    f = np.clip(f, SURE, 1 - SURE)
    value = (rewards * np.log(f) + (1 - rewards) * np.log1p(-f)).sum()
    slopes = slopes_of_rewards(design, believed, rewards - f * (1 - rewards) / (1 - f))
    return float(value), np.concatenate([slopes, np.zeros(len(weights) - len(slopes))])


def slopes_of_rewards(design: Design, believed: Believed, in_log: FloatArray) -> FloatArray:
    """Return slopes in the weights of match, W and state, from those in log f of the candidates taken, (n,)."""
    chosen = np.arange(design.mask.shape[1]) == design.taken[:, None]
    in_scores = in_log[:, None] * (chosen - believed.fits)
    echo = np.einsum("nk,nkf->f", in_scores, design.match)
    W = design.asked.T @ np.einsum("nk,nkq->nq", in_scores, design.offered)
    return np.concatenate([echo, W.ravel(), design.state.T @ (in_log * (1 - believed.good))])


def list_starts(design: Design, rewards: FloatArray | None) -> list[Start]:
    """Return where fits begin; see the module's docstring."""
    echo, nothing = first_weights(design, FIRST_WEIGHT), first_weights(design, 0.0)
    if rewards is not None:
        return [Start(echo, echo), Start(nothing, nothing)]
    f, _ = rewards_of_taken(design, echo)
    going_along = regress(design.reading, f - f.mean())
    leading = np.zeros(design.reading.shape[1])
    leading[0] = 1.0
    placed = [(echo, going_along), (echo, leading), (nothing, leading), (nothing, -leading)]
    starts = [Start(read_as(design, centre, along), centre) for centre, along in placed]
    if design.profiled.any():
        starts += [
            Start(contrary(design, read_as(design, centre, leading)), centre) for centre in (echo, nothing)
        ]
    return starts


def first_weights(design: Design, echo: float) -> FloatArray:
    """Return the weights that believe as much in echo and know nothing of what feedback means."""
    weights = [np.zeros(size) for size in design.sizes]
    weights[0][:] = echo
    weights[2][-1], weights[4][-1] = FIRST_GOODNESS, FIRST_PLAINNESS
    return np.concatenate(weights)


def read_as(design: Design, weights: FloatArray, along: FloatArray) -> FloatArray:
    """Return the weights with kindness along a direction of the readings, (E + 1,)."""
    parts = design.split(weights.copy())
    spread = float((design.reading @ along).std())
    parts[3][:] = FIRST_KINDNESS * along / max(spread, SURE)
    return np.concatenate(parts)


def contrary(design: Design, weights: FloatArray) -> FloatArray:
    """Return the weights with people the more contrary the more of what they say is called kind.

    Rewards are the minority: who says mostly kind things means the opposite.
    """
    parts, those = design.split(weights.copy()), design.profiled
    kindness = np.tanh(believe(design, weights).ratio)
    parts[4][:] = -2 * FIRST_PLAINNESS * regress(design.profile[those], kindness[those], 1.0)
    return np.concatenate(parts)


def regress(features: FloatArray, values: FloatArray, ridge: float | None = None) -> FloatArray:
    """Return the weights of a ridge regression; by default as strong as a twentieth of the rows."""
    n, size = features.shape
    hold = n / 20 if ridge is None else ridge
    return np.asarray(np.linalg.solve(features.T @ features + hold * np.eye(size), features.T @ values))

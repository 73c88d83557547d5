"""Know the constants: what each last state is, and theta, M and sigma, from the feedback itself.

Counts of (feedback, action) in one last state and context hold all there is to know. Their columns are
Pr[y | a] = f_a g_1(y) + (1 - f_a) g_0(y), whatever rule drew the actions (Assumption 2.1), so where each word stands,
phi, and f_a, need no uniform actions once each was tried (`tacit.decoding.word_types`). Which side is the reward
`tacit.decoding.orientation` says, and what a place may be worth in which nothing was found `tacit.decoding.power`.

    theta = max_a f_a,   M = sum_a f_a,   sigma = theta (K - M) / M        (Assumption 2.3)

Where no word is said by one side alone, f is known up to an affine map. Whatever it is, those who are not pleased say
words of type 1 at most as often as is said after any action, and those who are at least as often, so that

    (t_a - min t) / (1 - min t)  <=  f_a  <=  t_a / max t,       t_a = sum_y Pr[y | a] phi(y).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri

from tacit.base.arrays import BoolArray, FloatArray
from tacit.base.validation import check_number, check_whole
from tacit.decoding.decoder import ramp
from tacit.decoding.orientation import (
    SURE_EXCLUSIVE,
    Leaning,
    is_sure,
    lean,
    outcome_odds,
    turn_odds,
)
from tacit.decoding.posterior import ideal_posterior
from tacit.decoding.power import (
    NEARLY,
    expected_gain,
    gain_wanted,
    nearly_found,
    telling_alone,
    telling_of,
    what_may_hide,
)
from tacit.decoding.word_types import Readings, WordTypes, read_both_ways

UNKNOWN, HETEROGENEOUS, HOMOGENEOUS = "unknown", "heterogeneous", "homogeneous"
"""The kinds of a last state in a context (Assumption 2.3); unknown until there are tuples enough to tell."""

LEVEL = 0.95
"""Of the intervals that are reported."""
MARGIN = 3.0
"""Standard errors by which theta is lowered and M raised before they become the decoder's threshold."""
LEAST_SEEN = 0.5
"""Log odds that sum f is taken to say of the orientation at least: it may be as far from K/2 as one error."""
SETTLED_BELOW = 0.5
"""A place in which nothing was found is settled once its best action could not earn more than this, unseen."""


@dataclass(frozen=True)
class JudgementSettings:
    """When an ending is judged; chosen on random problems (seeds 1000 and up) and then frozen.

    It is judged in a context once each action has `least_each` tuples. It is heterogeneous if feedback depends on the
    action at this `significance`; otherwise homogeneous, and settled as far as the tuples could have shown more. One
    whose orientation stays in doubt is settled after `undecided_after` tuples an action.
    """

    least_each: int = 5
    significance: float = 1e-4
    undecided_after: int = 48

    def __post_init__(self) -> None:
        for name in ("least_each", "undecided_after"):
            check_whole(name, getattr(self, name), 1)
        check_number("significance", self.significance, 0, 1)


class Interval(NamedTuple):
    """An estimate with the interval that covers the truth."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Judgement:
    """What the tuples of one last state and context say of it.

    `tuples` (K,) by action; `p_value` of feedback being independent of the action; `f` (K,) and `phi` (Y,)
    as in Eq. 4, phi between 0 and 1 where words overlap; `rewards` J(h(x, y, s), a) (Y, K): what each feedback decodes
    to after each action; `settled` whether more tuples are not worth exploring for; `hope` what the best action may
    be worth at most.
    """

    kind: str
    settled: bool
    tuples: FloatArray
    p_value: float
    f: FloatArray
    phi: FloatArray
    rewards: FloatArray
    expected: FloatArray
    """Sum over y of Pr[y | a] J(h(x, y, s), a), (K,): what each action earns, decoded."""
    hope: float
    overlaps: float = -math.inf
    """Nats by which words between the two sides are likelier than words of two types."""
    leaning: Leaning | None = None
    """What f says of its orientation, if it is heterogeneous."""
    turned: bool = False
    """Whether sum f <= K/2 was overruled."""
    doubt: float = 0.0
    """How likely it is the other way round."""
    waits: float = 0.0
    """How many times as many tuples would tell which way round it is, 0 where they would not, or none are needed."""
    needs: float = 0.0
    """The nats that words of one side alone would have to show, where feedback is faint."""
    counts_now: bool = False
    """Whether what its actions are worth counts although it is not settled: it is guessed, or known by outcomes."""
    readings: Readings | None = None
    """Both ways to read its words, so that it can be judged anew by what others say without another fit."""
    retired: BoolArray | None = None
    """The actions (K,) that are no longer on offer, where there are any."""

    @property
    def best(self) -> float:
        """Return the reward of the best action on offer."""
        rewards = self._hedge(self.f if self.kind == HETEROGENEOUS else self.expected)
        return float((rewards if self.retired is None else rewards[~self.retired]).max())

    @property
    def worth(self) -> FloatArray:
        """Return what each action is worth, decoded, (K,)."""
        return self._hedge(self.expected)

    def _hedge(self, rewards: FloatArray) -> FloatArray:
        """Return rewards (K,) mixed with 1 - f as far as it is likely the other way round."""
        return rewards + self.doubt * (1 - self.f - rewards) if self.doubt else rewards

    @property
    def minority(self) -> float:
        """Return the standard errors by which sum f stays below K/2, before it was turned."""
        f, K = 1 - self.f if self.turned else self.f, len(self.f)
        return (K / 2 - float(f.sum())) / sum_error(f, self.tuples)

    def says(self, known: FloatArray) -> tuple[Leaning | None, float, float]:
        """Return how it leans, by how many errors sum f stays below K/2, and the log odds of known outcomes (Y, 2)."""
        if self.kind != HETEROGENEOUS:
            return None, 0.0, 0.0
        return self.leaning, self.minority, outcome_odds(known, self.phi)

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return (low, high), both (K,), between which f lies whatever words both sides say, two errors wide."""
        if self.kind != HETEROGENEOUS:
            return np.zeros(len(self.f)), np.ones(len(self.f))
        error = 2 * np.sqrt(smoothed_variance(self.f, self.tuples))
        worst, best = int(np.argmin(self.f)), int(np.argmax(self.f))
        floor, top = min(self.f[worst] + error[worst], 0.99), max(self.f[best] - error[best], 0.01)
        low = np.clip((self.f - error - floor) / (1 - floor), 0.0, None)
        return np.minimum(low, self.f), np.maximum(np.clip((self.f + error) / top, None, 1.0), self.f)

    def reward_bounds(self, y: int, a: int) -> tuple[float, float]:
        """Return between what a feedback after an action may mean, so that the means over feedback bound f_a."""
        low, high = self._reward_bounds
        return float(low[y, a]), float(high[y, a])

    @cached_property
    def _reward_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of all, (Y, K) each: a place is judged once and asked in every episode that ends there."""
        (low, high), f = self.bounds(), self.f
        meant = posterior_reward(f, self.phi, self.tuples)  # (Y, K)
        down = np.divide(low, f, out=np.zeros_like(f), where=f > 0)
        up = np.divide(1 - high, 1 - f, out=np.zeros_like(f), where=f < 1)
        return np.minimum(meant * down, self.rewards), 1 - (1 - meant) * up

    def theta(self, level: float = LEVEL) -> Interval:
        """Return max_a f_a with a simultaneous Clopper-Pearson interval over the actions."""
        low, high = proportion_intervals(self.f * self.tuples, self.tuples, 1 - (1 - level) / len(self.f))
        return Interval(float(self.f.max()), float(low.max()), float(high.max()))

    def M(self, level: float = LEVEL) -> Interval:
        """Return sum_a f_a with a normal interval whose variance counts two successes and failures more."""
        total, error = float(self.f.sum()), float(ndtri(0.5 + level / 2)) * sum_error(self.f, self.tuples)
        return Interval(total, max(total - error, 0.0), min(total + error, float(len(self.f))))

    def sigma(self, level: float = LEVEL) -> Interval:
        """Return sigma = max_a f_a (K - M) / M with a normal interval, the delta method's for each action.

        The largest upper end bounds that of the best action, whichever it is; the lower ends hold all at once.
        """
        K, M = len(self.f), float(self.f.sum())
        if M == 0:
            return Interval(math.inf, 0.0, math.inf)
        slopes = (K - M) / M * np.eye(K) - (K / M**2) * self.f[:, None]  # d sigma_a / d f_b
        errors = np.sqrt((slopes**2) @ smoothed_variance(self.f, self.tuples))
        sigmas, tail = self.f * (K - M) / M, (1 - level) / 2
        low, high = sigmas + ndtri(tail / K) * errors, sigmas - ndtri(tail) * errors
        return Interval(float(sigmas.max()), max(float(low.max()), 0.0), float(high.max()))


Judgements = Mapping[tuple[int, int], Judgement]
"""What was judged of each (ending, context), or context group."""


def judge(
    counts: FloatArray,
    c: float,
    settings: JudgementSettings,
    telling: tuple[float, ...] = (1.0,),
    between: bool | None = None,
    readings: Readings | None = None,
) -> Judgement:
    """Return what counts (Y, K) of feedback by action say of a last state in a context, turned so that sum f <= K/2.

    `telling` are parts of what words of one side alone would tell that feedback may tell here, each as likely;
    `between` says whether words stand between the two sides, if the places of the context say so together, and
    `readings` are those of the same counts, if they were read before.

    >>> counts = np.array([[27.0, 3.0, 3.0], [3.0, 27.0, 27.0]])
    >>> judgement = judge(counts, 0.0, JudgementSettings())
    >>> judgement.kind, judgement.f.round(2), judgement.phi.round(2)
    ('heterogeneous', array([0.9, 0.1, 0.1]), array([1., 0.]))
    """
    tuples = counts.sum(axis=0)
    if tuples.min() < settings.least_each:
        return _featureless(UNKNOWN, counts, 1.0, c, 1.0)
    readings = read_both_ways(counts, max(NEARLY, settings.significance)) if readings is None else readings
    types = readings.types
    if types.p_value < settings.significance:
        return replace(_heterogeneous(counts, readings.choose(between), settings), readings=readings)
    hidden = what_may_hide(counts, types.gain, settings.significance, telling)
    hope = max(hidden.hope, nearly_found(readings), c)
    found = _featureless(HOMOGENEOUS, counts, types.p_value, c, hope)
    return replace(found, needs=hidden.needs, readings=readings)


def turn(judgement: Judgement, odds: float, overlapping: bool, settings: JudgementSettings) -> Judgement:
    """Return a heterogeneous judgement, turned unless the log odds say that sum f <= K/2 is right; settled if sure.

    One that is not sure is settled after enough tuples, in doubt: it may be worth what it is the other way round. Where
    words are `overlapping` doubt stays, however many tuples there are, and nothing is waited for unless they are few.
    """
    sure = is_sure(odds, overlapping)
    settled = sure or bool(judgement.tuples.sum() >= settings.undecided_after * len(judgement.f))
    if odds < 0:
        f, phi = 1 - judgement.f, 1 - judgement.phi
        rewards = decode_all(f, phi, judgement.tuples)
        # A majority leaves no room for a ramp: feedback decodes to what it means, which has the mean f.
        judgement = replace(judgement, f=f, phi=phi, rewards=rewards, expected=f, turned=True)
    waits = 0.0 if sure or not settled else times_wanted(judgement, overlapping)
    told = sure or (settled and not waits)
    hope = float(judgement.f.max() if told else max(judgement.f.max(), 1 - judgement.f.min()))
    in_doubt = settled and (overlapping or not sure)
    doubt = 1 / (1 + math.exp(abs(odds))) if in_doubt else 0.0
    return replace(judgement, settled=settled, hope=hope, doubt=doubt, waits=waits)


def times_wanted(judgement: Judgement, overlapping: bool) -> float:
    """Return how many times as many tuples would tell which way round a place is; 0 if they would not.

    The error of sum f falls as the tuples of every action grow, and so does that of what stands out; where words are
    `overlapping` and what stands out is known well, that does not help.
    """
    if not overlapping:
        return SURE_EXCLUSIVE / max(judgement.minority**2 / 2, LEAST_SEEN)
    blur = judgement.leaning.blur if judgement.leaning else 0.0
    return blur**2 if blur > 1 else 0.0


def tuples_wanted(judgement: Judgement, settings: JudgementSettings) -> float:
    """Return about how many more tuples of uniform actions settle a place, whatever they say; 0 if it is settled.

    Where nothing was found, what tuples could have shown grows with their number: so many more until a best action
    of `SETTLED_BELOW` would have been seen.
    """
    if judgement.waits:
        return float(max(judgement.waits - 1, 0.0) * judgement.tuples.min() * len(judgement.f))
    if judgement.settled:
        return 0.0
    K, tuples = len(judgement.tuples), float(judgement.tuples.sum())
    all_told = float((settings.undecided_after if K > 1 else settings.least_each) * K)
    if judgement.kind != HETEROGENEOUS and K > 1:
        each = np.full(K, 1 / K)
        shown, asked = (expected_gain(each, theta, 0) for theta in (judgement.hope, SETTLED_BELOW))
        all_told = max(gain_wanted(K, 0.0, settings.significance), tuples * shown, judgement.needs) / asked
    return float(max(all_told - tuples, (settings.least_each - judgement.tuples.min()) * K, 1.0))


def decode_all(f: FloatArray, phi: FloatArray, tuples: FloatArray) -> FloatArray:
    """Return J(h(x, y, s), a), (Y, K), with theta lowered and M raised by their noise.

    The true posterior of the best action stands on the edge theta/M of the ramp; the margins put it above, so
    that noise does not cost reward. Where sigma leaves no room for a ramp, feedback decodes to what it means after the
    action: phi itself, where every word is said by one side alone.
    """
    return posterior_reward(f, phi, tuples) * ramp_among(f, tuples)


def ramp_among(f: FloatArray, tuples: FloatArray) -> FloatArray:
    """Return the part of what it means that feedback decodes to after each of some actions, (K,), by their best."""
    K, best = len(f), int(np.argmax(f))
    theta = f[best] - MARGIN * math.sqrt(smoothed_variance(f, tuples)[best])
    M = f.sum() + MARGIN * sum_error(f, tuples)
    if theta <= 0 or M >= K / 2 or separation(theta, M, K) <= 1:
        return np.ones(K)
    threshold = theta / M
    width = (threshold - 1 / (K - M)) / 2
    return ramp(ideal_posterior(f, 1.0), threshold - width, width)


def posterior_reward(f: FloatArray, phi: FloatArray, tuples: FloatArray) -> FloatArray:
    """Return Pr[r = 1 | y, a], (Y, K), of words at phi (Y,) = Pr[r = 1 | y] over all tuples.

    >>> posterior_reward(np.array([0.9, 0.1]), np.array([1.0, 0.5, 0.0]), np.array([5.0, 5.0])).round(2)
    array([[1. , 1. ],
           [0.9, 0.1],
           [0. , 0. ]])
    """
    rewarded = float(f @ tuples / tuples.sum())
    one = phi[:, None] * f / max(rewarded, 1e-12)
    zero = (1 - phi[:, None]) * (1 - f) / max(1 - rewarded, 1e-12)
    return np.asarray(np.where(one + zero > 0, one / np.maximum(one + zero, 1e-300), phi[:, None]))


def separation(theta: float, M: float, n_actions: int) -> float:
    """Return sigma = theta (K - M) / M."""
    return theta * (n_actions - M) / M if M > 0 else math.inf


def proportion_intervals(
    successes: FloatArray, trials: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the Clopper-Pearson interval of each proportion."""
    tail, failures = (1 - level) / 2, trials - successes
    low = np.where(successes > 0, betaincinv(np.maximum(successes, 1e-9), failures + 1, tail), 0.0)
    high = np.where(failures > 0, betaincinv(successes + 1, np.maximum(failures, 1e-9), 1 - tail), 1.0)
    return np.asarray(low), np.asarray(high)


def smoothed_variance(f: FloatArray, tuples: FloatArray) -> FloatArray:
    """Return the variance of each f_a, with two successes and two failures added (Agresti and Coull)."""
    n = tuples + 4
    p = (f * tuples + 2) / n
    return np.asarray(p * (1 - p) / n)


def sum_error(f: FloatArray, tuples: FloatArray) -> float:
    """Return the standard error of sum f."""
    return math.sqrt(smoothed_variance(f, tuples).sum())


def _heterogeneous(counts: FloatArray, types: WordTypes, settings: JudgementSettings) -> Judgement:
    tuples, K = counts.sum(axis=0), counts.shape[1]
    turned = types.f.sum() > K / 2  # f -> 1 - f, phi -> 1 - phi leaves the tuples as likely as they are
    f, phi = (1 - types.f, 1 - types.positions) if turned else (types.f, types.positions)
    rewards = decode_all(f, phi, tuples)
    expected = (counts / tuples * rewards).sum(axis=0)
    found = Judgement(
        *(HETEROGENEOUS, False, tuples, types.p_value, f, phi, rewards, expected, 1.0, types.overlaps),
        lean(f, np.sqrt(smoothed_variance(f, tuples)))._replace(
            telling=telling_of(types.gain, tuples, f),
            alone=telling_alone(types.gain, tuples, f),
            between=types.between,
        ),
    )
    odds = turn_odds(found.minority, 0.0, 0.0, overlapping=False, majority=False)
    return turn(found, odds, False, settings)


def _featureless(kind: str, counts: FloatArray, p_value: float, c: float, hope: float) -> Judgement:
    Y, K = counts.shape
    worth = _constant((K,), c)
    settled = hope <= SETTLED_BELOW
    return Judgement(
        *(
            kind,
            settled,
            counts.sum(axis=0),
            p_value,
            worth,
            _constant((Y,), 0.0),
            _constant((Y, K), c),
            worth,
        ),
        hope,
    )


@lru_cache(maxsize=256)
def _constant(shape: tuple[int, ...], value: float) -> FloatArray:
    """Return an array of one value that cannot be written to: shared, for most places of large problems say nothing."""
    array = np.full(shape, value)
    array.flags.writeable = False
    return array

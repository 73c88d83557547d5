"""Know the constants: what each last state is, and theta, M and sigma, from the feedback itself.

Counts of (feedback, action) in one last state and context hold all there is to know. Their columns are
Pr[y | a] = f_a g_1(y) + (1 - f_a) g_0(y), whatever rule drew the actions (Assumption 2.1), so the two-way
clustering phi of the feedback values, and f_a as the share of phi = 1 among the tuples of action a, need
no uniform actions once each was tried. The orientation is the belief sum f < K/2.

    theta = max_a f_a,   M = sum_a f_a,   sigma = theta (K - M) / M        (Assumption 2.3)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, gammaincc, ndtri

from tacit.base.arrays import FloatArray
from tacit.base.validation import check_number, check_whole
from tacit.decoding.counts import SeenCounts
from tacit.decoding.decoder import ramp
from tacit.decoding.posterior import ideal_posterior
from tacit.decoding.structured import fit_rewards
from tacit.problem.layout import Layout

UNKNOWN, HETEROGENEOUS, HOMOGENEOUS = "unknown", "heterogeneous", "homogeneous"
"""The kinds of a last state in a context (Assumption 2.3); unknown until there are tuples enough to tell."""

LEVEL = 0.95
"""Of the intervals that are reported."""
MARGIN = 3.0
"""Standard errors by which theta is lowered and M raised before they become the decoder's threshold."""


@dataclass(frozen=True)
class JudgementSettings:
    """When an ending is judged; chosen on random problems (seeds 1000 and up) and then frozen.

    It is judged in a context once each action has `least_each` tuples. It is heterogeneous if feedback depends on the
    action at this `significance`; otherwise homogeneous, and settled after `homogeneous_after` tuples an action. One
    whose orientation stays in doubt is settled after `undecided_after` tuples an action.
    """

    least_each: int = 5
    significance: float = 1e-4
    homogeneous_after: int = 12
    undecided_after: int = 48

    def __post_init__(self) -> None:
        for name in ("least_each", "homogeneous_after", "undecided_after"):
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
    as in Eq. 4; `rewards` J(h(x, y, s), a) (Y, K): what each feedback decodes to after each action; `settled`
    whether more tuples are not worth exploring for.
    """

    kind: str
    settled: bool
    tuples: FloatArray
    p_value: float
    f: FloatArray
    phi: FloatArray
    rewards: FloatArray
    expected: FloatArray
    """Sum over y of Pr[y | a] J(h(x, y, s), a), (K,): what each action is worth, decoded."""

    @property
    def best(self) -> float:
        """Return the reward of the best action."""
        return float(self.f.max()) if self.kind == HETEROGENEOUS else float(self.expected.max())

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


@dataclass(frozen=True)
class Constants:
    """The constants of Assumption 2.3 over all heterogeneous states: the least theta, the largest M."""

    theta: Interval
    M: Interval
    sigma: Interval


def judge(counts: FloatArray, c: float, settings: JudgementSettings) -> Judgement:
    """Return what counts (Y, K) of feedback by action say of a last state in a context.

    >>> counts = np.array([[27.0, 3.0, 3.0], [3.0, 27.0, 27.0]])
    >>> judgement = judge(counts, 0.0, JudgementSettings())
    >>> judgement.kind, judgement.f.round(2), judgement.phi
    ('heterogeneous', array([0.9, 0.1, 0.1]), array([1., 0.]))
    """
    tuples, K = counts.sum(axis=0), counts.shape[1]
    p_value = independence_p_value(counts)
    if tuples.min() < settings.least_each:
        return _featureless(UNKNOWN, False, counts, p_value, c)
    if p_value >= settings.significance:
        return _featureless(HOMOGENEOUS, tuples.sum() >= settings.homogeneous_after * K, counts, p_value, c)
    f, phi = fit_balanced(counts)
    oriented = f.sum() + MARGIN * sum_error(f, tuples) < K / 2
    settled = bool(oriented or tuples.sum() >= settings.undecided_after * K)
    rewards = decode_all(f, phi, tuples)
    expected = (counts / tuples * rewards).sum(axis=0)
    return Judgement(HETEROGENEOUS, settled, tuples, p_value, f, phi, rewards, expected)


def judge_all(
    layout: Layout, counts: SeenCounts, c: float, settings: JudgementSettings
) -> dict[tuple[int, int], Judgement]:
    """Return the judgement of every (ending, context) that has tuples."""
    n_actions = layout.endings.n_actions
    return {(s, x): judge(table[:, : n_actions[s]], c, settings) for (s, x), table in counts.tables()}


def estimate_constants(judgements: Iterable[Judgement], level: float = LEVEL) -> Constants | None:
    """Return the constants over all settled heterogeneous judgements, None if there is none.

    The intervals hold for all of them at once (Bonferroni), hence for the least theta and the largest M.
    """
    found = [each for each in judgements if each.kind == HETEROGENEOUS and each.settled]
    if not found:
        return None
    each = 1 - (1 - level) / len(found)
    thetas = [judgement.theta(each) for judgement in found]
    Ms = [judgement.M(each) for judgement in found]
    sigmas = [judgement.sigma(each) for judgement in found]
    return Constants(
        theta=Interval(*(min(column) for column in zip(*thetas, strict=True))),
        M=Interval(*(max(column) for column in zip(*Ms, strict=True))),
        sigma=Interval(*(min(column) for column in zip(*sigmas, strict=True))),
    )


def fit_balanced(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return f (K,) and phi (Y,) of Eq. 4, each action weighted alike however often it was drawn."""
    seen, tuples = counts.sum(axis=1) > 0, counts.sum(axis=0)
    phi = np.zeros(len(counts))
    f, phi[seen] = fit_rewards(counts[seen] / tuples * tuples.mean())
    return f, phi


def decode_all(f: FloatArray, phi: FloatArray, tuples: FloatArray) -> FloatArray:
    """Return J(h(x, y, s), a), (Y, K), with theta lowered and M raised by their noise.

    The true posterior of the best action stands on the edge theta/M of the ramp; the margins put it above, so
    that noise does not cost reward. Where sigma leaves no room for a ramp, feedback decodes to phi itself.
    """
    K, best = len(f), int(np.argmax(f))
    theta = f[best] - MARGIN * math.sqrt(smoothed_variance(f, tuples)[best])
    M = f.sum() + MARGIN * sum_error(f, tuples)
    if theta <= 0 or M >= K / 2 or separation(theta, M, K) <= 1:
        return np.repeat(phi[:, None], K, axis=1)
    threshold = theta / M
    width = (threshold - 1 / (K - M)) / 2
    return phi[:, None] * ramp(ideal_posterior(f, 1.0), threshold - width, width)


def separation(theta: float, M: float, n_actions: int) -> float:
    """Return sigma = theta (K - M) / M."""
    return theta * (n_actions - M) / M if M > 0 else math.inf


def independence_p_value(counts: FloatArray) -> float:
    """Return the p-value of the likelihood-ratio test that feedback (rows) does not depend on the action.

    >>> round(independence_p_value(np.array([[10.0, 10.0], [10.0, 10.0]])), 3)
    1.0
    """
    table = counts[np.ix_(counts.sum(axis=1) > 0, counts.sum(axis=0) > 0)]
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    if table.size == 0 or freedom == 0:
        return 1.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    ratio = np.log(np.where(table > 0, table, 1.0) / np.where(table > 0, expected, 1.0))
    return float(gammaincc(freedom / 2, (table * ratio).sum()))


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


def _featureless(kind: str, settled: bool, counts: FloatArray, p_value: float, c: float) -> Judgement:
    Y, K = counts.shape
    worth = _constant((K,), c)
    return Judgement(
        kind,
        bool(settled),
        counts.sum(axis=0),
        p_value,
        worth,
        _constant((Y,), 0.0),
        _constant((Y, K), c),
        worth,
    )


@lru_cache(maxsize=256)
def _constant(shape: tuple[int, ...], value: float) -> FloatArray:
    """Return an array of one value that cannot be written to: shared, for most places of large problems say nothing."""
    array = np.full(shape, value)
    array.flags.writeable = False
    return array

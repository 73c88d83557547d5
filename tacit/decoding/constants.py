"""The constants of Assumption 2.3, theta, M and sigma, over all places that were judged, with intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tacit.decoding.judgement import HETEROGENEOUS, LEVEL, Interval, Judgement


@dataclass(frozen=True)
class Constants:
    """The constants of Assumption 2.3 over all heterogeneous states: the least theta, the largest M."""

    theta: Interval
    M: Interval
    sigma: Interval


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

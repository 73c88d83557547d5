"""Whether feedback goes with the choices before it: the choices taken, beside choices drawn anew by the same chances.

Reactions that are foretold from each other are no independent witnesses: of two that are alike by chance each foretells
the other, so what stakes win varies about twice as much as its spread says, and more where candidates recur. But where
feedback has nothing to do with the choice, the choices taken are draws like any others, whatever is made of them: if
g of m draws go with feedback as well, that had a chance of (g + 1) / (m + 1). What goes with what is measured by

    sum over i, j of  k(y_i, y_j) c(s_i, s_j) z_i·z_j        z_i what was taken, less the mean of what was on offer

with feedback as it is read, as it sounds, how likely that makes it that the person is pleased, and with each as
contrary as they say the commoner kind of thing; z matches of words, c = 1, or candidates' components, c = 1 (some
please everybody) or those of the request, the answers or the profile, as they are or all made alike. The largest of
these measures counts, each by its own spread among draws, and so does each of components and that of words together.
Where few are pleased they drown in how people are displeased. So how likely feedback is before anything was learned, if
what echoes is right and remarks mean what they sound like, is measured too, and counts by itself and in sum with those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit, logit

from tacit.base.arrays import Float32Array, FloatArray, IntArray
from tacit.text.small.likelihood import Design, believed_of
from tacit.text.small.likelihood_kernels import share_of_kind
from tacit.text.small.posterior import log_ratio
from tacit.text.small.starts import (
    FIRST_WEIGHT,
    contrary,
    first_weights,
    read_as,
    read_as_heard,
    sounding_kind,
)

FEWEST_UNIFORM = 20
"""Uniform choices below which nothing is drawn anew."""
MOST_DRAWN = 800
"""Choices that are drawn anew, evenly spread over all: time grows with their square."""
FIRST_DRAWS = 400
"""Draws that say how large each measure is by chance; they are not counted."""
AS_WELL = 4
"""Draws that go as well after which no more are made: of one alone the chance would hardly be known."""
SOME_DRAWS = 10_000
"""Draws beyond which no more are made than a level needs if none goes as well."""
AT_ONCE = 16
"""Draws that are measured together."""
ECHOES = (FIRST_WEIGHT, 4 * FIRST_WEIGHT)
"""Weights of every match: echo as likely as where fits begin, and nearly certain."""
MOST_HEARD = 200
"""Remarks that one is held against, evenly spread over all: that all people sound pleased must count for nothing."""
MOST_GOOD = 0.95
"""Of states in which something is right, at most this share: in any, nothing may be."""
NO_SPREAD = 1e-9
"""Spread below which a measure says nothing: where everybody says the same."""


class Measure(Protocol):
    """How well feedback goes with what was taken, measured in some ways."""

    def __call__(self, taken: IntArray) -> FloatArray:
        """Return the measures of several draws (m, n) of what was taken, (m, S)."""


class Together(NamedTuple):
    """What goes together: k c of each pair of reactions, (S, n n), and z of each candidate, (n, K, q)."""

    alike: Float32Array
    offered: Float32Array

    def __call__(self, taken: IntArray) -> FloatArray:
        """Return the cube roots of the module's sums for several draws (m, n) of what was taken, (m, S).

        They are nearly normal where the sums, of squares, are not, so that different ones can be compared.
        """
        rows = self.offered[np.arange(taken.shape[1]), taken]
        pairs = (rows @ rows.transpose(0, 2, 1)).reshape(len(taken), -1)
        return np.cbrt(np.asarray(pairs @ self.alike.T, dtype=np.float64))


class Measures(NamedTuple):
    """Measures of which the largest counts, by its spread; `joined` (J, 2) tells which of them are added, too."""

    measures: tuple[Measure, ...]
    joined: IntArray

    def __call__(self, taken: IntArray) -> FloatArray:
        """Return all measures of several draws (m, n) of what was taken, (m, S)."""
        return np.concatenate([measure(taken) for measure in self.measures], axis=1)

    def largest(self, spreads: FloatArray) -> FloatArray:
        """Return the largest measure or sum of two, (m,), all told in spreads from the mean, (m, S)."""
        sums = spreads[:, self.joined].sum(axis=2) / math.sqrt(2)
        return np.asarray(np.concatenate([spreads, sums], axis=1).max(axis=1))


class Scale(NamedTuple):
    """By how many spreads numbers are away from their mean; 0 where there is no spread."""

    mean: FloatArray
    spread: FloatArray

    @staticmethod
    def of(drawn: FloatArray) -> Scale:
        """Return the scale of numbers (m, ...) that were drawn."""
        mean, spread = drawn.mean(axis=0), drawn.std(axis=0)
        told = spread > NO_SPREAD * np.maximum(np.abs(mean), NO_SPREAD)
        return Scale(mean, np.where(told, spread, np.inf))

    def __call__(self, numbers: FloatArray) -> FloatArray:
        """Return numbers (m, ...) in spreads from the mean."""
        return np.asarray((numbers - self.mean) / self.spread)


class Likely(NamedTuple):
    """How likely feedback is after each candidate, log-likelihoods (S, n, K): their sum is measured."""

    told: FloatArray

    def __call__(self, taken: IntArray) -> FloatArray:
        """Return the log-likelihoods of several draws (m, n) of what was taken, (m, S)."""
        return np.asarray(self.told[:, np.arange(taken.shape[1]), taken].sum(axis=2).T)


def weigh_redraws(
    design: Design, roles: Sequence[int], level: float, chance: np.random.Generator
) -> float | None:
    """Return the chance with which draws go with feedback as well as the choices taken do; None: too few were uniform.

    `roles` are the numbers of components of each thing said. As many draws are made as `level` asks for, or until h
    have gone as well: if g < h of m draws did, the chance is (g + 1) / (m + 1), and h / m where the m-th was the h-th
    (Besag and Clifford, 1991).
    It is at most any number p in a share p of runs at most, where feedback has nothing to do with choices.
    """
    rows = np.flatnonzero(design.uniform)
    if len(rows) < FEWEST_UNIFORM:
        return None
    if len(rows) > MOST_DRAWN:
        rows = rows[np.linspace(0, len(rows) - 1, MOST_DRAWN).astype(np.int64)]
    some = design.part(rows)
    return weigh_measures(list_measures(some, roles), some, level, chance)


def weigh_measures(
    several: Sequence[Measures], design: Design, level: float, chance: np.random.Generator
) -> float:
    """Return the chance with which draws go with feedback as well as the choices taken do.

    By the largest measure of each set, the largest of these and their sum.
    """
    sizes = design.mask.sum(axis=1)

    def draw(n: int) -> IntArray:
        return np.asarray(chance.random((n, len(design))) * sizes, dtype=np.int64)

    first = [draw(AT_ONCE) for _ in range(math.ceil(FIRST_DRAWS / AT_ONCE))]
    scaled = [scale_measures(measures, first) for measures in several]

    def beyond(taken: IntArray) -> FloatArray:
        each = np.array([one(taken) for one in scaled])
        return np.asarray(np.maximum(each.max(axis=0), each.sum(axis=0) / math.sqrt(len(each))))

    draws, found, taken = count_draws(level), 0, beyond(design.taken[None])[0]
    for done in range(0, draws, AT_ONCE):
        as_well = beyond(draw(min(AT_ONCE, draws - done))) >= taken
        if found + as_well.sum() >= AS_WELL:
            return AS_WELL / (done + int(np.flatnonzero(as_well)[AS_WELL - found - 1]) + 1)
        found += int(as_well.sum())
    return (found + 1) / (draws + 1)


def scale_measures(measures: Measures, first: Sequence[IntArray]) -> Callable[[IntArray], FloatArray]:
    """Return what tells the largest of some measures, in spreads from its mean by chance: both as in `first` draws."""
    drawn = np.concatenate([measures(taken) for taken in first])
    scale = Scale.of(drawn)
    last = Scale.of(measures.largest(scale(drawn)))
    return lambda taken: last(measures.largest(scale(measures(taken))))


def count_draws(level: float) -> int:
    """Return how many draws tell at most whether as many go as well as a level allows; one would do if none may.

    >>> count_draws(0.01), count_draws(0.001), count_draws(0.00001)
    (400, 4000, 100000)
    """
    least, wanted = math.ceil(1 / level), math.ceil(AS_WELL / level)
    return max(least, min(wanted, SOME_DRAWS))


def list_measures(design: Design, roles: Sequence[int]) -> list[Measures]:
    """Return what goes together by words and by what may be learned, and what is likely before anything is, if known.

    Nothing of it depends on what was taken.
    """
    remarks = [reading @ reading.T for reading in read_remarks(design)]
    things = [np.ones((1, 1)), *(thing @ thing.T for thing in split_said(design, roles))]
    learned = [remark * thing for remark in remarks for thing in things]
    words = np.repeat(np.arange(len(remarks)), len(things))
    pairs = (make_measure(remarks, design.match, design), make_measure(learned, design.offered, design))
    groups = [Measures(pairs, np.column_stack([words, len(remarks) + np.arange(len(learned))]))]
    told = list(foresee_feedback(design))
    return [*groups, Measures((Likely(np.array(told)),), np.zeros((0, 2), np.int64))] if told else groups


def foresee_feedback(design: Design) -> Iterator[FloatArray]:
    """Yield how much likelier feedback is after each candidate than all that was heard, log 1 + q (e^t - 1), (n, K).

    If what echoes is likely right, or surely, and remarks mean what they sound like; then with people as contrary as
    they seem. As many states have something right as is thought at first, or as people sound pleased. Nothing where no
    remark sounds like anything.
    """
    if not design.sounds.any():
        return
    spread = np.linspace(0, len(design) - 1, min(len(design), MOST_HEARD)).astype(np.int64)
    for echo in ECHOES:
        heard = read_as_heard(design, first_weights(design, echo))
        for weights in (heard, contrary(design, heard)) if design.profiled.any() else (heard,):
            believed = believed_of(design, weights)
            plain, more = believed.plain[:, None], np.expm1(believed.ratio)
            some = np.minimum(design.mask.sum(axis=1) * share_pleased(believed.ratio), MOST_GOOD)
            for good in (believed.good, some):
                f = good[:, None] * believed.fits
                q = f * plain + (1 - f) * (1 - plain)
                yield np.log1p(q * more[:, None]) - np.log1p(q[:, :, None] * more[spread]).mean(axis=2)


def share_pleased(ratio: FloatArray) -> float:
    """Return how many remarks are kind by log-likelihood ratios (n,) alone, not quite none and not quite all."""
    n = len(ratio)
    return float(np.clip(share_of_kind(ratio), 1 / n, 1 - 1 / n))


def make_measure(alike: Sequence[FloatArray], offered: FloatArray, design: Design) -> Together:
    """Return a measure of candidates (n, K, q), each less the mean of those that were on offer beside it."""
    there = design.mask[:, :, None]
    mean = (offered * there).sum(axis=1, keepdims=True) / there.sum(axis=1, keepdims=True)
    flat = np.array([each.ravel() for each in alike], np.float32)
    return Together(flat, np.asarray((offered - mean) * there, np.float32))


def read_remarks(design: Design) -> Iterator[FloatArray]:
    """Yield feedback as numbers (n, E): leading components, what it means as it sounds, and from contrary people.

    As it sounds: how kind, how likely the person is pleased, and by how much the latter makes feedback the likelier.
    Where remarks overlap, the first tells how people are displeased as much as whether they are.
    """
    reading = design.reading[:, 1:-1] - design.reading[:, 1:-1].mean(axis=0)  # sounds follow
    yield reading * reading.std(axis=0)
    if design.sounds.any():
        yield centre(design.sounds)
        ratio = believed_of(design, read_as_heard(design, first_weights(design, 0.0))).ratio
        share = share_pleased(ratio)
        yield centre(expit(ratio + logit(share)))
        yield centre(np.log1p(share * np.expm1(ratio)))
    if design.profiled.any():
        kind = read_as(design, first_weights(design, 0.0), sounding_kind(design))
        believed = believed_of(design, contrary(design, kind))
        yield centre(log_ratio(believed.ratio, np.log(believed.plain) - np.log1p(-believed.plain)))


def centre(numbers: FloatArray) -> FloatArray:
    """Return numbers (n,) less their mean, as a column."""
    return np.asarray((numbers - numbers.mean())[:, None])


def split_said(design: Design, roles: Sequence[int]) -> Iterator[FloatArray]:
    """Yield the components of each thing that was said, (n, parts), as they are and then all made alike.

    What people talk about is in the leading ones; how they put it may be in any.
    """
    for part in np.split(design.asked[:, :-1], np.cumsum(roles)[:-1], axis=1):
        if part.any():
            yield part
            yield make_alike(part)


def make_alike(rows: FloatArray) -> FloatArray:
    """Return rows with components as large as each other, by their spread; zeros where there is none."""
    spread = rows.std(axis=0)
    return np.asarray(rows / np.where(spread > NO_SPREAD, spread, np.inf))

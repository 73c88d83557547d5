"""Vectors as words: feedback that is a point, a picture or a sentence's vector falls into one of a few cells.

A cell is a word, so all that is known of words holds for vectors. Cells must tell apart what depends on the action, and
not what people differ by. In a region of contexts and an ending, g, the means of feedback after each action differ by
more than chance only where feedback tells something. Regions may mean the opposite of each other, so the scatter is
added up over them and not the means,

    B = sum_g sum_a n_ga (m_ga - m_g)(m_ga - m_g)',    B v = lambda C v,

with C the covariance within (g, a). Where nothing is told, no lambda is much above (sqrt b + sqrt q)^2 for b
differences of means in q dimensions; directions above that stand out. Cells are the nearest of k-means' centres: in the
direction in which feedback is two clouds (`tacit.decoding.two_clouds`), in those that stand out, in the leading
principal components, or in all, and as many as predict held-out actions best from the cell, region and ending, which is
inverse kinematics (Eq. 5). Silence, a row of NaN, is the last word.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.base.saved import Saved
from tacit.decoding.centres import find_centres, nearest
from tacit.decoding.two_clouds import find_clouds

CLOUDS, STANDING_OUT, LEADING, ALL = "two clouds", "standing out", "leading", "all"
"""Ways of looking for cells, in the order in which they are tried."""
NUMBERS = (2, 3, 4, 6, 8, 12, 16)
"""Cells that are tried."""
USUAL = 6
"""Cells where held-out actions do not say how many."""
MOST_COMPONENTS = 30
"""Principal components in which directions are looked for."""
ROWS_EACH = 10
"""Rows that there must be for each of them."""
COMPONENTS, MOST_DIRECTIONS = 3, 3
"""Principal components, and directions that stand out, in which cells are."""
CLOUD_COMPONENTS = 6
"""Principal components in which feedback may be two clouds."""
ABOVE = 1.2
"""Times the largest lambda of noise: what stands out. Of 1,200 tables of noise, normal or of heavy tails, two in a
hundred had one above it."""
LEFT_EACH = 3
"""Rows for each component, beyond the means, that there must be to look for directions."""
FOLDS = 4
"""One of so many rows is held out."""
STRENGTH = 4.0
"""Tuples that a cell of a region and ending has beforehand."""
ERRORS = 2.0
"""Standard errors by which more cells, or another way of looking, must predict better; with 1, chance chose for 2,000
points in linear contexts, and purity fell 0.1 short in one of ten problems."""
LEAST_SPREAD = 1e-9
"""Of a feature, relative to the largest: less is a constant."""


@dataclass(frozen=True, eq=False)
class WordCells:
    """Cells of feedback: the word of y is the nearest of `centres` (W, q) to (y - mean) directions.

    `mean` (d,), `directions` (d, q). The last word, W, is silence. `gain` is what held-out actions gained by the cell,
    in nats, `z` the same in standard errors.
    """

    mean: FloatArray
    directions: FloatArray
    centres: FloatArray
    gain: float = 0.0
    z: float = 0.0

    @property
    def n_words(self) -> int:
        """Return the number of words, with silence."""
        return len(self.centres) + 1

    def word(self, y: FloatArray) -> int:
        """Return the word of one feedback (d,)."""
        return int(self.words(np.asarray(y, dtype=np.float64)[None])[0])

    def words(self, feedback: FloatArray) -> IntArray:
        """Return the words of feedback (n, d).

        >>> cells = WordCells(np.zeros(1), np.ones((1, 1)), np.array([[-1.0], [1.0]]))
        >>> cells.words(np.array([[-3.0], [0.5], [np.nan]])).tolist()
        [0, 1, 2]
        """
        spoken = check_feedback(feedback, len(self.mean))
        words = np.full(len(feedback), len(self.centres))
        words[spoken] = nearest((feedback[spoken] - self.mean) @ self.directions, self.centres)
        return words

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {
            "mean": self.mean,
            "directions": self.directions,
            "centres": self.centres,
            "gain": self.gain,
            "z": self.z,
        }

    @staticmethod
    def from_state(state: Mapping[str, Any]) -> WordCells:
        """Return the cells that `to_state` described, the same to the last bit."""
        saved = Saved.of(state)
        mean = saved.floats("mean", (None,))
        directions = saved.floats("directions", (len(mean), None))
        centres = saved.floats("centres", (None, directions.shape[1]))
        saved.check(len(centres) > 0, "centres", "of one cell or more")
        return WordCells(mean, directions, centres, saved.number("gain"), saved.number("z"))


class Spoken(NamedTuple):
    """Feedback that was heard, (n, d), the `groups` (n,) of region and ending, the endings (n,) and actions (n,)."""

    feedback: FloatArray
    groups: IntArray
    endings: IntArray
    actions: IntArray

    def part(self, chosen: BoolArray) -> Spoken:
        """Return some of it."""
        rest = (self.groups[chosen], self.endings[chosen], self.actions[chosen])
        return Spoken(self.feedback[chosen], *rest)


class Views(NamedTuple):
    """Where cells may be looked for: about `mean` (d,), each of `ways` (d, q), by name, is a choice of directions."""

    mean: FloatArray
    ways: dict[str, FloatArray]
    evident: bool
    """Whether feedback is two clouds to anybody who sees it."""


def fit_cells(
    feedback: FloatArray,
    endings: IntArray,
    actions: IntArray,
    regions: IntArray | None,
    generator: np.random.Generator,
) -> WordCells:
    """Return cells of feedback (n, d), of which rows of NaN are silence, after actions (n,) in endings (n,).

    `regions` (n,) are of contexts in which people are taken to mean the same; None if all do.
    """
    heard = check_feedback(feedback, feedback.shape[1])
    regions = np.zeros(len(feedback), dtype=np.int64) if regions is None else regions
    groups = np.unique(np.stack([regions, endings]), axis=1, return_inverse=True)[1].ravel()
    spoken = Spoken(feedback, groups, endings, actions).part(heard)
    n = len(spoken.feedback)
    if n < 2 * FOLDS:
        return WordCells(np.zeros(feedback.shape[1]), np.zeros((feedback.shape[1], 1)), np.zeros((1, 1)))
    way, number, gain, z = choose_cells(spoken, generator)
    views = find_views(spoken)
    directions = views.ways.get(way, views.ways[ALL])
    centres = find_centres((spoken.feedback - views.mean) @ directions, number, generator)
    return WordCells(views.mean, directions, centres, gain, z)


def check_feedback(feedback: FloatArray, dimension: int) -> BoolArray:
    """Return which rows were heard; raise ValueError where some of a row are missing, or there are not as many."""
    if feedback.ndim != 2 or feedback.shape[1] != dimension:
        raise ValueError(
            f"feedback must be of shape (n, {dimension}), got {feedback.shape}; use one row for each"
        )
    missing = np.isnan(feedback)
    silent = missing.all(axis=1)
    if not np.isfinite(feedback[~silent]).all():
        raise ValueError(
            "feedback must be finite, or NaN in all of a row for silence; fill in what is missing"
        )
    return np.asarray(~silent)


def choose_cells(spoken: Spoken, generator: np.random.Generator) -> tuple[str, int, float, float]:
    """Return the way of looking and the number of cells that predict held-out actions best, with gain and z.

    More cells, or another way, must predict better by more than chance. If none predicts at all, there are two where
    feedback is evidently two clouds, otherwise the usual number in all directions.
    """
    held = generator.permutation(len(spoken.feedback)) % FOLDS == 0
    learned, asked = spoken.part(~held), spoken.part(held)
    views = find_views(learned)
    chosen = (CLOUDS, 2) if views.evident else (ALL, USUAL)
    best = np.zeros(int(held.sum()))
    for way, directions in views.ways.items():
        near, far = ((each.feedback - views.mean) @ directions for each in (learned, asked))
        for number in NUMBERS:
            centres = find_centres(near, number, generator)
            gained = gain_of_cells(learned, nearest(near, centres), asked, nearest(far, centres), number)
            more = gained - best
            if more.sum() > ERRORS * more.std() * math.sqrt(len(more)):
                chosen, best = (way, number), gained
    error = float(best.std()) * math.sqrt(len(best))
    return *chosen, float(best.sum()), float(best.sum()) / error if error > 0 else 0.0


def gain_of_cells(
    learned: Spoken, words: IntArray, asked: Spoken, asked_words: IntArray, n_cells: int
) -> FloatArray:
    """Return log Pr[a | cell, g] / Pr[a | g] of each tuple that is asked, (n,), as learned from the others.

    Regions have few tuples, so what a cell says there is held to be what it says in all of the ending beforehand.
    """
    K = int(max(learned.actions.max(), asked.actions.max())) + 1
    usual = smoothed(learned.groups, learned.actions, asked.groups, K, np.full(K, 1 / K))
    in_ending = smoothed(learned.endings, learned.actions, asked.endings, K, np.full(K, 1 / K))
    cells, asked_cells = (w + n_cells * each.endings for w, each in ((words, learned), (asked_words, asked)))
    of_all = smoothed(cells, learned.actions, asked_cells, K, in_ending)
    expected = usual * of_all / in_ending
    expected /= expected.sum(axis=1, keepdims=True)
    cells, asked_cells = (w + n_cells * each.groups for w, each in ((words, learned), (asked_words, asked)))
    chances = smoothed(cells, learned.actions, asked_cells, K, expected)
    rows = np.arange(len(asked.actions))
    return np.asarray(np.log(chances / usual)[rows, asked.actions])


def smoothed(
    kinds: IntArray, actions: IntArray, asked: IntArray, n_actions: int, towards: FloatArray
) -> FloatArray:
    """Return the chance of each action, (n, K), in the kinds that are asked, with `STRENGTH` tuples as `towards`.

    >>> smoothed(np.array([0, 0, 1]), np.array([1, 1, 0]), np.array([0, 2]), 2, np.full(2, 0.5)).round(2)
    array([[0.33, 0.67],
           [0.5 , 0.5 ]])
    """
    counts = np.zeros((int(max(kinds.max(), asked.max())) + 1, n_actions))
    np.add.at(counts, (kinds, actions), 1)
    often = counts.sum(axis=1, keepdims=True)
    return np.asarray((counts[asked] + STRENGTH * towards) / (often[asked] + STRENGTH))


def find_views(spoken: Spoken) -> Views:
    """Return the directions in which cells may be: of two clouds, those that stand out, leading components, and all."""
    mean, axes, variances = principal_axes(spoken.feedback)
    along = (spoken.feedback - mean) @ axes
    across = standing_out(along, spoken)
    q = min(len(variances), CLOUD_COMPONENTS)
    begin = np.concatenate([np.eye(q), across[:q]], axis=1)
    pairs = np.unique(np.stack([spoken.groups, spoken.actions]), axis=1, return_inverse=True)[1].ravel()
    clouds = find_clouds(along[:, :q], pairs, begin)
    leading = axes[:, :COMPONENTS] / math.sqrt(max(variances[0], 1e-300))
    cloudy = axes[:, :q] @ clouds.direction[:, None]
    ways = {CLOUDS: cloudy, STANDING_OUT: axes @ across, LEADING: leading}
    ways = {name: directions for name, directions in ways.items() if directions.shape[1]}
    return Views(mean, {**ways, ALL: np.concatenate(list(ways.values()), axis=1)}, clouds.evident)


def principal_axes(feedback: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean (d,), the principal axes (d, q) of standardised feedback, and its variances along them (q,)."""
    mean, spread = feedback.mean(axis=0), feedback.std(axis=0)
    varies = spread > LEAST_SPREAD * max(float(np.abs(feedback).max()), 1e-300)
    scale = np.where(varies, 1 / np.where(varies, spread, 1.0), 0.0)
    scaled = (feedback - mean) * scale
    variances, axes = np.linalg.eigh(scaled.T @ scaled / len(scaled))
    most = max(min(MOST_COMPONENTS, len(feedback) // ROWS_EACH), 1)
    order = np.argsort(-variances)[:most]
    order = order[variances[order] > LEAST_SPREAD] if variances[order[0]] > LEAST_SPREAD else order[:1]
    return mean, scale[:, None] * axes[:, order], variances[order]


def standing_out(along: FloatArray, spoken: Spoken) -> FloatArray:
    """Return the directions (q, m), of feedback (n, q), in which actions differ more than by chance, variance 1 within.

    >>> generator = np.random.default_rng(0)
    >>> actions, regions = generator.integers(3, size=600), generator.integers(2, size=600)
    >>> y = generator.standard_normal((600, 4))
    >>> standing_out(y, Spoken(y, regions, 0 * regions, actions)).shape
    (4, 0)
    >>> y[:, 1] += np.where(actions == 2, 3.0, 0.0) * np.where(regions == 1, 1, -1)
    >>> np.abs(standing_out(y, Spoken(y, regions, 0 * regions, actions))).argmax(axis=0)
    array([1])
    """
    n_actions = int(spoken.actions.max()) + 1
    by_group, groups = _means(along, spoken.groups)
    by_pair, pairs = _means(along, spoken.groups * n_actions + spoken.actions)
    within = along - by_pair[pairs]
    between = by_pair[pairs] - by_group[groups]
    freedom, left = len(by_pair) - len(by_group), len(along) - len(by_pair)
    q = along.shape[1]
    if freedom < 1 or left < LEFT_EACH * q:
        return np.zeros((q, 0))
    covariance = within.T @ within / left + 1e-6 * np.eye(q)
    values, vectors = eigh(between.T @ between, covariance)
    above = values > ABOVE * (math.sqrt(freedom) + math.sqrt(q)) ** 2
    return np.asarray(vectors[:, above][:, ::-1][:, :MOST_DIRECTIONS])


def _means(along: FloatArray, kinds: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the mean (k, q) of each kind that there is, and which each row is of, (n,)."""
    _, index = np.unique(kinds, return_inverse=True)
    often = np.bincount(index)
    sums = np.stack([np.bincount(index, column) for column in along.T], axis=1)
    return sums / often[:, None], index

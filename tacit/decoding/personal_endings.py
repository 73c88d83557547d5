"""Endings that a fit reads otherwise than their own words do: each is begun again from these, all others as they are.

What words mean is learned for all endings together, and where they mean something else at one, that one may settle
where what the others say is explained by who came; or some people do, there alone. Of few tuples this can be likelier
than what is true; of more it is not, and a fit that goes on from what is known would stay there for good. On which side
of the contexts words are turned the other endings tell. With it, a score of how words follow actions
(`tacit.decoding.personal_starts`) says who was pleased by this ending alone; it is made of uniform actions, among which
rewards are the minority. Each side is held against it by itself: the fewer people of one would not show among all.
"""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import BoolArray, FloatArray, IntArray
from tacit.decoding.personal_choice import begin_again
from tacit.decoding.personal_forms import TURNING, Form
from tacit.decoding.personal_likelihood import Fitted, Heard, Parameters, tell, with_units
from tacit.decoding.personal_starts import UNDECIDED, score_words

LEAST_AGREEMENT = 0.5
"""The correlation of who was pleased by the fit and by words as they are scored below which a side of an ending is
begun again. Of endings that were read right it was 0.62 to 1.00, of one that was not -0.54 to -0.20 (linear contexts
and xor of three steps, 400 to 4,400 tuples, seeds 1,000,002, 1,000,003 and 9,000,001 of `benchmarks/context_world`); of
sides 0.93 to 1.00 and -0.46 to -0.20 (groups, 800 to 9,800 tuples, seed 9,000,001)."""


def reread_endings(
    heard: Heard,
    uniform: BoolArray,
    telling: BoolArray,
    mask: BoolArray,
    fitted: Fitted,
    form: Form,
    steps: int,
) -> Fitted:
    """Return where beginning with the own words of `telling` endings (S,) leads to, where these disagree on a side, if
    it is better.

    `uniform` (n,) says of what was heard whose action was drawn so. Forms that have no side are left as they are.
    """
    sides = find_sides(heard, fitted.parameters, form)
    if sides is None or len(mask) == 1:
        return fitted
    endings = np.repeat(np.arange(len(mask)), np.diff(heard.bounds))
    scored = score_by_uniform(heard, uniform, endings, sides, fitted.parameters.gamma.shape[1])
    for s in np.flatnonzero(telling & (np.diff(heard.bounds) > 0)):
        rho, begins = tell(heard, fitted.parameters).rho, False
        for side in (-1.0, 1.0):
            own = np.flatnonzero((endings == s) & (sides == side))
            if len(own) and correlation(scored[own], rho[own]) < LEAST_AGREEMENT:
                rho[own], begins = scored[own], True
        if begins:
            fitted = begin_again(heard, mask, fitted, form, rho, steps)
    return fitted


def find_sides(heard: Heard, at: Parameters, form: Form) -> FloatArray | None:
    """Return on which side of the contexts each tuple is by the one term that turns words, (n,); None without one."""
    if form.terms not in (TURNING, "pair"):
        return None
    return np.where(with_units(heard.linear, at.units)[:, -1] > 0, 1.0, -1.0)


def score_by_uniform(
    heard: Heard, uniform: BoolArray, endings: IntArray, sides: FloatArray, n_words: int
) -> FloatArray:
    """Return rho (n,) of all tuples by their endings, sides and words, as those of uniform actions are scored."""
    place = (endings * 2 + (sides > 0)) * n_words + heard.words
    known = np.full((int(endings.max(initial=0)) + 1) * 2 * n_words, UNDECIDED)
    if uniform.any():
        said = endings[uniform], heard.actions[uniform], heard.words[uniform]
        known[place[uniform]] = score_words(heard.linear[uniform, 1:], sides[uniform], *said)
    return np.asarray(known[place])


def correlation(one: FloatArray, other: FloatArray) -> float:
    """Return the correlation of two (n,); 0 where one of them is constant.

    >>> correlation(np.array([0.1, 0.9]), np.array([0.2, 0.4])), correlation(np.array([1.0, 1.0]), np.array([0.2, 0.4]))
    (1.0, 0.0)
    """
    one, other = one - one.mean(), other - other.mean()
    spread = float(np.sqrt((one @ one) * (other @ other)))
    return round(float(one @ other) / spread, 9) if spread > 0 else 0.0

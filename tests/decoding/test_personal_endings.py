"""Endings that a fit reads otherwise than their own words do: the fit is stuck, and begun again it is not."""

import numpy as np
import pytest
from scipy.special import expit

from tacit.decoding.context_bases import fit_basis
from tacit.decoding.personal_choice import turn_majorities
from tacit.decoding.personal_endings import (
    LEAST_AGREEMENT,
    correlation,
    find_sides,
    reread_endings,
    score_by_uniform,
)
from tacit.decoding.personal_fit import fit_personal_meaning
from tacit.decoding.personal_forms import FORMS, TURNING
from tacit.decoding.personal_likelihood import climb_likelihood, hear, no_parameters, tell
from tacit.decoding.personal_meaning import PersonalMeaning, rewards_by

N, D, K, S = 1500, 20, 5, 3
FORM = next(form for form in FORMS if form.terms == TURNING and form.ridge.slope == 4.0)
MASK, EVERY = np.ones((S, K), dtype=bool), np.ones(S, dtype=bool)
WORDS = np.array(
    [
        [[0.7, 0.3, 0.0, 0.0], [0.0, 0.0, 0.4, 0.6]],
        [[0.0, 0.1, 0.4, 0.5], [0.6, 0.4, 0.0, 0.0]],
        [[1.0, 0.0, 0.0, 0.0], [0.0, 0.4, 0.3, 0.3]],
    ]
)
"""What those say who are not pleased and those who are, (S, 2, W): at the second ending nearly the opposite."""


def pleasing(x):
    """Return f (n, S, K), logistic in 20 features."""
    slopes = np.random.default_rng(3).normal(size=(D, S, K))
    return expit(np.tensordot(x, slopes * 2.5 / np.linalg.norm(slopes, axis=0), 1) - 2)


def draw(seed, edge=0.0):
    """Return uniform tuples, and who was pleased; who is beyond an edge in the first feature means the opposite."""
    generator = np.random.default_rng(seed)
    x, s = generator.normal(size=(N, D)), generator.integers(S, size=N)
    a = generator.integers(K, size=N)
    pleased = generator.random(N) < pleasing(x)[np.arange(N), s, a]
    chances = WORDS[s, (pleased ^ (x[:, 0] > edge)).astype(int)].cumsum(axis=1)
    w = np.minimum((generator.random(N)[:, None] > chances).sum(axis=1), 3)
    return x, s, a, w, pleased.astype(float)


@pytest.fixture(scope="module")
def tuples():
    return draw(seed=2)


def fit(tuples, rho, edge=0.0):
    """Return what was heard, and the fit that begins with those pleased by rho (n,), in 300 steps."""
    x, s, a, w, _ = tuples
    heard, order = hear(fit_basis(x)(x), s, a, w, S)
    units = 3.0 * (np.eye(1, D + 1, 1) - edge * np.eye(1, D + 1))  # the side of the first feature
    begun = climb_likelihood(heard, MASK, no_parameters(MASK, 4, D + 1, units), FORM.ridge, 10, rho[order])
    return heard, climb_likelihood(heard, MASK, begun.parameters, FORM.ridge, 300)


@pytest.fixture(scope="module")
def stuck(tuples):
    """Return a fit to whom words of the second ending mean the same on both sides, as they began."""
    _, s, _, w, pleased = tuples
    heard, fitted = fit(tuples, np.where(s == 1, np.where(w <= 1, 0.9, 0.1), pleased))
    return heard, turn_majorities(heard, MASK, fitted, FORM, 40)


def shares(tuples, parameters, beyond=-np.inf):
    """Return the part of the way from uniform actions to the best in each ending, (S,), of fresh people."""
    x = np.random.default_rng(9).normal(size=(1000, D))
    x = x[x[:, 0] > beyond]
    f, taken = pleasing(x), rewards_by(fit_basis(tuples[0]), parameters, x).argmax(axis=2)
    got = np.take_along_axis(f, taken[..., None], axis=2)[..., 0] - f.mean(axis=2)
    return got.mean(axis=0) / (f.max(axis=2) - f.mean(axis=2)).mean(axis=0)


def test_an_ending_that_is_stuck_is_begun_again_from_its_own_words(tuples, stuck):
    """1,500 tuples: without it the second ending is worse than uniform play; others stay as they are."""
    heard, fitted = stuck
    before = shares(tuples, fitted.parameters)
    again = reread_endings(heard, np.ones(N, dtype=bool), EVERY, MASK, fitted, FORM, 40)
    after = shares(tuples, again.parameters)
    assert before[1] < -0.2
    assert after[1] > 0.6
    assert again.cost < fitted.cost
    np.testing.assert_allclose(after[[0, 2]], before[[0, 2]], atol=0.05)


def test_a_side_that_is_stuck_is_begun_again_though_its_ending_agrees():
    """A quarter of the people mean the opposite, and are misread at the second ending alone: the others hide it."""
    edge = 0.7
    tuples = draw(seed=3, edge=edge)
    x, s, _, w, pleased = tuples
    turned = (s == 1) & (x[:, 0] > edge)
    heard, fitted = fit(tuples, np.where(turned, np.where(w <= 1, 0.9, 0.1), pleased), edge)
    fitted, everybody = turn_majorities(heard, MASK, fitted, FORM, 40), np.ones(N, dtype=bool)
    sides, endings = find_sides(heard, fitted.parameters, FORM), np.sort(s)
    scored, rho = score_by_uniform(heard, everybody, endings, sides, 4), tell(heard, fitted.parameters).rho
    assert correlation(scored[endings == 1], rho[endings == 1]) > LEAST_AGREEMENT
    again = reread_endings(heard, everybody, EVERY, MASK, fitted, FORM, 40)
    assert shares(tuples, fitted.parameters, beyond=edge)[1] < 0.4
    assert shares(tuples, again.parameters, beyond=edge)[1] > 0.6


@pytest.mark.parametrize("why", ["nothing is told there", "no uniform action", "no side"])
def test_control_it_stays_where_nothing_says_otherwise(tuples, stuck, why):
    """Words that are undecided are no better a beginning, and one that does not tell is not looked at."""
    heard, fitted = stuck
    telling = np.array([True, why != "nothing is told there", True])
    uniform = np.full(N, why != "no uniform action")
    form = FORM._replace(terms="linear") if why == "no side" else FORM
    again = reread_endings(heard, uniform, telling, MASK, fitted, form, 40)
    assert shares(tuples, again.parameters)[1] < -0.2


def test_control_endings_that_agree_are_left_as_they_are(tuples):
    heard, fitted = fit(tuples, tuples[-1])
    assert reread_endings(heard, np.ones(N, dtype=bool), EVERY, MASK, fitted, FORM, 40) is fitted


def test_a_fit_that_goes_on_from_what_is_known_mends_it(tuples, stuck):
    """All was looked at, the form is not chosen anew, and tuples are no more than before."""
    x, s, a, w, _ = tuples
    parameters = stuck[1].parameters
    covariances = np.zeros((S, K, D + 2, D + 2))
    known = PersonalMeaning(
        *(D, fit_basis(x), parameters, covariances, MASK, FORM.ridge, FORM.terms),
        *(np.full(S, 5.0), 5.0, N - 1, np.bincount(s), True, 0.1),
    )
    later = fit_personal_meaning(x, s, a, w, np.ones(N, dtype=bool), MASK, 4, np.random.default_rng(0), known)
    assert later.chosen_at == known.chosen_at
    assert shares(tuples, later.parameters)[1] > 0.6

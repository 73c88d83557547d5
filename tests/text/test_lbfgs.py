"""L-BFGS beside SciPy's L-BFGS-B, its slow twin: the same way there, not only the same end."""

import numpy as np
import pytest
from reference_lbfgs import find_lowest_slowly
from scipy.optimize import rosen, rosen_der

from tacit.text.small.lbfgs import find_lowest


def valley(x):
    return float(rosen(x)), rosen_der(x)


def bowl(x):
    hold = np.geomspace(1e-2, 1e2, len(x))
    return float(x @ (hold * x)), 2 * hold * x


def waves(x):
    return float((np.sin(3 * x) + 0.1 * x * x).sum()), 3 * np.cos(3 * x) + 0.2 * x


def shelf(x):
    """Flat far out, so that steps must grow."""
    return float(np.log1p(x * x).sum()), 2 * x / (1 + x * x)


def folded(x):
    """No slope at the least, where lines have a kink."""
    return float(np.abs(x).sum()), np.sign(x)


def follow(find, function, begin, steps):
    """Return what was reached, and how often the function was asked."""
    asked = []
    found = find(lambda x: asked.append(1) or function(x), begin, steps)
    return found, len(asked)


@pytest.mark.parametrize("steps", [1, 3, 8, 20])
@pytest.mark.parametrize("function", [valley, bowl, waves, shelf, folded])
def test_it_goes_where_the_twin_goes(function, steps):
    for seed in range(5):
        begin = 5 * np.random.default_rng(seed).standard_normal(6)
        found, asked = follow(find_lowest, function, begin, steps)
        expected, by_twin = follow(find_lowest_slowly, function, begin, steps)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
        assert abs(asked - by_twin) <= 1  # rounding near the end may ask for one more


@pytest.mark.parametrize("function", [valley, bowl])
def test_it_finds_the_least(function):
    found = find_lowest(function, np.full(4, 3.0), 200)
    assert function(found)[0] < 1e-6


def test_it_stays_where_nothing_leads_down():
    begin = np.array([1.0, -2.0])
    uphill = find_lowest(lambda x: (float(x @ x), -2 * x), begin, 20)
    assert np.array_equal(uphill, begin)
    assert np.array_equal(find_lowest(bowl, np.zeros(3), 20), np.zeros(3))
    lost = find_lowest(lambda x: (np.nan, np.full(2, np.nan)), begin, 20)
    assert np.array_equal(lost, begin)


def test_what_it_begins_from_is_not_changed():
    begin = np.ones(3)
    find_lowest(bowl, begin, 5)
    assert np.array_equal(begin, np.ones(3))

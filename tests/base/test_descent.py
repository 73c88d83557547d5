"""L-BFGS: it finds minima, never climbs, and agrees with the general routine."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tacit.base.descent import MEMORY, descend, find_direction


def bent_valley(x):
    """Return Rosenbrock's function, whose minimum is at 1."""
    ahead, off = 1 - x[:-1], x[1:] - x[:-1] ** 2
    slope = np.zeros_like(x)
    slope[:-1] = -2 * ahead - 400 * x[:-1] * off
    slope[1:] += 200 * off
    return float((ahead**2).sum() + 100 * (off**2).sum()), slope


def bowl(seed, size):
    """Return a quadratic cost and its matrix, of condition a thousand."""
    generator = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(generator.normal(size=(size, size)))
    matrix = axes @ np.diag(np.geomspace(1, 1000, size)) @ axes.T
    return (lambda x: (0.5 * float(x @ matrix @ x), matrix @ x)), matrix


@pytest.mark.parametrize("start", [-1.2, 0.0, 3.0])
def test_a_bent_valley_is_followed_to_its_end(start):
    found = descend(bent_valley, np.full(6, start), 500, 0.0)
    np.testing.assert_allclose(found.at, 1.0, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_as_many_steps_lead_as_far_as_those_of_the_general_routine(seed):
    cost, _ = bowl(seed, 30)
    start = np.random.default_rng(seed + 10).normal(size=30)
    options = {"maxiter": 60, "maxcor": MEMORY, "ftol": 0.0, "gtol": 0.0}
    general = minimize(cost, start, jac=True, method="L-BFGS-B", options=options)
    assert descend(cost, start, 60, 0.0).cost < 10 * general.fun + 1e-9


def test_no_step_climbs_and_the_start_is_left_alone():
    start = np.array([-1.2, 1.0, 0.5])
    costs = [descend(bent_valley, start, steps, 0.0).cost for steps in range(40)]
    assert (np.diff(costs) <= 0).all()
    np.testing.assert_array_equal(start, [-1.2, 1.0, 0.5])


def test_a_step_that_gains_too_little_is_the_last():
    calls = []

    def counted(x):
        calls.append(1)
        return bent_valley(x)

    descend(counted, np.full(6, -1.2), 500, 0.5)
    assert len(calls) < 20


@pytest.mark.parametrize("start", [np.zeros(0), np.ones(4)])
def test_at_a_minimum_nothing_moves(start):
    found = descend(bent_valley if len(start) else (lambda x: (0.0, x.copy())), start, 10, 1e-6)
    np.testing.assert_array_equal(found.at, start)


@pytest.mark.parametrize("kept", [0, 3, MEMORY, MEMORY + 4])
def test_the_direction_is_that_of_the_matrix_which_steps_update(kept):
    """H after each step is V' H V + s s' / s'y with V = 1 - y s' / s'y, begun from s'y / y'y of the last."""
    _, matrix = bowl(1, 8)
    generator = np.random.default_rng(2)
    moves, turns, gradient = np.zeros((MEMORY, 8)), np.zeros((MEMORY, 8)), generator.normal(size=8)
    for k in range(kept):
        moves[k % MEMORY] = generator.normal(size=8)
        turns[k % MEMORY] = matrix @ moves[k % MEMORY]
    curvatures = (moves * turns).sum(axis=1)
    last = (kept - 1) % MEMORY
    inverse = np.eye(8) * (curvatures[last] / (turns[last] @ turns[last]) if kept else 1.0)
    for k in range(max(kept - MEMORY, 0), kept):
        s, y = moves[k % MEMORY], turns[k % MEMORY]
        v = np.eye(8) - np.outer(y, s) / (s @ y)
        inverse = v.T @ inverse @ v + np.outer(s, s) / (s @ y)
    found = find_direction(gradient, moves, turns, curvatures, kept)
    np.testing.assert_allclose(found, -inverse @ gradient, rtol=1e-6, atol=1e-9)

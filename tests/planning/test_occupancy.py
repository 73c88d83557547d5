"""The occupancy solver against CVXPY, a dense twin, closed forms and its own certificate."""

import warnings

import numpy as np
import pytest
import reference_occupancy as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.planning.dual_newton import TOLERANCE, solve_packed
from tacit.planning.occupancy import solve_occupancy

TIGHT = 1e-20
"""Tolerance on gamma * gap that leaves only rounding, to compare solutions and not only objectives."""


def random_problem(rng, n_states, n_actions, gamma, reward_scale=1.0, zeros=0.3, ragged=True):
    """Return (transitions, rewards, gamma, masks) with zeros in the rows; some states are unreachable."""
    transitions, rewards, masks = [], [], []
    for h, n in enumerate(n_states):
        rewards.append(reward_scale * rng.normal(size=(n, n_actions)))
        mask = rng.random((n, n_actions)) < (0.8 if ragged else 1.0)
        mask[np.arange(n), rng.integers(n_actions, size=n)] = True
        masks.append(mask)
        if h + 1 < len(n_states):
            rows = rng.gamma(0.5, size=(n, n_actions, n_states[h + 1]))
            rows *= rng.random(rows.shape) >= zeros
            rows *= rng.random(n_states[h + 1]) >= 0.2 * (rng.random() < 0.3)
            rows[:, :, 0] += 1e-3
            transitions.append(rows / rows.sum(axis=2, keepdims=True))
    return transitions, rewards, gamma, masks


def random_sizes(rng, horizon, largest):
    return [1, *rng.integers(1, largest + 1, size=horizon - 1).tolist()]


def solve(problem, **options):
    transitions, rewards, gamma, masks = problem
    return solve_occupancy(transitions, rewards, gamma, masks=masks, **options)


def check_certificate(problem, solution):
    """Feasible, converged, and the gap that it states is the gap that one computes from its parts."""
    transitions, rewards, gamma, masks = problem
    A, b, pairs = reference.flow_system(transitions, masks)
    q, r = reference.flat(solution.occupancy, pairs), reference.flat(rewards, pairs)
    assert solution.converged
    assert solution.flow_residual <= 1e-9
    assert np.abs(A @ q - b).max() <= 1e-9
    assert 0 <= gamma * solution.gap <= TOLERANCE
    states = dict.fromkeys((h, s) for h, s, _ in pairs)
    v = np.array([solution.dual[h][s] for h, s in states])
    slack = A.T @ v - r
    assert slack.min() > 0
    dual = b @ v - len(pairs) / gamma - np.log(gamma * slack).sum() / gamma
    primal = reference.objective(q, r, gamma)
    scale = 1.0 + np.abs(r).max() * len(rewards) + np.abs(np.log(q)).sum() / gamma
    assert solution.objective == pytest.approx(primal, abs=1e-12 * scale)
    assert dual - primal == pytest.approx(solution.gap, abs=1e-11 * scale)


def check_against_cvxpy(problem):
    """Never below CVXPY's policy; return whether CVXPY's solver had an answer."""
    transitions, rewards, gamma, masks = problem
    solution = solve(problem)
    check_certificate(problem, solution)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CVXPY warns where Clarabel is not sure of its answer
        theirs, pairs = reference.solve_cvxpy(transitions, rewards, gamma, masks)
    if theirs is None:
        return False
    feasible = reference.flat(reference.repaired(theirs, pairs, transitions, masks), pairs)
    objective = reference.objective(feasible, reference.flat(rewards, pairs), gamma)
    assert solution.objective >= objective - 1e-7
    return True


@pytest.mark.compiled
def test_200_random_problems_are_never_below_cvxpy():
    rng = np.random.default_rng(20)
    answered = 0
    for _ in range(200):
        largest = int(rng.choice([3, 10, 30], p=[0.3, 0.3, 0.4]))
        sizes = random_sizes(rng, int(rng.integers(1, 7)), largest)
        problem = random_problem(rng, sizes, int(rng.integers(2, 11)), 10 ** rng.uniform(0, 5))
        answered += check_against_cvxpy(problem)
    assert answered >= 190


@pytest.mark.parametrize("seed", range(5))
def test_small_problems_are_never_below_cvxpy(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, random_sizes(rng, 3, 4), 3, 10 ** rng.uniform(0, 5))
    assert check_against_cvxpy(problem)


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_the_dense_twin(seed):
    rng = np.random.default_rng(100 + seed)
    sizes = random_sizes(rng, int(rng.integers(1, 5)), 5)
    problem = random_problem(rng, sizes, int(rng.integers(1, 6)), 10 ** rng.uniform(-2, 3))
    transitions, rewards, gamma, masks = problem
    q, pairs = reference.solve_dense(transitions, rewards, gamma, masks)
    solution = solve(problem, tolerance=TIGHT)
    assert reference.flat(solution.occupancy, pairs) == pytest.approx(q, abs=1e-8)
    for mine, other in zip(
        solution.occupancy, reference.carry_forward(transitions, solution.policy), strict=True
    ):
        assert mine == pytest.approx(other, abs=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("reward_scale", [1e-2, 1.0, 1e3])
@pytest.mark.parametrize("gamma", [1e-2, 1.0, 1e2, 1e4, 1e6])
def test_always_converges(gamma, reward_scale):
    rng = np.random.default_rng([int(1e3 * gamma), int(1e3 * reward_scale)])
    for largest in [1, 3, 10, 30] * 6 + [100] * 2:
        sizes = random_sizes(rng, int(rng.integers(1, 7)), largest)
        actions = int(rng.integers(1, 11))
        problem = random_problem(rng, sizes, actions, gamma, reward_scale, zeros=rng.random() * 0.9)
        check_certificate(problem, solve(problem))


@pytest.mark.compiled
def test_the_largest_size_converges_cold_and_from_a_wrong_start():
    rng = np.random.default_rng(11)
    problem = random_problem(rng, [1, 100, 100, 100, 100, 100], 10, 1e6, 1e3)
    check_certificate(problem, solve(problem))
    start = [1e4 * rng.normal(size=len(r)) for r in problem[1]]
    check_certificate(problem, solve(problem, start=start))


@pytest.mark.parametrize("seed", range(6))
def test_warm_start_finds_the_same_in_fewer_iterations(seed):
    rng = np.random.default_rng(seed)
    transitions, rewards, gamma, masks = random_problem(rng, [1, 5, 5], 5, 1000.0)
    before = solve((transitions, rewards, gamma, masks))
    rewards = [r + 1e-4 * rng.normal(size=r.shape) for r in rewards]
    problem = (transitions, rewards, gamma * 1.001, masks)
    cold, warm = solve(problem), solve(problem, start=before.dual)
    assert warm.iterations < cold.iterations
    assert warm.iterations <= 3
    cold, warm = solve(problem, tolerance=TIGHT), solve(problem, start=before.dual, tolerance=TIGHT)
    for ours, others in zip(warm.occupancy, cold.occupancy, strict=True):
        assert ours == pytest.approx(others, abs=1e-9)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e9])
def test_a_very_wrong_start_still_converges(size):
    rng = np.random.default_rng(3)
    problem = random_problem(rng, [1, 4, 3, 5], 4, 1e4)
    start = [size * rng.normal(size=len(r)) for r in problem[1]]
    warm = solve(problem, start=start)
    check_certificate(problem, warm)
    assert warm.objective == pytest.approx(solve(problem).objective, abs=1e-12)


def test_closed_form_of_one_layer_and_two_actions():
    """1/x + 1/(x + g) = 1 for the slack x of the better action: x = (2 - g + sqrt(4 + g^2)) / 2."""
    for gamma, advantage in [(0.01, 3.0), (2.0, 1.0), (1e3, 0.5), (1e6, 1e3)]:
        g = gamma * advantage
        slack = (
            (2 - g + np.hypot(2, g)) / 2 if g < 1 else 1 + 2 / (np.hypot(2, g) + g)
        )  # of the better action
        solution = solve_occupancy([], [[[advantage, 0.0]]], gamma, tolerance=TIGHT)
        assert solution.policy[0][0] == pytest.approx([1 / slack, 1 / (slack + g)], rel=1e-9)


def test_equal_rewards_give_equal_actions_in_the_last_layer():
    solution = solve_occupancy([], [[[-3.0] * 4]], gamma=10.0)
    assert solution.policy[0] == pytest.approx(np.full((1, 4), 0.25), abs=1e-12)
    assert solution.objective == pytest.approx(-3.0 + 4 * np.log(0.25) / 10)


def test_single_actions_leave_nothing_to_choose():
    P = [np.array([[[0.25, 0.75]]]), np.array([[[1.0, 0.0]], [[0.5, 0.5]]])]
    solution = solve_occupancy(P, [[[1.0]], [[2.0], [-1e3]], [[0.0], [5.0]]], gamma=1e6)
    assert solution.converged
    assert [q.ravel().tolist() for q in solution.occupancy] == [[1.0], [0.25, 0.75], [0.625, 0.375]]


def test_a_perturbed_policy_is_strictly_worse():
    """The check that can fail: were the solution not the maximum, some perturbation would improve it."""
    rng = np.random.default_rng(5)
    transitions, rewards, gamma, masks = problem = random_problem(rng, [1, 3, 3], 4, 50.0)
    solution = solve(problem)
    _, _, pairs = reference.flow_system(transitions, masks)
    r = reference.flat(rewards, pairs)
    for _ in range(50):
        policy = [np.where(m, p * np.exp(0.01 * rng.normal(size=p.shape)), 0.0)
                  for p, m in zip(solution.policy, masks, strict=True)]  # fmt: skip
        policy = [p / p.sum(axis=1, keepdims=True) for p in policy]
        q = reference.flat(reference.carry_forward(transitions, policy), pairs)
        assert reference.objective(q, r, gamma) < solution.objective - solution.gap


def test_the_gap_of_an_early_stop_bounds_the_loss():
    rng = np.random.default_rng(6)
    problem = random_problem(rng, [1, 5, 5, 5], 4, 1e4)
    best = solve(problem, tolerance=TIGHT).objective
    for tolerance in [1e2, 1.0, 1e-2, 1e-4]:
        early = solve(problem, tolerance=tolerance)
        assert early.gap <= tolerance / problem[2]
        assert 0 <= best - early.objective <= early.gap


def test_unreachable_states_have_no_occupancy_and_a_uniform_policy():
    P = [np.array([[[1.0, 0.0], [1.0, 0.0]]]), np.full((2, 2, 1), 1.0)]
    rewards = [np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [9.0, 9.0]]), np.array([[0.0, 2.0]])]
    masks = [np.ones((1, 2), bool), np.array([[True, True], [True, False]]), np.ones((1, 2), bool)]
    solution = solve((P, rewards, 10.0, masks))
    check_certificate((P, rewards, 10.0, masks), solution)
    assert solution.occupancy[1][1].tolist() == [0.0, 0.0]
    assert solution.policy[1][1].tolist() == [1.0, 0.0]
    again = solve((P, rewards, 10.0, masks), start=solution.dual)
    assert again.iterations == 0


def test_rarely_reached_states_are_no_trouble():
    P = [np.array([[[1.0 - 1e-12, 1e-12]] * 3]), np.array([[[1.0, 0.0]] * 3, [[0.0, 1.0]] * 3])]
    rewards = [np.zeros((1, 3)), np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]), np.ones((2, 3))]
    problem = (P, rewards, 1e5, [np.ones(r.shape, bool) for r in rewards])
    solution = solve(problem)
    check_certificate(problem, solution)
    assert solution.occupancy[2][1].sum() == pytest.approx(1e-12, rel=1e-6)


def test_masked_entries_are_zero_and_never_read():
    rng = np.random.default_rng(8)
    transitions, rewards, gamma, masks = random_problem(rng, [1, 4, 4], 5, 100.0)
    plain = solve((transitions, rewards, gamma, masks))
    rewards = [np.where(m, r, np.nan) for r, m in zip(rewards, masks, strict=True)]
    transitions = [np.where(m[:, :, None], P, np.nan) for P, m in zip(transitions, masks, strict=False)]
    dirty = solve((transitions, rewards, gamma, masks))
    for mine, other, mask in zip(dirty.occupancy, plain.occupancy, masks, strict=True):
        assert np.array_equal(mine, other)
        assert not mine[~mask].any()


def test_inputs_are_not_changed_and_results_repeat_bit_for_bit():
    rng = np.random.default_rng(9)
    transitions, rewards, gamma, masks = random_problem(rng, [1, 4, 4], 5, 100.0)
    start = [np.zeros(len(r)) for r in rewards]
    arrays = [*transitions, *rewards, *masks, *start]
    copies = [array.copy() for array in arrays]
    first, second = (solve((transitions, rewards, gamma, masks), start=start) for _ in range(2))
    assert all(np.array_equal(array, copy) for array, copy in zip(arrays, copies, strict=True))
    for name in ("occupancy", "policy", "dual"):
        pairs = zip(getattr(first, name), getattr(second, name), strict=True)
        assert all(np.array_equal(mine, other) for mine, other in pairs)
    assert (first.gap, first.iterations, first.objective) == (second.gap, second.iterations, second.objective)


def test_packed_entry_point_is_the_same_solver():
    rng = np.random.default_rng(10)
    transitions, rewards, gamma, _ = random_problem(rng, [1, 3, 3], 4, 100.0, ragged=False)
    P, r, mask = np.full((2, 3, 4, 3), 0.3), np.full((3, 3, 4), 7.0), np.zeros((3, 3, 4), bool)
    n_states = np.array([1, 3, 3])
    for h, n in enumerate(n_states):
        r[h, :n], mask[h, :n] = rewards[h], True
        if h < 2:
            P[h, :n] = transitions[h]
    copies = [array.copy() for array in (P, r, mask, n_states)]
    policy, v, gap, iterations, converged = solve_packed(P, r, mask, n_states, gamma, np.zeros((3, 3)), False)
    solution = solve_occupancy(transitions, rewards, gamma)
    assert (gap, iterations, converged) == (solution.gap, solution.iterations, solution.converged)
    for h, n in enumerate(n_states):
        assert np.array_equal(policy[h, :n], solution.policy[h])
        assert np.array_equal(v[h, :n], solution.dual[h])
        assert not policy[h, n:].any()
    assert all(np.array_equal(a, b) for a, b in zip((P, r, mask, n_states), copies, strict=True))


def good_problem():
    return {
        "transitions": [np.full((1, 2, 2), 0.5)],
        "rewards": [np.zeros((1, 2)), np.zeros((2, 2))],
        "gamma": 1.0,
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rewards": []}, "rewards must be one"),
        ({"rewards": [np.zeros((2, 2)), np.zeros((2, 2))]}, "one state in the first layer"),
        ({"rewards": [np.zeros((1, 2)), np.zeros((2, 3))]}, "same number of actions"),
        ({"rewards": [np.zeros((1, 2)), np.zeros(2)]}, "rewards must be one"),
        ({"rewards": [np.zeros((1, 2)), np.zeros((0, 2))]}, "rewards must be one"),
        ({"rewards": [np.zeros((1, 2)), [[0.0, 0.0], [np.nan, 0.0]]]}, "finite, got nan in layer 1, state 1"),
        ({"rewards": [[[0.0, np.inf]], np.zeros((2, 2))]}, "finite, got inf in layer 0, state 0, action 1"),
        ({"transitions": []}, "transitions must have shapes"),
        ({"transitions": [np.full((1, 2, 3), 1 / 3)]}, "transitions must have shapes"),
        ({"transitions": [np.full((1, 2, 2), 0.4)]}, "sum to one, got .* in layer 0, state 0, action 0"),
        ({"transitions": [[[[0.5, 0.5], [1.5, -0.5]]]]}, "nonnegative .* in layer 0, state 0, action 1"),
        ({"transitions": [[[[0.5, 0.5], [np.nan, 1.0]]]]}, "nonnegative and sum to one"),
        ({"gamma": 0.0}, "gamma must be positive and finite, got 0.0"),
        ({"gamma": -1.0}, "gamma must be positive"),
        ({"gamma": np.inf}, "gamma must be positive and finite"),
        ({"gamma": np.nan}, "gamma must be positive and finite"),
        ({"tolerance": 0.0}, "tolerance must be positive"),
        ({"masks": [np.ones((1, 2), bool)]}, "masks must have shapes"),
        (
            {"masks": [np.ones((1, 2), bool), [[True, True], [False, False]]]},
            "an action, got .* layer 1, state 1",
        ),
        ({"start": [np.zeros(1), np.zeros(3)]}, "start must have shapes"),
        ({"start": [np.zeros(1), np.array([0.0, np.nan])]}, "start must be finite"),
    ],
)
def test_bad_input_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        solve_occupancy(**{**good_problem(), **change})


def test_good_input_is_not_refused():
    assert solve_occupancy(**good_problem()).converged


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.integers(1, 4), max_size=3),
    n_actions=st.integers(1, 4),
    log_gamma=st.floats(-2, 6),
    log_reward=st.floats(-2, 3),
)
def test_every_small_problem_has_its_certificate(seed, sizes, n_actions, log_gamma, log_reward):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, [1, *sizes], n_actions, 10**log_gamma, 10**log_reward)
    check_certificate(problem, solve(problem))

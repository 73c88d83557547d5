import numpy as np
import pytest
import reference

from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.planning.exploring import hope_radius
from tacit.planning.optimism import bound_reach, expect_seen, hope_after, plan_optimistic
from tacit.problem.layout import Layout
from tacit.problem.mdp import largest_reach, policy_value, solve_optimal

NEVER = np.full(4, -1)


def draw_counts(generator, transitions, most):
    """Return counts (H-1, S, K, S) of up to `most` tries of each (s, a)."""
    H, S, K, _ = transitions.shape
    counts = np.zeros(transitions.shape, dtype=np.int64)
    for h, s, a in np.ndindex(H, S, K):
        if transitions[h, s, a].sum() > 0:
            row = transitions[h, s, a] / transitions[h, s, a].sum()
            counts[h, s, a] = generator.multinomial(generator.integers(0, most + 1), row)
    return counts


def plan(counts, layout, worth, radius, ended=None, tried=None):
    ended = np.full(layout.horizon, -1) if ended is None else ended
    tried = np.zeros(layout.mask.shape[:2], dtype=bool) if tried is None else tried
    return plan_optimistic(counts, layout.mask, layout.n_states, ended, worth, tried, radius)


def test_hope_is_its_twin():
    generator = np.random.default_rng(0)
    for trial in range(200):
        n = int(generator.integers(2, 7))
        row = generator.integers(0, (1, 3, 50, 2000)[trial % 4] + 1, n) * (generator.random(n) < 0.7)
        values = generator.random(n) if trial % 3 else generator.integers(0, 2, n).astype(float)
        radius, q = float(generator.uniform(0.5, 12)), np.zeros(n)
        high = hope_after(row, n, float(row.sum()), values, radius, -1.0, q)
        expected, nearest = reference.hope_after(row, values, radius)
        assert high == pytest.approx(expected, abs=1e-6)
        if len(set(values)) == n:  # equal values leave a choice
            np.testing.assert_allclose(q, nearest, atol=1e-4)
        assert q.sum() == pytest.approx(1.0)


def test_what_was_never_seen_is_as_likely_as_tries_allow():
    q, values = np.zeros(3), np.array([0.0, 1.0, 0.4])
    for n in (1, 5, 400):
        high = hope_after(np.array([n, 0, 0]), 3, float(n), values, 3.0, -1.0, q)
        assert high == pytest.approx(1 - np.exp(-3.0 / n)) == pytest.approx(q[1])
    assert hope_after(np.zeros(3, dtype=np.int64), 3, 0.0, values, 3.0, -1.0, q) == 1.0


def test_a_bound_replaces_hope_only_where_it_cannot_be_the_best():
    generator, q = np.random.default_rng(1), np.zeros(5)
    for _ in range(200):
        row, values = generator.integers(0, 40, 5), generator.random(5)
        high = hope_after(row, 5, float(row.sum()), values, 4.0, -1.0, q)
        least = float(generator.uniform(0, 1))
        shown = hope_after(row, 5, float(row.sum()), values, 4.0, least, q)
        assert shown == high or high <= shown < least


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("ragged", [False, True])
def test_the_plan_is_its_twin(ragged, early):
    env = random_mdp(3, RandomMDPSettings(layers=4, states=5, actions=4, ragged=ragged))
    layout, generator = env.layout, np.random.default_rng(1)
    ended = np.array([-1, -1, 4, 4]) if early else np.full(4, -1)
    for most in (0, 2, 300):
        counts = draw_counts(generator, env.mdp.transitions, most)
        worth = generator.random(layout.mask.shape) * layout.mask
        worth[-1] *= np.arange(5)[:, None] != ended[-1]
        tried = generator.random((4, 5)) < 0.5 * early
        hope = plan(counts, layout, worth, 5.0, ended, tried)
        choices, reach, value = reference.plan_optimistic(counts, layout, ended, worth, tried, 5.0)
        assert hope.value == pytest.approx(value, abs=1e-6)
        np.testing.assert_array_equal(hope.choices, choices)
        np.testing.assert_allclose(hope.reach, reach, atol=1e-4)
        assert hope.reach.sum() == pytest.approx(1.0)


def test_what_was_seen_of_a_policy_is_its_value_in_the_model_of_the_counts():
    env = random_mdp(5, RandomMDPSettings(layers=4, states=5, actions=3))
    layout, generator = env.layout, np.random.default_rng(2)
    counts = draw_counts(generator, env.mdp.transitions, 30) + (env.mdp.transitions > 0)
    policy, worth = layout.uniform_policy, np.zeros(layout.mask.shape)
    worth[-1] = env.mdp.rewards[0]
    seen = expect_seen(counts, policy, layout.n_states, NEVER, worth)
    model = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    assert seen == pytest.approx(policy_value(model, worth, policy, layout.n_states))
    assert expect_seen(0 * counts, policy, layout.n_states, NEVER, worth) == 0.0


def test_hope_is_never_below_the_truth_and_without_it_mostly_is():
    """50 draws of 1 to 20 tries: radius log(1 + 1000) covers all, radius 0 must fail."""
    env = random_mdp(1, RandomMDPSettings(layers=3, states=4, actions=3))
    worth = np.zeros(env.layout.mask.shape)
    worth[-1], best = env.mdp.rewards[0], solve_optimal(env.mdp).values[0]
    covered = dict.fromkeys((hope_radius(1000), 0.0), 0)
    generator = np.random.default_rng(3)
    for _ in range(50):
        counts = draw_counts(generator, env.mdp.transitions, 20) + (generator.random((2, 4, 3, 4)) < 0.1)
        for radius in covered:
            covered[radius] += plan(counts, env.layout, worth, radius).value >= best
    assert covered[hope_radius(1000)] == 50
    assert covered[0.0] < 45, "the control must fail"


def test_reach_is_bounded_above_what_is_possible_and_the_bound_falls():
    env = random_mdp(2, RandomMDPSettings(layers=3, states=4, actions=3, unreachable=1))
    layout, best, generator = env.layout, largest_reach(env.mdp)[-1], np.random.default_rng(4)
    bounds = []
    for tries in (30, 3000):
        counts = draw_counts(generator, env.mdp.transitions, 0)
        for h, s, a in zip(*np.nonzero(layout.mask[:-1]), strict=True):
            counts[h, s, a] = generator.multinomial(tries, env.mdp.transitions[h, s, a])
        arguments = counts, layout.mask, layout.n_states, np.full(3, -1)
        bounds.append([bound_reach(*arguments, 2, s, hope_radius(1000)) for s in range(4)])
    assert np.all(np.array(bounds) >= best)
    assert bounds[1][3] < 0.01 < bounds[0][3]
    assert best[3] < 0.002
    assert np.all(np.array(bounds[1]) < best + 0.1)


def open_lock(turns, actions, works, radius, episodes, seed):
    """Return how often the end of a lock was reached, whose right actions work with a chance."""
    layout = Layout.regular([1, *[2] * (turns - 1)], actions, 1, 2)
    generator = np.random.default_rng(seed)
    right = generator.integers(0, actions, turns)
    counts = np.zeros((turns - 1, 2, actions, 2), dtype=np.int64)
    worth = np.zeros(layout.mask.shape)
    worth[-1, 0] = 1.0
    there = 0
    for _ in range(episodes):
        choices, s = plan(counts, layout, worth, radius).choices, 0
        for h in range(turns - 1):
            a = choices[h, s]
            following = 0 if s == 0 and a == right[h] and generator.random() < works else 1
            counts[h, s, a, following] += 1
            s = following
        there += s == 0
    return there


@pytest.mark.compiled
def test_a_lock_opens_after_a_few_tries_of_each_action():
    """8 turns, 10 actions, where chance finds one way in ten million: it must be found in 300 episodes, and kept."""
    assert open_lock(8, 10, 1.0, hope_radius(300), 300, seed=0) > 150


@pytest.mark.compiled
def test_who_was_unlucky_once_tries_again_only_with_hope():
    """Right actions work half of the time; without a radius one that failed first is given up."""
    hopeful = [open_lock(4, 6, 0.5, hope_radius(1500), 1500, seed) > 60 for seed in range(6)]
    hopeless = [open_lock(4, 6, 0.5, 0.0, 1500, seed) > 60 for seed in range(6)]
    assert all(hopeful)
    assert not all(hopeless), "the control must fail"

import numpy as np
import pytest
import reference

from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.planning.euler import log_factor, plan_euler
from tacit.problem.mdp import largest_reach, state_distribution


def learn_to_reach(env, target, episodes, scale, seed=0):
    """Return (visits by episode, bounds by episode) of EULER on the true dynamics."""
    layout, transitions = env.layout, env.mdp.transitions
    generator = np.random.default_rng(seed)
    counts = np.zeros_like(transitions)
    log_term = log_factor(layout, episodes, 0.05)
    arrived, bounds, goal = [], [], np.eye(layout.max_states)[target]
    for _ in range(episodes):
        policy, high, low = plan_euler(counts, layout.mask, layout.n_states, goal, goal, log_term, scale)
        s = 0
        for h in range(layout.horizon - 1):
            a = policy[h, s]
            following = int(np.searchsorted(np.cumsum(transitions[h, s, a]), generator.random()))
            counts[h, s, a, following] += 1
            s = following
        arrived.append(s == target)
        bounds.append((low, high))
    return np.array(arrived), np.array(bounds)


@pytest.mark.parametrize("scale", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("ragged", [False, True])
def test_the_kernel_is_its_twin(scale, ragged):
    settings = RandomMDPSettings(layers=4, states=5, actions=4, ragged=ragged)
    layout = random_mdp(3, settings).layout
    generator, goal = np.random.default_rng(1), np.eye(layout.max_states)[2]
    for most in (1, 3, 400):
        counts = generator.integers(0, most, (3, 5, 4, 5)) * layout.mask[:-1, :, :, None].astype(float)
        expected = reference.plan_euler(counts, layout, 2, 15.0, scale)
        policy, high, low = plan_euler(counts, layout.mask, layout.n_states, goal, goal, 15.0, scale)
        assert (high, low) == pytest.approx(expected[1:], abs=1e-12)
        np.testing.assert_array_equal(policy, expected[0])


@pytest.mark.compiled
def test_its_bounds_hold_with_the_theorys_constants():
    env = random_mdp(0, RandomMDPSettings(layers=3, states=4, actions=4))
    best = largest_reach(env.mdp)[-1]
    for target in range(4):
        _, bounds = learn_to_reach(env, target, 2000, scale=1.0)
        assert np.all(bounds[:, 0] <= best[target] + 1e-12)
        assert np.all(bounds[:, 1] >= best[target] - 1e-12)


@pytest.mark.compiled
def test_it_learns_the_way_where_chance_does_not_find_it():
    env = random_mdp(0, RandomMDPSettings(layers=3, states=4, actions=4))
    best = largest_reach(env.mdp)[-1]
    by_chance = state_distribution(env.mdp, env.layout.uniform_policy)[-1]
    for target in range(4):
        arrived, _ = learn_to_reach(env, target, 3000, scale=0.1)
        assert arrived[-1000:].mean() > best[target] - 0.05
        assert by_chance[target] < best[target] - 0.15, "the control must fail"

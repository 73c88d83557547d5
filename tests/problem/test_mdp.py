import numpy as np
import pytest
import reference

from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.envs.synthetic import synthetic_mdp
from tacit.problem.layout import Layout
from tacit.problem.mdp import (
    ContextualMDP,
    check_policy,
    evaluate_policy,
    largest_reach,
    solve_optimal,
    state_distribution,
)

SMALL = RandomMDPSettings(layers=3, states=2, actions=2, min_actions=2, homogeneous=0, M=0.9)


def random_policy(layout, generator):
    policy = generator.random(layout.mask.shape) * layout.mask
    return policy / np.maximum(policy.sum(axis=2, keepdims=True), 1e-300)


@pytest.mark.parametrize("seed", range(3))
def test_optimal_value_is_the_best_of_all_policies(seed):
    mdp = random_mdp(seed, SMALL).mdp
    plan = solve_optimal(mdp)
    for x in range(mdp.n_contexts):
        best = max(
            reference.policy_value(mdp, x, p) for p in reference.all_deterministic_policies(mdp.layout)
        )
        assert plan.values[x] == pytest.approx(best, abs=1e-12)
        assert evaluate_policy(mdp, x, plan.policies[x]) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("ragged", [False, True])
def test_policy_value_is_the_sum_over_paths(ragged):
    settings = RandomMDPSettings(layers=3, states=3, actions=4, ragged=ragged, unreachable=1)
    mdp = random_mdp(5, settings).mdp
    policy = random_policy(mdp.layout, np.random.default_rng(0))
    for x in range(mdp.n_contexts):
        assert evaluate_policy(mdp, x, policy) == pytest.approx(
            reference.policy_value(mdp, x, policy), abs=1e-12
        )


def test_largest_reach_is_the_best_of_all_policies():
    mdp = random_mdp(1, SMALL).mdp
    visits = [state_distribution(mdp, p) for p in reference.all_deterministic_policies(mdp.layout)]
    np.testing.assert_allclose(largest_reach(mdp), np.max(visits, axis=0), atol=1e-12)


def test_the_papers_numbers():
    mdp = synthetic_mdp()
    assert solve_optimal(mdp).values == pytest.approx([0.729, 0.729])
    assert largest_reach(mdp)[-1] == pytest.approx([0.81, 0.99])


def test_single_step():
    mdp = synthetic_mdp(horizon=1)
    assert solve_optimal(mdp).values == pytest.approx([0.9, 0.9])


def broken(**changes):
    mdp = synthetic_mdp()
    fields = {name: getattr(mdp, name) for name in mdp.__dataclass_fields__}
    return ContextualMDP(**{**fields, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"context_probabilities": np.array([0.7, 0.4])}, "sum to one"),
        ({"context_probabilities": np.array([1.5, -0.5])}, "non-negative"),
        ({"transitions": np.ones((2, 2, 5, 2))}, "transitions of layer 0"),
        ({"transitions": np.ones((2, 2, 5, 3))}, "must have the shape"),
        ({"rewards": np.full((2, 2, 5), np.nan)}, "rewards are probabilities"),
        ({"rewards": np.full((2, 2, 5), np.inf)}, "rewards are probabilities"),
        ({"rewards": np.full((2, 2, 5), 1.5)}, "rescale"),
        ({"feedback_probabilities": np.full((2, 2, 2, 2), np.nan)}, "feedback_probabilities"),
    ],
)
def test_a_model_that_is_none_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        broken(**changes)


def test_a_policy_that_is_none_is_refused():
    layout = Layout.regular([1, 2], 2, 1, 2)
    uniform = layout.uniform_policy
    check_policy(layout, uniform)
    for policy in (uniform[:1], uniform * 2, np.full_like(uniform, np.nan), uniform + 0.1):
        with pytest.raises(ValueError, match="policy must"):
            check_policy(layout, policy)

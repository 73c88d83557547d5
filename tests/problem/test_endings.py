from itertools import product

import numpy as np
import pytest

from tacit.planning.dual_newton import solve_packed
from tacit.planning.transition import TransitionCounts
from tacit.problem.layout import Layout
from tacit.problem.mdp import ContextualMDP, evaluate_policy, expected_rewards, solve_optimal
from tacit.problem.spaces import Finite

EARLY = Layout.regular([1, 2, 2], n_actions=2, n_contexts=2, n_feedback=2, ends=((0,), (1,), ()))


def draw_mdp(layout, seed):
    """Return a model whose episodes end early by chance."""
    generator, (H, S, K) = np.random.default_rng(seed), layout.mask.shape
    transitions = TransitionCounts(layout).estimate(0).copy()
    for h, s, a in np.ndindex(H - 1, S, K):
        row = transitions[h, s, a]
        if (row > 0).sum() > 1:
            row[row > 0] = generator.dirichlet(np.ones((row > 0).sum()))
    E, X = layout.endings.size, layout.contexts.size
    rewards = generator.random((X, E, K)) * layout.endings.mask
    feedback = np.broadcast_to(np.eye(2), (X, E, 2, 2)).copy()
    return ContextualMDP(layout, np.full(X, 1 / X), transitions, rewards, feedback)


def enumerate_value(mdp, x, choices):
    """Return the value of deterministic choices {(h, s): a} by following every path, in words rather than arrays."""
    layout = mdp.layout

    def value(h, s):
        a = choices[h, s]
        ending = layout.endings.index[h, s]
        if h == layout.horizon - 1:
            return mdp.rewards[x, ending, a]
        total = 0.0
        for following, chance in enumerate(mdp.transitions[h, s, a]):
            if chance and following == layout.ended[h + 1]:
                total += chance * mdp.rewards[x, ending, a]
            elif chance:
                total += chance * value(h + 1, following)
        return total

    return value(0, 0)


def all_choices(layout):
    places = [(h, s) for h, layer in enumerate(layout.states) for s in range(len(layer))]
    menus = [range(len(layout.actions[h][s])) for h, s in places]
    return [dict(zip(places, picks, strict=True)) for picks in product(*menus)]


def as_policy(layout, choices):
    policy = np.where(np.arange(layout.max_actions) == 0, layout.mask, 0.0)  # of those that have ended, too
    for (h, s), a in choices.items():
        policy[h, s] = np.eye(layout.max_actions)[a]
    return policy


@pytest.mark.parametrize("seed", range(3))
def test_values_with_early_endings_are_those_of_all_paths(seed):
    mdp = draw_mdp(EARLY, seed)
    optimal = solve_optimal(mdp)
    for x in range(2):
        values = []
        for choices in all_choices(EARLY):
            values.append(enumerate_value(mdp, x, choices))
            found = evaluate_policy(mdp, x, as_policy(EARLY, choices))
            assert found == pytest.approx(values[-1], abs=1e-12)
        assert optimal.values[x] == pytest.approx(max(values), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_occupancy_planner_finds_the_best_of_all_paths(seed):
    mdp = draw_mdp(EARLY, seed)
    rewards, start = expected_rewards(mdp, 0), np.zeros((EARLY.horizon, EARLY.max_states))
    policy, *_ = solve_packed(mdp.transitions, rewards, EARLY.mask, EARLY.n_states, 1e6, start, False)
    best = max(enumerate_value(mdp, 0, choices) for choices in all_choices(EARLY))
    assert evaluate_policy(mdp, 0, policy) == pytest.approx(best, abs=1e-3)


def test_only_states_that_can_end_lead_to_the_ended_one():
    estimate = TransitionCounts(EARLY).estimate(0)
    assert EARLY.ended.tolist() == [-1, 2, 2]
    assert (estimate[0, 0, :, 2] > 0).all()
    assert (estimate[1, 0, :, 2] > 0).all()
    assert not estimate[1, 1, :, 2].any()
    assert estimate[1, 2, 0].tolist() == [0.0, 0.0, 1.0]
    assert np.allclose(estimate.sum(axis=-1)[EARLY.mask[:-1]], 1)


def test_a_layout_without_early_endings_has_no_ended_state():
    plain = Layout.regular([1, 2], n_actions=2, n_contexts=1, n_feedback=2, ends=((), (1,)))
    assert not plain.ends_early
    assert plain.n_states.tolist() == [1, 2]
    assert plain.endings.labels == (1, 2)


def lake(ends="anywhere"):
    cells = ("shore", "ice")
    states = (("shore",), cells, cells)
    actions = tuple((("go", "wait"),) * len(layer) for layer in states)
    return Layout(states, actions, Finite((0,)), Finite(("oh", "ah")), ends=ends)


def test_a_label_of_several_layers_is_told_apart_by_its_step():
    layout = lake()
    assert layout.locate("ice", layer=2) == (2, 1)
    assert layout.endings.labels == (
        "shore (step 1)",
        "shore (step 2)",
        "ice (step 2)",
        "shore (step 3)",
        "ice (step 3)",
    )
    assert layout.endings.find("ice (step 3)") == 4
    with pytest.raises(ValueError, match="stands in 2; say in which `layer`"):
        layout.locate("ice")


def test_ends_survive_json():
    for layout in (lake(), lake((("shore",), ("ice",), ()))):
        assert Layout.from_json(layout.to_json()) == layout


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ("nowhere", "ends must be 'anywhere' or list"),
        ((("shore",),), "for each of the 3 layers"),
        (((), ("fire",), ()), "got 'fire' in layer 2"),
    ],
)
def test_wrong_ends_are_refused(ends, message):
    with pytest.raises(ValueError, match=message):
        lake(ends)

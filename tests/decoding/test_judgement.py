"""What is estimated of each last state, against other libraries, hand-made tables and known truths."""

import numpy as np
import pytest
from drawn_counts import draw_counts
from scipy.stats import binomtest, chi2_contingency

from tacit.agent import Agent
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    UNKNOWN,
    JudgementSettings,
    decode_all,
    estimate_constants,
    fit_balanced,
    independence_p_value,
    judge,
    proportion_intervals,
    separation,
)
from tacit.envs.gym_adapter import GymSource
from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.simulate import Simulation

DEFAULT = JudgementSettings()
RUNS, COVERED = 100, 90
HONEST = np.array([[0.0, 0.0, 0.5, 0.5], [0.7, 0.3, 0.0, 0.0]])
"""Pr[y | r] (2, Y): the first two values are said when rewarded."""


def explore_then_exploit(generator, f, feedback):
    """Return counts as the fast recipe gathers them: uniform until settled, then the best action above all."""
    K = len(f)
    counts = draw_counts(generator, f, feedback, [DEFAULT.least_each] * K)
    while not judge(counts, 0.0, DEFAULT).settled:
        counts += draw_counts(generator, f, feedback, [1] * K)
    played = np.full(K, 5)
    played[np.argmax(judge(counts, 0.0, DEFAULT).f)] = 500
    return counts + draw_counts(generator, f, feedback, played)


@pytest.mark.parametrize(("successes", "trials"), [(0, 7), (3, 10), (27, 30), (30, 30), (1, 400)])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_proportion_intervals_are_clopper_and_pearsons(successes, trials, level):
    low, high = proportion_intervals(np.array([float(successes)]), np.array([float(trials)]), level)
    exact = binomtest(successes, trials).proportion_ci(level, method="exact")
    assert (low[0], high[0]) == pytest.approx((exact.low, exact.high), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_p_value_is_the_likelihood_ratio_tests(seed):
    counts = np.random.default_rng(seed).integers(1, 30, (4, 5)).astype(np.float64)
    expected = chi2_contingency(counts, correction=False, lambda_="log-likelihood").pvalue
    assert independence_p_value(counts) == pytest.approx(expected, rel=1e-9)
    padded = np.pad(counts, ((0, 2), (1, 0)))  # values and actions never seen change nothing
    assert independence_p_value(padded) == pytest.approx(expected, rel=1e-9)


def test_p_value_where_nothing_can_differ():
    assert independence_p_value(np.zeros((2, 3))) == 1.0
    assert independence_p_value(np.array([[3.0, 4.0], [0.0, 0.0]])) == 1.0


def test_too_few_tuples_of_one_action_leave_a_state_unknown():
    counts = np.array([[30.0, 1.0, 0.0], [0.0, 29.0, DEFAULT.least_each - 1.0]])
    judgement = judge(counts, 0.3, DEFAULT)
    assert (judgement.kind, judgement.settled) == (UNKNOWN, False)
    assert judgement.expected.tolist() == [0.3] * 3


@pytest.mark.parametrize(
    ("each", "settled"), [(DEFAULT.least_each, False), (DEFAULT.homogeneous_after, True)]
)
def test_equal_columns_are_homogeneous_and_worth_c(each, settled):
    judgement = judge(np.full((2, 3), each / 2), 0.4, DEFAULT)
    assert (judgement.kind, judgement.settled) == (HOMOGENEOUS, settled)
    assert judgement.best == 0.4
    assert (judgement.rewards == 0.4).all()


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_orientation_makes_the_rewarding_actions_the_minority(order):
    counts = np.array([[27.0, 3.0, 3.0, 3.0], [3.0, 27.0, 27.0, 27.0]])[order]
    judgement = judge(counts, 0.0, DEFAULT)
    assert (judgement.kind, judgement.settled) == (HETEROGENEOUS, True)
    np.testing.assert_allclose(judgement.f, [0.9, 0.1, 0.1, 0.1])
    assert judgement.phi.tolist() == [1 - order[0], order[0]]
    assert judgement.best == pytest.approx(0.9)


def test_one_whose_orientation_is_in_doubt_is_not_settled():
    counts = np.array([[18.0, 10.0, 2.0], [2.0, 10.0, 18.0]])  # sum f = K/2
    assert not judge(counts, 0.0, DEFAULT).settled
    assert judge(counts * 10, 0.0, DEFAULT).settled  # no more tuples will tell


def test_how_often_an_action_was_drawn_does_not_change_f():
    even = np.array([[27.0, 3.0, 3.0], [3.0, 27.0, 27.0]])
    skewed = even * np.array([100.0, 1.0, 1.0])
    for one, other in zip(fit_balanced(even), fit_balanced(skewed), strict=True):
        np.testing.assert_allclose(one, other)


def test_unseen_feedback_means_nothing():
    counts = np.array([[27.0, 3.0, 3.0], [0.0, 0.0, 0.0], [3.0, 27.0, 27.0]])
    assert fit_balanced(counts)[1].tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("seed", range(20))
def test_decoded_reward_never_exceeds_phi_and_meets_it_at_the_best_action(seed):
    generator = np.random.default_rng(seed)
    f = np.append(0.9, generator.uniform(0, 0.2, 4))
    f, phi = fit_balanced(draw_counts(generator, f, HONEST, [40] * 5))
    rewards = decode_all(f, phi, np.full(5, 40.0))
    assert (rewards <= phi[:, None]).all()
    assert (rewards >= 0).all()
    np.testing.assert_array_equal(rewards[:, np.argmax(f)], phi)


def test_without_room_for_a_ramp_feedback_decodes_to_phi():
    f, phi = np.array([0.5, 0.45, 0.45]), np.array([1.0, 0.0])
    assert separation(0.5, f.sum(), 3) < 1.2
    np.testing.assert_array_equal(decode_all(f, phi, np.full(3, 20.0)), np.repeat(phi[:, None], 3, axis=1))


def test_sigma_of_hand_made_counts():
    counts = np.array([[270.0, 30.0, 30.0, 30.0], [30.0, 270.0, 270.0, 270.0]])
    sigma = judge(counts, 0.0, DEFAULT).sigma()
    assert sigma.estimate == pytest.approx(0.9 * 2.8 / 1.2)
    assert sigma.low < sigma.estimate < sigma.high < 3


def test_intervals_cover_the_truth():
    """100 runs of three states each; 90 must hold theta, M and sigma, of all states that count at once."""
    truths = [np.array([0.8, 0.2, 0.1, 0.1]), np.array([0.1, 0.9, 0.1, 0.1]), np.array([0.3, 0.1, 0.75, 0.0])]
    covered = np.zeros(3)
    for seed in range(RUNS):
        generator = np.random.default_rng(seed)
        judgements = [judge(explore_then_exploit(generator, f, HONEST), 0.0, DEFAULT) for f in truths]
        counting = [f for f, each in zip(truths, judgements, strict=True) if each.kind == HETEROGENEOUS]
        found, theta = estimate_constants(judgements), min(f.max() for f in counting)
        M, sigma = max(f.sum() for f in counting), min(separation(f.max(), f.sum(), 4) for f in counting)
        intervals = zip((found.theta, found.M, found.sigma), (theta, M, sigma), strict=True)
        covered += [interval.low <= truth <= interval.high for interval, truth in intervals]
    assert (covered >= COVERED).all(), covered


def test_intervals_that_are_too_narrow_would_be_noticed():
    """The control: at a level of one half the same runs must not cover so often."""
    f, covered = np.array([0.8, 0.2, 0.1, 0.1]), 0
    for seed in range(RUNS):
        M = judge(explore_then_exploit(np.random.default_rng(seed), f, HONEST), 0.0, DEFAULT).M(level=0.5)
        covered += M.low <= f.sum() <= M.high
    assert covered < COVERED


def test_without_heterogeneous_states_there_are_no_constants():
    assert estimate_constants([judge(np.full((2, 3), 50.0), 0.0, DEFAULT)]) is None


def test_shuffled_feedback_is_homogeneous():
    """The control of everything above: feedback that tells nothing is not given a meaning."""
    blurred = np.repeat(HONEST.mean(axis=0, keepdims=True), 2, axis=0)
    kinds = [
        judge(draw_counts(np.random.default_rng(seed), [0.9, 0.1, 0.1], blurred, [60] * 3), 0.0, DEFAULT).kind
        for seed in range(RUNS)
    ]
    assert kinds.count(HOMOGENEOUS) >= 99


@pytest.mark.compiled
def test_an_agents_intervals_cover_the_truth():
    """Ten random problems, 2,000 episodes each; at most one may miss theta or M."""
    missed = 0
    for seed in range(1000, 1010):
        env = random_mdp(seed, RandomMDPSettings(layers=2, states=3))
        agent = Agent(env.layout, seed=seed)
        Simulation(agent, GymSource(env), seed, env.mdp).run(2000)
        settled = {
            at: judgement
            for at, judgement in agent.stage.places.judgements.items()
            if judgement.settled and judgement.kind == HETEROGENEOUS
        }
        found, truths = estimate_constants(settled.values()), [env.mdp.rewards[x, s] for s, x in settled]
        missed += not found.theta.low <= min(f.max() for f in truths) <= found.theta.high
        missed += not found.M.low <= max(f.sum() for f in truths) <= found.M.high
    assert missed <= 1

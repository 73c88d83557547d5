"""What is estimated of each last state, against other libraries, hand-made tables and known truths."""

import numpy as np
import pytest
from drawn_counts import draw_counts
from scipy.stats import binomtest

from tacit.agent import Agent
from tacit.decoding.constants import estimate_constants
from tacit.decoding.counts import SeenCounts
from tacit.decoding.judgement import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    UNKNOWN,
    JudgementSettings,
    decode_all,
    judge,
    posterior_reward,
    proportion_intervals,
    separation,
    tuples_wanted,
    turn,
)
from tacit.decoding.orientation import Beliefs
from tacit.decoding.together import UNKNOWN_TELLING, judge_all, judge_together, telling_by
from tacit.decoding.word_types import fit_types, soften
from tacit.envs.gym_adapter import GymSource
from tacit.envs.random_mdp import RandomMDPSettings, random_mdp
from tacit.problem.layout import Layout
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


def test_too_few_tuples_of_one_action_leave_a_state_unknown():
    counts = np.array([[30.0, 1.0, 0.0], [0.0, 29.0, DEFAULT.least_each - 1.0]])
    judgement = judge(counts, 0.3, DEFAULT)
    assert (judgement.kind, judgement.settled) == (UNKNOWN, False)
    assert judgement.expected.tolist() == [0.3] * 3


@pytest.mark.parametrize(("each", "settled"), [(DEFAULT.least_each, False), (100, True)])
def test_equal_columns_are_homogeneous_and_worth_c_and_settled_once_more_would_have_shown(each, settled):
    judgement = judge(np.full((2, 3), each / 2), 0.4, DEFAULT)
    assert (judgement.kind, judgement.settled) == (HOMOGENEOUS, settled)
    assert judgement.best == 0.4
    assert (judgement.rewards == 0.4).all()
    assert (judgement.hope <= 0.5) == settled


def test_where_words_may_overlap_more_tuples_are_asked_for():
    counts = np.full((2, 3), 40.0)
    assert judge(counts, 0.0, DEFAULT, (1.0,)).hope < judge(counts, 0.0, DEFAULT, (0.25,)).hope


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_orientation_makes_the_rewarding_actions_the_minority(order):
    counts = np.array([[27.0, 3.0, 3.0, 3.0], [3.0, 27.0, 27.0, 27.0]])[order]
    judgement = judge(counts, 0.0, DEFAULT)
    assert (judgement.kind, judgement.settled) == (HETEROGENEOUS, True)
    np.testing.assert_allclose(judgement.f, [0.9, 0.1, 0.1, 0.1], atol=1e-3)
    np.testing.assert_allclose(judgement.phi, [1 - order[0], order[0]], atol=1e-3)
    assert judgement.best == pytest.approx(0.9, abs=1e-3)


def test_one_whose_orientation_is_in_doubt_is_not_settled():
    counts = np.array([[18.0, 10.0, 2.0], [2.0, 10.0, 18.0]])  # sum f = K/2
    assert not judge(counts, 0.0, DEFAULT).settled
    assert judge(counts * 10, 0.0, DEFAULT).settled  # no more tuples will tell


def test_how_often_an_action_was_drawn_does_not_change_f():
    even = np.array([[27.0, 3.0, 3.0], [3.0, 27.0, 27.0]])
    skewed = even * np.array([100.0, 1.0, 1.0])
    np.testing.assert_allclose(judge(even, 0.0, DEFAULT).f, judge(skewed, 0.0, DEFAULT).f, atol=0.02)


def test_unseen_feedback_may_mean_either():
    counts = np.array([[27.0, 3.0, 3.0], [0.0, 0.0, 0.0], [3.0, 27.0, 27.0]])
    np.testing.assert_allclose(judge(counts, 0.0, DEFAULT).phi, [1.0, 0.5, 0.0], atol=1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_decoded_reward_never_exceeds_what_is_meant_and_meets_it_at_the_best_action(seed):
    generator = np.random.default_rng(seed)
    f = np.append(0.9, generator.uniform(0, 0.2, 4))
    found = judge(draw_counts(generator, f, HONEST, [40] * 5), 0.0, DEFAULT)
    meant = posterior_reward(found.f, found.phi, found.tuples)
    rewards = decode_all(found.f, found.phi, found.tuples)
    assert (rewards <= meant).all()
    assert (rewards >= 0).all()
    best = np.argmax(found.f)
    np.testing.assert_array_equal(rewards[:, best], meant[:, best])


def test_without_room_for_a_ramp_feedback_decodes_to_phi():
    f, phi = np.array([0.5, 0.45, 0.45]), np.array([1.0, 0.0])
    assert separation(0.5, f.sum(), 3) < 1.2
    np.testing.assert_array_equal(decode_all(f, phi, np.full(3, 20.0)), np.repeat(phi[:, None], 3, axis=1))


def test_sigma_of_hand_made_counts():
    counts = np.array([[270.0, 30.0, 30.0, 30.0], [30.0, 270.0, 270.0, 270.0]])
    sigma = judge(counts, 0.0, DEFAULT).sigma()
    assert sigma.estimate == pytest.approx(0.9 * 2.8 / 1.2, abs=0.01)
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


SOFT = 0.7 * HONEST + 0.3 * HONEST[::-1]
"""Three of ten on either side talk like the other."""
ONE_BEST = np.array([0.9, 0.05, 0.1, 0.0])


def test_bounds_hold_f_where_words_overlap_and_control_the_estimate_does_not():
    held, off = [], []
    for seed in range(40):
        found = judge(draw_counts(np.random.default_rng(seed), ONE_BEST, SOFT, [300] * 4), 0.0, DEFAULT)
        low, high = found.bounds()
        held.append(((low <= ONE_BEST) & (high >= ONE_BEST)).all())
        off.append(np.abs(found.f - ONE_BEST).max())
        for y, a in ((0, 0), (2, 3)):
            ends = found.reward_bounds(y, a)
            assert ends[0] <= found.rewards[y, a] + 1e-12
            assert ends[1] >= posterior_reward(found.f, found.phi, found.tuples)[y, a] - 1e-12
    assert np.mean(held) >= 0.95
    assert np.median(off) > 0.15


def test_means_of_reward_bounds_are_the_bounds_of_f():
    counts = draw_counts(np.random.default_rng(1), ONE_BEST, SOFT, [400] * 4)
    found = judge(counts, 0.0, DEFAULT)
    shares, (low, high) = counts / counts.sum(axis=0), found.bounds()
    for a in range(4):
        ends = np.array([found.reward_bounds(y, a) for y in range(4)])
        assert shares[:, a] @ ends[:, 1] == pytest.approx(high[a], abs=0.03)
        assert shares[:, a] @ ends[:, 0] <= low[a] + 0.03


def test_turning_swaps_both_sides():
    found = judge(draw_counts(np.random.default_rng(1), ONE_BEST, HONEST, [50] * 4), 0.0, DEFAULT)
    turned = turn(found, -3.0, False, DEFAULT)
    np.testing.assert_array_equal(turned.f, 1 - found.f)
    np.testing.assert_array_equal(turned.phi, 1 - found.phi)
    assert turned.turned
    assert turned.minority == pytest.approx(found.minority)
    assert turn(found, 3.0, False, DEFAULT).turned is False


def test_in_doubt_which_way_round_a_place_may_be_worth_what_it_is_the_other_way():
    f = np.array([0.85, 0.4, 0.05])
    found = judge(draw_counts(np.random.default_rng(3), f, HONEST, [60] * 3), 0.0, DEFAULT)
    sure, doubtful = (turn(found, *said, DEFAULT) for said in ((9.0, False), (1.0, False)))
    assert sure.settled
    assert (sure.doubt, sure.hope) == (0, sure.best)
    assert doubtful.settled
    assert doubtful.doubt == pytest.approx(1 / (1 + np.e))
    assert doubtful.hope == pytest.approx(1 - found.f.min())
    assert doubtful.best == pytest.approx((1 - doubtful.doubt) * f[0] + doubtful.doubt * (1 - f[0]), abs=0.1)
    assert tuples_wanted(doubtful, DEFAULT) > 0 == tuples_wanted(sure, DEFAULT)


def test_where_words_overlap_doubt_stays_and_only_the_few_are_waited_for():
    """Of many tuples that do not say which way round, more would not say it either; of few they might."""
    between = np.array([[35.0, 17.0, 50.0], [37.0, 55.0, 22.0]])
    few, many = (judge(times * between, 0.0, DEFAULT) for times in (1, 100))
    assert few.leaning is not None
    assert many.leaning is not None
    assert few.leaning.blur > 1 > many.leaning.blur
    for found, waits in ((few, True), (many, False)):
        in_doubt = turn(found, 0.5, True, DEFAULT)
        assert in_doubt.settled
        assert in_doubt.doubt == pytest.approx(1 / (1 + np.exp(0.5))), "and it is worth so much less"
        assert in_doubt.best < found.f.max()
        assert (in_doubt.waits > 1) == waits == (tuples_wanted(in_doubt, DEFAULT) > 0)
        assert (in_doubt.hope > found.f.max()) == (waits and 1 - found.f.min() > found.f.max())


def layered(tables):
    """Return layout and counts of tables by (ending, context)."""
    S, G = (1 + max(at[n] for at in tables) for n in (0, 1))
    Y, K = next(iter(tables.values())).shape
    dense = np.zeros((S, G, Y, K))
    for at, table in tables.items():
        dense[at] = table
    return Layout.regular([1, S], K, G, Y), SeenCounts.of_dense(dense)


def test_places_are_judged_together_by_what_all_of_them_say():
    """Where many are polite one place alone leans little; three of them turn each other."""
    generator = np.random.default_rng(3)
    polite = np.array([[0.0, 0.0, 0.5, 0.5], [0.7, 0.3, 0.0, 0.0]])
    polite[0] = 0.5 * polite[0] + 0.5 * polite[1]
    tables = {(s, 0): draw_counts(generator, ONE_BEST, polite, [200] * 4) for s in range(3)}
    layout, counts = layered(tables)
    nothing = SeenCounts.empty((*counts.shape[:3], 2))
    judged = judge_together(layout, counts, nothing, 0.0, DEFAULT, {})
    assert judged.beliefs.overlapping == {0}
    assert all(int(each.f.argmax()) == 0 for each in judged.judgements.values())
    alone = judge_all(layout, counts, 0.0, DEFAULT)
    for at, each in alone.items():
        np.testing.assert_array_equal(each.f, judged.judgements[at].f)


def test_places_of_a_context_are_read_on_one_scale():
    """By itself, a place may be read with words between the sides because of what f is likely beforehand."""
    crossed = 0.7 * HONEST + 0.3 * HONEST[::-1]
    f = np.array([0.85, 0.04, 0.1, 0.15])
    alone, together = [], []
    for seed in range(30):
        generator = np.random.default_rng(seed)
        tables = {(s, 0): draw_counts(generator, f, crossed, [300, 60, 60, 60]) for s in range(4)}
        judged = judge_together(*layered(tables), SeenCounts.empty((4, 1, 4, 2)), 0.0, DEFAULT, {})
        found = [each for each in judged.found.values() if each.kind == HETEROGENEOUS]
        between = 0 in judged.beliefs.between
        softened = [soften(table, fit_types(table)).choose().between > 0 for table in tables.values()]
        alone.append(len({*softened}))
        together.append(len({bool((each.phi % 1).round(2).any()) for each in found if between}))
    assert max(together) <= 1
    assert max(alone) == 2, "the control must fail: one by one they are read in two ways"


def test_known_outcomes_turn_places_judged_together():
    generator = np.random.default_rng(4)
    tables = {(0, x): draw_counts(generator, 1 - ONE_BEST, HONEST, [60] * 4) for x in range(2)}
    layout, counts = layered(tables)
    known = np.zeros((1, 2, 4, 2))
    nothing = judge_together(layout, counts, SeenCounts.of_dense(known), 0.0, DEFAULT, {}).judgements
    assert not any(each.turned for each in nothing.values())
    known[0, 0, 0, 1], known[0, 0, 2, 0] = 4, 4
    told = judge_together(layout, counts, SeenCounts.of_dense(known), 0.0, DEFAULT, {})
    assert told.beliefs.majority
    assert all(each.turned for each in told.judgements.values())


def test_a_place_in_which_nothing_was_found_is_asked_more_where_feedback_tells_less():
    assert telling_by(Beliefs()) == UNKNOWN_TELLING
    assert telling_by(Beliefs(True)) == (1.0,)
    assert telling_by(Beliefs(True, halvings=2)) == (0.25,)


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

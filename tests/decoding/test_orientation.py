"""Which way round: the evidence against finer integration, the turns against known truths, outcomes above beliefs."""

import numpy as np
import pytest
from reference_words import evidence_slowly

from tacit.decoding.orientation import (
    BELIEF,
    MOST_BELIEVED,
    Beliefs,
    Leanings,
    is_sure,
    lean,
    log_density,
    outcome_odds,
    overlap_evidence,
    overlap_steps,
    overlap_weights,
    stands_out_by,
    turn_odds,
)

ONE_BEST = np.array([0.9, 0.08, 0.02, 0.1])


SURE = np.zeros(4)
"""No error."""


def said(f, flips=(0.0, 0.0)):
    """Return the share of type 1 after each action where `flips` of each side talk like the other."""
    return flips[0] + np.asarray(f) * (1 - flips[1] - flips[0])


@pytest.mark.parametrize(
    ("f", "flips"),
    [
        (ONE_BEST, (0.1, 0.1)),
        (ONE_BEST, (0.4, 0.0)),
        (ONE_BEST, (0.0, 0.3)),
        (np.array([0.7, 0.1, 0.05]), (0.2, 0.05)),
        (np.array([0.5, 0.2, 0.3, 0.1]), (0.3, 0.4)),
    ],
)
def test_evidence_is_the_integral_over_all_overlaps(f, flips):
    shares = said(f, flips)
    assert overlap_evidence(shares) == pytest.approx(evidence_slowly(shares), abs=0.4)


def test_weights_are_what_evidence_sums():
    shares = said(ONE_BEST, (0.2, 0.1))
    step_0, step_1 = overlap_steps(shares)
    weights = overlap_weights(shares, 0.25)
    assert (weights >= 0).all()
    assert np.log(weights.sum() * step_0 * step_1) == pytest.approx(overlap_evidence(shares))


def test_density_is_that_of_one_best_and_others_below():
    f = np.array([0.5, 0.25, 0.1])
    expected = np.log(4 * 0.5**3 / 0.5) + np.log(4 * 0.8**3 / 0.5)
    assert log_density(f) == pytest.approx(expected)
    assert log_density(f[::-1].copy()) == pytest.approx(expected)


def turned_right(flips, seed, actions=4):
    """Return whether what stands out turns shares the right way, for a random problem of one best action."""
    generator = np.random.default_rng(seed)
    f = np.append(generator.uniform(0.6, 1.0), generator.beta(1, 8, actions - 1))
    t = said(f, flips)
    upright = t.sum() <= actions / 2
    return (lean(t if upright else 1 - t, np.zeros(actions)).standing > 0) == upright


@pytest.mark.parametrize("flips", [(0.0, 0.0), (0.2, 0.0), (0.45, 0.0), (0.0, 0.4), (0.2, 0.2)])
def test_what_stands_out_is_the_reward_whoever_is_polite(flips):
    assert np.mean([turned_right(flips, seed) for seed in range(200)]) > 0.95


def test_control_where_most_actions_please_shares_alone_turn_it_the_wrong_way():
    """And nothing but outcomes can say so."""
    shares = 1 - said(np.array([0.05, 0.9, 0.95, 0.92]))
    assert lean(shares, SURE).standing > 0
    assert turn_odds(9.0, lean(shares, SURE).standing, 0.0, overlapping=True, majority=False) > 0
    told = outcome_odds(np.array([[4.0, 0.0], [0.0, 4.0]]), np.array([0.0, 1.0]))
    assert told > MOST_BELIEVED


def test_exclusive_and_overlapping_worlds_are_told_apart():
    exclusive, polite = lean(said(ONE_BEST), SURE), lean(said(ONE_BEST, (0.4, 0.0)), SURE)
    assert exclusive.exclusive > exclusive.overlapping
    assert polite.overlapping > polite.exclusive


def test_beliefs_are_by_context_group():
    leanings = Leanings.none((2, 2))
    for s in range(2):
        leanings = leanings.replaced((s, 0), lean(said(ONE_BEST), SURE), 9.0, 0.0)
        leanings = leanings.replaced((s, 1), lean(said(ONE_BEST, (0.4, 0.0)), SURE), 9.0, 0.0)
    beliefs = leanings.weigh()
    assert beliefs == Beliefs(True, frozenset({1}), False)
    worlds = leanings.worlds((0, 0), beliefs), leanings.worlds((0, 1), beliefs)
    assert worlds[0].overlap < 0 < worlds[1].overlap
    assert worlds[1].overlapping == leanings.odds((0, 1), beliefs)
    assert worlds[0].exclusive == leanings.odds((0, 0), beliefs)
    assert beliefs.differing(Beliefs(True), 2) == {1}
    assert beliefs.differing(Beliefs(False), 2) == {0, 1}
    assert leanings.replaced((0, 0), None, 0.0, 0.0).evidence[0, 0] == 0


def test_places_that_speak_at_once_say_what_they_say_one_by_one():
    rows = {
        (s, x): (lean(said(ONE_BEST, (0.1 * s, 0.1 * x)), SURE), 3.0, float(s))
        for s in range(2)
        for x in range(2)
    }
    one_by_one = Leanings.none((2, 2))
    for at, row in rows.items():
        one_by_one = one_by_one.replaced(at, *row)
    np.testing.assert_array_equal(Leanings.none((2, 2)).with_all(rows).rows, one_by_one.rows)


@pytest.mark.parametrize(("places", "majority"), [(1, False), (3, True)])
def test_outcomes_of_several_places_say_that_most_actions_please(places, majority):
    """One place may be odd; three that contradict what is believed beforehand overrule it everywhere."""
    leanings = Leanings.none((4, 1))
    for s in range(places):
        leanings = leanings.replaced((s, 0), lean(said(ONE_BEST), SURE), 9.0, -2.5)
    leanings = leanings.replaced((3, 0), lean(said(ONE_BEST), SURE), 9.0, 0.0)
    beliefs = leanings.weigh()
    assert beliefs.majority == majority
    assert (leanings.odds((3, 0), beliefs) < 0) == majority
    assert 3 * 2.5 > BELIEF > 2.5


def test_outcomes_that_contradict_each_other_cancel():
    assert outcome_odds(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([0.0, 1.0])) == pytest.approx(0)
    assert outcome_odds(np.array([[5.0, 0.0]]), np.array([0.5])) == pytest.approx(0)


def test_a_turn_is_sure_from_its_odds_on():
    assert is_sure(-5.0, overlapping=False)
    assert not is_sure(4.0, overlapping=False)
    assert is_sure(1.5, overlapping=True)
    assert turn_odds(-3.0, 0.0, 0.0, overlapping=False, majority=False) == pytest.approx(-4.5)


def test_what_stands_out_says_less_where_shares_are_estimates():
    """Against the mean chance over the error of each share, by sampling; and without an error nothing is lost."""
    shares, errors = np.array([0.44, 0.2, 0.7]), np.full(3, 0.05)
    sure, unsure = lean(shares, np.zeros(3)), lean(shares, errors)
    assert 0 < unsure.standing < sure.standing
    assert sure.blur == 0 < unsure.blur
    drawn = np.random.default_rng(1).normal(shares, errors, (2000, 3))
    chances = [1 / (1 + np.exp(-stands_out_by(np.clip(each, 0, 1)))) for each in drawn]
    assert 1 / (1 + np.exp(-unsure.standing)) == pytest.approx(np.mean(chances), abs=0.08)


@pytest.mark.parametrize(("flips", "halvings"), [((0.3, 0.3), 2.0), ((0.0, 0.0), 5.0)])
def test_a_place_that_pleases_few_does_not_make_the_words_of_a_context_faint(flips, halvings):
    """Where words overlap the place that tells most speaks for them; control: exclusive ones speak for themselves."""
    leanings = Leanings.none((5, 1))
    for s, telling in enumerate((0.25, 0.03, 0.03, 0.03, 0.03)):
        leaning = lean(said(ONE_BEST, flips), SURE)._replace(telling=telling, alone=1 / 32)
        leanings = leanings.replaced((s, 0), leaning, 9.0, 0.0)
    assert leanings.weigh().halvings == halvings

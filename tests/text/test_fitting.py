"""The text posterior and its fit: slow twins, gradients, what it finds, and what it must not."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import check_grad
from text_posteriors import ITEMS, world
from text_samples import HashingEncoder

from tacit.text.conversation import Conversation, TextContext
from tacit.text.evidence import LEVEL, ONE_OF_MANY, Evidence, level_of
from tacit.text.models import make_model
from tacit.text.small import cross_fitting
from tacit.text.small.affinity import fit_projection
from tacit.text.small.cache import EncodingCache
from tacit.text.small.calibration import Scales
from tacit.text.small.choosing import MOST_COMPARED, RIDGES, compared_rows
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.cross_fitting import try_start
from tacit.text.small.encoder import Words
from tacit.text.small.features import TextFeatures
from tacit.text.small.fitting import fit_frame, fit_text_posterior, make_design, make_posterior
from tacit.text.small.likelihood import (
    believed_of,
    explain_feedback,
    explain_fixed,
    explain_meaning,
    explain_rewards,
    rewards_of_taken,
)
from tacit.text.small.likelihood_kernels import share_of_kind
from tacit.text.small.matching import match_features
from tacit.text.small.posterior import bayes, log_ratio
from tacit.text.small.starts import list_starts
from tacit.text.small.values import LIKE_RIDGE, Pairs, climb_value, cross_entropy, fit_value

SETTINGS = FittingSettings()


def test_log_ratio_as_the_mixture_says():
    for t, k in product((-3.0, 0.2, 5.0), repeat=2):
        plain = 1 / (1 + np.exp(-k))
        good = plain * np.exp(t) + (1 - plain)  # P(y | r = 1) / P(y | unkind)
        bad = plain + (1 - plain) * np.exp(t)
        assert log_ratio(np.array([t]), np.array([k]))[0] == pytest.approx(np.log(good / bad))


def test_bayes_as_counting_says():
    """Of uniform candidates with P(r = 1 | a) = f, feedback of ratio e^l: P(a | y) by enumeration."""
    f, ratio = np.array([0.7, 0.1, 0.0]), 2.0
    joint = np.array([(1 / 3) * (f[a] * np.exp(ratio) + (1 - f[a]) * 1.0) for a in range(3)])
    found = bayes(f[None], np.array([ratio]), np.ones((1, 3), bool))[0]
    np.testing.assert_allclose(found, joint / joint.sum())
    padded = bayes(np.append(f, 0.4)[None], np.array([ratio]), np.array([[True, True, True, False]]))[0]
    np.testing.assert_allclose(padded, [*found, 0.0])


@pytest.mark.parametrize("told", [False, True])
def test_gradients(told):
    sample, reward = world(30, personal=True)
    design = make_design(sample, fit_frame(sample, SETTINGS))
    start = list_starts(design, None)[-1].weights
    start = start + 0.1 * np.random.default_rng(0).standard_normal(len(start))
    explain = (
        (lambda w: explain_rewards(design, w, reward * 0.9))
        if told
        else lambda w: explain_feedback(design, w)
    )
    assert check_grad(lambda w: explain(w)[0], lambda w: explain(w)[1], start) < 1e-3


def test_a_part_of_the_weights_is_climbed_as_all_are():
    """Where meaning or rewards are known, value and slopes are those of all weights."""
    sample, _ = world(30, personal=True)
    design = make_design(sample, fit_frame(sample, SETTINGS))
    start = list_starts(design, None)[-1].weights
    weights = start + 0.1 * np.random.default_rng(0).standard_normal(len(start))
    value, slopes = explain_feedback(design, weights)
    f, believed = rewards_of_taken(design, weights)
    n = design.fitting
    for known, some in (
        (explain_fixed(design, weights[:n], believed.ratio, believed.plain), slopes[:n]),
        (explain_meaning(design, f, weights[n:]), slopes[n:]),
    ):
        assert known[0] == pytest.approx(value)
        np.testing.assert_allclose(known[1], some)
    assert np.array_equal(believed_of(design, weights).fits, believed.fits)


def test_the_likelihood_as_a_solver_says():
    """What makes remarks likeliest of all ways in which unkind ones may be spread over those that were heard."""
    import cvxpy  # slow to import

    sample, _ = world(30, personal=True)
    frame = fit_frame(sample, SETTINGS)
    design = make_design(sample, frame)
    weights = list_starts(design, None)[-1].weights
    posterior = make_posterior(frame, design, weights, Scales())
    f = posterior.rewards(sample)[np.arange(30), sample.taken]
    t, plain = posterior.kindness(sample), 1 / (1 + np.exp(-posterior.plainness(sample)))
    kind = f * plain + (1 - f) * (1 - plain)
    assert 0 < share_of_kind(t) < 1
    spread = cvxpy.Variable(30)  # chance of each remark where an unkind one is meant
    both = [cvxpy.sum(spread) == 1, np.exp(t) @ spread == 1]
    cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(cvxpy.log(spread))), both).solve(solver=cvxpy.CLARABEL)
    total = np.log(30 * spread.value * (kind * np.exp(t) + 1 - kind)).sum()
    assert explain_feedback(design, weights)[0] == pytest.approx(total, rel=1e-6)


def test_the_share_of_kind_remarks_is_found():
    """Of 3,000 remarks a share was drawn from kind ones; where all sound alike it lies at an end."""
    chance = np.random.default_rng(0)
    for share in (0.03, 0.2, 0.6):
        t = chance.normal(2 * (chance.random(3000) < share), 1.0) * 2 - 2  # log-odds of two normals, 2 apart
        assert share_of_kind(t) == pytest.approx(share, abs=0.03)
    assert share_of_kind(np.full(5, -1.0)) == 0
    assert share_of_kind(np.full(5, 1.0)) == 1
    assert share_of_kind(np.zeros(5)) == 0


@pytest.mark.parametrize("personal", [False, True])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_it_finds_the_meaning_whichever_way_round_matching_is(personal, sign):
    """With sign -1 the candidate that fits least is the rewarded one; no reward says so."""
    sample, _ = world(500, personal=personal, sign=sign)
    posterior = fit_text_posterior(sample, SETTINGS).posterior
    fresh, reward = world(2000, seed=1, personal=personal, sign=sign)
    read = posterior.rewarded(fresh)
    assert read[reward].mean() > 0.9
    assert read[~reward].mean() < 0.1


@pytest.mark.parametrize("personal", [False, True])
def test_what_goes_with_what_is_learned_where_nothing_echoes(personal):
    """Feedback alone says which item a request wants; where it is shuffled, choices are as good as chance."""
    sample, _ = world(800, personal=personal, echoes=False)
    fresh, reward = world(500, seed=1, personal=personal, echoes=False)
    posterior, evidence, _, _ = fit_text_posterior(sample, SETTINGS)
    assert evidence.found
    assert wins(posterior, fresh) > 0.9
    rewarded = posterior.rewarded(fresh)
    assert rewarded[reward].mean() > 0.85
    assert rewarded[~reward].mean() < 0.1
    order = np.random.default_rng(0).permutation(800)
    lost, control, _, _ = fit_text_posterior(replace(sample, reading=sample.reading[order]), SETTINGS)
    assert not control.found
    assert wins(lost, fresh) < 0.4


@pytest.mark.parametrize("seed", range(3))
def test_who_is_contrary_is_not_turned_when_the_policy_is_good(seed):
    """Rewards are the majority of what a good policy hears: they say nothing of who means the opposite."""
    sample, _ = world(500, seed=seed, personal=True, echoes=False, explored=150)
    fresh, _ = world(500, seed=9, personal=True, echoes=False)
    assert wins(fit_text_posterior(sample, SETTINGS).posterior, fresh) > 0.85


def test_uniform_choices_are_not_lost_among_many_of_a_policy():
    """Starts are compared on some rows of many: the uniform ones, which tell who is contrary, are among them."""
    sample, _ = world(9000, seed=1, personal=True, echoes=False, explored=60)
    rows = compared_rows(make_design(sample, fit_frame(sample, SETTINGS)))
    assert len(set(rows)) == MOST_COMPARED
    assert set(range(60)) <= set(rows.tolist())
    fresh, _ = world(500, seed=9, personal=True, echoes=False)
    assert wins(fit_text_posterior(sample, SETTINGS).posterior, fresh) > 0.85
    uniform = world(2000)[0]
    assert len(compared_rows(make_design(uniform, fit_frame(uniform, SETTINGS)))) == MOST_COMPARED


@pytest.mark.parametrize("seed", [0, 2])
def test_remarks_are_not_learned_by_heart(seed, monkeypatch):
    """Forty phrases hardly have kindness in common; a policy that is right in nine of ten heard most of them.

    Where meaning is not read off rewards foretold without the remark, kind phrases are called unkind.
    """
    sample, reward = world(700, seed=seed, echoes=False, explored=60)
    chance, size = np.random.default_rng([seed, 5]), 32
    phrases = chance.standard_normal((2, 20, size))
    phrases[:, :, 0] += [[-0.7], [0.7]]
    said = phrases[reward.astype(int), chance.integers(20, size=len(sample))]
    heard = replace(sample, reading=said, profile=np.zeros((len(sample), size)))
    design = make_design(heard, fit_frame(heard, SETTINGS))

    def read_right():
        trials = [try_start(design, start, RIDGES[0], SETTINGS, None) for start in list_starts(design, None)]
        best = max(trials, key=lambda trial: trial.gain).start
        return np.mean((believed_of(design, best.weights).ratio > 0) == reward)

    assert read_right() > 0.98
    monkeypatch.setattr(cross_fitting, "ROUNDS", 0)
    assert read_right() < 0.5


def wins(posterior, sample):
    """Return how often the likeliest candidate is the item that the request wants."""
    fixed = np.random.default_rng(99)
    _, requests = (fixed.standard_normal((ITEMS, 16)).astype(np.float32) for _ in range(2))
    wanted = np.array([int(np.abs(requests - said[0]).sum(axis=1).argmin()) for said in sample.said])
    best = posterior.rewards(sample).argmax(axis=1)
    return float((sample.offer[np.arange(len(sample)), best] == wanted).mean())


def test_known_rewards_take_the_place_of_feedback():
    sample, reward = world(500, echoes=False)
    posterior, evidence, _, _ = fit_text_posterior(sample, SETTINGS, reward.astype(float))
    assert evidence is None
    assert wins(posterior, sample) > 0.9


def test_evidence_and_its_control():
    sample, _ = world(500)
    assert fit_text_posterior(sample, SETTINGS).evidence.found
    order = np.random.default_rng(0).permutation(500)
    shuffled = replace(sample, reading=sample.reading[order])
    assert not fit_text_posterior(shuffled, SETTINGS).evidence.found
    silent = replace(sample, reading=np.ones_like(sample.reading))
    assert not fit_text_posterior(silent, SETTINGS).evidence.found


def test_the_oftener_one_looks_the_more_must_be_seen():
    assert Evidence(0.38, 0.1, 1).found
    assert not Evidence(0.38, 0.1, 10).found


def test_the_one_look_at_a_log_has_all_of_the_level_and_those_of_an_agent_share_another():
    assert level_of(1) == LEVEL
    assert sum(level_of(look) for look in range(2, 100_000)) == pytest.approx(LEVEL, rel=1e-3)
    assert make_model("small", 1, 0).looks == ONE_OF_MANY == 1  # so that its first look is the second


def test_what_is_plain_to_the_fit_needs_fewer_draws():
    assert Evidence(0.51, 0.1, 9, chance=0.09).found
    assert not Evidence(0.51, 0.1, 9, chance=0.2).found
    assert not Evidence(0.49, 0.1, 9, chance=0.09).found


def test_confidence_is_at_least_a_half_and_low_where_nothing_is_known():
    sample, reward = world(500, noise=0.05)
    posterior = fit_text_posterior(sample, SETTINGS).posterior
    sure = posterior.confidence(sample)
    assert sure.min() >= 0.5
    assert sure[reward].mean() > 0.9
    restored = type(posterior).from_state(posterior.to_state())
    assert np.array_equal(restored.predict(sample), posterior.predict(sample))


def test_values_of_earlier_choices():
    """What is worth taking depends on what was asked; the slow twin of the slopes is differences."""
    chance = np.random.default_rng(0)
    said, items = np.zeros((400, 5, 6), np.float32), chance.standard_normal((400, 6)).astype(np.float32)
    said[:, 0] = chance.standard_normal((400, 6))
    led_to = (said[:, 0, 0] * items[:, 1] > 0).astype(float)
    value = fit_value(said, items, led_to, 6)
    found = np.array([value(said[n], items[n : n + 1])[0] for n in range(400)])
    assert np.mean((found > 0.5) == led_to) > 0.9
    pairs = Pairs(np.zeros((400, 0)), said[:, 0].astype(float), items.astype(float))
    assert np.abs(climb_value(pairs, led_to, ridge=1e6).W).max() < 1e-3


def test_what_is_like_the_request_is_found_worth_taking_in_few_episodes():
    """As a whole sentence: of other requests and other candidates, too, which products of components do not tell."""
    chance = np.random.default_rng(0)
    said = np.zeros((160, 5, 30), np.float32)
    said[:, 0], items = (chance.standard_normal((160, 30)).astype(np.float32) for _ in range(2))
    items[::2] += said[::2, 0]
    led_to = (np.arange(160) % 2 == 0).astype(float)
    value = fit_value(said[:80], items[:80], led_to[:80], 10)
    found = np.array([value(said[n], items[n : n + 1])[0] for n in range(80, 160)])
    assert np.mean((found > 0.5) == led_to[80:]) > 0.9


def test_slopes_of_values_are_those_of_differences():
    chance = np.random.default_rng(1)
    pairs = Pairs(*(chance.standard_normal((30, size)) for size in (2, 3, 4)))
    led_to = chance.random(30)
    best = climb_value(pairs, led_to, ridge=0.1)
    flat = np.concatenate([best.like, best.W.ravel(), [best.bias]])
    hold = np.repeat([LIKE_RIDGE, 0.1, 0.0], [2, 12, 1])

    def lost(weights):
        return cross_entropy(pairs.score(pairs.split(weights)), led_to) + (hold * weights**2).sum()

    slopes = [(lost(flat + step) - lost(flat - step)) / 2e-5 for step in 1e-5 * np.eye(len(flat))]
    assert np.abs(slopes).max() < 1e-3  # it is the lowest point


def test_a_projection_of_nothing():
    assert fit_projection(np.zeros((0, 4)), 3)(np.ones((2, 4))).shape == (2, 1)


def test_shared_words_say_nothing():
    features = TextFeatures(HashingEncoder(), EncodingCache())
    talk = Conversation(TextContext("a red house"))
    match = features.match([(talk, ("a red house", "a blue house", "a green house"))])[0]
    assert (match[0] == 1.0).all()
    assert match[1, 0] == match[2, 0] == 0.0


def test_a_candidate_without_words_of_its_own_is_neither_better_nor_worse():
    empty = np.zeros((0, 3), np.float32)
    one = Words(("x",), np.eye(1, 3, dtype=np.float32), np.eye(1, 3, dtype=np.float32))
    match = match_features([one], [Words((), empty, empty), one])
    assert np.array_equal(match[0], match[1])
    assert not match_features([Words((), empty, empty)], [one, Words((), empty, empty)]).any()

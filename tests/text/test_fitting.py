"""The text posterior and its fit: slow twins, gradients, what it finds, and what it must not."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import check_grad
from text_samples import HashingEncoder

import tacit.text.small.fitting as fitting
from tacit.text.conversation import Conversation, TextContext
from tacit.text.small.cache import EncodingCache
from tacit.text.small.encoder import Words
from tacit.text.small.features import TextFeatures
from tacit.text.small.fitting import (
    FittingSettings,
    cross_validate,
    expect,
    first_posterior,
    fit_text_posterior,
    maximise,
)
from tacit.text.small.matching import FEATURES, match_features
from tacit.text.small.posterior import Sample, bayes, fit_projection, log_ratio

SETTINGS = FittingSettings()


def world(n=400, seed=0, personal=False, sign=1.0, noise=0.3):
    """Return a sample with a known truth and its rewards: one of five candidates fits, in a third of the states."""
    chance = np.random.default_rng(seed)
    right, good = chance.integers(5, size=n), chance.random(n) < 1 / 3
    match = 0.3 + 0.1 * chance.standard_normal((n, 5, len(FEATURES)))
    match[np.arange(n), right] += sign * 0.5
    taken = chance.integers(5, size=n)
    reward = good & (taken == right)
    plain = chance.random(n) < 0.5 if personal else np.ones(n, bool)
    kind = np.where(plain, reward, ~reward)
    state = np.column_stack([good, chance.standard_normal((n, 4))]).astype(float)
    reading = noise * chance.standard_normal((n, 6))
    reading[:, 0] += kind
    profile = 0.2 * chance.standard_normal((n, 6)) if personal else np.zeros((n, 6))
    profile[:, 1] += plain * personal
    return Sample(match, np.ones((n, 5), bool), state, reading, profile, taken), reward


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


def test_expectation_as_enumeration_says():
    sample, _ = world(6, personal=True)
    posterior = maximise(sample, np.full(len(FEATURES), 4.0), replace(SETTINGS, rounds=2), None)
    posterior = replace(posterior, sharpness=1.0)
    found = expect(posterior, sample)
    f = posterior.rewards(sample)[np.arange(6), sample.taken]
    t, k = posterior.kindness(sample), posterior.plainness(sample)
    for i in range(6):
        cases = {}
        for r, plain in product((0, 1), repeat=2):
            kind = r == plain
            cases[r, plain, kind] = (
                (f[i] if r else 1 - f[i])
                * (1 / (1 + np.exp(-k[i] if plain else k[i])))
                * (np.exp(t[i]) if kind else 1)
            )
        total = sum(cases.values())
        assert found.reward[i] == pytest.approx(sum(p for (r, _, _), p in cases.items() if r) / total)
        assert found.kind[i] == pytest.approx(sum(p for (_, _, kind), p in cases.items() if kind) / total)
        assert found.plain[i] == pytest.approx(sum(p for (_, plain, _), p in cases.items() if plain) / total)


@pytest.mark.parametrize("part", ["logistic", "rewards"])
def test_gradients(monkeypatch, part):
    """Catch the objective on its way to the optimiser and compare its gradient with differences."""
    caught = {}

    def catch(objective, start, **options):
        caught["objective"], caught["start"] = objective, np.asarray(start, float)
        raise InterruptedError

    monkeypatch.setattr(fitting, "minimize", catch)
    sample, reward = world(30)
    posterior = first_posterior(sample, np.full(len(FEATURES), 4.0), SETTINGS)
    features, first = posterior.state_projection(sample.state), np.full(len(FEATURES), 4.0)
    fits = {
        "logistic": lambda: fitting.fit_logistic(
            features, reward * 0.9, np.ones(30), 0.1, np.zeros(features.shape[1])
        ),
        "rewards": lambda: fitting.fit_to_rewards(posterior, sample, reward * 0.8 + 0.1, first, SETTINGS),
    }
    with pytest.raises(InterruptedError):
        fits[part]()
    start = caught["start"] + 0.1 * np.random.default_rng(0).standard_normal(len(caught["start"]))
    objective = caught["objective"]
    assert check_grad(lambda w: objective(w)[0], lambda w: objective(w)[1], start) < 1e-3


@pytest.mark.parametrize("personal", [False, True])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_it_finds_the_meaning_whichever_way_round_matching_is(personal, sign):
    """With sign -1 the candidate that fits least is the rewarded one; no reward says so."""
    sample, _ = world(500, personal=personal, sign=sign)
    posterior = fit_text_posterior(sample, SETTINGS)
    fresh, reward = world(2000, seed=1, personal=personal, sign=sign)
    h = posterior.predict(fresh)[np.arange(2000), fresh.taken]
    assert h[reward].mean() > 0.8
    assert h[~reward].mean() < 0.3


def test_evidence_and_its_control():
    sample, _ = world(500)
    assert cross_validate(sample, SETTINGS).found
    order = np.random.default_rng(0).permutation(500)
    shuffled = replace(sample, reading=sample.reading[order])
    assert not cross_validate(shuffled, SETTINGS).found


def test_confidence_is_at_least_a_half_and_low_where_nothing_is_known():
    sample, reward = world(500, noise=0.05)
    posterior = fit_text_posterior(sample, SETTINGS)
    sure = posterior.confidence(sample)
    assert sure.min() >= 0.5
    assert sure[reward].mean() > 0.9
    restored = type(posterior).from_state(posterior.to_state())
    assert np.array_equal(restored.predict(sample), posterior.predict(sample))


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

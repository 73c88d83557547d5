"""Equation 6 and Lemmas 3.4 and 3.7, by hand, against the slow twin and on random instances."""

from dataclasses import asdict, dataclass

import numpy as np
import pytest
import reference_decoder as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.decoding.decoder import (
    ConstantDecoder,
    DecoderSettings,
    LipschitzDecoder,
    build_decoder,
    check_settings,
    ramp,
)
from tacit.decoding.posterior import ideal_posterior
from tacit.learning.settings import Settings
from tacit.logs.reading import LogSource
from tacit.offline.fit import diagnose_logs, fit
from tacit.offline.request import FitRequest
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite, Vectors
from tacit.text.settings import TextSettings

ROUNDING = 1e-9
deterministic = settings(derandomize=True, deadline=None, max_examples=200)
shares = st.floats(0, 1)


@st.composite
def heterogeneous(draw):
    """Constants and rewards f that satisfy Assumption 2.3."""
    K, theta = draw(st.integers(3, 8)), draw(st.floats(0.1, 1))
    limit = theta * K / (1 + theta)  # sigma > 1 is M < limit, and limit <= K/2
    M = theta + 0.95 * draw(shares) * (limit - theta)
    best = theta + draw(shares) * (min(1, M) - theta)
    rest = np.array([draw(shares) for _ in range(K - 1)])
    f = np.append(np.minimum(rest * (M - best) / (K - 1), best), best)
    return theta, M, draw(shares), np.roll(f, draw(st.integers(0, K - 1)))


def simplex(K, n, seed):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.dirichlet(np.full(K, c), n) for c in (0.3, 1, 30)])


def test_ramp():
    assert ramp(np.array([0.0, 0.2, 0.25, 0.3, 1.0]), 0.2, 0.1) == pytest.approx([0, 0, 0.5, 1, 1])


def test_constants_of_the_synthetic_experiment():
    decoder = LipschitzDecoder(0.9, 1.3, 0.0, 5)
    assert decoder.kappa == pytest.approx((4.5 - 1.3) / (5 * 3.7))
    assert decoder.xi == pytest.approx((0.9 / 1.3 - 1 / 3.7) / 2)
    assert decoder.threshold == pytest.approx(0.9 / 1.3)
    assert decoder.sigma == pytest.approx(0.9 * 3.7 / 1.3)
    assert decoder.lipschitz == pytest.approx(4 / decoder.kappa + 1 / decoder.xi)


def test_geometry_of_figure_1():
    decoder = LipschitzDecoder(0.6, 1, 0.2, 3, kappa=0.2)
    homogeneous = {1 / 3 - 0.1: 0.2, 1 / 3: 0.2, 1 / 3 + 0.1: 0.2}
    between = {1 / 3 - 0.15: 0.1, 1 / 3 + 0.15: 0.1}
    heterogeneous = {0: 0, 0.1: 0, 0.534: 0, 0.55: 0, 0.575: 0.5, 0.6: 1, 2 / 3: 1}
    for v, reward in (homogeneous | between | heterogeneous).items():
        assert decoder([v, 2 / 3 - v, 1 / 3], 0) == pytest.approx(reward)


@deterministic
@given(heterogeneous())
def test_decoder_never_overestimates_and_is_right_at_the_best_action(instance):
    theta, M, c, f = instance
    decoder = LipschitzDecoder(theta, M, c, len(f))
    for r in (0.0, 1.0):
        v = ideal_posterior(f, r)
        assert np.abs(v - 1 / len(f)).max() >= decoder.kappa - ROUNDING  # Lemma 3.4
        decoded = [decoder(v, a) for a in range(len(f))]
        assert max(decoded) <= r + 1e-6  # Lemma 3.7; rounding is divided by xi and kappa
        assert decoded[int(np.argmax(f))] == pytest.approx(r, abs=1e-6)


@deterministic
@given(heterogeneous(), shares, st.sampled_from([0.0, 1.0]))
def test_homogeneous_states_decode_to_c(instance, level, r):
    theta, M, c, f = instance
    v = ideal_posterior(np.full(len(f), level), r)
    assert LipschitzDecoder(theta, M, c, len(f))(v, 0) == pytest.approx(c)


@deterministic
@given(heterogeneous(), st.integers(0, 1000))
def test_decoder_equals_its_slow_twin(instance, seed):
    theta, M, c, f = instance
    decoder = LipschitzDecoder(theta, M, c, len(f))
    v = simplex(len(f), 5, seed)
    actions = np.arange(len(v)) % len(f)
    slow = [reference.decode(row, a, theta, M, c) for row, a in zip(v, actions, strict=True)]
    assert decoder.batch(v, actions) == pytest.approx(slow, abs=1e-9)
    assert decoder(v[0], 0) == decoder.batch(v[:1], np.array([0]))[0]


@deterministic
@given(heterogeneous(), st.integers(0, 1000))
def test_lipschitz_constant_holds(instance, seed):
    theta, M, c, f = instance
    decoder, K = LipschitzDecoder(theta, M, c, len(f)), len(f)
    v, w = simplex(K, 20, seed), simplex(K, 20, seed + 1)
    w[::2] = 0.99 * v[::2] + 0.01 * w[::2]  # near pairs as well as far ones
    actions = np.arange(len(v)) % K
    change = np.abs(decoder.batch(v, actions) - decoder.batch(w, actions))
    assert np.all(change <= decoder.lipschitz * np.abs(v - w).max(axis=1) + ROUNDING)


@pytest.mark.parametrize("edge", [0.5, 1.0])
def test_continuous_where_the_cases_meet(edge):
    decoder = LipschitzDecoder(0.9, 1.3, 0.7, 5)
    around = [edge * decoder.kappa + step for step in (-1e-9, 1e-9)]
    below, above = (decoder(np.array([0.2 + d, 0.2 - d, 0.2, 0.2, 0.2]), 0) for d in around)
    assert below == pytest.approx(above, abs=1e-6)


@deterministic
@given(heterogeneous(), shares)
def test_ideal_posterior_equals_its_slow_twin(instance, phi):
    f = instance[3]
    assert ideal_posterior(f, phi) == pytest.approx(reference.posterior(f, phi))


@pytest.mark.parametrize("level", [0.0, 1.0])
@pytest.mark.parametrize("phi", [0.0, 0.3, 1.0])
def test_ideal_posterior_is_uniform_in_the_limits(level, phi):
    assert ideal_posterior(np.full(4, level), phi) == pytest.approx(np.full(4, 0.25))


@pytest.mark.parametrize(
    ("theta", "M", "c", "K", "kappa", "rule"),
    [
        (0.0, 1.3, 0, 5, None, "theta must be in"),
        (1.1, 1.3, 0, 5, None, "theta must be in"),
        (float("nan"), 1.3, 0, 5, None, "theta must be in"),
        (0.9, 0.0, 0, 5, None, "M must be in"),
        (0.9, 2.5, 0, 5, None, r"M must be in \(0, K/2\) = \(0, 2.5\), got 2.5"),
        (0.9, 0.8, 0, 5, None, "M must be at least theta"),
        (0.5, 2.0, 0, 5, None, "sigma .* must exceed 1, got 0.75"),
        (0.9, 1.3, 1.5, 5, None, "c must be in"),
        (0.9, 1.3, 0, 5, 0.0, "kappa must be positive"),
        (0.9, 1.3, 0, 5, float("inf"), "kappa must be positive"),
        (0.9, 1.3, 0, 1, None, "at least 2 actions"),
    ],
)
def test_constants_are_checked(theta, M, c, K, kappa, rule):
    with pytest.raises(ValueError, match=rule):
        LipschitzDecoder(theta, M, c, K, kappa)


@pytest.mark.parametrize(
    ("posterior", "action", "rule"),
    [
        ([0.5, 0.5], 0, "5 entries"),
        ([0.3, 0.2, 0.2, 0.2, 0.2], 0, "sum to 1"),
        ([-0.2, 0.6, 0.2, 0.2, 0.2], 0, "non-negative"),
        ([float("nan"), 0.4, 0.2, 0.2, 0.2], 0, "non-negative"),
        ([0.2] * 5, 5, "index from 0 to 4"),
        ([0.2] * 5, -1, "index from 0 to 4"),
    ],
)
def test_arguments_are_checked(posterior, action, rule):
    with pytest.raises(ValueError, match=rule):
        LipschitzDecoder(0.9, 1.3, 0.0, 5)(posterior, action)


def test_decoders_compare_by_value_and_cannot_change():
    decoder = LipschitzDecoder(0.9, 1.3, 0.0, 5)
    assert decoder == LipschitzDecoder(0.9, 1.3, 0.0, 5, kappa=decoder.kappa)
    with pytest.raises(AttributeError):
        decoder.theta = 0.5


@dataclass(frozen=True)
class Known:
    """A posterior that is told: action 0 is likely if context and feedback agree."""

    layout: Layout
    states: np.ndarray
    name = "known"

    def predict(self, context, feedback, state):
        f = np.full(self.layout.n_actions[-1, state], 0.1)
        f[0] = 0.9
        return ideal_posterior(f, float(np.all(np.equal(context, feedback))))


def ragged_layout(space):
    actions = ((("go",),), (tuple("abcde"), tuple("abc"), ("only",), tuple("ab")))
    return Layout((("start",), ("five", "three", "one", "never")), actions, space, space)


@pytest.mark.parametrize("space", [Finite((0, 1)), Vectors(1), Finite(tuple(range(400)))])
def test_reward_decoder_decodes_each_state_with_its_own_actions(space):
    layout = ragged_layout(space)
    decoder = build_decoder(
        layout, Known(layout, np.array([1, 1, 1, 0], bool)), DecoderSettings(0.9, 1.3, 0.4)
    )
    assert (decoder.table is None) == (space != Finite((0, 1)))
    zero, one = (0, 1) if isinstance(space, Finite) else (np.zeros(1), np.ones(1))
    assert decoder.decodable.tolist() == [True, True, True, False]
    for state, K in ((0, 5), (1, 3)):
        twin = LipschitzDecoder(0.9, 1.3, 0.4, K)
        for action in range(K):
            expected = twin(decoder.posterior.predict(one, one, state), action)
            assert decoder.decode(one, one, state, action) == pytest.approx(expected)
            assert decoder.decode(zero, one, state, action) == pytest.approx(0.0)
    assert decoder.decode(one, one, 0, 0) == pytest.approx(1.0)
    assert decoder.decode(one, one, 2, 0) == 0.4
    for state, action in ((3, 0), (1, 4)):
        with pytest.raises(ValueError, match="rewards are decoded for"):
            decoder.decode(one, one, state, action)


def test_constants_that_do_not_suit_a_state_name_it():
    layout = ragged_layout(Finite((0, 1)))
    with pytest.raises(ValueError, match="'never': M must be in"):
        build_decoder(layout, Known(layout, np.ones(4, bool)), DecoderSettings(0.9, 1.3))


def test_settings_are_checked_for_every_last_layer_state():
    check_settings(Layout.regular([1, 2], 5, 2, 2), DecoderSettings(0.9, 1.3))
    with pytest.raises(ValueError, match="'never': M must be in"):
        check_settings(ragged_layout(Finite((0, 1))), DecoderSettings(0.9, 1.3))


@pytest.mark.parametrize("c", [2, -1, float("nan"), float("inf"), 1.0000001, "0.5", True, None])
@pytest.mark.parametrize(
    "give",
    [
        lambda c: DecoderSettings(c=c),
        lambda c: LipschitzDecoder(0.9, 1.3, c, 5),
        ConstantDecoder,
        lambda c: TextSettings(decoder=DecoderSettings(0.9, 1.0, c)),
        lambda c: FitRequest(LogSource([]), c),
        lambda c: fit([], c),
        lambda c: diagnose_logs([], c),
        lambda c: Settings.from_json(
            Settings().to_json() | {"decoder": asdict(DecoderSettings()) | {"c": c}}
        ),
    ],
)
def test_c_outside_0_to_1_is_refused_wherever_it_is_given(give, c):
    with pytest.raises(ValueError, match=r"\bc must be"):
        give(c)

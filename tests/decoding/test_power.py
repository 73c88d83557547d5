"""What the data could have shown: expected gains against simulation, and places that are seen as often as promised."""

import numpy as np
import pytest
from drawn_counts import draw_counts
from reference_words import gain_of_types
from scipy.stats import chi2

from tacit.decoding.power import (
    effective_words,
    expected_gain,
    gain_wanted,
    largest_unseen,
    least_gain,
    tuples_to_see,
)
from tacit.decoding.word_types import fit_types, freedom

SIGNIFICANCE = 1e-4


def drawn(generator, theta, each, actions, overlap=0.02, words=2):
    """Return counts of a place in which one action pleases with chance theta and the others nobody."""
    pair = np.zeros((2, words))
    pair[0, : words // 2], pair[1, words // 2 :] = 2 / words, 2 / words
    pair = (1 - overlap) * pair + overlap * pair[::-1]
    return draw_counts(generator, np.append(theta, np.zeros(actions - 1)), pair, [each] * actions)


@pytest.mark.parametrize(("theta", "overlap"), [(0.3, 0.02), (0.6, 0.02), (0.6, 0.25), (1.0, 0.25)])
def test_expected_gain_is_the_mean_of_gains(theta, overlap):
    """Two words, types known: the mean over 400 tables, less the (K - 1)/2 nats that chance alone gains."""
    generator, each, K = np.random.default_rng(1), 80, 4
    gains = []
    for _ in range(400):
        counts = drawn(generator, theta, each, K, overlap)
        gains.append(gain_of_types(counts, counts.sum(axis=1)))
    expected = expected_gain(np.full(K, float(each)), theta, overlap)
    error = np.std(gains) / np.sqrt(len(gains))
    assert abs(np.mean(gains) - (K - 1) / 2 - expected) < 4 * error + 0.35


def test_the_least_gain_is_the_tests():
    for K in (2, 5, 20):
        assert 2 * least_gain(K, SIGNIFICANCE) == pytest.approx(chi2.isf(SIGNIFICANCE, freedom(K)))
        asked = least_gain(K, SIGNIFICANCE)
        wanted = gain_wanted(K, 0.0, SIGNIFICANCE)
        assert wanted - 1.5 * np.sqrt(2 * wanted) == pytest.approx(asked)


def found_share(generator, theta, each, actions, words, overlap, runs=60):
    found = [
        fit_types(drawn(generator, theta, each, actions, overlap, words)).p_value < SIGNIFICANCE
        for _ in range(runs)
    ]
    return float(np.mean(found))


@pytest.mark.parametrize(("words", "overlap"), [(2, 0.02), (20, 0.02), (4, 0.25)])
def test_what_is_said_to_be_visible_is_seen(words, overlap):
    """At the largest reward that may be there unseen, at least eight of ten places would have shown it."""
    generator, each, K = np.random.default_rng([2, words]), 100, 4
    counts = drawn(generator, 0.0, each, K, overlap, words)
    hope = largest_unseen(counts, SIGNIFICANCE, overlap)
    assert 0 < hope < 1
    assert found_share(generator, hope, each, K, words, overlap) >= 0.8


def test_control_what_is_half_as_large_is_not_seen():
    generator, each, K = np.random.default_rng(4), 100, 4
    hope = largest_unseen(drawn(generator, 0.0, each, K), SIGNIFICANCE, 0.02)
    assert found_share(generator, hope / 3, each, K, 2, 0.02) < 0.3


def test_hope_falls_with_tuples_and_rises_with_overlap_and_words():
    few, many = np.full((2, 4), 20.0), np.full((2, 4), 200.0)
    assert largest_unseen(many, SIGNIFICANCE, 0.02) < largest_unseen(few, SIGNIFICANCE, 0.02)
    assert largest_unseen(many, SIGNIFICANCE, 0.02) < largest_unseen(many, SIGNIFICANCE, 0.25)
    assert largest_unseen(many, SIGNIFICANCE, 0.02) < largest_unseen(
        np.full((40, 4), 10.0), SIGNIFICANCE, 0.02
    )
    assert largest_unseen(np.full((2, 4), 1.0), SIGNIFICANCE, 0.02) == 1.0


def test_so_many_tuples_show_what_they_are_said_to_show():
    each = int(np.ceil(tuples_to_see(0.4, np.full((2, 4), 10.0), SIGNIFICANCE, 0.02)))
    assert largest_unseen(np.full((2, 4), each / 2), SIGNIFICANCE, 0.02) == pytest.approx(0.4, abs=0.02)


def test_words_in_use_are_counted_by_how_often_they_are_said():
    assert effective_words(np.ones((10, 2))) == pytest.approx(8)
    assert effective_words(np.array([[99.0], [1.0]])) == 0.0
    assert effective_words(np.zeros((3, 2))) == 0.0

"""What the data could have shown: expected gains against simulation, and places that are seen as often as promised."""

import numpy as np
import pytest
from drawn_counts import draw_counts
from reference_words import gain_of_types
from scipy.stats import chi2

from tacit.decoding.power import (
    DEVIATIONS,
    effective_words,
    expected_gain,
    gain_wanted,
    largest_unseen,
    least_gain,
    telling_of,
)
from tacit.decoding.word_types import fit_types, freedom

SIGNIFICANCE = 1e-4


def drawn(generator, theta, each, actions, overlap=0.0, words=2):
    """Return counts of a place in which one action pleases with chance theta and the others nobody."""
    pair = np.zeros((2, words))
    pair[0, : words // 2], pair[1, words // 2 :] = 2 / words, 2 / words
    pair = (1 - overlap) * pair + overlap * pair[::-1]
    return draw_counts(generator, np.append(theta, np.zeros(actions - 1)), pair, [each] * actions)


@pytest.mark.parametrize("theta", [0.3, 0.6, 0.95])
def test_expected_gain_is_the_mean_of_gains(theta):
    """Two words, types known: the mean over 400 tables, which chance alone raises by up to (K - 1)/2 nats."""
    generator, each, K = np.random.default_rng(1), 80, 4
    gains = []
    for _ in range(400):
        counts = drawn(generator, theta, each, K)
        gains.append(gain_of_types(counts, counts.sum(axis=1)))
    expected = expected_gain(np.full(K, float(each)), theta, 0)
    error = np.std(gains) / np.sqrt(len(gains))
    assert -4 * error < np.mean(gains) - expected < 4 * error + (K - 1) / 2


def test_the_least_gain_is_the_tests():
    for K in (2, 5, 20):
        assert 2 * least_gain(K, SIGNIFICANCE) == pytest.approx(chi2.isf(SIGNIFICANCE, freedom(K)))
        asked = least_gain(K, SIGNIFICANCE)
        wanted = gain_wanted(K, 0.0, SIGNIFICANCE)
        assert wanted - DEVIATIONS * np.sqrt(2 * wanted) == pytest.approx(asked)


def found_share(generator, theta, each, actions, words, overlap=0.0, runs=60):
    found = [
        fit_types(drawn(generator, theta, each, actions, overlap, words)).p_value < SIGNIFICANCE
        for _ in range(runs)
    ]
    return float(np.mean(found))


@pytest.mark.parametrize(("words", "least"), [(2, 0.66), (20, 0.5)])
def test_what_is_said_to_be_visible_is_seen(words, least):
    """At the largest reward that may be there unseen most places would have shown it; words not heard yet cost some."""
    generator, each, K = np.random.default_rng([2, words]), 100, 4
    hope = largest_unseen(drawn(generator, 0.0, each, K, 0.0, words), SIGNIFICANCE, 1.0)
    assert 0 < hope < 1
    assert found_share(generator, hope, each, K, words) >= least


def test_where_words_overlap_the_places_that_were_found_say_how_much_would_have_shown():
    generator, each, K, overlap = np.random.default_rng(3), 200, 4, 0.25
    found = [drawn(generator, 0.7, 400, K, overlap, 4) for _ in range(20)]
    parts = [
        telling_of(types.gain, table.sum(axis=0), types.f) for table in found for types in [fit_types(table)]
    ]
    assert 0.1 < np.median(parts) < 0.5
    clear = [drawn(generator, 0.95, 400, K, 0.0, 4) for _ in range(20)]
    assert (
        min(telling_of(fit_types(table).gain, table.sum(axis=0), fit_types(table).f) for table in clear) > 0.9
    )
    hope = largest_unseen(drawn(generator, 0.0, each, K, overlap, 4), SIGNIFICANCE, float(np.median(parts)))
    assert found_share(generator, hope, each, K, 4, overlap) >= 0.66
    blind = largest_unseen(drawn(generator, 0.0, each, K, overlap, 4), SIGNIFICANCE, 1.0)
    assert found_share(generator, blind, each, K, 4, overlap) < 0.33, "the control must fail"


def test_control_what_is_a_third_as_large_is_not_seen():
    generator, each, K = np.random.default_rng(4), 100, 4
    hope = largest_unseen(drawn(generator, 0.0, each, K), SIGNIFICANCE, 1.0)
    assert found_share(generator, hope / 3, each, K, 2) < 0.3


def test_hope_falls_with_tuples_and_rises_where_feedback_tells_less_and_with_words():
    few, many = np.full((2, 4), 20.0), np.full((2, 4), 200.0)
    assert largest_unseen(many, SIGNIFICANCE, 1.0) < largest_unseen(few, SIGNIFICANCE, 1.0)
    assert largest_unseen(many, SIGNIFICANCE, 1.0) < largest_unseen(many, SIGNIFICANCE, 0.25)
    assert largest_unseen(many, SIGNIFICANCE, 1.0) < largest_unseen(np.full((40, 4), 10.0), SIGNIFICANCE, 1.0)
    assert largest_unseen(np.full((2, 4), 1.0), SIGNIFICANCE, 1.0) == 1.0


def test_words_in_use_are_counted_by_how_often_they_are_said():
    assert effective_words(np.ones((10, 2))) == pytest.approx(8)
    assert effective_words(np.array([[99.0], [1.0]])) == 0.0
    assert effective_words(np.zeros((3, 2))) == 0.0

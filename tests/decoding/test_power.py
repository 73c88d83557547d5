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
    promise,
    telling_alone,
    telling_of,
    top_of,
    what_may_hide,
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


def test_a_place_that_pleases_few_tells_no_less_for_that():
    """A consolation of 0.2 beside words of one side each; control: against a good action it seems to tell little."""
    table = drawn(np.random.default_rng(3), 0.2, 120, 16)
    types = fit_types(table)
    assert types.p_value < SIGNIFICANCE
    assert telling_alone(types.gain, table.sum(axis=0), types.f) > 0.8
    assert telling_of(types.gain, table.sum(axis=0), types.f) < 0.25


def test_where_feedback_tells_little_a_place_that_was_nearly_found_hopes_for_more():
    each, K, faint = 400, 5, (1 / 16,)
    generator = np.random.default_rng(5)
    table = drawn(generator, 0.0, each, K, 0.4, 20)
    hopes = [what_may_hide(table, gain, SIGNIFICANCE, faint).hope for gain in (0.0, 6.0, 11.0)]
    assert hopes[0] < hopes[1] < hopes[2]
    told = [what_may_hide(table, gain, SIGNIFICANCE, (1.0,)) for gain in (0.0, 11.0)]
    assert told[0] == told[1]  # words of one side alone would have shown it: what was gained is chance
    assert told[0].needs == 0 < what_may_hide(table, 0.0, SIGNIFICANCE, faint).needs


def test_nobody_hopes_for_less_where_feedback_may_tell_less():
    for each in (5.0, 40.0, 400.0):
        hopes = [
            what_may_hide(np.full((4, 3), each), 0.0, SIGNIFICANCE, (part,)).hope for part in (1, 0.5, 0.1)
        ]
        assert hopes == sorted(hopes)


def test_one_action_hides_nothing():
    assert what_may_hide(np.full((2, 1), 50.0), 0.0, SIGNIFICANCE, (1.0, 1 / 16)) == (0.0, 0.0)


def test_a_promise_grows_with_what_was_seen():
    promises = [promise(gain, 4) for gain in (0.0, 2.0, 4.0, 8.0)]
    assert promises == sorted(promises)
    assert promises[0] == 0.5
    assert promises[-1] > 0.99


def test_the_scale_of_shares_ends_where_a_good_action_would_be():
    assert top_of(np.array([0.4, 0.4, 0.54])) == pytest.approx(0.6)
    assert top_of(np.array([0.0, 0.9])) == 1.0

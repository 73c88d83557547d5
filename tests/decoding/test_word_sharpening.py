"""Words cut anew: what a first cut blurs is told apart, noise stays noise, and what is as good as can be stays."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.decoding.reading import thin_to_uniform, understand
from tacit.decoding.tuples import Tuples
from tacit.decoding.understanding import fit_understanding
from tacit.decoding.word_sharpening import sharpen, understand_sharply
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite, Vectors

pytestmark = pytest.mark.compiled

SIZE, TOPICS = 120, 60
LABELS = replace(
    Layout.regular([1], n_actions=4, n_contexts=1, n_feedback=2),
    contexts=Finite(tuple(range(30))),
    feedback=Vectors(SIZE),
)


def draw(n, seed, tells=True, contexts="labels"):
    """Return tuples whose feedback is two words in few of many directions, and whether each sounds glad.

    Odd people like b and are ironic, even ones a; most of what is said is about something else.
    """
    rng = np.random.default_rng(seed)
    person, a = rng.integers(30, size=n), rng.choice(4, p=(0.4, 0.3, 0.2, 0.1), size=n)
    reward = rng.random(n) < np.where(a == person % 2, 0.9, 0.03)
    glad = reward == (person % 2 == 0) if tells else rng.random(n) < 0.5
    mix = np.random.default_rng(7)
    topics, sounds = mix.normal(size=(TOPICS, SIZE)), mix.normal(size=SIZE)
    said = rng.normal(size=(n, TOPICS)) @ topics + rng.normal(size=(n, SIZE))
    said += np.where(glad, 1.0, -1.0)[:, None] * sounds
    x = person if contexts == "labels" else np.stack([2.0 * (person % 2) - 1, rng.normal(size=n)], axis=1)
    weights = 1 / (4 * np.array((0.4, 0.3, 0.2, 0.1))[a])
    tuples = Tuples(x, np.zeros(n, dtype=np.int64), a, said, weights)
    return thin_to_uniform(tuples, np.random.default_rng(0)), glad


def purity(understanding, tuples, glad):
    words = understanding.words(tuples.feedback)
    return sum(max(np.sum(glad[words == w]), np.sum(~glad[words == w])) for w in np.unique(words)) / len(glad)


@pytest.mark.parametrize("contexts", ["labels", "vectors"])
def test_words_are_told_apart_better_than_at_first(contexts):
    layout = LABELS if contexts == "labels" else replace(LABELS, contexts=Vectors(2))
    marked, _ = draw(3000, 1_000_000, contexts=contexts)
    first, sharper = fit_understanding(layout, marked, 0.0, None), understand_sharply(layout, marked, 0.0)
    fresh, glad_too = draw(2000, 1_000_001, contexts=contexts)
    assert purity(sharper, fresh, glad_too) > max(0.97, purity(first, fresh, glad_too))
    expected = sharper.people.expect_words(marked.contexts, marked.states, marked.actions)
    np.testing.assert_allclose(expected.sum(axis=1), 1)
    said = sharper.words(marked.feedback)
    shares = [np.mean(said == w) for w in range(expected.shape[1])]
    np.testing.assert_allclose(expected.mean(axis=0), shares, atol=0.05)


def test_words_that_are_as_good_as_they_can_be_stay():
    tuples, _ = draw(3000, 1_000_000)
    known = understand_sharply(LABELS, tuples, 0.0)
    for _ in range(3):
        cells = sharpen(known, tuples)
        if cells is None:
            break
        known = fit_understanding(LABELS, tuples, 0.0, None, cells)
    assert cells is None


def test_control_noise_is_not_cut_anew():
    tuples, _ = draw(3000, 1_000_002, tells=False)
    assert not understand_sharply(LABELS, tuples, 0.0).is_sure


def test_half_of_the_people_who_mean_the_opposite_do_not_blur_the_others():
    """All like the same, so that whatever is said after an action is said as often after the others."""
    rng = np.random.default_rng(1_000_005)
    tuples, _ = draw(3000, 1_000_005)
    reward = rng.random(3000) < np.where(tuples.actions == 1, 0.9, 0.03)
    glad = reward == (tuples.contexts % 2 == 0)
    pool, sounds = draw(6000, 1_000_006)
    said = np.empty_like(tuples.feedback)
    for side in (True, False):
        rows = rng.choice(np.flatnonzero(sounds == side), size=int((glad == side).sum()))
        said[glad == side] = pool.feedback[rows]
    mixed = replace(tuples, feedback=said)
    understood = understand_sharply(LABELS, mixed, 0.0)
    assert understood.is_sure
    assert purity(understood, mixed, glad) > 0.97


def test_what_is_counted_is_not_what_was_fitted():
    tuples, _ = draw(1000, 1_000_003)
    _, counted = understand(LABELS, tuples, 0.0, seed=0)
    again = understand(LABELS, tuples, 0.0, seed=0)[1]
    assert len(counted) == 300
    np.testing.assert_array_equal(counted.positions, again.positions)
    np.testing.assert_array_equal(counted.weights, tuples.weights[counted.positions])


def test_frequent_actions_are_thinned_to_their_share():
    tuples, _ = draw(20_000, 1_000_004)
    passed = thin_to_uniform(tuples, np.random.default_rng(0)).weights == 1
    counts = np.bincount(tuples.actions[passed], minlength=4) / len(tuples)
    np.testing.assert_allclose(counts, [0.25, 0.25, 0.2, 0.1], atol=0.01)
    everybody = replace(tuples, weights=np.ones(len(tuples)))
    assert (thin_to_uniform(everybody, np.random.default_rng(0)).weights == 1).all()

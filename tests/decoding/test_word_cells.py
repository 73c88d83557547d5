"""Vectors as words: cells separate what depends on the action, in points, pictures and long vectors; noise has none."""

import numpy as np
import pytest

from tacit.base.checkpoint import CheckpointError, load_tree, save_tree
from tacit.decoding.centres import find_centres, nearest
from tacit.decoding.two_clouds import climb_clouds, find_clouds
from tacit.decoding.word_cells import USUAL, Spoken, WordCells, fit_cells, standing_out
from tacit.envs.digits import load_pictures

K = 5


def purity(words, sides):
    """Return the share of feedback that is on the side that its cell is mostly of."""
    return sum(np.bincount(sides[words == w]).max() for w in np.unique(words)) / len(sides)


def draw_sides(generator, n, n_regions):
    """Return (regions, actions, sides): in every second region, those who are pleased are on the other side."""
    regions, actions = generator.integers(n_regions, size=n), generator.integers(K, size=n)
    pleased = generator.random(n) < np.where(actions == regions % K, 0.85, 0.08)
    return regions, actions, np.where(regions % 2, pleased, ~pleased).astype(int)


def draw_points(generator, n, n_regions, distance, dimension, scales=1.0):
    """Return (points, regions, actions, sides) of two clouds of variance 1, each feature then on its own scale."""
    regions, actions, sides = draw_sides(generator, n, n_regions)
    axis = generator.standard_normal(dimension)
    points = generator.standard_normal((n, dimension))
    points += np.outer(sides - 0.5, axis / np.linalg.norm(axis) * distance)
    return points * scales + 3, regions, actions, sides


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("dimension", [2, 6])
def test_two_clouds_are_told_apart(dimension, known):
    """Four deviations apart the best cut is right in 97 or 98 of 100, whether regions are known or not."""
    for seed in range(3):
        generator = np.random.default_rng(seed)
        points, regions, actions, sides = draw_points(generator, 3000, 4, 4.0, dimension)
        fitted = slice(1500)
        cells = fit_cells(
            points[fitted],
            np.zeros(1500, int),
            actions[fitted],
            regions[fitted] if known else None,
            generator,
        )
        assert purity(cells.words(points[1500:]), sides[1500:]) > 0.95
        assert cells.n_words <= 17


def test_scales_of_features_do_not_matter():
    generator = np.random.default_rng(1)
    points, regions, actions, sides = draw_points(generator, 2000, 2, 5.0, 4, np.array([1e-4, 1.0, 1e3, 1.0]))
    points = np.concatenate([points, np.full((2000, 1), 7.0)], axis=1)  # one that never varies
    cells = fit_cells(points, np.zeros(2000, int), actions, regions, generator)
    assert purity(cells.words(points), sides) > 0.98


@pytest.mark.parametrize("known", [True, False])
def test_pictures_of_ones_and_zeros_are_two_words(known):
    """Of held-out pictures, whoever sent them: people of even digits mean the opposite."""
    generator = np.random.default_rng(2)
    learning, held_out = load_pictures("digits").split()
    regions, actions, sides = draw_sides(generator, 1500, 10)
    feedback = np.array([learning.show(side, generator) for side in sides])
    cells = fit_cells(feedback, np.zeros(1500, int), actions, regions if known else None, generator)
    shown = np.concatenate(held_out.by_digit[:2])
    words = cells.words(shown)
    assert purity(words, np.repeat([0, 1], [len(pool) for pool in held_out.by_digit[:2]])) >= 0.98
    assert not known or cells.n_words == 3
    assert [cells.word(picture) for picture in shown[:5]] == words[:5].tolist()


def draw_long(generator, n, apart):
    """Return vectors of 384 that differ by twenty things more than by what people answer."""
    regions, actions, sides = draw_sides(generator, n, 4)
    others = generator.standard_normal((n, 20)) @ generator.standard_normal((20, 384)) * 3
    axis = generator.standard_normal(384) / np.sqrt(384)
    vectors = others + generator.standard_normal((n, 384)) + np.outer(sides - 0.5, axis) * apart
    return vectors, regions, actions, sides


def test_what_depends_on_the_action_is_found_among_what_varies_more():
    generator = np.random.default_rng(3)
    vectors, regions, actions, sides = draw_long(generator, 2500, 40.0)
    fitted = slice(2000)
    cells = fit_cells(vectors[fitted], np.zeros(2000, int), actions[fitted], regions[fitted], generator)
    assert purity(cells.words(vectors[2000:]), sides[2000:]) > 0.98
    assert cells.z > 3
    plain = find_centres(vectors[fitted], 2, generator)
    assert purity(nearest(vectors[2000:], plain), sides[2000:]) < 0.8, "the control must fail: k-means alone"


def test_control_actions_that_say_nothing_find_no_direction():
    generator = np.random.default_rng(4)
    vectors, regions, actions, sides = draw_long(generator, 2500, 40.0)
    cells = fit_cells(vectors, np.zeros(2500, int), generator.permutation(actions), regions, generator)
    assert (cells.gain, cells.n_words) == (0.0, USUAL + 1)
    assert purity(cells.words(vectors), sides) < 0.8


def test_regions_that_mean_the_opposite_do_not_cancel():
    generator = np.random.default_rng(5)
    actions, regions = generator.integers(2, size=1000), generator.integers(2, size=1000)
    y = generator.standard_normal((1000, 3))
    y[:, 2] += np.where(actions == regions, 1.0, -1.0)
    nothing = np.zeros(1000, int)
    together = standing_out(y, Spoken(y, nothing, nothing, actions))
    apart = standing_out(y, Spoken(y, regions, nothing, actions))
    assert together.shape[1] == 0, "the control must fail: one region"
    assert np.abs(apart[:, 0]).argmax() == 2


def test_silence_is_the_last_word():
    generator = np.random.default_rng(6)
    points, regions, actions, sides = draw_points(generator, 1000, 2, 5.0, 3)
    points[::4] = np.nan
    cells = fit_cells(points, np.zeros(1000, int), actions, regions, generator)
    words = cells.words(points)
    assert (words[::4] == cells.n_words - 1).all()
    heard = np.arange(1000) % 4 > 0
    assert words[heard].max() < cells.n_words - 1
    assert purity(words[heard], sides[heard]) > 0.97
    assert cells.word(np.full(3, np.nan)) == cells.n_words - 1


def test_few_or_equal_vectors_are_one_cell():
    generator = np.random.default_rng(7)
    for feedback in (np.full((50, 3), np.nan), np.zeros((0, 3)), np.ones((50, 3)), np.ones((2, 3))):
        n = len(feedback)
        cells = fit_cells(feedback, np.zeros(n, int), np.arange(n) % 2, None, generator)
        assert cells.n_words == 2
        assert cells.word(np.zeros(3)) == 0


def test_each_round_of_clouds_gains():
    generator = np.random.default_rng(8)
    points, regions, actions, _ = draw_points(generator, 800, 2, 3.0, 4)
    white = points - points.mean(axis=0)
    values, axes = np.linalg.eigh(white.T @ white / 800)
    white = white @ (axes / np.sqrt(values))
    chances = np.random.default_rng(0).random(800)
    gains = [climb_clouds(white, regions * K + actions, chances, rounds).gain for rounds in (2, 5, 10, 40)]
    assert (np.diff(gains) > -0.5).all()  # chances of groups are smoothed, which costs a little
    assert gains[-1] > gains[0] + 50


def test_the_direction_of_clouds_is_that_of_the_discriminant():
    """Known sides give C^-1 (m_1 - m_0): the same direction, found without them."""
    generator = np.random.default_rng(9)
    points, regions, actions, sides = draw_points(generator, 4000, 2, 4.0, 5, np.array([1, 2, 1, 5, 1.0]))
    found = find_clouds(points, regions * K + actions, np.eye(5)).direction
    means = [points[sides == side].mean(axis=0) for side in (0, 1)]
    within = np.cov((points - np.array(means)[sides]).T)
    known = np.linalg.solve(within, means[1] - means[0])
    assert abs(np.corrcoef(points @ found, points @ known)[0, 1]) > 0.99
    assert np.std(points[sides == 0] @ found) == pytest.approx(1, abs=0.1)


def test_one_normal_cloud_is_not_evidently_two():
    generator = np.random.default_rng(11)
    groups = generator.integers(K, size=2000)
    one = generator.standard_normal((2000, 4))
    assert not find_clouds(one, groups, np.eye(4)).evident
    assert find_clouds(one + np.outer(groups == 0, [3.0, 0, 0, 0]), groups, np.eye(4)).evident


def test_centres_are_the_same_for_the_same_generator_and_means_of_their_points():
    points = np.random.default_rng(0).standard_normal((500, 2))
    one, other = (find_centres(points, 4, np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    slow = [((points[:, None] - one) ** 2).sum(axis=2).argmin(axis=1)]
    np.testing.assert_array_equal(nearest(points, one), slow[0])
    means = np.array([points[slow[0] == k].mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(means, one, atol=0.1)


def test_saved_restored_and_fitted_again_it_is_the_same(tmp_path):
    points, regions, actions, _ = draw_points(np.random.default_rng(10), 1000, 2, 4.0, 3)
    copied = points.copy()
    cells, twin = (
        fit_cells(points, np.zeros(1000, int), actions, regions, np.random.default_rng(3)) for _ in range(2)
    )
    save_tree(tmp_path / "cells", "cells", cells.to_state())
    again = WordCells.from_state(load_tree(tmp_path / "cells", "cells"))
    for other in (twin, again):
        for name, value in cells.to_state().items():
            np.testing.assert_array_equal(value, other.to_state()[name])
    np.testing.assert_array_equal(points, copied)


@pytest.mark.parametrize(
    ("name", "value"),
    [("centres", np.zeros((0, 1))), ("mean", np.full(3, np.nan)), ("directions", np.zeros((2, 1)))],
)
def test_a_state_of_wrong_content_is_refused(name, value):
    cells = WordCells(np.zeros(3), np.zeros((3, 1)), np.zeros((1, 1)))
    with pytest.raises(CheckpointError):
        WordCells.from_state(cells.to_state() | {name: value})


def test_rows_that_are_missing_in_part_or_of_another_length_are_refused():
    cells = WordCells(np.zeros(3), np.zeros((3, 1)), np.zeros((1, 1)))
    with pytest.raises(ValueError, match="must be of shape"):
        cells.word(np.zeros(2))
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="must be finite"):
            cells.word(np.array([1.0, wrong, 0.0]))

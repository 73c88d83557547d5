"""Contexts as numbers that are learned on: no scale, constant or duplicate matters."""

import numpy as np
import pytest

from tacit.decoding.context_bases import MOST_COMPONENTS, Basis, constant_basis, find_regions, fit_basis


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(400, 3))


def test_scales_and_shifts_do_not_matter(x):
    np.testing.assert_allclose(
        fit_basis(x)(x),
        fit_basis(x * [1e-3, 1.0, 1e4] + [5.0, -1e3, 1e6])(x * [1e-3, 1.0, 1e4] + [5.0, -1e3, 1e6]),
        atol=1e-6,
    )


def test_constants_and_duplicates_are_dropped(x):
    constant = np.tile([0.0, 1.0, -1e6, 0.1], (400, 1))
    spoiled = np.column_stack([constant, x, -3 * x[:, :2] + 7])
    np.testing.assert_array_equal(fit_basis(spoiled).kept, [4, 5, 6])
    np.testing.assert_allclose(fit_basis(spoiled)(spoiled), fit_basis(x)(x))


def test_what_stands_far_out_is_cut(x):
    assert np.abs(fit_basis(x)(np.full((1, 3), 1e9))).max() == 4.0


def test_many_features_become_components():
    generator = np.random.default_rng(1)
    pictures = generator.normal(size=(300, 4)) @ generator.normal(size=(4, 200))
    basis = fit_basis(pictures)
    u = basis(pictures)
    assert u.shape == (300, 1 + MOST_COMPONENTS)
    assert u[:, 1:5].std(axis=0).min() > 0.3
    assert u[:, 1].std() == pytest.approx(1.0)


def test_one_context_is_read_as_many_are(x):
    basis = fit_basis(x)
    np.testing.assert_array_equal(basis(x)[7], basis(x[7]))
    assert constant_basis()(x[7]).tolist() == [1.0]


def test_a_basis_that_was_saved_is_the_same():
    x = np.random.default_rng(2).normal(size=(100, 70))
    basis = fit_basis(x)
    restored = Basis.from_state(basis.to_state(), 70)
    np.testing.assert_array_equal(basis(x), restored(x))


def test_regions_are_clouds():
    generator = np.random.default_rng(3)
    centres = np.repeat([[0.0, 0.0], [9.0, 0.0]], 50, axis=0)
    regions = find_regions(centres + generator.normal(size=(100, 2)), 2, generator)
    assert len(set(regions[:50])) == len(set(regions[50:])) == 1
    assert regions[0] != regions[99]

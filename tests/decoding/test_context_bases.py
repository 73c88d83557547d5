"""Contexts as numbers that are learned on: no scale, constant or duplicate matters."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.decoding.context_bases import (
    MOST_COMPONENTS,
    Basis,
    constant_basis,
    fit_basis,
    on_one_scale,
    with_regions,
)


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


@pytest.mark.parametrize("terms", ["linear", "regions", "pair"])
def test_a_basis_that_was_saved_is_the_same(terms):
    generator = np.random.default_rng(2)
    x = generator.normal(size=(100, 70))
    basis = fit_basis(x)
    if terms == "regions":
        basis = with_regions(basis, x, 5, generator)
    if terms == "pair":
        basis = replace(basis, pair=np.array([3, 41]))
    assert basis.kind == terms
    restored = Basis.from_state(basis.to_state(), 70)
    np.testing.assert_array_equal(basis(x), restored(x))
    np.testing.assert_allclose(basis(x)[7], restored(x[7]))
    assert basis(x).shape == (100, restored.n_terms)


def test_regions_are_clouds():
    generator = np.random.default_rng(3)
    x = np.repeat([[0.0, 0.0], [9.0, 0.0]], 50, axis=0) + generator.normal(size=(100, 2))
    terms = with_regions(fit_basis(x), x, 2, generator)(x)  # (100, 3)
    np.testing.assert_allclose(terms[:, 1:].sum(axis=1), 1)
    nearest = terms[:, 1:].argmax(axis=1)
    assert len(set(nearest[:50])) == len(set(nearest[50:])) == 1
    assert nearest[0] != nearest[99]


def test_on_one_scale_features_keep_their_proportions():
    x = np.random.default_rng(4).normal(size=(200, 2)) * [1.0, 0.01]
    own, one = fit_basis(x), on_one_scale(fit_basis(x), x)
    np.testing.assert_allclose(own(x)[:, 1:].std(axis=0), 1)
    spread = one(x)[:, 1:].std(axis=0)
    np.testing.assert_allclose(spread[1] / spread[0], 0.01, rtol=0.2)


def test_regions_with_slopes_have_both_and_are_saved(x):
    regions = with_regions(fit_basis(x), x, 5, np.random.default_rng(1))
    sloping = replace(regions, slopes=0.1)
    assert (sloping.n_regions, sloping.n_terms) == (5, 9)
    u = sloping(x)
    np.testing.assert_array_equal(u[:, :6], regions(x))
    np.testing.assert_allclose(u[:, 6:], 0.1 * fit_basis(x)(x)[:, 1:])
    np.testing.assert_allclose(sloping(x[3]), u[3])
    restored = Basis.from_state(sloping.to_state(), 3)
    np.testing.assert_array_equal(restored(x), u)

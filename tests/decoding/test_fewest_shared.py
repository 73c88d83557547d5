"""How much an action pleases is read in one way where tuples leave it open, and stays as likely."""

import numpy as np
import pytest
from scipy.special import expit, logit

from tacit.decoding.context_bases import constant_basis
from tacit.decoding.fewest_shared import MOST, RARE, find_stretch, find_stretches, stretch_pleased
from tacit.decoding.personal_likelihood import Parameters
from tacit.decoding.personal_meaning import rewards_by, word_chances


def chances(f, other, pleased):
    return f * pleased + (1 - f) * other


@pytest.mark.parametrize("shared", [0.0, 0.2, 0.5])
def test_however_words_were_shared_the_reading_is_the_same(shared):
    """f = 0.4 of whom all say the second word, and larger f of whom some say the first one."""
    other, alone = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    pleased = (1 - shared) * alone + shared * other
    f = 0.4 / (1 - shared)
    stretch = find_stretch(other, pleased)
    assert f / stretch == pytest.approx(0.4, abs=0.01)
    read = chances(f / stretch, other, stretch_pleased(other, pleased, stretch))
    np.testing.assert_allclose(read, chances(f, other, pleased), atol=0.01)


def test_rare_words_do_not_hold_it_back_and_alike_sides_are_bounded():
    other, pleased = np.array([0.95, 0.049, 0.001]), np.array([0.5, 0.4999, 0.0001])
    assert find_stretch(other, pleased) > 1.8
    assert find_stretch(other, other) == pytest.approx(MOST)
    both = find_stretches(np.stack([other, other]), np.stack([pleased, other]))
    np.testing.assert_allclose(both, [find_stretch(other, pleased), MOST])


def parameters_of(f, other, pleased):
    """Return parameters of one ending without features, by which actions please so, and sides say these words."""
    theta = logit(np.array([[f, 0.01, 0.01]]))[..., None]
    gamma = np.log(np.stack([other, pleased]))[..., None]
    return Parameters(np.zeros((0, 1)), theta, gamma, np.zeros((2, 1, len(other), 1)))


def test_what_drifted_from_fit_to_fit_is_read_as_it_was():
    """f = 0.46 of whom all say the second word, and f = 0.92 of whom half do, are as likely, and read alike.

    The control must fail: as it was fitted, the one pleases twice as often as the other.
    """
    other = np.array([0.99, 0.01])
    fits = [
        parameters_of(0.46, other, np.array([0.01, 0.99])),
        parameters_of(0.92, other, np.array([0.5, 0.5])),
    ]
    contexts = np.zeros((1, 2))
    read = [rewards_by(constant_basis(), each, contexts)[0, 0, 0] for each in fits]
    assert read[0] == pytest.approx(read[1], abs=0.02)
    words = [word_chances(each, np.ones((1, 1)))[:, 0, 0] for each in fits]  # (2, W)
    said = [chances(f, *both) for f, both in zip((0.46, 0.92), words, strict=True)]
    np.testing.assert_allclose(said[0], said[1], atol=0.01)
    raw = [float(expit(each.theta[0, 0, 0])) for each in fits]
    assert raw[1] > 1.9 * raw[0]


@pytest.mark.parametrize("seed", range(5))
def test_the_kernel_finds_what_a_slow_search_does(seed):
    generator = np.random.default_rng(seed)
    other, pleased = generator.dirichlet(np.full(5, 0.5), 2)
    tried = np.linspace(1.0, MOST, 40_000)
    moved = other + tried[:, None] * (pleased - other)
    slow = tried[-np.minimum(moved, 0.0).sum(axis=1) <= RARE].max()
    assert find_stretch(other, pleased) == pytest.approx(slow, abs=1e-3)

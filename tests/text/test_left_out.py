"""Reactions are read by fits that did not see them."""

import numpy as np
import pytest
from text_posteriors import world

from tacit.base.saved import Saved
from tacit.text.conversation import Choice, Conversation, Reaction, TextContext
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.fitting import fit_text_posterior
from tacit.text.small.left_out import NEVER_MET, LeftOut

SETTINGS = FittingSettings()


def reaction(n, feedback="thanks"):
    talk = Conversation(TextContext(f"request {n}"))
    return Reaction(Choice(talk, ("one", "two", "three"), n % 3, 1 / 3), feedback)


@pytest.fixture(scope="module")
def fitted():
    sample, _ = world(90)
    return sample, fit_text_posterior(sample, SETTINGS)


@pytest.fixture
def left_out(fitted):
    return LeftOut.of([reaction(n) for n in range(90)], fitted[1].left_out)


def test_a_reaction_is_known_again_by_what_was_said_and_done(left_out):
    P = len(left_out.weights)
    np.testing.assert_array_equal(left_out.parts_of([reaction(n) for n in range(90)]), np.arange(90) % P)
    others = [
        reaction(0, "no"),
        reaction(90),
        reaction(0)._replace(choice=reaction(0).choice._replace(action=1)),
    ]
    np.testing.assert_array_equal(left_out.parts_of(others), NEVER_MET)


def test_it_is_read_with_the_rewards_of_a_fit_that_left_it_out(fitted, left_out):
    """Others are read by the whole; what is meant, and how boldly, is that of the whole for all."""
    _, (whole, _, weights, _) = fitted
    reactions = [reaction(n) for n in (3, 90, 4)]
    readers = {int(row): reader for rows, reader in left_out.readers(whole, reactions) for row in rows}
    assert readers[1] is whole
    for row, n in ((0, 3), (2, 4)):
        for read, fit, member in zip(
            readers[row].members, weights[n % len(weights)], whole.members, strict=True
        ):
            np.testing.assert_array_equal(np.concatenate(read.fitting), fit)
            np.testing.assert_array_equal(np.concatenate(read.meaning), np.concatenate(member.meaning))
            assert (read.boldness, read.sharpness) == (member.boldness, member.sharpness)


def test_fits_that_leave_out_are_not_the_whole(fitted):
    sample, (whole, _, weights, _) = fitted
    assert len({whole.put_fitting(row).rewards(sample).tobytes() for row in weights}) == len(weights)


@pytest.mark.parametrize("personal", [False, True])
def test_rewards_are_read_better_than_by_a_fit_that_saw_the_reactions(personal):
    """The control is the whole, which holds what was praised by chance to be right because it was praised."""
    left_out, seen = [], []
    for seed in range(2):
        sample, reward = world(500, seed=seed, personal=personal, noise=0.5, echoes=False)
        whole, _, weights, _ = fit_text_posterior(sample, SETTINGS)
        read = np.zeros(len(sample))
        for part, row in enumerate(weights):
            rows = np.arange(part, len(sample), len(weights))
            read[rows] = whole.put_fitting(row).rewarded(sample.part(rows))
        left_out.append(np.mean((read - reward) ** 2))
        seen.append(np.mean((whole.as_fitted.rewarded(sample) - reward) ** 2))
    assert np.mean(left_out) < 0.85 * np.mean(seen)


def test_saved_and_loaded_alike(fitted, left_out):
    whole = fitted[1].posterior
    loaded = LeftOut.from_tree(left_out.to_tree(), whole)
    for name, value in vars(left_out).items():
        np.testing.assert_array_equal(getattr(loaded, name), value)


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("digests", np.zeros(90, np.int64), "ascending"),
        ("digests", np.zeros(0, np.int64), "one reaction"),
        ("parts", np.full(90, 99), "parts"),
        ("weights", np.zeros((3, 2)), "weights"),
    ],
)
def test_what_was_tampered_with_is_refused(fitted, left_out, name, value, word):
    with pytest.raises(ValueError, match=word):
        LeftOut.from_tree(Saved.of({**left_out.to_tree(), name: value}), fitted[1].posterior)

"""Choices drawn anew: exact where feedback tells nothing, however candidates recur, and quick to see where it does."""

from dataclasses import replace

import numpy as np
import pytest
from text_posteriors import world

from tacit.text.evidence import PLAINLY, Evidence, level_of
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.fitting import Frame, fit_frame, fit_text_posterior, make_design
from tacit.text.small.redrawing import (
    AS_WELL,
    FEWEST_UNIFORM,
    MOST_DRAWN,
    Measures,
    list_measures,
    read_remarks,
    weigh_measures,
    weigh_redraws,
)

SETTINGS = FittingSettings()
RUNS = 200


def roles_of(frame: Frame) -> list[int]:
    return [project.size for project in frame.said]


def chance_of(sample, level=0.01, seed=0):
    frame = fit_frame(sample, SETTINGS)
    return weigh_redraws(make_design(sample, frame), roles_of(frame), level, np.random.default_rng(seed))


def silent(n, seed, personal=False, heard=False):
    """Return a sample whose few remarks, of few candidates, have nothing to do with what was taken."""
    sample, _ = world(n, seed=seed, personal=personal, echoes=False)
    chance = np.random.default_rng(seed)
    remarks, said = chance.standard_normal((3, 6)), chance.integers(3, size=n)
    return replace(sample, reading=remarks[said], sounds=remarks[said, 0] / 2 if heard else sample.sounds)


def test_the_measure_as_pairs_say():
    """The sums of the module's docstring, pair by pair."""
    sample, _ = world(12, personal=True)
    frame = fit_frame(sample, SETTINGS)
    design = make_design(sample, frame)
    (pairs,) = list_measures(design, roles_of(frame))  # nothing sounds like anything
    words, learned = pairs.measures
    assert len(words.alike) == 2  # as it is read, and from contrary people
    assert len(learned.alike) == 6  # whatever was asked, and with the request, in two ways
    for measure in (words, learned):
        total = np.zeros(len(measure.alike))
        for i in range(12):
            for j in range(12):
                one, other = (measure.offered[row, design.taken[row]] for row in (i, j))
                total += measure.alike[:, 12 * i + j] * float(one @ other)
        np.testing.assert_allclose(measure(design.taken[None])[0] ** 3, total, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(
            measure.offered.sum(axis=1), 0, atol=1e-4
        )  # less the mean of what was on offer


def test_the_largest_of_measures_and_of_their_sums():
    spreads = np.array([[1.0, 2.0, 1.9], [3.0, -1.0, 0.5]])
    group = Measures((), np.array([[0, 2], [1, 2]]))
    np.testing.assert_allclose(group.largest(spreads), [(2.0 + 1.9) / np.sqrt(2), 3.0])
    np.testing.assert_allclose(group._replace(joined=np.zeros((0, 2), np.int64)).largest(spreads), [2.0, 3.0])


def test_words_and_components_are_added_where_they_go_with_the_same_remarks():
    sample, _ = world(60, personal=True)
    frame = fit_frame(sample, SETTINGS)
    (pairs,) = list_measures(make_design(sample, frame), roles_of(frame))
    words, learned = pairs.measures
    assert pairs.joined.tolist() == [[0, 2], [0, 3], [0, 4], [1, 5], [1, 6], [1, 7]]
    each = [words.alike[0], learned.alike[0]]  # whatever was asked
    np.testing.assert_array_equal(*each)


def overlapping(n, seed):
    """Return a sample whose displeased people sound anything from furious to nearly pleased, and who is pleased."""
    sample, reward = world(n, seed=seed, noise=0.1)
    chance, pleased = np.random.default_rng(seed), reward.astype(bool)
    heard = np.where(pleased, chance.normal(0.5, 0.2, n), chance.uniform(-1.5, 0.3, n))
    return replace(sample, reading=chance.standard_normal((n, 6)), sounds=heard), pleased


def test_who_is_pleased_is_told_apart_better_than_by_how_kind_it_sounds():
    sample, pleased = overlapping(300, 0)
    design = make_design(sample, fit_frame(sample, SETTINGS))
    _, kind, likely, likelier = (rows[:, 0] for rows in read_remarks(design))
    told = [np.corrcoef(pleased, numbers)[0, 1] for numbers in (kind, likely, likelier)]
    assert min(told[1:]) > told[0] + 0.1


def test_the_few_who_are_pleased_are_seen_among_many_ways_to_be_displeased():
    """By the pairs alone, beside the same people of whom only how kind they sound is read."""
    seen, before = [], []
    for seed in range(10):
        sample, _ = overlapping(90, seed)
        frame = fit_frame(sample, SETTINGS)
        design = make_design(sample, frame)
        pairs, _ = list_measures(design, roles_of(frame))
        words, learned = pairs.measures
        plain = Measures(
            (words._replace(alike=words.alike[:2]), learned._replace(alike=learned.alike[:6])),
            np.zeros((0, 2), np.int64),
        )
        for group, found in ((pairs, seen), (plain, before)):
            found.append(weigh_measures([group], design, 0.01, np.random.default_rng(seed)) <= 0.01)
    assert sum(seen) >= sum(before) + 2


def found_of(well):
    """Return how often a choice that `well` of a thousand go as well as is found at a level of 0.01."""
    sample, _ = world(40)
    design = make_design(sample, fit_frame(sample, SETTINGS))
    one = replace(design, mask=np.ones((1, 1_000), np.bool_), taken=np.array([1_000 - well]))
    measures = Measures((lambda taken: taken.astype(np.float64),), np.zeros((0, 2), np.int64))
    chances = [weigh_measures([measures], one, 0.01, np.random.default_rng(seed)) for seed in range(RUNS)]
    return np.mean([chance <= 0.01 for chance in chances])


def test_a_chance_well_below_the_level_is_nearly_always_found():
    """Of a hundred draws none would go as well in two cases of three alone."""
    assert found_of(4) > 0.85
    assert found_of(20) < 0.1


@pytest.mark.parametrize(("personal", "heard"), [(False, False), (True, False), (True, True)])
def test_noise_is_taken_for_more_as_often_as_the_level_says(personal, heard):
    """Of 200 runs 10 are expected at a level of 0.05; more than 19 have a chance of 0.003."""
    found = [chance_of(silent(40, seed, personal, heard), level=0.05) <= 0.05 for seed in range(RUNS)]
    assert sum(found) <= 19


def test_what_people_mean_is_seen_and_noise_is_not():
    told = [chance_of(world(80, seed=seed, echoes=False)[0]) for seed in range(10)]
    assert sum(chance <= 0.01 for chance in told) >= 5
    shuffled = [chance_of(silent(80, seed)) for seed in range(10)]
    assert sum(chance <= 0.01 for chance in shuffled) <= 1


def test_contrary_people_are_read_the_other_way_round():
    sample, _ = world(300, personal=True)
    assert chance_of(sample) <= 0.01
    plain = replace(sample, profile=np.zeros_like(sample.profile))
    assert chance_of(plain) > 0.01


def test_few_wins_are_enough_where_words_echo():
    """One choice in fifteen is rewarded: of 60, four are."""
    samples = [world(60, seed=seed, noise=0.1) for seed in range(10)]
    assert np.mean([reward.mean() for _, reward in samples]) < 0.1
    assert sum(chance_of(sample) <= 0.01 for sample, _ in samples) >= 7


def test_that_only_the_pleased_are_heard_tells_nothing():
    """Their choices echo, and all of them sound kind: but which remark came after which choice says nothing."""
    chances = []
    for seed in range(10):
        sample, pleased = overlapping(600, seed)
        chances.append(chance_of(sample.part(pleased)))
    assert sum(chance <= 0.01 for chance in chances) <= 1


def test_constant_feedback_and_choices_of_a_policy():
    sample, _ = world(60)
    assert chance_of(replace(sample, reading=np.ones_like(sample.reading))) == 1.0
    steered, _ = world(200, explored=FEWEST_UNIFORM - 1)
    assert chance_of(steered) is None
    assert chance_of(world(200, explored=60)[0]) is not None
    assert chance_of(world(MOST_DRAWN + 200)[0]) <= 0.01


def test_the_same_draws_each_time():
    sample = silent(60, 3)
    assert chance_of(sample, seed=1) == chance_of(sample, seed=1)


def test_a_fit_is_weighed_by_choices_drawn_anew():
    """And no longer when evidence was found: with no look there is none."""
    sample, _ = world(300)
    told = fit_text_posterior(sample, SETTINGS).evidence
    assert told.found
    assert level_of(1) / (AS_WELL + 1) < told.chance <= level_of(1) / (AS_WELL - 1)  # no draw went as well
    control = fit_text_posterior(silent(300, 1), SETTINGS).evidence
    assert control.chance > level_of(1)
    assert not control._replace(gain=PLAINLY * control.error).found  # however much stakes seem to win
    assert fit_text_posterior(sample, SETTINGS, looks=0).evidence is None


def test_evidence_asks_for_both():
    """What was learned must foretell, and choices drawn anew must not go with feedback as well."""
    assert Evidence(0.3, 0.1, 9, chance=level_of(9)).found
    assert not Evidence(0.3, 0.1, 9, chance=2 * level_of(9)).found
    assert not Evidence(0.19, 0.1, 9, chance=level_of(9)).found
    assert not Evidence(0.3, 0.1, 9).found  # nothing was drawn: looks share the level

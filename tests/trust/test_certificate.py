"""The places of a certificate: all of few, the largest of many, and how many there are."""

import numpy as np
from drawn_counts import everybody_spoke

from tacit.decoding.counts import SeenCounts
from tacit.decoding.judgement import JudgementSettings
from tacit.decoding.together import judge_all
from tacit.problem.layout import Layout
from tacit.trust import certificate
from tacit.trust.certificate import describe_places, distance_and_chance, find_unlisted_places

LAYOUT = Layout.regular([1, 12], n_actions=4, n_contexts=5, n_feedback=6)


def draw_places(tuples=8, seed=0):
    """Return counts of 60 places, some values and actions never met, the later ones with more tuples."""
    generator = np.random.default_rng(seed)
    counts = np.zeros((12, 5, 6, 4))
    for s, x in np.ndindex(12, 5):
        n = tuples + s
        np.add.at(counts[s, x], (generator.integers(6, size=n), generator.integers(4, size=n)), 1)
    return everybody_spoke(counts)


def describe(counts):
    judgements = judge_all(LAYOUT, counts, 0.0, JudgementSettings())
    return describe_places(LAYOUT, counts, counts, judgements), judgements


def test_all_of_few_places_are_listed():
    places, judgements = describe(draw_places())
    assert len(places) == len(judgements) == 60
    assert [place.state for place in places[:6]] == ["1"] * 5 + ["2"]
    assert not list(find_unlisted_places(len(places), judgements))


def test_of_many_places_the_largest_are_listed_and_the_others_counted(monkeypatch):
    monkeypatch.setattr(certificate, "MOST_PLACES", 7)
    places, judgements = describe(draw_places())
    assert len(places) == 7
    assert min(place.tuples for place in places) >= 18
    (found,) = find_unlisted_places(len(places), judgements)
    assert found.severity == "info"
    assert "Of 60 states and contexts (60 unknown)" in found.evidence
    assert "the 7 with the most" in found.evidence


def test_chance_passes_what_it_is_said_to_once_in_twenty_times():
    """And feedback that tells actions apart always does."""
    generator = np.random.default_rng(1)
    said = np.array([0.4, 0.3, 0.2, 0.1])
    noise = [generator.multinomial([30] * 4, said).T * 1.0 for _ in range(400)]
    passed = [distance > chance for distance, chance in (distance_and_chance(t, generator) for t in noise)]
    assert 0.02 <= np.mean(passed) <= 0.09
    telling = np.array([[27.0, 3.0, 3.0], [3.0, 27.0, 27.0]])
    distance, chance = distance_and_chance(telling, generator)
    assert distance > 2 * chance


def test_what_a_place_never_met_changes_nothing():
    counts = draw_places(tuples=10)
    wider = np.zeros((12, 5, 9, 4))
    for (s, x), table in counts.tables():
        wider[s, x, : len(table)] = table
    one = [distance_and_chance(table, np.random.default_rng(0)) for _, table in counts.tables()]
    other = [
        distance_and_chance(table, np.random.default_rng(0))
        for _, table in SeenCounts.of_dense(wider).tables()
    ]
    assert one == other
    assert distance_and_chance(np.zeros((3, 2)), np.random.default_rng(0)) == (0.0, 0.0)

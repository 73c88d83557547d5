"""The places of a certificate: all of few, the largest of many, and how many there are."""

import numpy as np
import pytest
from drawn_counts import everybody_spoke

from tacit.decoding.judgement import JudgementSettings
from tacit.decoding.together import judge_all
from tacit.problem.layout import Layout
from tacit.trust import certificate
from tacit.trust.certificate import describe_places, distance_and_chance, find_unlisted_places, trim

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


@pytest.mark.parametrize(("limit", "value", "listed"), [("MOST_PLACES", 7, 7), ("MOST_TRIMMED", 100, None)])
def test_of_many_places_the_largest_are_listed_and_the_others_counted(monkeypatch, limit, value, listed):
    monkeypatch.setattr(certificate, "MOST_DEALT", 0)
    monkeypatch.setattr(certificate, limit, value)
    places, judgements = describe(draw_places())
    assert len(places) == listed or (listed is None and 1 < len(places) < 20)
    assert min(place.tuples for place in places) >= 18
    (found,) = find_unlisted_places(len(places), judgements)
    assert found.severity == "info"
    assert "Of 60 states and contexts (60 unknown)" in found.evidence
    assert f"the {len(places)} with the most" in found.evidence


def test_what_a_place_never_met_changes_no_distance_and_hardly_its_chance(monkeypatch):
    counts = draw_places(tuples=10)
    whole, _ = describe(counts)
    monkeypatch.setattr(certificate, "MOST_DEALT", 0)
    trimmed, _ = describe(counts)
    assert [place.distance for place in trimmed] == pytest.approx([place.distance for place in whole])
    gaps = [abs(a.p_value - b.p_value) for a, b in zip(trimmed, whole, strict=True)]
    assert np.mean(gaps) < 0.05
    assert [place.tuples for place in trimmed] == [place.tuples for place in whole]


def test_tables_that_are_alike_are_dealt_once(monkeypatch):
    dealt = []
    monkeypatch.setattr(certificate, "MOST_DEALT", 0)
    monkeypatch.setattr(
        certificate, "distance_and_chance", lambda table: dealt.append(table) or distance_and_chance(table)
    )
    counts = np.zeros((12, 5, 6, 4))
    for n, (s, x) in enumerate(np.ndindex(12, 5)):
        counts[s, x, n % 6, n % 4] = 2.0  # two tuples of one value and one action, wherever they stand
    places, _ = describe(everybody_spoke(counts))
    assert (len(places), len(dealt)) == (60, 1)
    assert trim(np.zeros((3, 2))).shape == (0, 0)

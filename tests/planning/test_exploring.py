import numpy as np
import pytest

from tacit.planning.exploring import hope_radius, pays_to_explore

REACH, WANTED = np.array([0.2, 0.1]), np.array([50.0, 80.0])


def test_exploring_is_free_while_nothing_earns():
    assert pays_to_explore(0, 0.3, REACH, WANTED, earned=0.0, on_the_way=0.0)
    assert not pays_to_explore(0, 0.3, REACH, WANTED, earned=0.01, on_the_way=0.0), "the control must fail"


def test_it_ends_where_no_outcome_could_change_the_plan():
    assert not pays_to_explore(10**9, 0.0, REACH, WANTED, earned=0.5, on_the_way=0.4)
    assert pays_to_explore(10**9, 0.01, REACH, WANTED, earned=0.5, on_the_way=0.4)


def test_what_leads_nowhere_unsettled_is_not_explored():
    assert not pays_to_explore(10**9, 1.0, np.zeros(2), WANTED, earned=0.0, on_the_way=0.0)
    assert not pays_to_explore(10**9, 1.0, np.zeros(0), np.zeros(0), earned=0.0, on_the_way=0.0)


@pytest.mark.parametrize("earned", [0.2, 0.8])
def test_the_least_chance_that_is_looked_for_falls_with_time(earned):
    """With one unsettled place on the way it is about w v / (t (1 - v))."""

    def least(played):
        chances = np.logspace(-6, 0, 400)
        return next(
            p
            for p in chances
            if pays_to_explore(played, 1.0, np.array([p]), np.array([50.0]), earned, earned)
        )

    found = [least(played) for played in (1_000, 10_000, 100_000)]
    expected = [50 * earned / (played * (1 - earned)) for played in (1_000, 10_000, 100_000)]
    assert found == pytest.approx(expected, rel=0.05)


def test_whoever_earns_on_the_way_explores_sooner():
    def first(on_the_way):
        return next(n for n in range(10**6) if pays_to_explore(n, 0.2, REACH, WANTED, 0.5, on_the_way))

    assert first(0.5) < first(0.25) < first(0.0)


def test_places_that_are_reached_together_take_as_long_as_each():
    """Five places with a fifth of the episodes each take five times as long as one with all of them."""
    five, one = np.full(5, 0.2), np.ones(1)
    apart = [pays_to_explore(n, 1.0, five, np.full(5, 50.0), 0.5, 0.5) for n in (249, 251)]
    alone = [pays_to_explore(n, 1.0, one, np.full(1, 50.0), 0.5, 0.5) for n in (49, 51)]
    assert apart == alone == [False, True]


def test_the_radius_grows_without_end_and_slowly():
    assert hope_radius(0) == 0.0 < hope_radius(1000) < hope_radius(10**6) < 14

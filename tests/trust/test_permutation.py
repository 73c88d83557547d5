"""Permutation tests on many tables: bounded work, the largest first, and said; on few, nothing changes."""

import numpy as np
import pytest
from drawn_counts import draw_counts, everybody_spoke

from tacit.decoding.counts import SeenCounts
from tacit.problem.layout import Layout
from tacit.trust import permutation
from tacit.trust.diagnostics import diagnose
from tacit.trust.permutation import (
    deal_columns,
    deal_parts,
    dependable_places,
    dependable_tables,
    dependence_p_value,
    largest_places,
    residual_p_value,
    stack_tables,
)

SAID = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
F = np.array([0.9, 0.1, 0.1])


def draw_places(n, f=F, each=60, seed=0):
    """Return counts of n states in one context, the later ones with more tuples."""
    generator = np.random.default_rng(seed)
    tables = [draw_counts(generator, f, SAID, [each + s] * len(f)) for s in range(n)]
    return everybody_spoke(np.array(tables)[:, None])


def layout_of(n):
    return Layout.regular([1, n], n_actions=3, n_contexts=1, n_feedback=4)


def bound(monkeypatch, cells):
    """Let tests deal no more than so many cells; return a list that tells how many each did."""
    dealt, deal = [], deal_columns

    def spy(tables, draws, generator=None):
        dealt.append(tables.size)
        return deal(tables, draws, generator)

    monkeypatch.setattr(permutation, "MOST_DEALT", cells)
    monkeypatch.setattr(permutation, "deal_columns", spy)
    return dealt


def test_of_many_places_the_largest_are_tested(monkeypatch):
    counts = draw_places(20)
    assert largest_places(counts, counts.places) == counts.places
    bound(monkeypatch, 5 * 12)
    assert largest_places(counts, counts.places) == [(s, 0) for s in range(15, 20)]
    assert largest_places(counts, counts.places, tables=2) == [(18, 0), (19, 0)]
    bound(monkeypatch, 1)
    assert largest_places(counts, counts.places) == [(19, 0)]  # one at least


def test_the_work_of_a_diagnosis_is_bounded_and_said(monkeypatch):
    counts, dealt = draw_places(40), bound(monkeypatch, 10 * 12)
    findings = {finding.code: finding for finding in diagnose(layout_of(40), counts)}
    assert dealt
    assert max(dealt) <= 10 * 12
    assert "of 40" in findings["tests-bounded"].evidence
    assert "feedback-tells-nothing" not in findings
    monkeypatch.setattr(permutation, "MOST_DEALT", 10**6)
    assert "tests-bounded" not in {finding.code for finding in diagnose(layout_of(40), counts)}  # the control


def test_what_the_largest_do_not_tell_the_others_may(monkeypatch):
    noise = draw_places(30, f=np.full(3, 0.3))
    whole = {finding.code: finding for finding in diagnose(layout_of(30), noise)}["feedback-tells-nothing"]
    assert (whole.severity, "all states" in whole.evidence) == ("error", True)
    bound(monkeypatch, 10 * 12)
    part = {finding.code: finding for finding in diagnose(layout_of(30), noise)}["feedback-tells-nothing"]
    assert (part.severity, "the 10 largest of 30" in part.evidence) == ("caution", True)


def test_dealing_in_parts_keeps_the_law_and_all_at_once_the_bits(monkeypatch):
    counts = draw_places(3, f=np.array([0.3, 0.25, 0.2]), each=30)
    tables = stack_tables(counts, counts.places)
    at_once = np.stack(list(deal_columns(tables, 50)))
    np.testing.assert_array_equal(np.stack(list(next(deal_parts(tables, 50)))), at_once)
    others = tables.sum(axis=1)[::-1]
    p_values = dependence_p_value(tables), residual_p_value(tables, others)
    monkeypatch.setattr(permutation, "AT_ONCE", 7 * 3 * 4)
    parts = [list(part) for part in deal_parts(tables, 50)]
    assert [len(part[0]) for part in parts] == [7] * 7 + [1]
    for column, whole in zip(zip(*parts, strict=True), at_once, strict=True):
        assert np.concatenate(column).shape == whole.shape
    assert dependence_p_value(tables) == pytest.approx(p_values[0], abs=0.08)
    assert residual_p_value(tables, others) == pytest.approx(p_values[1], abs=0.08)


def test_places_that_can_be_tested_are_found_without_their_tables():
    generator = np.random.default_rng(0)
    counts = SeenCounts.of_dense((generator.random((6, 5, 3, 4)) < 0.15) * 2.0)
    tables = stack_tables(counts, counts.places)
    expected = [
        place for place, testable in zip(counts.places, dependable_tables(tables), strict=True) if testable
    ]
    assert dependable_places(counts) == expected
    assert 0 < len(expected) < len(counts.places)
    assert stack_tables(counts, []).shape == (0, 2, 4)  # nobody was silent

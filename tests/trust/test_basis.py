"""What a verdict rests on, what is in doubt, and what was not seen enough: said where it is so, and not elsewhere."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_counts import draw_counts, everybody_spoke

from tacit.decoding.counts import SeenCounts
from tacit.decoding.judgement import JudgementSettings
from tacit.decoding.orientation import Beliefs
from tacit.decoding.together import judge_all
from tacit.problem.layout import Layout
from tacit.trust.anchors import find_orientation, meaning_by_phi
from tacit.trust.basis import find_basis, find_doubt, find_overlap, find_telling_silence, nothing_left
from tacit.trust.coverage import (
    EXCLUSIVE_WORDS,
    find_mute,
    find_rare_contexts,
    find_unreached,
    find_untried,
    silent_tuples,
)
from tacit.trust.diagnostics import diagnose, find_drift
from tacit.trust.findings import verdict

SETTINGS = JudgementSettings()
EXCLUSIVE = np.array([[0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
F = [0.9, 0.1, 0.05, 0.1]


def draw_places(f=F, said=EXCLUSIVE, states=2, contexts=2, each=60, seed=0, silent=False):
    """Return a layout, counts of all its places and what is judged of them; `silent` if the last word is silence."""
    generator = np.random.default_rng(seed)
    tables = [draw_counts(generator, f, said, [each] * len(f)) for _ in range(states * contexts)]
    words = said.shape[1] - silent
    layout = Layout.regular([1, states], len(f), n_contexts=contexts, n_feedback=words)
    dense = np.array(tables).reshape(states, contexts, *tables[0].shape)
    counts = SeenCounts.of_dense(dense) if silent else everybody_spoke(dense)
    return layout, counts, judge_all(layout, counts, 0.0, SETTINGS)


def test_what_is_known_and_what_is_not():
    layout, _, judgements = draw_places()
    (found,) = find_basis(layout, judgements, EXCLUSIVE_WORDS)
    assert (found.code, found.severity) == ("understood", "info")
    noise = draw_places(f=[0.3] * 4, each=20)
    (found,) = find_basis(noise[0], noise[2], EXCLUSIVE_WORDS)
    assert (found.code, found.severity) == ("nothing-known-yet", "unknown")
    assert verdict(diagnose(*noise[:2])) == "not known yet"


def test_where_a_last_state_was_never_reached_it_could_still_be_there():
    layout, _, judgements = draw_places(f=[0.3] * 4, each=400)
    assert nothing_left(layout, judgements)
    reached = {at: judgement for at, judgement in judgements.items() if at[0] == 0}
    assert not nothing_left(layout, reached)


def test_feedback_that_tells_good_ends_from_bad_ones_is_not_said_to_tell_nothing():
    """The last cells of a lake: all was looked at, no action of any ending is better, and words say where it ended."""
    layout, counts, judgements = draw_places(f=[0.3] * 4, each=400)
    alone = diagnose(layout, counts, judgements=judgements)
    assert verdict(alone) == "cannot work"
    assert "feedback-tells-nothing" in {finding.code for finding in alone}
    read = {at: replace(j, phi=np.array([0.0, 0.0, 1.0, 1.0, 0.0])) for at, j in judgements.items()}
    found = diagnose(layout, counts, judgements=read)
    assert verdict(found) == "works with caution"
    assert {"read-in-common"} <= {finding.code for finding in found}
    assert "feedback-tells-nothing" not in {finding.code for finding in found}


def test_a_place_told_apart_by_chance_among_very_many_is_no_evidence():
    layout, _, judgements = draw_places(f=[0.3] * 4, states=1, contexts=1)
    lucky = draw_places(states=1, contexts=1)[2][0, 0]
    lucky = type(lucky)(**{**vars(lucky), "p_value": 5e-5})
    many = {(0, x): judgements[0, 0] for x in range(1, 400)}
    assert [f.code for f in find_basis(layout, {(0, 0): lucky}, EXCLUSIVE_WORDS)] == ["understood"]
    assert [f.code for f in find_basis(layout, many | {(0, 0): lucky}, EXCLUSIVE_WORDS)] != ["understood"]


def test_doubt_is_said_where_as_many_please_as_do_not():
    layout, _, judgements = draw_places(f=[0.9, 0.85, 0.1, 0.1], each=100)
    (found,) = find_doubt(layout, judgements, EXCLUSIVE_WORDS)
    assert found.severity == "caution"
    layout, _, judgements = draw_places()
    assert not list(find_doubt(layout, judgements, EXCLUSIVE_WORDS))


def test_overlap_says_between_what_the_best_reward_lies():
    layout, _, judgements = draw_places()
    assert not list(find_overlap(layout, judgements, EXCLUSIVE_WORDS))
    (found,) = find_overlap(layout, judgements, Beliefs(True, frozenset([1])))
    assert "context 1" in found.where
    assert "context 0" not in found.where
    assert "between" in found.evidence


def test_silence_that_depends_on_what_was_done_is_said_with_numbers():
    """Two in ten of the pleased say nothing, and eight in ten of the others."""
    said = np.array([[0.1, 0.1, 0.0, 0.0, 0.8], [0.0, 0.0, 0.4, 0.4, 0.2]])
    (found,) = find_telling_silence(*draw_places(said=said, each=150, silent=True))
    assert found.severity == "info"
    assert not list(find_telling_silence(*draw_places(said=said, each=150)))  # the last word is a word
    alike = np.array([[0.3, 0.2, 0.0, 0.0, 0.5], [0.0, 0.0, 0.3, 0.2, 0.5]])
    assert not list(find_telling_silence(*draw_places(said=alike, each=150, silent=True)))


def test_a_state_in_which_nobody_speaks_is_said_to_be_one():
    layout, counts, _ = draw_places()
    dense = np.zeros((2, 2, 5, 4))
    dense[0] = [counts.table(0, 0), counts.table(0, 1)]
    dense[1, :, 4] = 20
    counts = SeenCounts.of_dense(dense)
    assert silent_tuples(layout, counts).tolist() == [[0, 0], [80, 80]]
    (found,) = find_mute(layout, counts, counts.by_ending())
    assert found.where == "state '2'"
    assert not list(find_unreached(layout, counts.by_ending()))
    by_visits = everybody_spoke(dense[:, :, :4])  # silence is not counted: episodes ended there all the same
    (found,) = find_mute(layout, by_visits, np.array([400.0, 160.0]))
    assert found.where == "state '2'"
    assert not list(find_mute(layout, by_visits, np.array([400.0, 10.0])))


def test_states_never_and_rarely_reached_are_told_apart():
    layout = Layout.regular([1, 3], n_actions=2, n_contexts=1, n_feedback=2)
    never, rarely = find_unreached(layout, np.array([1000.0, 0.0, 3.0]))
    assert (never.code, never.where) == ("never-reached", "state '2'")
    assert (rarely.code, rarely.where) == ("rarely-reached", "state '3'")
    assert not list(find_unreached(layout, np.array([100.0, 100.0, 100.0])))
    assert not list(find_unreached(layout, np.zeros(3)))


def test_actions_never_tried_are_named():
    layout, counts, judgements = draw_places()
    assert not list(find_untried(layout, judgements))
    dense = np.array([[counts.table(s, x) for x in range(2)] for s in range(2)])
    dense[0, 0, :, 2] = 0
    judgements = judge_all(layout, SeenCounts.of_dense(dense), 0.0, SETTINGS)
    (found,) = find_untried(layout, judgements)
    assert (found.severity, found.where) == ("caution", "state '1', context 0")
    assert "such as 2 in" in found.evidence


@pytest.mark.parametrize(("each", "severity"), [(60, "info"), (1, "caution")])
def test_contexts_too_rare_to_judge_weigh_as_many_episodes_as_they_have(each, severity):
    generator = np.random.default_rng(0)
    tables = [draw_counts(generator, F, EXCLUSIVE, [n] * 4) for n in (each, each, each, 1)]
    layout = Layout.regular([1, 1], 4, n_contexts=4, n_feedback=4)
    judgements = judge_all(layout, everybody_spoke(np.array([tables])), 0.0, SETTINGS)
    (found,) = find_rare_contexts(layout, SETTINGS, judgements)
    assert (found.severity, f"{1 if each > 1 else 4} of 4 contexts" in found.evidence) == (severity, True)


def test_outcomes_that_an_agent_was_told_bear_the_belief_out_or_not():
    layout, counts, judgements = draw_places()
    outcomes = np.zeros((2, 2, 5, 2))
    outcomes[0, 0, 2, 1] = outcomes[1, 1, 0, 0] = 3  # word 2 means a reward, word 0 none
    known, meaning = SeenCounts.of_dense(outcomes), meaning_by_phi(judgements)
    assert [f.code for f in find_orientation(layout, (), meaning, known)] == ["anchors-agree"]
    assert verdict(diagnose(layout, counts, outcomes=known)) == "works"
    turned = SeenCounts.of_dense(outcomes[..., ::-1].copy())
    found = [f.code for f in find_orientation(layout, (), meaning, turned)]
    assert found == ["decoded-upside-down", "minority-assumed"]


def test_drift_is_a_caution_until_it_is_long_past():
    early, late = ("state '1', context 0", 100, "a is b"), ("state '2', context 0", 900, "c is d")
    (found,) = find_drift([early, late], 1000)
    assert (found.severity, found.where) == ("caution", "state '2', context 0; state '1', context 0")
    assert "2 changes were noticed" in found.evidence
    assert "c is d" in found.evidence
    (found,) = find_drift([early], 1000)
    assert found.severity == "info"
    assert not list(find_drift([], 1000))

import json
from dataclasses import replace

import numpy as np
import pytest

from tacit.problem.growth import with_actions, with_context, with_state, with_word, without_action
from tacit.problem.layout import Layout
from tacit.problem.passages import existing_transitions
from tacit.problem.silence import decode_feedback, encode_feedback
from tacit.problem.spaces import OTHER, Finite

PLAIN = Layout.regular([1, 2], n_actions=2, n_contexts=1, n_feedback=2)
EARLY = replace(PLAIN, ends="anywhere", open=True)
OPEN = replace(PLAIN, contexts=Finite((0,), open=True), feedback=Finite(("ok",), open=True), open=True)


def test_what_has_an_index_keeps_it():
    grown = with_actions(
        with_state(with_word(with_context(OPEN, "x"), "no"), 1, "s", ("p", "q", "r")), 0, 0, (1, 0, "z")
    )
    assert grown.contexts.labels == (0, "x")
    assert grown.feedback.labels == ("ok", "no")
    assert grown.states == ((0,), (1, 2, "s"))
    assert grown.actions == (((0, 1, "z"),), ((0, 1), (0, 1), ("p", "q", "r")))
    assert grown.mask.shape == (2, 3, 3)


def test_a_label_more_shares_what_was_computed():
    before = OPEN.endings
    assert with_context(OPEN, "x").endings is before
    assert with_context(OPEN, 0) is OPEN
    assert with_word(OPEN, None) is OPEN


def test_the_state_of_ended_episodes_stays_the_last():
    grown = with_state(EARLY, 1, "s", (0, 1))
    assert EARLY.ended.tolist() == [-1, 2]
    assert grown.ended.tolist() == [-1, 3]
    assert grown.can_end == ((True,), (True, True, True))


def test_open_layouts_go_through_json():
    retired = without_action(with_word(OPEN, "no"), 1, state=2)
    assert Layout.from_json(json.loads(json.dumps(retired.to_json()))) == retired
    assert "open" not in PLAIN.to_json()
    assert "retired" not in PLAIN.to_json()


def test_silence_stays_where_it_is_while_there_is_room():
    layout = OPEN
    for n in range(14):
        layout = with_word(layout, f"w{n}")
        assert encode_feedback(layout, None) == 15
    layout = with_word(layout, "more")
    assert encode_feedback(layout, None) == 31
    assert decode_feedback(layout, 31) is None
    assert decode_feedback(layout, 15) == "more"


def test_labels_beyond_the_most_share_one():
    people = Finite(("a",), open=True, most=3)
    for name in "abcdefg":
        people = people.taking_in(name)
    assert people.labels == ("a", "b", "c", OTHER)
    assert people.encode("g", "context") == people.encode(OTHER, "context") == 3
    assert people.encode(np.int64(7), "context") == 3
    with pytest.raises(ValueError, match="context must be one of"):
        people.encode(None, "context")
    with pytest.raises(ValueError, match="at most 2 labels, got 3; raise `most`"):
        Finite(("a", "b", "c"), open=True, most=2)
    with pytest.raises(ValueError, match="labels must be strings"):
        people.taking_in(1.5)


def test_whole_numbers_of_numpy_are_labels():
    assert Finite((0,), open=True).taking_in(np.int64(3)).labels == (0, 3)
    assert type(Finite((0,), open=True).taking_in(np.int64(3)).labels[1]) is int


def test_retired_actions_are_not_offered_and_not_forgotten():
    layout = without_action(PLAIN, 0)
    assert layout.retired == ((0, 0, 0), (1, 0, 0), (1, 1, 0))
    assert layout.mask[:, 0].tolist() == [[False, True], [False, True]]
    assert layout.uniform_policy[0, 0].tolist() == [0.0, 1.0]
    assert layout.endings.n_actions.tolist() == [2, 2]
    assert layout.endings.retired.tolist() == [[True, False]] * 2
    assert existing_transitions(layout, 0)[0].all()  # where it led is still known
    assert without_action(PLAIN, 0, state=2).retired == ((1, 1, 0),)


def test_the_last_action_of_a_state_cannot_be_retired():
    with pytest.raises(ValueError, match="1 is the last of state 0; let it have another first"):
        without_action(without_action(PLAIN, 0), 1)
    with pytest.raises(ValueError, match="must be one of any state, got 'dance'"):
        without_action(PLAIN, "dance")
    with pytest.raises(ValueError, match="all of one are retired"):
        replace(PLAIN, retired=((0, 0, 0), (0, 0, 1)))
    with pytest.raises(ValueError, match="indices of the layout, got \\(5, 0, 0\\)"):
        replace(PLAIN, retired=((5, 0, 0),))


def test_what_is_named_is_offered():
    retired = without_action(OPEN, 0, state=2)
    assert with_actions(retired, 1, 1, (1,)) is retired
    assert with_actions(retired, 1, 1, (0, 1)).retired == ()
    with pytest.raises(ValueError, match="without 1; name all of them, or retire what is offered no more"):
        with_actions(retired, 1, 1, (0,))


def test_episodes_begin_in_one_state():
    with pytest.raises(ValueError, match="episodes begin in one state, 0, got 'elsewhere'"):
        with_state(OPEN, 0, "elsewhere", (0, 1))


@pytest.mark.parametrize("which", ["contexts", "feedback"])
def test_a_plain_list_is_told_of_finite(which):
    with pytest.raises(ValueError, match=rf"{which}=tacit.Finite\(labels\)"):
        replace(PLAIN, **{which: ["a", "b"]})


def test_closed_sets_name_the_open_ones():
    with pytest.raises(ValueError, match=r"map it to a known value, or .* tacit.Finite\(..., open=True\)"):
        PLAIN.contexts.encode("loud", "context")
    with pytest.raises(ValueError, match=r"Layout\(..., open=True\)"):
        PLAIN.locate("nowhere")

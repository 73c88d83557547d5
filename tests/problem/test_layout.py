import json
from dataclasses import replace

import numpy as np
import pytest

from tacit.base.checkpoint import CheckpointError
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite, Vectors

BOOKING = Layout(
    states=(("request",), ("asked",)),
    actions=((("when?", "who?", "parking?"),), (("table 1", "table 2", "table 3", "table 4", "table 5"),)),
    contexts=Finite(("terse", "chatty")),
    feedback=Vectors(3),
    names=(("first turn",), ("second turn",)),
)


def test_ragged_shapes():
    assert BOOKING.mask.shape == (2, 1, 5)
    assert BOOKING.n_actions.tolist() == [[3], [5]]
    assert BOOKING.uniform_policy[0, 0].tolist() == pytest.approx([1 / 3] * 3 + [0, 0])
    assert BOOKING.locate("asked") == (1, 0)
    assert BOOKING.name(1, 0) == "second turn"


@pytest.mark.parametrize("layout", [BOOKING, Layout.regular([1, 3, 2], 4, 2, 5)])
def test_json_round_trip(layout):
    assert Layout.from_json(json.loads(json.dumps(layout.to_json()))) == layout


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"states": ()}, "one start state"),
        ({"states": (("a", "b"), ("c",))}, "one start state"),
        ({"states": (("a",), ())}, "at least one state"),
        ({"states": (("a",), ("b", "b"))}, "stand twice in layer 2: \\['b'\\]"),
        ({"actions": ((("x",),),)}, "one tuple of labels for every state"),
        ({"actions": ((("x",),), ((),))}, "at least one action"),
        ({"actions": ((("x",),), (("y", "y"),))}, "none twice"),
        ({"names": (("only",),)}, "same shape as states"),
        ({"states": (("a",), (("b", 1),))}, "labels must be strings"),
        ({"actions": ((("x",),), ((None,),))}, "labels must be strings"),
    ],
)
def test_bad_layouts_are_refused(changes, message):
    fields = {name: getattr(BOOKING, name) for name in BOOKING.__dataclass_fields__}
    with pytest.raises(ValueError, match=message):
        Layout(**{**fields, **changes})


def test_unknown_labels_name_the_known_ones():
    with pytest.raises(ValueError, match="context must be one of 'terse', 'chatty', got 'loud'"):
        BOOKING.contexts.encode("loud", "context")
    with pytest.raises(ValueError, match="got \\['terse'\\]"):
        BOOKING.contexts.encode(["terse"], "context")
    with pytest.raises(ValueError, match="state must be one of 'request', 'asked', got 7"):
        BOOKING.locate(7)
    with pytest.raises(ValueError, match=r"\(40 in all\)"):
        Finite(tuple(range(40))).encode(-1, "feedback")


def test_numpy_integers_are_labels_too():
    assert Finite((3, 5)).encode(np.int64(5), "context") == 1


@pytest.mark.parametrize(
    "value",
    [
        [1, 2],
        [1, 2, np.nan],
        [1, 2, np.inf],
        "abc",
        None,
        [[1, 2, 3]],
        ["1", "2", "3"],
        [True] * 3,
        [[1], 2, 3],
    ],
)
def test_bad_vectors_are_refused(value):
    with pytest.raises(ValueError, match="vector of 3 finite numbers"):
        Vectors(3).encode(value, "feedback")


def test_a_vector_is_copied():
    value = np.array([1.0, 2.0, 3.0])
    encoded = Vectors(3).encode(value, "feedback")
    value[0] = 9
    assert encoded.tolist() == [1, 2, 3]
    assert Vectors(3).decode(encoded) == [1, 2, 3]


def test_empty_spaces_are_refused():
    with pytest.raises(ValueError, match="at least one label"):
        Finite(())
    with pytest.raises(ValueError, match="no label twice"):
        Finite(("a", "a"))
    with pytest.raises(ValueError, match="dimension"):
        Vectors(0)
    with pytest.raises(ValueError, match="labels must be strings"):
        Finite((0.5, 1.5))


def test_lists_of_labels_are_taken_for_tuples():
    lists = Layout([["a"], ["b"]], [[["x"]], [["y", "z"]]], Finite(["c"]), Finite([0, 1]))
    assert Layout.from_json(lists.to_json()) == lists


LONE = "half of a pair \ud83d"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Finite(("yes", LONE)),
        lambda: Vectors(1, (LONE,)),
        lambda: replace(Layout.regular([1], 2, 2, 2), states=((LONE,),)),
        lambda: replace(Layout.regular([1], 2, 2, 2), actions=(((LONE, "b"),),)),
        lambda: replace(Layout.regular([1], 2, 2, 2), names=((LONE,),)),
    ],
)
def test_labels_that_cannot_be_written_down_are_refused(make):
    with pytest.raises(ValueError, match=r'UTF-8 can hold, got .*text.encode\("utf-8", "replace"\)'):
        make()


def test_a_layout_larger_than_any_memory_is_refused():
    states, offered = ((0,), tuple(range(1, 4001))), (tuple(range(4000)), *(((0,),) * 3999))
    with pytest.raises(ValueError, match=r"at most 16777216 places.*2 x 4000 x 4000; group"):
        Layout(states, (((0,),), offered), Finite((0,)), Finite((0, 1)))


@pytest.mark.parametrize(
    "change", [{"states": ["ab"]}, {"names": [["x"], "y"]}, {"more": 1}, {"contexts": []}]
)
def test_json_that_is_no_layout_is_refused(change):
    with pytest.raises(CheckpointError, match="holds wrong content"):
        Layout.from_json(Layout.regular([1, 1], 2, 2, 2).to_json() | change)

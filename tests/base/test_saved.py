import math

import numpy as np
import pytest

from tacit.base.checkpoint import CheckpointError, save_tree
from tacit.base.saved import Saved, open_saved
from tacit.learning.settings import HomingSettings

TREE = {
    "n": 3,
    "share": 0.5,
    "on": True,
    "word": "yes",
    "table": np.ones((2, 3)),
    "counts": np.arange(3),
    "truth": np.array([True, False]),
    "inner": {"words": ["a", "b"], "parts": [{"x": 1}]},
    "nothing": None,
}


def read_all(saved):
    inner = saved.part("inner")
    return (
        *(
            saved.whole("n"),
            saved.number("share", 0, 1),
            saved.flag("on"),
            saved.choice("word", ("yes", "no")),
        ),
        *(saved.floats("table", (2, None)).sum(), saved.wholes("counts", (3,)).sum()),
        *(
            saved.flags("truth", (2,)).sum(),
            inner.texts("words"),
            [part.whole("x") for part in inner.parts("parts")],
        ),
        saved.has("nothing"),
    )


def test_what_is_right_is_read(tmp_path):
    save_tree(tmp_path / "a", "thing", TREE)
    with open_saved(tmp_path / "a", "thing") as saved:
        assert read_all(saved) == (3, 0.5, True, "yes", 6.0, 3, 1, ("a", "b"), [1], False)


@pytest.mark.parametrize(
    ("place", "wrong", "words"),
    [
        ("n", -1, "n must be a whole number from 0 to"),
        ("n", True, "n must be a whole number"),
        ("n", 10**30, "n must be a whole number"),
        ("n", 3.0, "n must be a whole number"),
        ("share", math.nan, "share must be a number from 0 to 1, got nan"),
        ("share", "0.5", "share must be a number"),
        ("on", 1, "on must be true or false, got 1"),
        ("word", "maybe", "word must be one of"),
        ("word", "\ud800", "word must be a text"),
        (
            "table",
            np.ones((3, 3)),
            r"table must be float64 of shape \(2, any\), got float64 of shape \(3, 3\)",
        ),
        ("table", np.ones((2, 3), np.float32), "table must be float64"),
        ("table", np.array([[1.0, math.inf]] * 2), "table must be from -1e.50 to 1e.50, got inf"),
        ("table", [[1.0]], "table must be float64"),
        ("counts", np.array([0, -1, 0]), "counts must be from 0 to"),
        ("counts", np.full(3, 2**52 + 1), "counts must be at most 9007199254740992 together"),
        ("truth", np.array([1, 0]), "truth must be bool"),
        ("inner", [1], "inner must be a mapping"),
        ("inner", {"words": "ab", "parts": []}, "inner.words must be a list, got 'ab'"),
        ("inner", {"words": [], "parts": [3]}, "inner.parts.0 must be a mapping, got 3"),
        ("inner", {"words": [], "parts": [{"x": "y"}]}, "inner.parts.0.x must be a whole number"),
        ("inner", {"words": [], "parts": [{}]}, "inner.parts.0.x must be there, got nothing"),
        ("inner", {"words": [], "parts": [{"x": 1, "z": 2}]}, "inner.parts.0.z must be absent"),
        ("more", 1, "more must be absent, for nothing reads it, got 1"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place_and_its_file(place, wrong, words, tmp_path):
    save_tree(tmp_path / "a", "thing", TREE | {place: wrong})
    with (
        pytest.raises(CheckpointError, match=f"/a' holds wrong content: {words}.*; use an earlier copy"),
        open_saved(tmp_path / "a", "thing") as saved,
    ):
        read_all(saved)


def test_what_is_missing_is_refused(tmp_path):
    save_tree(tmp_path / "a", "thing", {name: value for name, value in TREE.items() if name != "share"})
    with (
        pytest.raises(CheckpointError, match="share must be there, got nothing"),
        open_saved(tmp_path / "a", "thing") as saved,
    ):
        read_all(saved)


def test_settings_are_made_of_all_their_fields_and_no_other():
    good = {"episodes": 7, "delta": 0.1, "bonus_scale": 1.0, "epsilon": 0.1}
    assert Saved.of(good).make(HomingSettings) == HomingSettings(7, 0.1, 1.0, 0.1)
    for bad, words in [
        (good | {"delta": 2.0}, "delta must be a number above 0 and below 1"),
        (good | {"extra": 1}, "extra must be absent"),
        ({"episodes": 7}, "must be there"),
        (good | {"epsilon": "x"}, "epsilon must lie in"),
    ]:
        with pytest.raises(CheckpointError, match=words):
            Saved.of(bad).make(HomingSettings)


@pytest.mark.parametrize(
    "error", [KeyError("x"), TypeError("no"), IndexError(3), ZeroDivisionError(), ValueError("why")]
)
def test_what_a_class_of_ones_own_raises_names_the_file(error, tmp_path):
    save_tree(tmp_path / "a", "thing", {})
    with pytest.raises(CheckpointError, match="/a' holds wrong content"), open_saved(tmp_path / "a", "thing"):
        raise error


def test_what_is_missing_on_the_machine_is_told_as_it_is(tmp_path):
    save_tree(tmp_path / "a", "thing", {})
    with pytest.raises(UnicodeError, match="as it is"), open_saved(tmp_path / "a", "thing", (UnicodeError,)):
        raise UnicodeError("as it is")
    with pytest.raises(ImportError), open_saved(tmp_path / "a", "thing"):
        raise ImportError

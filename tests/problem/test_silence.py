"""Silence as a value of finite feedback: encoded after the words, shown in words, missing where a layout says so."""

from dataclasses import replace

import pytest

from tacit.problem.layout import Layout
from tacit.problem.silence import SILENCE, decode_feedback, encode_feedback, feedback_word
from tacit.problem.spaces import Finite, Vectors

LAYOUT = replace(
    Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2), feedback=Finite(("fine", "oh", True))
)


def test_silence_is_the_value_after_all_words_and_comes_back():
    assert [encode_feedback(LAYOUT, word) for word in ("fine", "oh", True, None)] == [0, 1, 2, 3]
    assert [decode_feedback(LAYOUT, y) for y in range(4)] == ["fine", "oh", True, None]
    assert [feedback_word(LAYOUT, y) for y in range(4)] == ["fine", "oh", "True", SILENCE]
    with pytest.raises(ValueError, match="feedback must be one of"):
        encode_feedback(LAYOUT, SILENCE)


def test_silence_may_be_missing_and_is_no_vector():
    assert encode_feedback(replace(LAYOUT, silence="missing"), None) is None
    assert encode_feedback(replace(LAYOUT, silence="missing"), "oh") == 1
    vectors = replace(LAYOUT, feedback=Vectors(2))
    assert decode_feedback(vectors, encode_feedback(vectors, [1, 2])) == [1.0, 2.0]
    with pytest.raises(ValueError, match="a vector has no value for silence, got None"):
        encode_feedback(vectors, None)
    assert encode_feedback(replace(vectors, silence="missing"), None) is None


def test_what_silence_is_taken_for_is_part_of_a_layout():
    missing = replace(LAYOUT, silence="missing")
    assert Layout.from_json(missing.to_json()) == missing
    plain = {key: value for key, value in LAYOUT.to_json().items() if key != "silence"}
    assert Layout.from_json(plain) == LAYOUT
    with pytest.raises(ValueError, match="silence must be one of"):
        replace(LAYOUT, silence="golden")

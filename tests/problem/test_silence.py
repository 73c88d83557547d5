"""Silence as a value of feedback: after the words, NaN among vectors, in words, missing where a layout says so."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.problem.layout import Layout
from tacit.problem.silence import SILENCE, decode_feedback, encode_feedback, feedback_word, is_silence
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


def test_silence_may_be_missing_and_is_no_vector_that_one_can_say():
    assert encode_feedback(replace(LAYOUT, silence="missing"), None) is None
    assert encode_feedback(replace(LAYOUT, silence="missing"), "oh") == 1
    vectors = replace(LAYOUT, feedback=Vectors(2))
    assert decode_feedback(vectors, encode_feedback(vectors, [1, 2])) == [1.0, 2.0]
    silence = encode_feedback(vectors, None)
    np.testing.assert_array_equal(silence, [np.nan, np.nan])
    assert decode_feedback(vectors, silence) is None
    assert feedback_word(vectors, silence) == SILENCE
    assert [is_silence(vectors, each) for each in (silence, np.zeros(2))] == [True, False]
    with pytest.raises(ValueError, match="feedback must be a vector of 2 finite numbers"):
        encode_feedback(vectors, silence)
    assert encode_feedback(replace(vectors, silence="missing"), None) is None


def test_what_silence_is_taken_for_is_part_of_a_layout():
    missing = replace(LAYOUT, silence="missing")
    assert Layout.from_json(missing.to_json()) == missing
    plain = {key: value for key, value in LAYOUT.to_json().items() if key != "silence"}
    assert Layout.from_json(plain) == LAYOUT
    with pytest.raises(ValueError, match="silence must be one of"):
        replace(LAYOUT, silence="golden")

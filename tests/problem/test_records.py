"""Text and records as contexts and feedback: encoded, kept in plain values, written down, refused with the remedy."""

from dataclasses import replace

import numpy as np
import pytest
from counting_encoder import BrokenEncoder, CountingEncoder

import tacit
from tacit.base.checkpoint import CheckpointError
from tacit.problem.growth import with_word
from tacit.problem.layout import Layout
from tacit.problem.records import Record, Text, dimension_of, encode_value, has_text, space_from_json
from tacit.problem.seen import reads_text, seen_layout
from tacit.problem.silence import SILENCE, decode_feedback, encode_feedback, feedback_word, is_silence
from tacit.problem.spaces import OTHER, Finite, Vectors

VISITOR = Record(
    {
        "country": Finite(("de", "fr"), open=True),
        "device": Finite(("phone", "desk")),
        "age": Vectors(1),
        "place": Vectors(2, ("north", "east")),
        "note": Text(),
    }
)
ANN = {"note": "likes it quiet", "age": 41, "country": "fr", "place": [1, -2], "device": "phone"}
LAYOUT = Layout.regular([1, 2], n_actions=2, n_contexts=2, n_feedback=2)


def test_the_door_has_both():
    assert (tacit.Text, tacit.Record) == (Text, Record)


def test_text_is_what_the_encoder_makes_of_it():
    encoder = CountingEncoder()
    np.testing.assert_array_equal(encode_value(Text(), "a quiet sea", "context", encoder), [2, 2, 1, 0, 1])
    assert encode_value(Text(), "", "context", encoder).tolist() == [0] * 5
    assert encoder.asked == [["a quiet sea"], [""]]
    assert Text().plain("a quiet sea", "context") == "a quiet sea"


@pytest.mark.parametrize("value", [3, None, ["so"], b"so", {"text": "so"}, float("nan")])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(ValueError, match=r"feedback must be a text, got .*; write it in words, or give"):
        Text().encode(value, "feedback", CountingEncoder())


def test_text_that_cannot_be_written_down_is_refused():
    with pytest.raises(ValueError, match="feedback must be text that UTF-8 can hold"):
        Text().encode("so \ud83d", "feedback", CountingEncoder())


def test_text_without_an_encoder_is_refused():
    with pytest.raises(ValueError, match="context that is text needs an encoder, got 'so' and none"):
        Text().encode("so", "context")
    with pytest.raises(ValueError, match="'note' of context that is text needs an encoder"):
        VISITOR.encode(ANN, "context")
    with pytest.raises(ValueError, match="as long as its encoder says"):
        dimension_of(VISITOR)


@pytest.mark.parametrize("gives", [[[1, 2]], [1, 2, 3, 4, 5], [[1, 2, 3, 4, np.nan]], [[1] * 5] * 2])
def test_an_encoder_that_gives_something_else_than_it_says_is_refused(gives):
    with pytest.raises(
        ValueError, match="gives 5 finite numbers for a text, 'counting' gave an array of shape"
    ):
        Text().encode("so", "context", BrokenEncoder(gives))


def test_a_record_is_one_vector_in_the_order_of_its_fields():
    encoder = CountingEncoder()
    vector = VISITOR.encode(ANN, "context", encoder)
    np.testing.assert_array_equal(vector, [0, 1, 1, 0, 41, 1, -2, 0, 2, 3, 0, 1])
    assert dimension_of(VISITOR, encoder) == len(vector) == 12
    assert vector.dtype == np.float64
    assert ANN["place"] == [1, -2]  # as it was


def test_labels_that_an_open_set_does_not_know_are_zeros():
    encoder = CountingEncoder()
    assert VISITOR.encode({**ANN, "country": "it"}, "context", encoder)[:2].tolist() == [0, 0]
    assert VISITOR.plain({**ANN, "country": np.int64(39)}, "context")["country"] == 39
    others = Record({"country": Finite(("de", OTHER), open=True)})
    assert others.encode({"country": "it"}, "context").tolist() == [0, 1]
    assert others.plain({"country": "it"}, "context") == {"country": OTHER}
    with pytest.raises(ValueError, match="'device' of context must be one of 'phone', 'desk', got 'watch'"):
        VISITOR.encode({**ANN, "device": "watch"}, "context", encoder)
    with pytest.raises(ValueError, match="'country' of context must be one of"):
        VISITOR.encode({**ANN, "country": ["de"]}, "context", encoder)


def test_a_record_is_kept_in_plain_values_that_mean_the_same():
    shown = {**ANN, "age": np.float32(41), "place": {"east": -2, "north": 1}}
    plain = VISITOR.plain(shown, "context")
    assert plain == {**ANN, "age": 41.0, "place": [1.0, -2.0]}
    assert list(plain) == list(VISITOR.fields)
    assert type(plain["age"]) is float
    encoder = CountingEncoder()
    same = [VISITOR.encode(each, "context", encoder).tolist() for each in (shown, plain, ANN)]
    assert same[0] == same[1] == same[2]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "de",
            "context must be a mapping with the fields 'country', 'device', .*, got 'de'; name each value",
        ),
        (
            {k: v for k, v in ANN.items() if k != "age"},
            "without 'age'; give it, by a label such as 'unknown'",
        ),
        ({**ANN, "shoes": 41}, "and no others, got 'shoes'; leave it out, or add it to tacit.Record"),
        ({**ANN, "age": "old"}, "'age' of context must be a vector of 1 finite numbers, got 'old'"),
        ({**ANN, "age": None}, "'age' of context must be a vector of 1 finite numbers"),
        ({**ANN, "place": [1, np.nan]}, "'place' of context must be a vector of 2 finite numbers"),
        ({**ANN, "note": None}, "'note' of context must be a text, got None"),
    ],
)
def test_records_that_break_a_rule_are_refused_by_the_field(value, message):
    with pytest.raises(ValueError, match=message):
        VISITOR.encode(value, "context", CountingEncoder())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "a record needs a mapping from its fields"),
        (("country",), "a record needs a mapping from its fields"),
        (
            {"country": ("de", "fr")},
            "a field must be tacit.Finite, .* for 'country'; for a list of labels write",
        ),
        ({"age": float}, "for a number tacit.Vectors"),
        ({"who": VISITOR}, "a field must be tacit.Finite"),
        ({3: Text()}, "a field must be a text, got 3"),
    ],
)
def test_records_that_cannot_be_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Record(fields)


def test_records_are_equal_with_the_same_fields_in_the_same_order():
    fields = {"age": Vectors(1), "note": Text()}
    record, turned = Record(fields), Record({"note": Text(), "age": Vectors(1)})
    assert record == Record(dict(fields))
    assert hash(record) == hash(Record(dict(fields)))
    assert record != turned
    fields["shoes"] = Vectors(1)
    assert list(record.fields) == ["age", "note"]


@pytest.mark.parametrize("space", [Text(), VISITOR, Record({"age": Vectors(1)}), Finite((0, 1)), Vectors(2)])
def test_spaces_and_layouts_come_back_from_json(space):
    assert space_from_json(space.to_json()) == space
    layout = replace(LAYOUT, contexts=space, feedback=space)
    assert Layout.from_json(layout.to_json()) == layout
    assert reads_text(layout) == has_text(space) == ('"text"' in str(space.to_json()).replace("'", '"'))


def test_descriptions_that_break_a_rule_are_refused():
    twice = {"kind": "record", "fields": [{"name": "note", "kind": "text"}] * 2}
    with pytest.raises(CheckpointError, match="fields with names of their own"):
        space_from_json(twice)
    with pytest.raises(ValueError, match=r"a field must be tacit\.Finite"):
        space_from_json({"kind": "record", "fields": [{"name": "who", **VISITOR.to_json()}]})
    with pytest.raises(CheckpointError, match="kind must be one of"):
        space_from_json({"kind": "picture"})
    with pytest.raises(ValueError, match=r"tacit.Text\(\) or tacit.Record\(fields\), got 'text'"):
        replace(LAYOUT, contexts="text")


def test_stages_see_vectors_where_a_user_shows_text_or_records():
    encoder = CountingEncoder()
    assert seen_layout(LAYOUT) is LAYOUT
    told = replace(LAYOUT, contexts=VISITOR, feedback=Text())
    seen = seen_layout(told, encoder)
    assert (seen.contexts, seen.feedback) == (Vectors(12), Vectors(5))
    assert seen.actions is told.actions
    assert (told.contexts, told.feedback) == (VISITOR, Text())
    open_words = replace(told, feedback=Finite(("ok",), open=True))
    grown = with_word(open_words, "hm")
    assert seen_layout(grown, encoder).feedback.labels == ("ok", "hm")
    assert seen_layout(grown, encoder).actions is seen_layout(open_words, encoder).actions
    with pytest.raises(
        ValueError, match=r"text is read by an encoder, .* and none; give the layout to tacit.Agent"
    ):
        seen_layout(told)


@pytest.mark.parametrize("feedback", [Vectors(2), Text(), Record({"stars": Vectors(1), "note": Text()})])
def test_silence_is_a_vector_of_nan_where_feedback_is_one(feedback):
    layout, encoder = replace(LAYOUT, feedback=feedback), CountingEncoder()
    silence = encode_feedback(layout, None, encoder=encoder)
    assert silence.shape == (dimension_of(feedback, encoder),)
    assert np.isnan(silence).all()
    assert is_silence(layout, silence)
    assert decode_feedback(layout, silence) is None
    assert feedback_word(layout, silence) == SILENCE
    assert encoder.asked == []
    assert encode_feedback(replace(layout, silence="missing"), None, encoder=encoder) is None

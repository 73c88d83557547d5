"""What a text agent reads, and what it refuses to."""

import pytest

from tacit.text.conversation import Conversation, Exchange, TextContext, check_candidates


def test_a_context_is_read_from_all_its_forms():
    context = TextContext("hello", "a regular")
    assert TextContext.read(context) is context
    assert TextContext.read({"request": "hello", "profile": "a regular"}) == context
    assert TextContext.read("hello") == TextContext("hello")
    assert TextContext.read(context.to_json()) == context


@pytest.mark.parametrize(
    "wrong", [None, 3, "", "  ", {}, {"profile": "x"}, {"request": "x", "colour": "red"}]
)
def test_no_context(wrong):
    with pytest.raises(ValueError, match=r"must be a text|a text context is"):
        TextContext.read(wrong)


def test_a_conversation_survives_json():
    talk = Conversation(TextContext("hello", "new"), (Exchange("when?", "now"), Exchange("where?", "here")))
    assert Conversation.read(talk.to_json()) == talk
    assert talk.utterances == ("hello", "now", "here")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "at least 2 candidates"),
        (["one"], "at least 2 candidates"),
        ("ab", "at least 2 candidates"),
        (None, "at least 2 candidates"),
        (["a", "a", "b"], "'a' 2 times"),
        (["a", ""], "candidate 1 must be a text"),
        (["a", 4], "candidate 1 must be a text"),
    ],
)
def test_no_candidates(wrong, message):
    with pytest.raises(ValueError, match=message):
        check_candidates(wrong)

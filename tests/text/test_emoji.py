"""Emoji are followed by their names, and nothing else is touched."""

import pytest

from tacit.text.small.emoji import MEANT, emoji_name, spell_emoji


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("👍", "👍 (thumbs up sign)"),
        ("Thanks👍🏽!", "Thanks 👍 (thumbs up sign) !"),  # tones of skin are left out
        ("❤️", "❤ (heavy black heart)"),
        ("🙏", "🙏 (thank you)"),  # what people mean by it
        ("👩‍🍳 ok", "👩 (woman) 🍳 (cooking) ok"),
    ],
)
def test_names_follow(text, spelled):
    assert spell_emoji(text) == spelled


@pytest.mark.parametrize("text", ["", "thanks", "  two  spaces ", "20 °C ©", "<3 :)", "很好", "∑ x_i ≤ 3"])
def test_other_texts_stay_as_they_are(text):
    assert spell_emoji(text) == text


def test_what_is_meant_is_said_of_emoji_alone():
    assert all(len(mark) == 1 and emoji_name(mark) == name for mark, name in MEANT.items())
    assert emoji_name("\U0001fbfa") == ""  # no name yet

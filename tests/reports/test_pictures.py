"""Users' words in pictures: no formulas, no empty boxes."""

import pytest
from matplotlib.figure import Figure

from tacit.offline.tables.page import draw_distances
from tacit.reports.pictures import finish_picture, picture_text
from tacit.trust.certificate import Place

WORDS = [
    "old$$",
    "$x",
    "$\\frac$",
    "a\\$b",
    "costs $5 or $9",
    "_^{}%#",
    "👍🏽",
    "👩‍💻",
    "❤️",
    "满意",
    "two\nlines",
]


@pytest.mark.parametrize("words", WORDS)
def test_any_words_are_drawn_as_they_are(words):
    """A glyph that is missing would be a warning, and fail here; a formula that is none would raise."""
    figure = Figure()
    axes = figure.subplots()
    axes.set_yticks([0, 1], [picture_text(words, 40), "plain"])
    axes.text(0.5, 0.5, picture_text(words, 40))
    assert finish_picture(figure, axes).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("👍", "[thumbs up sign]"),
        ("满", "[U+6EE1]"),
        ("a\nb", "a b"),
        ("Ünïcode", "Ünïcode"),
        ("\ue000", "[u+e000]"),
    ],
)
def test_what_the_font_lacks_is_named(words, shown):
    assert picture_text(words, 40) == shown


def test_dollars_in_labels_do_not_stop_a_page():
    place = Place("$$", "old", 3, 10, 10.0, 0.4, 0.1, 0.01, "heterogeneous", True)
    assert draw_distances([place, place]).startswith(b"\x89PNG")

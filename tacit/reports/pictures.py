"""Pictures as bytes, and as pages hold them; and users' words as pictures can show them."""

from __future__ import annotations

import base64
import io
import unicodedata
from functools import cache

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font

from tacit.reports.palette import DPI

INVISIBLE = ("Cf", "Mn", "Me")
"""Categories of characters that change others and show nothing themselves, such as joiners of emoji."""


def finish_picture(figure: Figure, axes: Axes) -> bytes:
    """Return a picture of one panel as PNG, without the lines that frame it."""
    axes.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=DPI // 2, metadata={"Software": None})
    return buffer.getvalue()


def encode_picture(picture: bytes) -> str:
    """Return a picture as a page holds it."""
    return base64.b64encode(picture).decode("ascii")


def picture_text(text: str, most: int) -> str:
    r"""Return a user's words as a picture shows them, at most so many characters: no formula, no empty boxes.

    A dollar is a dollar, a line break a space, and a character that the font lacks is called by its name.

    >>> picture_text("costs $5 to $9", 20), picture_text("\N{THUMBS UP SIGN}", 20), picture_text("far too long", 8)
    ('costs \\$5 to \\$9', '[thumbs up sign]', 'far too…')
    """
    shown = "".join(map(_shown, text))
    shown = shown if len(shown) <= most else shown[: most - 1] + "…"
    return shown.replace("$", r"\$")


def _shown(character: str) -> str:
    if unicodedata.category(character) in ("Cc", "Zl", "Zp"):
        return " "
    if ord(character) in _drawn():
        return character
    if unicodedata.category(character) in INVISIBLE:
        return ""
    if unicodedata.category(character).startswith(
        "L"
    ):  # names of foreign letters say less than their numbers
        return f"[U+{ord(character):04X}]"
    return f"[{unicodedata.name(character, f'U+{ord(character):04X}').lower()}]"


@cache
def _drawn() -> frozenset[int]:
    """Return the characters that the font of pictures has."""
    return frozenset(get_font(findfont(FontProperties())).get_charmap())

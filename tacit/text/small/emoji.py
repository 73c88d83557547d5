"""Emoji with their names: encoders that were trained on sentences hardly know the mark, and what it is called they do.

Of remarks never met a name alone was read no better than the mark alone, the two together much better
(`benchmarks/text_marks.py`).
"""

from __future__ import annotations

import unicodedata

JOINERS = "\u200d\ufe0e\ufe0f"
"""What ties emoji together or says how they look."""
SKIN = range(0x1F3FB, 0x1F400)
"""Tones of skin, which follow a hand or a face."""
SYMBOLS = 0x2190
"""Where symbols begin that are no kin of letters: degrees and trademarks stand before it."""
MEANT = {
    "\N{POUTING FACE}": "furious face",
    "\N{FACE WITH LOOK OF TRIUMPH}": "huffing angry face",
    "\N{SERIOUS FACE WITH SYMBOLS COVERING MOUTH}": "swearing face",
    "\N{FACE WITH ROLLING EYES}": "annoyed face",
    "\N{PERSON WITH FOLDED HANDS}": "thank you",
    "\N{HUNDRED POINTS SYMBOL}": "hundred percent",
}
"""Emoji that people use for something else than their name says."""


def spell_emoji(text: str) -> str:
    """Return a text with the name of each emoji in brackets behind it; other texts as they are.

    >>> spell_emoji("Thanks 👍")
    'Thanks 👍 (thumbs up sign)'
    >>> spell_emoji("20 °C, please")
    '20 °C, please'
    """
    if not any(map(is_emoji, text)):
        return text
    kept = (mark for mark in text if mark not in JOINERS and ord(mark) not in SKIN)
    spelled = "".join(f" {mark} ({emoji_name(mark)}) " if is_emoji(mark) else mark for mark in kept)
    return " ".join(spelled.split())


def is_emoji(mark: str) -> bool:
    """Return whether a mark is a symbol that stands for a word."""
    return ord(mark) >= SYMBOLS and unicodedata.category(mark) == "So"


def emoji_name(mark: str) -> str:
    """Return what an emoji is called, nothing where it has no name yet."""
    return MEANT.get(mark, unicodedata.name(mark, "").lower())

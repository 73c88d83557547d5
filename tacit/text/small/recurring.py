"""Remarks that are heard again and again have a value of their own, beside what the encoder makes of them.

"How did you know?" sounds like a complaint to a small language model, and pleases. Who hears it six times, each time
after a choice that is foretold to be right by others, knows better. So a remark that was heard before, whatever its
capitals and full stops, has its own number: 0 until meaning is read off rewards that were foretold without it
(`tacit.text.small.cross_fitting`), as fitted at once with what fits it would be learned by heart.
"""

from __future__ import annotations

import hashlib

import numpy as np

from tacit.base.arrays import FloatArray, IntArray
from tacit.text.small.encoder import WORD

FEWEST = 2
"""Times that a remark must be heard."""
MOST = 256
"""Remarks at most that have a value of their own, those heard most often."""
COMMONPLACE = ".,;:!\u00a1\u00bf'\"-\u2026\u2018\u2019\u201c\u201d\u2013\u2014"
"""Marks without which a remark is the same."""
NEVER = 0
"""The number of no remark."""
DIGEST = 52
"""Bits of a number: two of 10,000 texts are alike with a chance of 1 in 90 million."""


def number_remark(text: str) -> int:
    """Return the number of a remark, the same for the same words and marks in a row.

    >>> number_remark("Thanks, that's it.") == number_remark("thanks that's it")
    True
    >>> number_remark("Thanks?") == number_remark("Thanks.")
    False
    """
    lower = text.lower().replace("\u2019", "'")
    marks = (mark for mark in WORD.sub(" ", lower) if not mark.isspace() and mark not in COMMONPLACE)
    told = " ".join([*WORD.findall(lower), *marks])
    return number_text(told or text) or NEVER + 1


def number_text(text: str) -> int:
    """Return a number of a text that others have with hardly any chance."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - DIGEST)


def list_recurring(remarks: IntArray) -> IntArray:
    """Return the numbers of remarks (n,) that are heard again, those heard most often if they are many, rising.

    >>> list_recurring(np.array([7, 5, 7, 5, 3, NEVER, NEVER]))
    array([5, 7])
    """
    numbers, counts = np.unique(remarks[remarks != NEVER], return_counts=True)
    often = np.argsort(-counts, kind="stable")[:MOST]
    return np.sort(numbers[often[counts[often] >= FEWEST]])


def mark_recurring(recurring: IntArray, remarks: IntArray) -> FloatArray:
    """Return which remark of `recurring` (M,) each of some remarks (n,) is, as 0 and 1, (n, M)."""
    return np.asarray(remarks[:, None] == recurring, dtype=np.float64)

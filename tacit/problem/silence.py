"""Silence: the person was there and said nothing. Of finite feedback it is one value more, after all the words.

Where words may come while an agent runs, it stands after all that there is room for. Of vectors it is the one whose
entries are all NaN, which nobody can say; who has no place for that refuses it.

`Layout.silence` says what it is taken for: it "counts" like any word, or it is "missing" at random and says nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.problem.layout import MISSING, Layout
from tacit.problem.records import TextEncoder, dimension_of, encode_value
from tacit.problem.spaces import Encoded, Finite

SILENCE = "(silence)"
"""What silence is called wherever feedback is shown in words."""


def encode_feedback(
    layout: Layout, feedback: Any, what: str = "feedback", encoder: TextEncoder | None = None
) -> Encoded | None:
    """Return feedback as stages see it; of None, silence, the value that the module names, or None if it is missing.

    >>> layout = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    >>> encode_feedback(layout, 1), encode_feedback(layout, None)
    (1, 2)
    """
    if feedback is not None:
        return encode_value(layout.feedback, feedback, what, encoder)
    if layout.silence == MISSING:
        return None
    if isinstance(layout.feedback, Finite):
        return layout.feedback.room
    return np.full(dimension_of(layout.feedback, encoder), np.nan)


def is_silence(layout: Layout, encoded: Encoded) -> bool:
    """Return whether encoded feedback is silence.

    >>> layout = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    >>> is_silence(layout, 1), is_silence(layout, encode_feedback(layout, None))
    (False, True)
    """
    space = layout.feedback
    if isinstance(space, Finite):
        return bool(encoded == space.room)
    return bool(np.isnan(encoded).all())


def decode_feedback(layout: Layout, encoded: Encoded) -> Any:
    """Return the label or the vector of encoded feedback, None for silence."""
    return None if is_silence(layout, encoded) else layout.feedback.decode(encoded)


def feedback_word(layout: Layout, encoded: Encoded) -> str:
    """Return what encoded feedback is called.

    >>> layout = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    >>> feedback_word(layout, 1), feedback_word(layout, 2)
    ('1', '(silence)')
    """
    label = decode_feedback(layout, encoded)
    return SILENCE if label is None else str(label)

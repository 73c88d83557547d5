"""Silence: the person was there and said nothing. Of finite feedback it is one value more, after all the words.

Where words may come while an agent runs, it stands after all that there is room for.

`Layout.silence` says what it is taken for: it "counts" like any word, or it is "missing" at random and says nothing.
Vectors have no place for it: there it can only be missing.
"""

from __future__ import annotations

from typing import Any

from tacit.problem.layout import COUNTS, MISSING, Layout
from tacit.problem.spaces import Encoded, Finite

SILENCE = "(silence)"
"""What silence is called wherever feedback is shown in words."""


def encode_feedback(layout: Layout, feedback: Any, what: str = "feedback") -> Encoded | None:
    """Return feedback as the layout encodes it; of None, silence, the index after the words, or None if it is missing.

    >>> layout = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    >>> encode_feedback(layout, 1), encode_feedback(layout, None)
    (1, 2)
    """
    if feedback is not None:
        return layout.feedback.encode(feedback, what)
    if layout.silence == MISSING:
        return None
    if isinstance(layout.feedback, Finite):
        return layout.feedback.room
    raise ValueError(
        f"{what} that is a vector has no value for silence, got None with Layout(..., silence={COUNTS!r}); give the "
        f"layout silence={MISSING!r} if people fall silent at random, or use finite feedback"
    )


def decode_feedback(layout: Layout, encoded: Encoded) -> Any:
    """Return the label or the vector of encoded feedback, None for silence."""
    space = layout.feedback
    return None if isinstance(space, Finite) and encoded == space.room else space.decode(encoded)


def feedback_word(layout: Layout, encoded: Encoded) -> str:
    """Return what encoded feedback is called.

    >>> layout = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    >>> feedback_word(layout, 1), feedback_word(layout, 2)
    ('1', '(silence)')
    """
    label = decode_feedback(layout, encoded)
    return SILENCE if label is None else str(label)

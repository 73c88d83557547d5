"""The problem as stages see it: contexts and feedback are indices or vectors, whatever a user shows.

A text is the vector that an encoder makes of it, a record the vector of its fields. Where there is neither, stages see
the layout itself.
"""

from __future__ import annotations

from tacit.problem.growth import with_space
from tacit.problem.layout import Layout
from tacit.problem.records import Space, TextEncoder, dimension_of, has_text
from tacit.problem.spaces import Finite, Vectors


def reads_text(layout: Layout) -> bool:
    """Return whether contexts or feedback are text, or records with some: then an encoder is needed."""
    return has_text(layout.contexts) or has_text(layout.feedback)


def seen_layout(layout: Layout, encoder: TextEncoder | None = None) -> Layout:
    """Return the layout as stages see it, with vectors for text and records; itself if there are none.

    >>> from tacit.problem.records import Record
    >>> layout = Layout((("hello",),), ((("a", "b"),),), Record({"age": Vectors(1)}), Finite(("ok",)))
    >>> seen_layout(layout).contexts
    Vectors(dimension=1, fields=None)
    """
    if reads_text(layout) and encoder is None:
        raise ValueError(
            f"text is read by an encoder, got contexts {layout.contexts!r}, feedback {layout.feedback!r} and none; "
            "give the layout to tacit.Agent, which has one, or one of your own to Layered(..., encoder=encoder)"
        )
    for which in ("contexts", "feedback"):
        space: Space = getattr(layout, which)
        if not isinstance(space, Finite | Vectors):
            layout = with_space(layout, which, Vectors(dimension_of(space, encoder)))
    return layout

"""Reactions encoded in batches, so that memory stays bounded however many there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tacit.logs.reading import Progress
from tacit.offline.teaching import Teaching
from tacit.offline.text.gathering import candidates_p_value
from tacit.text.conversation import Reaction
from tacit.text.small.model import SmallModel
from tacit.text.small.posterior import Sample

ENCODED_AT_ONCE = 1_000
"""Episodes encoded before what the file of encodings holds is forgotten: bounds the memory, some 10 MB."""


def encode_in_batches(
    model: SmallModel, reactions: Sequence[Reaction]
) -> Iterator[tuple[Sample, Sequence[Reaction]]]:
    """Yield `ENCODED_AT_ONCE` reactions, encoded and as they are; forget what the file of encodings holds of them."""
    for start in range(0, len(reactions), ENCODED_AT_ONCE):
        some = reactions[start : start + ENCODED_AT_ONCE]
        yield model.sample(some), some
        model.features.cache.forget()


def encode_ahead(model: SmallModel, reactions: Sequence[Reaction], progress: Progress | None) -> None:
    """Encode reactions in batches before they are read in one go, and tell of each batch."""
    for sample, _ in encode_in_batches(model, reactions):
        if progress is not None:
            progress(len(sample))


def accept_candidates(
    teaching: Teaching[Reaction], model: SmallModel, progress: Progress | None = None
) -> float | None:
    """Take candidates of unknown probability in if no test tells them from uniform ones; return its p-value if so."""
    unknown = teaching.unknown.rows
    if not unknown:
        return None
    encode_ahead(model, unknown, progress)
    return teaching.accept_unknown(candidates_p_value(model.sample(unknown)))

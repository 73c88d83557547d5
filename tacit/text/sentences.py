"""The encoder of agents whose contexts or feedback are text: MiniLM, bundled and frozen, a vector for each text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.problem.layout import Layout
from tacit.problem.seen import reads_text
from tacit.text.bundled import check_packages, minilm_path
from tacit.text.small.encoder import bundled_encoder

KEPT = 2048
"""Vectors of the texts that were seen last: 6 MB, where encoding one takes some 15 ms."""


class Sentences:
    """MiniLM's sentence vectors, each of length 1; see `tacit.problem.records.TextEncoder`.

    A text is encoded alone: in a batch its last bits would depend on its neighbours. The first one loads it.
    """

    name: ClassVar[str] = "minilm-l6-v2"
    dimension: ClassVar[int] = 384

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Return a vector for each text, (n, 384)."""
        return np.array([_encode(text) for text in texts], dtype=np.float64).reshape(
            len(texts), self.dimension
        )


def encoder_of(layout: Layout) -> Sentences | None:
    """Return the bundled encoder where contexts or feedback are text, None where they are not.

    Raises where it is not installed, before the first episode: later would be a bad moment to learn it.
    """
    if not reads_text(layout):
        return None
    check_packages("torch", "transformers")
    minilm_path()
    return Sentences()


@lru_cache(maxsize=KEPT)
def _encode(text: str) -> FloatArray:
    vector: FloatArray = bundled_encoder().sentences([text])[0].astype(np.float64)
    vector.flags.writeable = False  # all who ask share it
    return vector

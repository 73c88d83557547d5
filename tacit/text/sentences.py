"""The encoder where contexts or feedback are text: MiniLM, bundled and frozen, a vector for each text."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tacit.base.arrays import Float32Array, FloatArray
from tacit.problem.layout import Layout
from tacit.problem.seen import reads_text
from tacit.text.bundled import check_packages, minilm_path
from tacit.text.small.encoder import bundled_encoder

KEPT = 20_000
"""Vectors of the texts that were seen last: 31 MB, where encoding one alone takes some 15 ms."""


class Sentences:
    """MiniLM's sentence vectors, each of length 1; see `tacit.problem.records.TextEncoder`.

    Several texts are encoded in batches of as many tokens each, without padding: so a text has the vector that it has
    alone, to the last bit (some arithmetic libraries may differ by 1e-6). The first one loads the model.
    """

    name: ClassVar[str] = "minilm-l6-v2"
    dimension: ClassVar[int] = 384

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Return a vector for each text, (n, 384)."""
        vectors = np.array(_KEPT.get(texts), dtype=np.float64)
        return vectors.reshape(len(texts), self.dimension)


class KeptVectors:
    """The vectors of the texts that were asked for last, whoever asks."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._vectors: OrderedDict[str, Float32Array] = OrderedDict()

    def get(self, texts: Sequence[str]) -> list[Float32Array]:
        """Return the vector of each text; those that are not kept are encoded together."""
        with self._lock:
            found = {text: self._vectors[text] for text in texts if text in self._vectors}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new:
            found |= zip(new, bundled_encoder().sentences(new, alike=True), strict=True)
        with self._lock:
            self._vectors |= found
            for text in found:
                self._vectors.move_to_end(text)
            while len(self._vectors) > self._most:
                self._vectors.popitem(last=False)
        return [found[text] for text in texts]


_KEPT = KeptVectors(KEPT)


def encoder_of(layout: Layout) -> Sentences | None:
    """Return the bundled encoder where contexts or feedback are text, None where they are not.

    Raises where it is not installed, before the first episode: later would be a bad moment to learn it.
    """
    if not reads_text(layout):
        return None
    check_packages("torch", "transformers")
    minilm_path()
    return Sentences()

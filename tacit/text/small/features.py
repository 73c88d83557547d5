"""What the small model knows of texts, as numbers: each computed once, in batches, and kept in a cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tacit.base.arrays import Float32Array, FloatArray
from tacit.text.conversation import Conversation
from tacit.text.model import FitProgress
from tacit.text.small.cache import EncodingCache, key_of
from tacit.text.small.emoji import spell_emoji
from tacit.text.small.encoder import Encoder, Words
from tacit.text.small.matching import match_features
from tacit.text.small.sounding import KIND, UNKIND, sound_of

CHUNK = 256
"""Choices (or texts) encoded before they are kept: an interruption loses no more."""

WORDS_KEPT = 1_000
"""Texts whose words are kept in memory, some 30 kB each."""

Pair = tuple[Conversation, tuple[str, ...]]
"""A conversation and the candidates on offer after it."""


class TextFeatures:
    """The features of conversations, candidates and feedback, by one encoder through one cache."""

    def __init__(self, encoder: Encoder, cache: EncodingCache) -> None:
        self.encoder, self.cache = encoder, cache
        self._kept: dict[str, Words] = {}
        self._heard: tuple[FloatArray, FloatArray] | None = None

    def match(self, pairs: Sequence[Pair], progress: FitProgress | None = None) -> list[Float32Array]:
        """Return for each pair how well its candidates fit, one (K, F) each; see `tacit.text.small.matching`."""
        keys = [key_of("match", self.encoder.name, c.utterances, candidates) for c, candidates in pairs]
        return self._known(keys, pairs, self._match, "matching candidates", progress)

    def sentences(self, texts: Sequence[str], progress: FitProgress | None = None) -> Float32Array:
        """Return sentence vectors, (n, d)."""
        return self._vectors("sentence", texts, self.encoder.sentences, "reading candidates", progress)

    def reactions(self, texts: Sequence[str], progress: FitProgress | None = None) -> Float32Array:
        """Return what reactions say of how people feel, (n, e)."""
        return self._vectors("reaction", texts, self.encoder.reactions, "reading feedback", progress)

    def sounds(self, readings: FloatArray) -> FloatArray:
        """Return how kind reactions that were read (n, e) sound, (n,); see `tacit.text.small.sounding`."""
        if self._heard is None:
            kind, unkind = self.reactions(KIND), self.reactions(UNKIND)
            self._heard = kind.astype(np.float64), unkind.astype(np.float64)
        return sound_of(readings, *self._heard)

    def profiles(self, texts: Sequence[str], progress: FitProgress | None = None) -> Float32Array:
        """Return what profiles say of people, (n, e); zeros for an empty one."""
        known = unique(text for text in texts if text)
        vectors = dict(zip(known, self._profiles(known, progress), strict=True))
        nothing = np.zeros(self.encoder.reading_size, np.float32)
        return np.array([vectors.get(text, nothing) for text in texts])

    def _profiles(self, texts: Sequence[str], progress: FitProgress | None) -> Float32Array:
        return self._vectors("profile", texts, self.encoder.profiles, "reading profiles", progress)

    def _vectors(
        self,
        kind: str,
        texts: Sequence[str],
        encode: Callable[[Sequence[str]], Float32Array],
        what: str,
        progress: FitProgress | None,
    ) -> Float32Array:
        spelled = [spell_emoji(text) for text in texts]
        keys = [key_of(kind, self.encoder.name, text) for text in spelled]
        return np.array(self._known(keys, spelled, lambda some: list(encode(some)), what, progress))

    def _match(self, pairs: Sequence[Pair]) -> list[Float32Array]:
        texts = unique(
            text for conversation, candidates in pairs for text in (*conversation.utterances, *candidates)
        )
        words = self._words(texts)
        return [
            match_features([words[text] for text in c.utterances], [words[text] for text in candidates])
            for c, candidates in pairs
        ]

    def _words(self, texts: Sequence[str]) -> dict[str, Words]:
        """Return the words of texts; of the last `WORDS_KEPT` they are known, as candidates come again and again."""
        found = {text: self._kept[text] for text in texts if text in self._kept}
        new = [text for text in texts if text not in found]
        found |= zip(new, self.encoder.words(new) if new else (), strict=True)
        kept = self._kept | found
        self._kept = dict(list(kept.items())[-WORDS_KEPT:]) if len(kept) > WORDS_KEPT else kept
        return found

    def _known(
        self,
        keys: Sequence[str],
        items: Sequence[Any],
        encode: Callable[[Sequence[Any]], list[Float32Array]],
        what: str,
        progress: FitProgress | None,
    ) -> list[Float32Array]:
        known = self.cache.get(keys)
        missing = {key: item for key, item in zip(keys, items, strict=True) if key not in known}
        for start in range(0, len(missing), CHUNK):
            some = dict(list(missing.items())[start : start + CHUNK])
            self.cache.put(dict(zip(some, encode(list(some.values())), strict=True)))
            if progress is not None:
                progress(start + len(some), len(missing), what)
        known = self.cache.get(keys) if missing else known
        return [known[key] for key in keys]


def unique(texts: Iterable[str]) -> list[str]:
    """Return the texts without repetition, in the order in which they first occur."""
    return list(dict.fromkeys(texts))

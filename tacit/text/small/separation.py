"""Whether it is the encoder that does not read: its readings show nothing, where the words of the remarks do.

Where feedback was not shown to tell anything, it may be noise, or in a language, or of a kind, that the encoder does
not tell apart. Words are read without knowing any: each has a random vector that follows from its letters. If the same
fit finds evidence in these, the remarks tell something, and the encoder's readings of them do not separate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from tacit.base.arrays import FloatArray
from tacit.text.evidence import Evidence
from tacit.text.small.climbing import FittingSettings
from tacit.text.small.encoder import WORD, normalised
from tacit.text.small.fitting import fit_text_posterior
from tacit.text.small.posterior import Sample
from tacit.trust.findings import Finding

SIZE = 96
"""Numbers of a word's vector: twice the components that are read of a remark."""


def find_separation(
    sample: Sample, remarks: Sequence[str], evidence: Evidence | None, settings: FittingSettings
) -> Iterator[Finding]:
    """Yield that readings do not separate what the words of the remarks (n,) do; nothing where feedback was found."""
    if evidence is None or evidence.found:
        return
    by_its_words = replace(sample, reading=read_words(remarks), sounds=np.zeros(len(sample)))
    by_words = fit_text_posterior(by_its_words, settings).evidence
    if by_words is None or not by_words.found:
        return
    yield Finding(
        "readings-do-not-separate",
        "caution",
        "",
        "The words of the remarks tell which candidate came before them (gain "
        f"{by_words.gain:.4f}, standard error {by_words.error:.4f}), the encoder's readings of them do not (gain "
        f"{evidence.gain:.4f}): it may not read their language, or their kind.",
        "Name an encoder that does: `TextSettings(encoder=...)` takes a sentence-transformers model or an endpoint.",
    )


def read_words(remarks: Sequence[str]) -> FloatArray:
    """Return a reading of remarks by their words alone, emoji included, (n, SIZE), of length 1.

    >>> one, other, third = read_words(["Thanks, lovely", "lovely, thanks!", "wrong"])
    >>> bool((one == other).all()), bool((one == third).all())
    (True, False)
    """
    vectors = [np.sum([word_vector(word) for word in split(text)], axis=0) for text in remarks]
    return normalised(np.array(vectors)).astype(np.float64)


def split(text: str) -> list[str]:
    """Return the words of a text, lower case, and the marks that are not commonplace, in order of letters."""
    lower = text.lower()
    marks = [mark for mark in WORD.sub(" ", lower) if not mark.isspace() and mark not in ".,;:!?'\"-"]
    return sorted([*WORD.findall(lower), *marks]) or [""]


@lru_cache(maxsize=100_000)
def word_vector(word: str) -> FloatArray:
    """Return the vector of a word: random, and the same for good."""
    seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(SIZE)

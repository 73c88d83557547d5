"""The two frozen encoders of the small model: MiniLM for words and sentences, SmolLM2 to read feedback."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tacit.base.arrays import Float32Array
from tacit.text.bundled import load_minilm, load_smollm2
from tacit.text.small.prompting import PromptReader, halve, knows_bfloat16, wait_asleep

WORD = re.compile(r"[^\W_]+(?:[:'\u2019.][^\W_]+)*")
"""A word: letters and digits, with what may stand inside one ("7:30", "o'clock")."""
BATCH = 64
"""Texts encoded at once, all of about one length: more was not faster on two cores."""
MOST_TOKENS = 256
"""A longer text is cut to this many tokens (MiniLM was trained on no longer ones); its beginning is kept."""
POOLED = 1_000
"""Texts whose sentence vectors are kept beside their words: a new request is read once, not twice."""
LONGEST = MOST_TOKENS + 32
"""Tokens of a text with its prompt."""
REACTION_PROMPT = 'A person reacted with the words: "{}" The person is'
PROFILE_PROMPT = 'About a customer: "{}" In short, this person is'
"""Ask SmolLM2 to sum a text up: its state after the last word is what is read."""
MEAN, FIRST = "mean", "first"
"""How a sentence's vector is made of the states of its tokens."""
READING_LAYER = 24
"""The layer of SmolLM2 (of 30) that is read; see docs/decisions/0007-text.md for the comparison."""


class Words(NamedTuple):
    """The words of a text, lower case, each with a vector in context and one without, (n, d), of length 1."""

    words: tuple[str, ...]
    contextual: Float32Array
    static: Float32Array


class Encoder(Protocol):
    """Turns texts into numbers; what it returns depends on the text alone, up to rounding."""

    name: str
    reading_size: int

    def words(self, texts: Sequence[str]) -> list[Words]:
        """Return the words of each text with their vectors."""

    def sentences(self, texts: Sequence[str]) -> Float32Array:
        """Return one vector of length 1 for each text, (n, d)."""

    def reactions(self, texts: Sequence[str]) -> Float32Array:
        """Return what each reaction says of how the person feels, (n, e)."""

    def profiles(self, texts: Sequence[str]) -> Float32Array:
        """Return what each profile says of the person, (n, e)."""


class SentenceModel:
    """A model of the kind of MiniLM, loaded when it is first needed: vectors of words and of sentences.

    Threads may share one: it works for one at a time, as tokenizers do and loading does.
    """

    def __init__(self, load: Callable[[], tuple[Any, Any]], size: int, pooling: str = MEAN) -> None:
        self.size = size
        self._load, self._pooling = load, pooling
        self._lock = threading.RLock()
        self._pooled: dict[str, Float32Array] = {}

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        wait_asleep()
        return self._load()

    def words(self, texts: Sequence[str]) -> list[Words]:
        """Return the words of each text with their vectors: the model's last layer, and its table of words."""
        found: dict[int, Words] = {}
        for rows, batch in self._alike([text.lower() for text in texts]):
            with self._lock:
                found |= dict(zip(rows, self._words(batch), strict=True))
        return [found[row] for row in range(len(texts))]

    def sentences(self, texts: Sequence[str], alike: bool = False) -> Float32Array:
        """Return sentence vectors, (n, d), of length 1.

        `alike` puts only texts of as many tokens into a batch, so that each has the vector that it has alone. Those of
        texts whose words were asked for just before are known.
        """
        vectors = np.empty((len(texts), self.size), np.float32)
        with self._lock:
            known = {
                row: self._pooled[text.lower()]
                for row, text in enumerate(texts)
                if text.lower() in self._pooled
            }
        for row, vector in known.items():
            vectors[row] = vector
        left = [row for row in range(len(texts)) if row not in known]
        rest = [texts[row] for row in left]
        for places, batch in self._alike(rest) if alike else batches(rest):
            rows = [left[place] for place in places]
            with self._lock:
                tokens = tokenized(self._loaded[1], batch)
                states = run(self._loaded[0], tokens).last_hidden_state.numpy()
            vectors[rows] = pooled(states, tokens["attention_mask"].numpy(), self._pooling)
        return vectors

    def _alike(self, texts: Sequence[str]) -> Iterator[tuple[list[int], list[str]]]:
        """Yield row numbers and texts, texts of as many tokens together."""
        with self._lock:
            tokens = self._loaded[1](list(texts), truncation=True, max_length=LONGEST)["input_ids"]
        sizes = np.array([len(each) for each in tokens])
        for size in np.unique(sizes):
            same = np.flatnonzero(sizes == size).tolist()
            for start in range(0, len(same), BATCH):
                rows = same[start : start + BATCH]
                yield rows, [texts[row] for row in rows]

    def _words(self, texts: Sequence[str]) -> list[Words]:
        model, tokenizer = self._loaded
        tokens = tokenized(tokenizer, texts, return_offsets_mapping=True)
        offsets = tokens.pop("offset_mapping").numpy()
        contextual = run(model, tokens).last_hidden_state.numpy()
        vectors = pooled(contextual, tokens["attention_mask"].numpy(), self._pooling)
        self._pooled |= zip(texts, vectors, strict=True)
        while len(self._pooled) > POOLED:
            del self._pooled[next(iter(self._pooled))]
        static = model.get_input_embeddings().weight.detach().numpy()[tokens["input_ids"].numpy()]
        return [gather_words(*row) for row in zip(texts, offsets, contextual, static, strict=True)]


class BundledEncoder:
    """MiniLM and SmolLM2 from their packages, each loaded when it is first needed; agents share one, and threads."""

    reading_size = 576

    def __init__(self) -> None:
        halved = " in bfloat16" if knows_bfloat16() else ""
        self.name = f"minilm-l6-v2, smollm2-135m layer {READING_LAYER}{halved}"
        self._minilm = SentenceModel(load_minilm, size=384)
        self._smollm2 = PromptReader(load_reader, self.reading_size, MOST_TOKENS, LONGEST)

    def words(self, texts: Sequence[str]) -> list[Words]:
        """Return the words of each text with their vectors: MiniLM's last layer, and its table of words."""
        return self._minilm.words(texts)

    def sentences(self, texts: Sequence[str], alike: bool = False) -> Float32Array:
        """Return MiniLM's sentence vectors, (n, 384); see `SentenceModel.sentences`."""
        return self._minilm.sentences(texts, alike)

    def reactions(self, texts: Sequence[str]) -> Float32Array:
        """Return SmolLM2's state after `REACTION_PROMPT`, (n, 576)."""
        return self._smollm2.read(REACTION_PROMPT, texts)

    def profiles(self, texts: Sequence[str]) -> Float32Array:
        """Return SmolLM2's state after `PROFILE_PROMPT`, (n, 576)."""
        return self._smollm2.read(PROFILE_PROMPT, texts)


def load_reader() -> tuple[Any, Any]:
    """Return SmolLM2's layers up to the one that is read, halved where that is faster, and its tokenizer."""
    model, tokenizer = load_smollm2()
    body = model.model
    body.layers = body.layers[:READING_LAYER]  # the rest is not read
    if knows_bfloat16():
        halve(body)
    return body, tokenizer


def tokenized(tokenizer: Any, texts: Sequence[str], **options: Any) -> Any:
    """Return the tokens of texts, padded to one length."""
    return tokenizer(
        list(texts), return_tensors="pt", padding=True, truncation=True, max_length=LONGEST, **options
    )


def pooled(states: Float32Array, mask: npt.NDArray[Any], pooling: str = MEAN) -> Float32Array:
    """Return sentence vectors from the states of tokens (n, T, d), of length 1: their mean, or the first."""
    if pooling == FIRST:
        return normalised(states[:, 0])
    there = mask[..., None]
    return normalised((states * there).sum(1) / there.sum(1))


@cache
def bundled_encoder() -> BundledEncoder:
    """Return the bundled encoder; all models of a process share it."""
    return BundledEncoder()


def run(model: Any, tokens: Any, **options: Any) -> Any:
    """Return the model's output without gradients."""
    import torch

    with torch.inference_mode():
        return model(**tokens, **options)


def batches(texts: Sequence[str]) -> Iterator[tuple[list[int], list[str]]]:
    """Yield row numbers and texts, texts of about one length together.

    >>> [rows for rows, _ in batches(["long text", "short"])]
    [[1, 0]]
    """
    order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        yield rows, [texts[row] for row in rows]


def gather_words(text: str, offsets: Any, contextual: Float32Array, static: Float32Array) -> Words:
    """Return the words of a text, each the mean of its tokens; `offsets` (n, 2) says where those stand in it."""
    words, inside = [], []
    for match in WORD.finditer(text):
        covered = (offsets[:, 0] < match.end()) & (offsets[:, 1] > match.start())
        if covered.any():  # else it was cut off
            words.append(match.group())
            inside.append(covered / covered.sum())
    weights = np.array(inside, np.float32).reshape(len(words), len(offsets))
    return Words(tuple(words), normalised(weights @ contextual), normalised(weights @ static))


def normalised(vectors: npt.NDArray[Any]) -> Float32Array:
    """Return the rows with length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)

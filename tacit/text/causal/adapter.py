"""A causal language model asked for Yes or No, and the low-rank adapter that is trained on it (appendix C.3).

The base model is frozen. All that is learned is the adapter: for every linear map W of the base, W + 2 B A with B = 0
at first, so that training starts at the base model itself.
"""

from __future__ import annotations

import copy
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from tacit.base.arrays import FloatArray
from tacit.base.checkpoint import CheckpointError
from tacit.text.bundled import load_smollm2, quiet
from tacit.text.causal.packing import Packer
from tacit.text.causal.presets import SMOLLM2, BaseModel, is_stored
from tacit.text.causal.prompts import Prompt

ALPHA = 2
"""What the adapter's product is multiplied with (alpha / r in peft): the common choice in its examples."""

Array32 = np.ndarray[Any, np.dtype[np.float32]]


class Adapter:
    """A base model with an adapter of its own: `log_odds` reads with the weights that it holds.

    They are what is learned, and belong to whoever learns: who reads hands them in first (`hold`), and what training
    makes of them here (`weights`) is lost if nobody keeps it.
    """

    def __init__(self, base: BaseModel, rank: int, limit: int, seed: int) -> None:
        model, tokenizer = load_base(base)
        self.base = base
        self.packer = Packer(tokenizer, min(limit, model.config.max_position_embeddings))
        head = YesNoHead(model.get_output_embeddings(), self.packer.yes, self.packer.no)
        self.fingerprint = zlib.crc32(head.weight.cpu().numpy().tobytes())
        self.model = add_adapter(model, head, rank, seed)
        self.parameters = [weight for weight in self.model.parameters() if weight.requires_grad]
        self._held: Array32 | None = None

    def log_odds(self, prompt: Prompt, candidates: Sequence[str]) -> torch.Tensor:
        """Return log P(Yes) - log P(No) of the next token after the prompt about each candidate, (K,)."""
        packed = self.packer.pack(prompt, candidates)
        device = self.model.device
        logits = self.model(
            input_ids=torch.tensor(packed.tokens, device=device)[None],
            position_ids=torch.tensor(packed.positions, device=device)[None],
            attention_mask=torch.tensor(packed.sees, device=device)[None, None],
            logits_to_keep=torch.tensor(packed.last, device=device),
            use_cache=False,
        ).logits[0]  # (K, 2)
        odds: torch.Tensor = logits[:, 0] - logits[:, 1]
        return odds

    def predict(self, prompt: Prompt, candidates: Sequence[str]) -> FloatArray:
        """Return the log-odds as an array, (K,); nothing is kept for learning."""
        with torch.no_grad():
            return self.log_odds(prompt, candidates).cpu().numpy().astype(np.float64)

    @property
    def weights(self) -> Array32:
        """Return a copy of all the adapter's weights, one after the other."""
        return flatten([weight.detach() for weight in self.parameters])

    def hold(self, weights: Array32) -> None:
        """Read with these weights, one after the other as in `weights`; what is held already is not copied again."""
        if weights is self._held:
            return
        parts = split_like(weights, self.parameters)
        self.release()
        with torch.no_grad():
            for weight, value in zip(self.parameters, parts, strict=True):
                weight.copy_(value)
        self._held = weights

    def release(self) -> None:
        """Forget whose weights these are: they are about to be trained."""
        self._held = None

    def check_base(self, expected: int) -> None:
        """Raise CheckpointError unless the base model has the fingerprint of the one that was trained on."""
        if self.fingerprint != expected:
            raise CheckpointError(
                f"the adapter was trained on a {self.base.name} with checksum {expected}, got one with "
                f"{self.fingerprint}; load the version of the model that was trained on"
            )


class YesNoHead(torch.nn.Module):
    """The two rows of a model's output layer that speak of Yes and No, in float32 whatever the model is in.

    In bfloat16 a logit of 20 is rounded to a multiple of 0.125, too coarse to tell candidates apart.
    """

    weight: torch.Tensor
    bias: torch.Tensor | None

    def __init__(self, full: torch.nn.Linear, yes: int, no: int) -> None:
        super().__init__()
        self.register_buffer("weight", full.weight[[yes, no]].detach().float())
        self.register_buffer("bias", None if full.bias is None else full.bias[[yes, no]].detach().float())

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the logits of Yes and of No."""
        return torch.nn.functional.linear(hidden.to(self.weight), self.weight, self.bias)


@lru_cache(maxsize=2)
def load_base(base: BaseModel) -> tuple[Any, Any]:
    """Return the frozen base model and its tokenizer; each is read from disk once and then shared."""
    if base.name == SMOLLM2:
        model, tokenizer = load_smollm2()
    else:
        model, tokenizer = load_from_hub(base)
    return model.requires_grad_(False).train(base.checkpointing), tokenizer  # it needs training mode


def load_from_hub(base: BaseModel) -> tuple[Any, Any]:
    """Return a model of the hub or of a local directory, spread over all GPUs by accelerate if it is so asked."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with quiet():
        here = is_stored(base.name)
        tokenizer = AutoTokenizer.from_pretrained(base.name, local_files_only=here)
        model = AutoModelForCausalLM.from_pretrained(
            base.name,
            local_files_only=here,
            dtype=getattr(torch, base.dtype),
            device_map="auto" if base.on_gpu else None,
        )
    if base.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model, tokenizer


def add_adapter(base: Any, head: YesNoHead, rank: int, seed: int) -> Any:
    """Return a model with the weights of `base`, which it shares and leaves as they are, and a new adapter.

    Its output layer is `head`. What is random in a new adapter, A, follows from the seed.
    """
    from peft import LoraConfig, get_peft_model

    twin = copy.deepcopy(base, {id(weight): weight for weight in base.parameters()})
    twin.set_output_embeddings(head)
    config = LoraConfig(
        task_type="CAUSAL_LM", r=rank, lora_alpha=ALPHA * rank, lora_dropout=0.0, target_modules="all-linear"
    )
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(seed)
        return get_peft_model(twin, config)


def flatten(tensors: Sequence[torch.Tensor]) -> Array32:
    """Return all entries of the tensors, one after the other, as a new array."""
    parts = [np.asarray(tensor.cpu().numpy(), np.float32).ravel() for tensor in tensors]
    return np.concatenate([np.empty(0, np.float32), *parts])


def split_like(values: Array32, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return `values` cut up into new tensors of the shapes of `tensors`: what `flatten` had put together."""
    sizes = [tensor.numel() for tensor in tensors]
    if values.shape != (sum(sizes),):
        raise ValueError(
            f"an adapter of this model has {sum(sizes)} weights, got {values.shape}; "
            "give the base model and the rank that it was trained with"
        )
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return [
        torch.tensor(part, device=tensor.device).view_as(tensor)
        for part, tensor in zip(parts, tensors, strict=True)
    ]

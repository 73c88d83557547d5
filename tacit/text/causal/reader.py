"""A causal language model cut in two: frozen layers that read a text once, and the last ones with an adapter.

Layers are read up to `DEPTH` of the model's. All that is learned here is the adapter of the last few of them: for every
linear map W, W + 2 B A with B = 0 at first, so that training starts at the model itself.
"""

from __future__ import annotations

import copy
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from tacit.base.checkpoint import CheckpointError
from tacit.text.bundled import load_smollm2, quiet
from tacit.text.causal.flat import Array32, flatten, split_like
from tacit.text.causal.packing import Packed
from tacit.text.causal.presets import SMOLLM2, BaseModel, is_stored

ALPHA = 2
"""What the adapter's product is multiplied with (alpha / r in peft): the common choice in its examples."""
DEPTH = 0.8
"""Share of the layers after which states are read: layer 24 of SmolLM2's 30, see docs/decisions/0007-text.md."""
KEPT = 64
"""Texts whose states below the adapters are kept: a choice is scored, decoded and learned from meanwhile."""


class Frozen:
    """The layers below the adapters: what they make of a text depends on the text alone."""

    def __init__(self, base: BaseModel, layers: int) -> None:
        body, self.tokenizer = load_base(base)
        depth = max(1, round(DEPTH * len(body.layers)))
        cut = max(depth - layers, 0)
        self.longest: int = body.config.max_position_embeddings
        self.width: int = body.config.hidden_size
        self.fingerprint = zlib.crc32(body.norm.weight.float().cpu().numpy().tobytes())
        self._below = share(body)
        self._below.layers, self._below.norm = self._below.layers[:cut], torch.nn.Identity()
        self.above = share(body)
        self.above.layers = self.above.layers[cut:depth]
        self.one = lru_cache(KEPT)(self._one)

    def read(self, packs: Sequence[Packed]) -> list[torch.Tensor]:
        """Return the states of texts that are read together, (n, d) each."""
        with torch.no_grad():
            tokens, where = stack(packs, self._below.device)
            states = self._below(input_ids=tokens, **where, use_cache=False).last_hidden_state
        return [state[: pack.size].clone() for state, pack in zip(states, packs, strict=True)]

    def _one(self, pack: Packed) -> torch.Tensor:
        """Return the states of a text that is read alone; through `one` it is read once."""
        return self.read([pack])[0]


class StateReader:
    """The layers with an adapter, on frozen ones: `read` gives the states at the ends of texts.

    Its weights are what is learned, and belong to whoever learns: who reads hands them in first (`hold`), and what
    training makes of them here (`weights`) is lost if nobody keeps it.
    """

    def __init__(self, base: BaseModel, rank: int, layers: int, seed: int) -> None:
        self.base, self.frozen = base, frozen_part(base, layers)
        self.model = add_adapter(self.frozen.above, rank, seed)
        self.parameters = [weight for weight in self.model.parameters() if weight.requires_grad]
        self._held: Array32 | None = None

    def read(self, packs: Sequence[Packed], below: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return the states at the ends of texts read together, (K + 1, d) each, from those below the adapter."""
        _, where = stack(packs, self.model.device)
        longest = max(pack.size for pack in packs)
        padded = torch.stack(
            [torch.nn.functional.pad(each, (0, 0, 0, longest - len(each))) for each in below]
        )
        states = self.model(inputs_embeds=padded, **where, use_cache=False).last_hidden_state
        return [state[pack.ends].float() for state, pack in zip(states, packs, strict=True)]

    def read_one(self, pack: Packed) -> torch.Tensor:
        """Return the states at the ends of one text, (K + 1, d)."""
        return self.read([pack], [self.frozen.one(pack)])[0]

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
        if self.frozen.fingerprint != expected:
            raise CheckpointError(
                f"the adapter was trained on a {self.base.name} with checksum {expected}, got one with "
                f"{self.frozen.fingerprint}; load the version of the model that was trained on"
            )


@lru_cache(maxsize=4)
def frozen_part(base: BaseModel, layers: int) -> Frozen:
    """Return the frozen part of a model; all adapters on it share it."""
    return Frozen(base, layers)


@lru_cache(maxsize=2)
def load_base(base: BaseModel) -> tuple[Any, Any]:
    """Return the frozen layers of a base model and its tokenizer; each is read from disk once and then shared."""
    if base.name == SMOLLM2:
        model, tokenizer = load_smollm2()
        model = model.to("cuda" if torch.cuda.is_available() else "cpu")
    else:
        model, tokenizer = load_from_hub(base)
    return model.requires_grad_(False).train(
        base.checkpointing
    ).base_model, tokenizer  # it needs training mode


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


def share(model: Any) -> Any:
    """Return a copy of a model that has its weights, not copies of them."""
    return copy.deepcopy(model, {id(weight): weight for weight in model.parameters()})


def add_adapter(base: Any, rank: int, seed: int) -> Any:
    """Return a model with the weights of `base`, which it shares and leaves as they are, and a new adapter.

    What is random in a new adapter, A, follows from the seed.
    """
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(r=rank, lora_alpha=ALPHA * rank, lora_dropout=0.0, target_modules="all-linear")
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(seed)
        return get_peft_model(share(base), config)


def stack(packs: Sequence[Packed], device: torch.device) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Return the tokens of texts, padded to one length, and where they stand and what they see.

    Padding sees itself alone, and nobody sees it.
    """
    longest = max(pack.size for pack in packs)
    tokens, positions = (np.zeros((len(packs), longest), np.int64) for _ in range(2))
    sees = np.tile(np.eye(longest, dtype=np.bool_), (len(packs), 1, 1, 1))
    for row, pack in enumerate(packs):
        n = pack.size
        tokens[row, :n], positions[row, :n], sees[row, 0, :n, :n] = pack.tokens, pack.positions, pack.sees
    where = {"position_ids": positions, "attention_mask": sees}
    return torch.tensor(tokens, device=device), {
        name: torch.tensor(each, device=device) for name, each in where.items()
    }

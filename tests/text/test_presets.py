"""The presets of language models: their memory, and the refusals that name model, memory and remedy."""

import json

import pytest
from huggingface_hub import constants

from tacit.text.bundled import MissingModelError
from tacit.text.causal import presets
from tacit.text.causal.presets import (
    GB,
    PRESETS,
    SHAPES,
    BaseModel,
    Found,
    Preset,
    check_memory,
    find_preset,
    plan_memory,
)

LAPTOP = Found(gpus=(), ram=16.0)
SERVER = Found(gpus=(80.0, 80.0), ram=500.0)
CONFIG = {
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
}


@pytest.fixture
def no_hub(monkeypatch, tmp_path):
    """An empty cache and no network; the list tells which models the hub was asked for."""
    asked = []
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(presets, "ask_hub", lambda name: asked.append(name) or "ConnectError (no network)")
    return asked


@pytest.mark.parametrize(
    ("name", "parameters"),
    [  # as counted in the models themselves
        ("SmolLM2-135M-Instruct", 134_515_008),
        ("Qwen/Qwen2.5-7B-Instruct", 7_615_616_512),
        ("Qwen/Qwen2.5-3B-Instruct", 3_085_938_688),
    ],
)
def test_parameter_counts_are_the_models(name, parameters) -> None:
    assert SHAPES[name].parameters == parameters


def test_plan_counts_a_shared_model_once_and_two_models_both() -> None:
    assert [need.model for need in plan_memory(PRESETS["smol"]).needs] == ["SmolLM2-135M-Instruct"]
    paper = plan_memory(PRESETS["paper"])
    assert [need.model for need in paper.needs] == ["Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-3B-Instruct"]
    assert paper.needs[0].weights == pytest.approx(2 * 7_615_616_512 / GB)
    assert paper.total > sum(need.total for need in paper.needs)


def test_checkpointing_saves_activations() -> None:
    shape = SHAPES["Qwen/Qwen2.5-7B-Instruct"]
    assert (
        shape.activations(1024, 8, checkpointing=True) < shape.activations(1024, 8, checkpointing=False) / 5
    )


def test_paper_refuses_without_gpu_before_it_asks_the_hub(monkeypatch, no_hub) -> None:
    monkeypatch.setattr(presets, "find_memory", lambda: LAPTOP)
    with pytest.raises(MissingModelError) as refusal:
        check_memory(PRESETS["paper"])
    message = str(refusal.value)
    needs = plan_memory(PRESETS["paper"]).needs
    for words in (
        *(f"{need.model} needs {need.total:.1f} GB" for need in needs),
        "free are 0.0 GB on GPUs and 16.0 GB of RAM",
        "There is no GPU",
        "Hugging Face cache",
        "--model small",
        "--model smol",
    ):
        assert words in message
    assert no_hub == []


def test_paper_refuses_where_a_gpu_is_too_small(monkeypatch, no_hub) -> None:
    monkeypatch.setattr(presets, "find_memory", lambda: Found((12.0,), 500.0))
    with pytest.raises(MissingModelError, match=r"12\.0 GB on GPUs .* too little"):
        check_memory(PRESETS["paper"])
    assert no_hub == []


def test_paper_without_weights_says_where_they_were_looked_for(monkeypatch, no_hub, tmp_path) -> None:
    monkeypatch.setattr(presets, "find_memory", lambda: SERVER)
    with pytest.raises(
        MissingModelError, match=r"7B-Instruct .*ConnectError.*hf download.*--model small"
    ) as refusal:
        check_memory(PRESETS["paper"])
    assert str(tmp_path / "cache") in str(refusal.value)
    assert no_hub == ["Qwen/Qwen2.5-7B-Instruct"]


def test_smol_refuses_without_memory(monkeypatch) -> None:
    monkeypatch.setattr(presets, "find_memory", lambda: Found((), 0.5))
    with pytest.raises(
        MissingModelError, match=r"SmolLM2-135M-Instruct needs .* 0\.5 GB of RAM.* too little"
    ):
        check_memory(PRESETS["smol"])


def test_offline_hub_gives_a_reason_and_no_traceback(monkeypatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    reason = presets.ask_hub("Qwen/Qwen2.5-0.5B-Instruct")
    assert "OfflineModeIsEnabled" in reason
    assert "\n" not in reason


def test_any_hub_model_is_a_preset_for_both(monkeypatch) -> None:
    monkeypatch.setattr(presets, "find_memory", lambda: LAPTOP)
    base = BaseModel("org/model")
    assert find_preset("org/model") == Preset("org/model", base, base)
    monkeypatch.setattr(presets, "find_memory", lambda: SERVER)
    assert find_preset("org/model").policy == BaseModel(
        "org/model", "bfloat16", on_gpu=True, checkpointing=True
    )


def test_unknown_preset_names_the_known() -> None:
    with pytest.raises(ValueError, match=r"'paper', 'smol'.*got 'huge'"):
        find_preset("huge")


def test_directory_is_stored_when_every_shard_is_there(tmp_path, no_hub) -> None:
    assert not presets.is_stored(str(tmp_path))
    index = {"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    (tmp_path / "one.safetensors").touch()
    assert not presets.is_stored(str(tmp_path))
    (tmp_path / "two.safetensors").touch()
    assert presets.is_stored(str(tmp_path))
    assert no_hub == []


def test_shape_is_read_from_a_stored_configuration(tmp_path) -> None:
    assert plan_memory(find_preset(str(tmp_path))).needs == ()
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    shape = presets.find_shape(str(tmp_path))
    assert shape == presets.Shape(2, 64, 128, 64, 32, 1000, tied=False)
    assert presets.read_shape({"n_embd": 64}) is None

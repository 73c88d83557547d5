"""Texts read behind a prompt: what prompts share is computed once, and no text is read otherwise than whole."""

import copy
import os

import numpy as np
import pytest
import torch
from smollm2 import load_copy

from tacit.text.small import prompting
from tacit.text.small.encoder import (
    LONGEST,
    MOST_TOKENS,
    PROFILE_PROMPT,
    REACTION_PROMPT,
    READING_LAYER,
    BundledEncoder,
)
from tacit.text.small.prompting import TOKENS_AT_ONCE, PromptReader, equal_batches, halve, knows_bfloat16

MELTS = '"Quoted" from the first letter'
"""Its quotation mark and the prompt's are one token."""
TEXTS = [
    "Thank you.",
    MELTS,
    "",
    "... well",
    "(hm)",
    "😀",
    "A much longer remark than all the others, with a clause.",
]


@pytest.fixture(scope="module")
def loaded():
    model, tokenizer = load_copy()
    model.model.layers = model.model.layers[:READING_LAYER]
    return model.model, tokenizer


@pytest.fixture
def reader(loaded):
    return PromptReader(lambda: loaded, 576, MOST_TOKENS, LONGEST)


def read_whole(loaded, prompt, text):
    model, tokenizer = loaded
    with torch.inference_mode():
        tokens = tokenizer([prompt.format(text)], return_tensors="pt")
        return model(**tokens, output_hidden_states=True).hidden_states[-1][0, -1].float().numpy()


@pytest.mark.parametrize("prompt", [REACTION_PROMPT, PROFILE_PROMPT])
def test_readings_are_those_of_whole_prompts(loaded, reader, prompt):
    found = reader.read(prompt, TEXTS)
    whole = np.array([read_whole(loaded, prompt, text) for text in TEXTS])
    np.testing.assert_allclose(found, whole, atol=1e-4)


def test_a_text_that_melts_into_the_prompt_is_gone_over_whole(loaded, reader):
    tokenizer = loaded[1]
    opening = tokenizer(REACTION_PROMPT.partition("{}")[0])["input_ids"]
    assert tokenizer(REACTION_PROMPT.format(MELTS))["input_ids"][: len(opening)] != opening
    asked = []
    run = reader._run
    reader._run = lambda begun, tokens: asked.append(len(begun.tokens)) or run(begun, tokens)
    reader.read(REACTION_PROMPT, ["Thank you.", MELTS])
    assert asked == [len(opening), 0]


def test_a_reading_is_the_same_alone_and_among_others(reader):
    alone = np.concatenate([reader.read(REACTION_PROMPT, [text]) for text in TEXTS])
    np.testing.assert_allclose(reader.read(REACTION_PROMPT, TEXTS), alone, atol=1e-4)
    assert reader.read(REACTION_PROMPT, []).shape == (0, 576)


def test_bfloat16_changes_readings_little_and_neighbours_change_nothing(loaded):
    whole = PromptReader(lambda: loaded, 576, MOST_TOKENS, LONGEST).read(REACTION_PROMPT, TEXTS)
    body = copy.deepcopy(loaded[0])
    halve(body)
    reader = PromptReader(lambda: (body, loaded[1]), 576, MOST_TOKENS, LONGEST)
    found = reader.read(REACTION_PROMPT, TEXTS)
    alone = np.concatenate([reader.read(REACTION_PROMPT, [text]) for text in TEXTS])
    np.testing.assert_allclose(found, alone, atol=2e-2 if not knows_bfloat16() else 1e-6)
    spread = np.linalg.norm(whole - whole.mean(axis=0), axis=1).mean()
    assert 0 < np.linalg.norm(found - whole, axis=1).max() < 0.1 * spread


def test_who_knows_bfloat16(monkeypatch, tmp_path):
    for told, known in (
        ("flags : avx2 avx512_bf16", True),
        ("flags : avx2 avx512_bf16x", False),
        (None, False),
    ):
        file = tmp_path / str(told)
        if told is not None:
            file.write_text(told)
        monkeypatch.setattr(prompting, "PROCESSOR", file)
        assert prompting.knows_bfloat16.__wrapped__() is known


def test_readings_of_another_precision_have_another_name(monkeypatch):
    names = set()
    for known in (True, False):
        monkeypatch.setattr("tacit.text.small.encoder.knows_bfloat16", lambda known=known: known)
        names.add(BundledEncoder().name)
    assert len(names) == 2


def test_batches_hold_all_rows_each_of_one_size():
    sizes = np.random.default_rng(0).integers(1, 30, 2_000).tolist()
    found = list(equal_batches(sizes))
    assert sorted(row for batch in found for row in batch) == list(range(2_000))
    assert all(len({sizes[row] for row in batch}) == 1 for batch in found)
    assert all(sum(sizes[row] for row in batch) <= TOKENS_AT_ONCE for batch in found)
    assert list(equal_batches([])) == []
    assert list(equal_batches([TOKENS_AT_ONCE + 1, 2])) == [[1], [0]]


def test_threads_wait_asleep_unless_told_otherwise(loaded, monkeypatch):
    for given, kept in ((None, "PASSIVE"), ("ACTIVE", "ACTIVE")):
        if given is None:
            monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
        else:
            monkeypatch.setenv("OMP_WAIT_POLICY", given)
        PromptReader(lambda: loaded, 576, MOST_TOKENS, LONGEST).read(REACTION_PROMPT, ["Thank you."])
        assert os.environ["OMP_WAIT_POLICY"] == kept

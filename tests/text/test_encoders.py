"""Encoders by name: a sentence-transformers directory, an endpoint that is really asked, and what is refused."""

import json
import shutil

import numpy as np
import pytest
from embedding_server import embedding_server
from text_samples import HashingEncoder, shop_env

import tacit
from tacit.envs.gym_adapter import GymSource
from tacit.simulate import Simulation
from tacit.text.bundled import MissingModelError, minilm_path
from tacit.text.conversations import Conversations
from tacit.text.models import make_model
from tacit.text.settings import TextSettings
from tacit.text.small.encoder import bundled_encoder, pooled
from tacit.text.small.encoders import (
    AT_ONCE,
    KEY,
    SILENT,
    URL,
    EndpointEncoder,
    SentenceEncoder,
    find_encoder,
)


@pytest.fixture(autouse=True)
def _found_anew():
    find_encoder.cache_clear()
    yield
    find_encoder.cache_clear()


def test_a_directory_gives_the_vectors_of_its_model():
    encoder = find_encoder(str(minilm_path()))
    texts = ["Book a table for two", "Merci beaucoup"]
    assert encoder.reading_size == 384
    np.testing.assert_allclose(encoder.sentences(texts), bundled_encoder().sentences(texts), atol=1e-6)
    assert (encoder.reactions(texts) == encoder.sentences(texts)).all()
    one, other = encoder.words(texts)[0], bundled_encoder().words(texts)[0]
    assert one.words == other.words
    np.testing.assert_allclose(one.contextual, other.contextual, atol=1e-5)
    np.testing.assert_allclose(one.static, other.static, atol=1e-6)
    assert find_encoder(str(minilm_path())) is encoder


def test_the_first_token_is_taken_where_the_model_says_so(tmp_path):
    states, mask = np.arange(12, dtype=np.float32).reshape(1, 3, 4) + 1, np.ones((1, 3))
    np.testing.assert_allclose(pooled(states, mask, "first")[0], states[0, 0] / np.linalg.norm(states[0, 0]))
    directory = copied(tmp_path, {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False})
    encoder = SentenceEncoder(directory)
    assert encoder.name.endswith("first")
    assert not np.allclose(
        encoder.sentences(["hello there"]), bundled_encoder().sentences(["hello there"]), atol=0.1
    )


def copied(tmp_path, pooling):
    """Return a copy of MiniLM's directory with other words about pooling."""
    directory = tmp_path / "model"
    shutil.copytree(minilm_path(), directory)
    (directory / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return directory


def test_what_is_no_such_directory_is_refused(tmp_path, monkeypatch):
    with pytest.raises(
        MissingModelError, match=r"directory with model.safetensors and config.json.*leave out"
    ):
        find_encoder(str(tmp_path))
    directory = copied(tmp_path, {"pooling_mode_max_tokens": True})
    with pytest.raises(
        MissingModelError, match=r"mean or the first token, got \['pooling_mode_max_tokens'\].*endpoint:MODEL"
    ):
        find_encoder(str(directory))
    (directory / "modules.json").write_text("{")
    with pytest.raises(
        MissingModelError, match=r"'modules.json' of an encoder must be JSON.*save the model anew"
    ):
        SentenceEncoder(directory)
    (directory / "modules.json").write_text(json.dumps([{"type": "sentence_transformers.models.Dense"}]))
    with pytest.raises(MissingModelError, match=r"got \['Dense'\]"):
        SentenceEncoder(directory)
    with pytest.raises(ValueError, match=r"a name on the hub such as org/model, or endpoint:MODEL, got 'x'"):
        find_encoder("x")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(
        MissingModelError,
        match=r"directory, a name on the hub, or endpoint:MODEL, got 'no/such'.*hub did not",
    ):
        find_encoder("no/such")


def test_an_endpoint_is_asked_in_batches_and_gives_vectors_of_length_1(monkeypatch):
    monkeypatch.setenv(KEY, "a-secret")
    texts = [f"text number {n}" for n in range(AT_ONCE + 6)]
    with embedding_server() as (_, requests):
        encoder = find_encoder("endpoint:some-model")
        vectors = encoder.sentences(texts)
        words = encoder.words(["Hello there, hello", ""])
        encoder.reactions([""])
    np.testing.assert_allclose(vectors, HashingEncoder().sentences(texts), atol=1e-6)
    assert [len(body["input"]) for body, _ in requests] == [1, AT_ONCE, 6, 2, 1]
    assert {body["model"] for body, _ in requests} == {"some-model"}
    assert {headers["Authorization"] for _, headers in requests} == {"Bearer a-secret"}
    assert requests[-1][0]["input"] == [SILENT]
    assert words[0].words == ("hello", "there", "hello")
    assert words[1].contextual.shape == (0, encoder.reading_size)
    assert (words[0].static[0] == words[0].static[2]).all()
    assert encoder.sentences([]).shape == (0, encoder.reading_size)
    assert "a-secret" not in encoder.name


def test_an_endpoint_that_is_busy_is_asked_again(monkeypatch):
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    with embedding_server((503, b"busy"), (429, b"later")):
        assert EndpointEncoder("m").reading_size == HashingEncoder.reading_size
    assert pauses == [1.0, 2.0]


@pytest.mark.parametrize(
    "answer", [b"[]", b"<html>", b'{"data": []}', b'{"data": [{"index": 0, "embedding": [NaN]}]}']
)
def test_an_endpoint_that_answers_something_else_is_named(answer):
    with (
        embedding_server((200, answer)),
        pytest.raises(
            MissingModelError,
            match=r"/v1/embeddings must answer with one embedding for each of 1 texts, got .*OpenAI",
        ),
    ):
        EndpointEncoder("m")


def test_an_endpoint_that_refuses_or_is_away_is_named(monkeypatch):
    with (
        embedding_server((401, b"who are you")),
        pytest.raises(
            MissingModelError,
            match=rf"refused the request \(HTTP 401: who are you\); check {URL}.*{KEY}",
        ),
    ):
        EndpointEncoder("m")
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setenv(URL, "http://127.0.0.1:9/v1")
    with pytest.raises(
        MissingModelError, match=r"did not answer in 2 tries .*check that it runs, or leave out"
    ):
        EndpointEncoder("m", timeout=2.0, retries=1)
    monkeypatch.delenv(URL)
    with pytest.raises(
        MissingModelError, match=rf"named endpoint:MODEL, and {URL} is its address.*got 'endpoint:m' and ''"
    ):
        find_encoder("endpoint:m")


def test_an_agent_learns_by_an_endpoint_and_its_file_knows_the_name(tmp_path, monkeypatch):
    """60 episodes of a paint shop through a real connection; the agent is loaded with the encoder that it had."""
    monkeypatch.setenv("TACIT_CACHE", str(tmp_path / "encodings"))
    with embedding_server() as (url, requests):
        settings = TextSettings(exploration=40, encoder="endpoint:m")
        agent = tacit.Agent(Conversations(settings), seed=1)
        Simulation(agent, GymSource(shop_env(60)), 1).run(60)
        agent.save(tmp_path / "agent")
        loaded = tacit.Agent.load(tmp_path / "agent")
        assert loaded.stage.model.settings.encoder == "endpoint:m"
        assert loaded.stage.model.features.encoder.name == f"m at {url}/embeddings"
    assert len(requests) > 3


def test_a_model_has_the_encoder_that_is_named(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "tacit.text.small.model.find_encoder", lambda name: asked.append(name) or HashingEncoder()
    )
    assert make_model("small", 2, 0, "somewhere").features.encoder.name == "hashing"
    assert asked == ["somewhere"]
    with pytest.raises(ValueError, match="encoder"):
        TextSettings(encoder="\ud800")

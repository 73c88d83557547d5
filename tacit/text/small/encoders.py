"""Encoders by name, where the bundled ones do not know the language: a sentence-transformers model, or an endpoint.

    /models/multilingual-e5-small             a directory as sentence-transformers saves it, or a name on the hub
    endpoint:text-embedding-3-small           a model behind an OpenAI-compatible endpoint, TACIT_EMBEDDING_URL

Both read remarks and profiles as they read all other texts: the vector of the text is the reading. An endpoint has no
vectors of words in context; each word is asked for alone. Its address and its key are the environment's and in no
file, so that nobody who hands you an agent can have your key sent elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from tacit.base.arrays import Float32Array
from tacit.base.posting import JsonEndpoint, PostError
from tacit.text.bundled import MissingModelError, check_packages, quiet
from tacit.text.small.encoder import FIRST, MEAN, WORD, Encoder, SentenceModel, Words, normalised

ENDPOINT = "endpoint:"
"""What the name of a model behind an endpoint begins with."""
URL, KEY = "TACIT_EMBEDDING_URL", "TACIT_EMBEDDING_KEY"
"""Where the address of the endpoint is found, such as https://host/v1, and its key, if it has one."""
AT_ONCE = 64
"""Texts sent in one request."""
SILENT = "(said nothing)"
"""What silence is sent as: endpoints refuse a text that is empty."""
WEIGHTS = "model.safetensors"
POOLINGS = {"pooling_mode_mean_tokens": MEAN, "pooling_mode_cls_token": FIRST}
KNOWN_MODULES = ("Transformer", "Pooling", "Normalize")


@cache
def find_encoder(name: str) -> Encoder:
    """Return the encoder of that name; all models of a process share it. Raise MissingModelError where it is not."""
    if name.startswith(ENDPOINT):
        return EndpointEncoder(name.removeprefix(ENDPOINT))
    return SentenceEncoder(find_directory(name))


class SentenceEncoder:
    """A sentence-transformers model in a directory; loaded when it is first needed."""

    def __init__(self, directory: Path) -> None:
        check_packages("torch", "transformers")
        pooling = read_pooling(directory)
        size = int(read_json(directory / "config.json")["hidden_size"])
        digest = hashlib.sha256((directory / WEIGHTS).read_bytes()).hexdigest()[:16]
        self.name, self.reading_size = f"{directory.name} {digest} {pooling}", size
        self._model = SentenceModel(partial(load_sentence_model, directory), size, pooling)

    def words(self, texts: Sequence[str]) -> list[Words]:
        """Return the words of each text with their vectors."""
        return self._model.words(texts)

    def sentences(self, texts: Sequence[str]) -> Float32Array:
        """Return sentence vectors, (n, d)."""
        return self._model.sentences(texts)

    def reactions(self, texts: Sequence[str]) -> Float32Array:
        """Return sentence vectors, (n, d)."""
        return self._model.sentences(texts)

    def profiles(self, texts: Sequence[str]) -> Float32Array:
        """Return sentence vectors, (n, d)."""
        return self._model.sentences(texts)


class EndpointEncoder:
    """A model behind an OpenAI-compatible endpoint for embeddings; it is asked for one text when it is made."""

    def __init__(self, model: str, timeout: float = 60.0, retries: int = 3, pause: float = 1.0) -> None:
        url = os.environ.get(URL, "").rstrip("/")
        if not model or not url.startswith(("http://", "https://")):
            raise MissingModelError(
                f"an encoder behind an endpoint is named {ENDPOINT}MODEL, and {URL} is its address, such as "
                f"https://host/v1, got {ENDPOINT + model!r} and {url!r}; give both, or leave out `encoder`"
            )
        url = url if url.endswith("/embeddings") else f"{url}/embeddings"
        self.name, self._model = f"{model} at {url}", model
        self._endpoint = JsonEndpoint(url, os.environ.get(KEY, ""), timeout, retries, pause)
        self._lock, self._known = threading.Lock(), dict[str, Float32Array]()
        self.reading_size = len(self._ask([SILENT])[0])

    def words(self, texts: Sequence[str]) -> list[Words]:
        """Return the words of each text; a word has one vector, whatever is around it."""
        found = [tuple(WORD.findall(text.lower())) for text in texts]
        new = [word for word in dict.fromkeys(w for words in found for w in words) if word not in self._known]
        vectors = self.sentences(new)
        with self._lock:
            self._known |= zip(new, vectors, strict=True)
        made = []
        for words in found:
            rows = np.array([self._known[word] for word in words], np.float32)
            rows = rows.reshape(len(words), self.reading_size)
            made.append(Words(words, rows, rows))
        return made

    def sentences(self, texts: Sequence[str]) -> Float32Array:
        """Return the endpoint's vectors, (n, d), of length 1."""
        parts = [self._ask(texts[start : start + AT_ONCE]) for start in range(0, len(texts), AT_ONCE)]
        return np.concatenate([np.empty((0, self.reading_size), np.float32), *parts])

    def reactions(self, texts: Sequence[str]) -> Float32Array:
        """Return the endpoint's vectors, (n, d)."""
        return self.sentences(texts)

    def profiles(self, texts: Sequence[str]) -> Float32Array:
        """Return the endpoint's vectors, (n, d)."""
        return self.sentences(texts)

    def _ask(self, texts: Sequence[str]) -> Float32Array:
        body = {"model": self._model, "input": [text or SILENT for text in texts], "encoding_format": "float"}
        try:
            answer = self._endpoint.post(body)
        except PostError as error:
            remedy = f"check {URL}, the model's name and {KEY}" if error.refused else "check that it runs"
            raise MissingModelError(f"{error}; {remedy}, or leave out `encoder`") from None
        return read_vectors(answer, len(texts), self._endpoint.url)


def read_vectors(answer: bytes, n: int, url: str) -> Float32Array:
    """Return the vectors of an answer, by the numbers of their texts, of length 1."""
    try:
        data = json.loads(answer)["data"]
        rows = {int(each["index"]): each["embedding"] for each in data}
        vectors = np.array([rows[number] for number in range(n)], np.float32)
        whole = vectors.ndim == 2 and vectors.shape[1] > 0 and bool(np.isfinite(vectors).all())
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise MissingModelError(
            f"{url} must answer with one embedding for each of {n} texts, got {answer[:80]!r}; check that it is an "
            "OpenAI-compatible endpoint for embeddings"
        )
    return normalised(vectors)


def find_directory(name: str) -> Path:
    """Return where a model is: the directory itself, or what the hub gave for a name; weights are in it."""
    directory = Path(name)
    if not directory.is_dir():
        if "/" not in name:
            raise ValueError(
                f"an encoder is a directory, a name on the hub such as org/model, or {ENDPOINT}MODEL, got {name!r}"
            )
        directory = fetch(name)
    if not (directory / WEIGHTS).is_file() or not (directory / "config.json").is_file():
        raise MissingModelError(
            f"an encoder is a directory with {WEIGHTS} and config.json, as sentence-transformers saves it, and "
            f"{name!r} has not both; save the model there, or leave out `encoder`"
        )
    return directory


def fetch(name: str) -> Path:
    """Return where the files of a model of the hub are; they are fetched where they are not stored."""
    check_packages("huggingface_hub")
    from huggingface_hub import snapshot_download

    try:
        patterns = ["*.json", "*.txt", "*.model", WEIGHTS, "1_Pooling/*"]
        return Path(snapshot_download(name, allow_patterns=patterns))
    except Exception as error:  # the hub's client and those below it raise what they like
        reason = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
        raise MissingModelError(
            f"an encoder is a directory, a name on the hub, or {ENDPOINT}MODEL, got {name!r}, which is no directory, "
            f"and the hub did not give it ({reason}); check the name and the network, or leave out `encoder`"
        ) from None


def read_pooling(directory: Path) -> str:
    """Return how a sentence-transformers model makes a vector of tokens; the mean where nothing is said."""
    modules = directory / "modules.json"
    kinds = [str(each["type"]).rsplit(".", 1)[-1] for each in read_json(modules)] if modules.is_file() else []
    unknown = [kind for kind in kinds if kind not in KNOWN_MODULES]
    config = directory / "1_Pooling" / "config.json"
    said = read_json(config) if config.is_file() else {"pooling_mode_mean_tokens": True}
    chosen = [name for name, value in said.items() if name.startswith("pooling_mode_") and value is True]
    if unknown or len(chosen) != 1 or chosen[0] not in POOLINGS:
        raise MissingModelError(
            f"an encoder has the modules {', '.join(KNOWN_MODULES)} and takes the mean or the first token, got "
            f"{unknown or chosen} in {directory.name!r}; serve it behind an endpoint ({ENDPOINT}MODEL)"
        )
    return POOLINGS[chosen[0]]


def read_json(file: Path) -> Any:
    """Return what a file of settings holds."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MissingModelError(
            f"{file.name!r} of an encoder must be JSON ({error}); save the model anew"
        ) from None


def load_sentence_model(directory: Path) -> tuple[Any, Any]:
    """Return the model (float32, evaluation mode) and its tokenizer."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    with quiet():
        model: Any = AutoModel.from_pretrained(str(directory), local_files_only=True, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(str(directory), local_files_only=True)
    return model.eval(), tokenizer

"""Language models that write dialogues: an OpenAI-compatible endpoint, a local transformers model, and a cache.

A writer is called with a prompt and the number of the attempt, and returns text. Only the standard library talks to
the endpoint; torch and transformers are imported where a local model is loaded.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Any, Protocol

from tacit.base.posting import JsonEndpoint, PostError
from tacit.text.bundled import check_packages, load_smollm2, quiet

TEMPERATURE = 0.8
"""How freely a model writes: dialogues should vary, and a second attempt should differ from the first."""

LONGEST = 96
"""Tokens that a model may write: one or two sentences."""


class WriterError(RuntimeError):
    """A language model cannot be had or does not answer; the message says what to do."""


class Writer(Protocol):
    """A language model: its `name` tells its texts from those of others, a call returns a text for a prompt."""

    name: str

    def __call__(self, prompt: str, attempt: int = 0) -> str:
        """Return a text for the prompt; another attempt may give another."""


class EndpointWriter:
    """A model behind an OpenAI-compatible endpoint, such as `https://host/v1`.

    What is not given is taken from the environment: TACIT_LLM_URL, TACIT_LLM_MODEL, TACIT_LLM_KEY (a key is sent
    only where there is one). Where the endpoint is busy or away, calls are repeated after `pause` seconds, then
    after twice as many, `retries` times in all.
    """

    def __init__(
        self,
        url: str | None = None,
        model: str | None = None,
        key: str | None = None,
        timeout: float = 60.0,
        retries: int = 5,
        pause: float = 1.0,
    ) -> None:
        base = _need("url", url, "TACIT_LLM_URL").rstrip("/")
        if not base.startswith(("http://", "https://")):
            raise WriterError(f"an endpoint's url must begin with http:// or https://, got {base!r}")
        self.url = base if base.endswith("/chat/completions") else f"{base}/chat/completions"
        self.name = _need("model", model, "TACIT_LLM_MODEL")
        self._endpoint = JsonEndpoint(
            self.url, key or os.environ.get("TACIT_LLM_KEY", ""), timeout, retries, pause
        )

    def __call__(self, prompt: str, attempt: int = 0) -> str:
        """Return the endpoint's text, or raise WriterError when all tries failed."""
        body = {
            "model": self.name,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": TEMPERATURE,
            "max_tokens": LONGEST,
            "seed": attempt,
        }
        try:
            return _content(self._endpoint.post(body), self.url)
        except PostError as error:
            remedy = (
                "check url, model and TACIT_LLM_KEY"
                if error.refused
                else "check that it runs, then give the same command again: what was written is kept"
            )
            raise WriterError(f"{error}; {remedy}") from None


class LocalWriter:
    """A causal language model of transformers, by its name on the hub or its directory.

    `smollm2` is the bundled SmolLM2-135M-Instruct, which needs no network; it is too small to write well, and most
    of its texts do not pass the checks of `rewording.py`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._model, self._tokenizer = _load(name)

    def __call__(self, prompt: str, attempt: int = 0) -> str:
        """Return the model's text; it follows from the prompt and the attempt."""
        import torch

        seed = int.from_bytes(hashlib.sha256(f"{attempt}/{prompt}".encode()).digest()[:4], "big")
        tokens = self._tokenize(prompt)
        with torch.random.fork_rng(devices=[]), torch.inference_mode():
            torch.manual_seed(seed)
            written = self._model.generate(
                **tokens,
                max_new_tokens=LONGEST,
                do_sample=True,
                temperature=TEMPERATURE,
                pad_token_id=self._tokenizer.eos_token_id,
            )
        new = written[0, tokens["input_ids"].shape[1] :]
        return str(self._tokenizer.decode(new, skip_special_tokens=True))

    def _tokenize(self, prompt: str) -> Any:
        if not self._tokenizer.chat_template:
            return self._tokenizer(prompt, return_tensors="pt")
        return self._tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}],
            add_generation_prompt=True,
            return_dict=True,
            return_tensors="pt",
        )


class CachedWriter:
    """A writer that asks for each text once: what was written is kept in a JSONL file and found there again.

    The key of a text is a digest of the model's name, the prompt and the attempt. Every text is on disk before it is
    used, so nothing is asked for twice after an interruption; a line that a crash has cut is passed over.
    """

    def __init__(self, writer: Writer, path: Path) -> None:
        self.name, self.path = writer.name, path
        self.calls = 0
        self._writer = writer
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._texts = _read_cache(path)

    def __call__(self, prompt: str, attempt: int = 0) -> str:
        """Return the text of this prompt and attempt, from the file if it has it."""
        key = hashlib.sha256(json.dumps([self.name, prompt, attempt]).encode()).hexdigest()
        if key not in self._texts:
            text = self._writer(prompt, attempt)
            with self._lock:
                self.calls += 1
                self._texts[key] = text
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"key": key, "text": text}) + "\n")
        return self._texts[key]


def _read_cache(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    content = path.read_bytes()
    if content and not content.endswith(b"\n"):
        with path.open("ab") as file:  # what is added begins a line of its own
            file.write(b"\n")
    texts: dict[str, str] = {}
    for line in content.splitlines():
        try:
            entry = json.loads(line)
            texts[str(entry["key"])] = str(entry["text"])
        except (ValueError, KeyError, TypeError):
            continue
    return texts


def _need(what: str, value: str | None, variable: str) -> str:
    found = value or os.environ.get(variable)
    if not found:
        raise WriterError(f"an endpoint needs a {what}, got none; give --{_OPTIONS[what]} or set {variable}")
    return found


_OPTIONS = {"url": "endpoint URL", "model": "model NAME"}


def _content(body: bytes, url: str) -> str:
    try:
        return str(json.loads(body)["choices"][0]["message"]["content"] or "")
    except (ValueError, KeyError, IndexError, TypeError):
        raise WriterError(
            f"{url} must answer as OpenAI's chat completions do, got {body[:200]!r}; check the url"
        ) from None


def _load(name: str) -> tuple[Any, Any]:
    if name == "smollm2":
        return load_smollm2()
    check_packages("torch", "transformers")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        with quiet():
            model: Any = AutoModelForCausalLM.from_pretrained(name)
            return model.eval(), AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise WriterError(
            f"the local model must be a causal language model on the hub or a directory that has one, got {name!r} "
            f"({reason}); check the name and the connection, or use `smollm2`, which is bundled"
        ) from None

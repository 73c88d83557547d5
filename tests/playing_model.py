"""A stand-in for a language model: it reads our prompts and writes what they ask for; and an endpoint that has it."""

from __future__ import annotations

import http.server
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class PlayingModel:
    """Writes texts that pass the checks; remembers the prompts. `spoil` says which kinds it gets wrong."""

    name = "player"

    def __init__(self, spoil: str = "") -> None:
        self.prompts: list[tuple[str, int]] = []
        self._spoil = spoil

    def __call__(self, prompt: str, attempt: int = 0) -> str:
        self.prompts.append((prompt, attempt))
        kind, text = write(prompt)
        return "nonsense: tonight" if kind == self._spoil else f' "{text}"\n'


def write(prompt: str) -> tuple[str, str]:
    """Return which kind of text a prompt asks for, and such a text."""
    details = re.search(r"word for word: (.*)\. Answer with", prompt)
    change = re.search(
        r"told a customer: (.*)\nRepeat it with one change: write (.*) in place of (.*)\. Keep", prompt
    )
    if change:
        return "change", change[1].replace(change[3], change[2])
    if details and "one sentence that tells" in prompt:
        return "booking", f"You asked and here it is: {details[1].replace('; ', ', ')}!"
    if details:
        return "reply", f"Let me think: {details[1].replace('; ', ', ')}."
    if "friendly question" in prompt:
        topic = re.search(r"in the manner of: (.*) One short question", prompt)
        assert topic
        return "question", f"By the way: {topic[1]}"
    if "customer's reply" in prompt:
        return "answer", "That is all the same to me."
    return "remark", "What a joy this was." if "is happy" in prompt else "What a bother this was."


class _Handler(http.server.BaseHTTPRequestHandler):
    model: PlayingModel
    faults: list[tuple[int, bytes]]
    requests: list[tuple[dict[str, Any], dict[str, str]]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append((body, dict(self.headers)))
        status, answer = 200, b""
        if self.faults:
            status, answer = self.faults.pop(0)
        if not answer:
            text = self.model(body["messages"][0]["content"], body["seed"])
            answer = json.dumps({"choices": [{"message": {"content": text}}]}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Be silent."""


@contextmanager
def endpoint(model: PlayingModel, faults: list[tuple[int, bytes]] | None = None) -> Iterator[Any]:
    """Serve a model as an OpenAI-compatible endpoint does, after some faulty answers; yield (url, requests)."""
    handler = type("Handler", (_Handler,), {"model": model, "faults": list(faults or []), "requests": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", handler.requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

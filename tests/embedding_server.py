"""A stand-in for an OpenAI-compatible endpoint of embeddings: a word's vector follows from its letters."""

from __future__ import annotations

import http.server
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from text_samples import HashingEncoder

from tacit.text.small.encoders import URL


class _Handler(http.server.BaseHTTPRequestHandler):
    faults: list[tuple[int, bytes]]
    requests: list[tuple[dict[str, Any], dict[str, str]]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append((body, dict(self.headers)))
        status, answer = self.faults.pop(0) if self.faults else (200, b"")
        if not answer:
            vectors = 3 * HashingEncoder().sentences(body["input"])  # of another length than 1
            data = [{"index": n, "embedding": each.tolist()} for n, each in enumerate(vectors)]
            answer = json.dumps({"data": data[::-1]}).encode()  # in any order
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Be silent."""


@contextmanager
def embedding_server(*faults: tuple[int, bytes]) -> Iterator[tuple[str, list[Any]]]:
    """Give the address of an endpoint, which the environment has, and its requests; it answers `faults` first."""
    handler = type("Handler", (_Handler,), {"faults": list(faults), "requests": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            with patch.dict(os.environ, {URL: url}):
                yield url, handler.requests
        finally:
            server.shutdown()
            thread.join()

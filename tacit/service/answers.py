"""Answers in JSON: what a request came to, or why it was refused."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from tacit.service.errors import RefusedError
from tacit.service.house import RETRY_AFTER

JSON = "application/json"
JSON_TYPE = (b"content-type", JSON.encode())
ENCODER = msgspec.json.Encoder()


class JsonResponse(Response):
    """An answer in JSON; it has two headers, and is made of them without looking for others."""

    def __init__(self, content: bytes, status: int) -> None:
        self.status_code, self.body, self.background = status, content, None
        self.raw_headers = [(b"content-length", b"%d" % len(content)), JSON_TYPE]


def answer(body: Any, status: int = 200) -> Response:
    """Return an answer in JSON."""
    return JsonResponse(ENCODER.encode(body), status)


def refuse(refusal: RefusedError) -> Response:
    """Return the answer to a request that is refused."""
    response = answer(refusal.to_json(), refusal.status)
    if refusal.status in (429, 503):
        response.headers["retry-after"] = str(RETRY_AFTER)
    response.headers.update(refusal.headers)
    return response

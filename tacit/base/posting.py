"""A request to a JSON endpoint over HTTP, sent again while that is busy or away; only the standard library talks."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Any, NamedTuple

TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""The HTTP answers after which it is worth trying again."""

LONGEST_PAUSE = 60.0
"""Seconds to wait at most before trying again, whatever the endpoint asks for."""


class PostError(RuntimeError):
    """An endpoint that `refused` a request, or did not answer; the message says which and why, the remedy is added."""

    def __init__(self, message: str, refused: bool) -> None:
        super().__init__(message)
        self.refused = refused


class JsonEndpoint(NamedTuple):
    """Where requests go and how often they are repeated: after `pause` seconds, then twice as many, `retries` times.

    A key is sent only where there is one.
    """

    url: str
    key: str = ""
    timeout: float = 60.0
    retries: int = 5
    pause: float = 1.0

    def post(self, body: Any) -> bytes:
        """Return the answer to a JSON body, or raise PostError when all tries failed."""
        reason = ""
        for number in range(self.retries + 1):
            try:
                return self._post(body)
            except urllib.error.HTTPError as error:
                reason = _explain(error)
                if error.code not in TRANSIENT:
                    raise PostError(f"{self.url} refused the request ({reason})", refused=True) from None
                asked = error.headers.get("Retry-After", "")
            except (OSError, http.client.HTTPException) as error:
                reason, asked = f"{type(error).__name__}: {error}", ""
            if number < self.retries:
                wanted = float(asked) if asked.isdecimal() else self.pause * 2**number
                time.sleep(min(wanted, LONGEST_PAUSE))
        tries = self.retries + 1
        raise PostError(f"{self.url} did not answer in {tries} tries ({reason})", refused=False)

    def _post(self, body: Any) -> bytes:
        headers = {"Content-Type": "application/json", "User-Agent": "tacit"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=self.timeout) as answer:
            content: bytes = answer.read()
            return content


def _explain(error: urllib.error.HTTPError) -> str:
    with error:
        body = error.read(300).decode("utf-8", "replace").strip()
    return f"HTTP {error.code}{': ' + body if body else ''}"

"""The gate: who is let in to which route, how often, and what is noted of it.

Where there are keys, a route under /v1 needs one of its scope. Where there are none, only this machine is answered, by
its own name: a page of another site must not reach the service by way of somebody's browser.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from tacit.service.errors import RefusedError, unready
from tacit.service.keys import ApiKey, Keys
from tacit.service.limits import Rate, address_of, is_loopback
from tacit.service.logbook import AGENT, note
from tacit.service.metrics import Metrics
from tacit.service.options import ServiceOptions

CHALLENGE = {"www-authenticate": 'Bearer realm="tacit"'}


class Gate:
    """Lets requests in and notes how they went."""

    def __init__(self, options: ServiceOptions, keys: Keys, metrics: Metrics) -> None:
        self.keys, self.metrics = keys, metrics
        self._origins, self._logs_access = options.origins, options.access_log
        self._by_key, self._by_address = Rate(options.key_rate), Rate(options.address_rate)
        self._strangers = Rate(options.stranger_rate)

    def admit(self, asked: Mapping[str, Any], scope: str) -> None:
        """Raise RefusedError unless a request may be done; without a scope all may, as often as addresses may ask.

        `asked` is what ASGI tells of a request.
        """
        agent = asked["path_params"].get("name")
        AGENT.set(agent)
        if self._by_address.per_second:
            self._by_address.check(address_of(asked), "an address")
        if not scope:
            return
        try:
            key = self._key(asked) if self.keys.exist else None
        except (ValueError, OSError) as error:
            note(logging.ERROR, "keys cannot be read", error=type(error).__name__)
            raise unready("the keys of the service cannot be read; its log says more") from None
        if key is None:
            self._admit_own_machine(asked)
        else:
            self._check_key(key, scope, agent)

    def _check_key(self, key: ApiKey, scope: str, agent: str | None) -> None:
        """Raise RefusedError unless a key may do this now."""
        self._by_key.check(key.name, "a key")
        if not key.may(scope):
            told = f"this needs a key of the scope {scope}, that of {key.name!r} has {', '.join(key.scopes)}"
            raise RefusedError(403, "forbidden", f"{told}; use another key")
        if not key.may_reach(agent):
            raise RefusedError(
                403, "forbidden", f"the key {key.name!r} is for {', '.join(key.agents)}; use another"
            )

    def admit_stranger(self, asked: Mapping[str, Any]) -> None:
        """Raise RefusedError if an address without a key, or with a wrong one, asks too often."""
        self._strangers.check(address_of(asked), "an address without a key")

    def noting(self, method: str, route: str) -> Callable[[int, float], None]:
        """Return what counts an answer of a route, and writes it to the log if that is wanted; no path is told."""
        timing, refuse, logs = self.metrics.timing(method, route), self.metrics.refuse, self._logs_access

        def note_answer(status: int, seconds: float) -> None:
            timing.add(seconds)
            if status >= 400:
                refuse(status)
            if logs:
                told = {"method": method, "route": route, "status": status}
                note(logging.INFO, "request", **told, milliseconds=round(seconds * 1e3, 3))

        return note_answer

    def _key(self, asked: Mapping[str, Any]) -> ApiKey:
        kind, _, token = header_of(asked, b"authorization").partition(" ")
        key = self.keys.find(token.strip()) if kind.lower() == "bearer" else None
        if key is not None:
            return key
        self.admit_stranger(asked)
        if not token:
            raise RefusedError(
                401, "no-key", "this needs a key: Authorization: Bearer KEY", headers=CHALLENGE
            )
        wrong = CHALLENGE["www-authenticate"] + ', error="invalid_token"'
        raise RefusedError(
            401, "wrong-key", "this key is not known, or was revoked", headers={"www-authenticate": wrong}
        )

    def _admit_own_machine(self, asked: Mapping[str, Any]) -> None:
        """Raise RefusedError unless a request comes from this machine, for it, and from no other site."""
        client, host = asked.get("client"), header_of(asked, b"host")
        if client is None or not is_loopback(client[0]) or not _is_own_name(host):
            words = "without keys only this machine is answered, by its own name; make one with `tacit keys create`"
            raise RefusedError(401, "no-key", words, headers=CHALLENGE)
        origin = header_of(asked, b"origin")
        if origin and origin != f"{asked['scheme']}://{host}" and origin not in self._origins:
            raise RefusedError(403, "forbidden", "pages of other sites may call if `origins` has them")


def header_of(asked: Mapping[str, Any], name: bytes) -> str:
    """Return the header of a request by its name in small letters, "" if it has none.

    >>> header_of({"headers": [(b"host", b"localhost:8040")]}, b"host")
    'localhost:8040'
    """
    for known, value in asked["headers"]:
        if known == name:
            return str(value, "latin-1")
    return ""


@lru_cache(1024)
def _is_own_name(host: str) -> bool:
    """Return whether a host with its port, as requests name it, is this machine's own."""
    try:
        return is_loopback(urlsplit(f"//{host}").hostname or "")
    except ValueError:  # a bracket that is not closed
        return False

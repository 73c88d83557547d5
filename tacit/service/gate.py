"""The gate: who is let in to which route, how often, and what is noted of it.

Where there are keys, a route under /v1 needs one of its scope. Where there are none, only this machine is answered, by
its own name: a page of another site must not reach the service by way of somebody's browser.
"""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

from starlette.requests import Request

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

    def admit(self, request: Request, scope: str) -> None:
        """Raise RefusedError unless a request may be done; without a scope all may, as often as addresses may ask."""
        agent = request.path_params.get("name")
        AGENT.set(agent)
        self._by_address.check(address_of(request), "an address")
        if not scope:
            return
        try:
            asked = self.keys.exist
            key = self._key(request) if asked else None
        except (ValueError, OSError) as error:
            note(logging.ERROR, "keys cannot be read", error=type(error).__name__)
            raise unready("the keys of the service cannot be read; its log says more") from None
        if key is None:
            self._admit_own_machine(request)
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

    def admit_stranger(self, request: Request) -> None:
        """Raise RefusedError if an address without a key, or with a wrong one, asks too often."""
        self._strangers.check(address_of(request), "an address without a key")

    def note(self, request: Request, route: str, status: int, seconds: float) -> None:
        """Count an answer, and write it to the log if that is wanted; of the path its pattern alone."""
        self.metrics.time(request.method, route, status, seconds)
        if self._logs_access:
            told = {"method": request.method, "route": route, "status": status}
            note(logging.INFO, "request", **told, milliseconds=round(seconds * 1e3, 3))

    def _key(self, request: Request) -> ApiKey:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        key = self.keys.find(token.strip()) if kind.lower() == "bearer" else None
        if key is not None:
            return key
        self.admit_stranger(request)
        if not token:
            raise RefusedError(
                401, "no-key", "this needs a key: Authorization: Bearer KEY", headers=CHALLENGE
            )
        wrong = CHALLENGE["www-authenticate"] + ', error="invalid_token"'
        raise RefusedError(
            401, "wrong-key", "this key is not known, or was revoked", headers={"www-authenticate": wrong}
        )

    def _admit_own_machine(self, request: Request) -> None:
        """Raise RefusedError unless a request comes from this machine, for it, and from no other site."""
        client = request.client
        if client is None or not is_loopback(client.host) or not is_loopback(_named(request)):
            words = "without keys only this machine is answered, by its own name; make one with `tacit keys create`"
            raise RefusedError(401, "no-key", words, headers=CHALLENGE)
        origin = request.headers.get("origin")
        own = f"{request.url.scheme}://{request.headers.get('host')}"
        if origin is not None and origin != own and origin not in self._origins:
            raise RefusedError(403, "forbidden", "pages of other sites may call if `origins` has them")


def _named(request: Request) -> str:
    """Return the host that a request names, without its port."""
    try:
        return urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    except ValueError:  # a bracket that is not closed
        return ""

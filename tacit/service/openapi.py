"""The OpenAPI 3.1 description of the service, read off its routes and bodies, and the page that shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import msgspec

from tacit.service.answers import JSON
from tacit.service.bodies import ErrorBody
from tacit.service.routes import BYTES, ENDPOINTS, LINES, Endpoint
from tacit.service.watching import EVENTS

REFUSALS = {
    401: "no key, or one that is not known",
    403: "a key that may not do this",
    404: "there is no such agent or episode",
    409: "a repeated request that says something else, or a step out of order",
    413: "a body that is too large",
    422: "a body that breaks a rule",
    429: "too many requests; see Retry-After",
    503: "nothing can be promised now; see Retry-After",
}
"""What a refused request is answered, by status."""
PARAMETERS = {
    "name": {"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$", "description": "the agent"},
    "episode": {"type": "string", "minLength": 1, "maxLength": 128, "description": "the episode"},
}

STREAMS = {
    "export": ("a line for each episode", LINES),
    "watch": ("server-sent events; the data of `agent` is what the page shows of it, in JSON", EVENTS),
    "watch_all": ("server-sent events; the data of `agents` is what the page shows of all, in JSON", EVENTS),
}
"""What is no single body: what comes, and its media type."""


def describe_service(endpoints: Sequence[Endpoint] = ENDPOINTS) -> dict[str, Any]:
    """Return the description of all routes."""
    kinds = [kind for each in endpoints for kind in (each.takes, each.gives) if kind is not None]
    schemas, components = msgspec.json.schema_components(
        [*kinds, ErrorBody], ref_template="#/components/schemas/{name}"
    )
    known = dict(zip([*kinds, ErrorBody], schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, known)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tacit",
            "version": version("tacit"),
            "description": "Learns what to do over several turns from how people react, with no reward ever observed.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"key": []}],
    }


def _operation(endpoint: Endpoint, known: dict[type, dict[str, Any]]) -> dict[str, Any]:
    refusals = {
        str(status): {"description": words, "content": {JSON: {"schema": known[ErrorBody]}}}
        for status, words in REFUSALS.items()
    }
    done = {str(status): _given(endpoint, known) for status in endpoint.statuses}
    told: dict[str, Any] = {
        "operationId": endpoint.do.__name__,
        "summary": endpoint.summary,
        "description": f"Needs a key of the scope `{endpoint.scope}`, where keys are asked for.",
        "parameters": _parameters(endpoint),
        "responses": done | refusals,
    }
    if endpoint.takes is not None:
        told["requestBody"] = {"required": True, "content": {JSON: {"schema": known[endpoint.takes]}}}
    elif endpoint.do.__name__ == "put_checkpoint":
        file = {"type": "string", "format": "binary"}
        told["requestBody"] = {"required": True, "content": {BYTES: {"schema": file}}}
    return told


def _given(endpoint: Endpoint, known: dict[type, dict[str, Any]]) -> dict[str, Any]:
    if endpoint.gives is not None:
        return {"description": "done", "content": {JSON: {"schema": known[endpoint.gives]}}}
    if endpoint.do.__name__ in STREAMS:
        words, kind = STREAMS[endpoint.do.__name__]
        return {"description": words, "content": {kind: {"schema": {"type": "string"}}}}
    if endpoint.do.__name__ == "get_checkpoint":
        return {
            "description": "a file",
            "content": {BYTES: {"schema": {"type": "string", "format": "binary"}}},
        }
    if endpoint.statuses == (204,):
        return {"description": "done"}
    return {"description": "done", "content": {JSON: {"schema": {"type": "object"}}}}


def _parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    named = [
        {"name": name, "in": "path", "required": True, "schema": PARAMETERS[name]}
        for name in re.findall(r"{(\w+)}", endpoint.path)
    ]
    if endpoint.do.__name__ == "get_policy":
        asked = {"type": "string", "description": "a context, in JSON"}
        named.append({"name": "context", "in": "query", "required": True, "schema": asked})
    return named

"""The page at /docs: the OpenAPI description for people, in one file that needs no network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tacit.reports.pages import page_template


def write_documentation(service: Mapping[str, Any]) -> str:
    """Return the page of a description."""
    schemas = service["components"]["schemas"]

    def shown(body: Mapping[str, Any]) -> str:
        schema = next(iter(body["content"].values()))["schema"]
        return json.dumps(_resolved(schema, schemas), indent=2, ensure_ascii=False)

    template = page_template("tacit.service", "documentation.html.j2")
    return template.render(service=service, shown=shown)


def _resolved(schema: Any, schemas: Mapping[str, Any], depth: int = 0) -> Any:
    """Return a schema with what it refers to in place of references."""
    if isinstance(schema, Mapping):
        if "$ref" in schema and depth < 8:
            return _resolved(schemas[schema["$ref"].rpartition("/")[2]], schemas, depth + 1)
        return {name: _resolved(value, schemas, depth) for name, value in schema.items()}
    return [_resolved(value, schemas, depth) for value in schema] if isinstance(schema, list) else schema

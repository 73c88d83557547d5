"""What the service refuses: a status, a code that programs read, and a sentence that people do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class RefusedError(Exception):
    """A request that is not done, and changes nothing; `field` is the part of the body that is at fault."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field = status, code, message, field
        self.headers = headers or {}

    def to_json(self) -> dict[str, Any]:
        """Return the body of the answer."""
        told = {"code": self.code, "message": self.message}
        return {"error": told if self.field is None else told | {"field": self.field}}


def not_found(what: str, name: str, remedy: str) -> RefusedError:
    """Return the refusal of something that is not there."""
    return RefusedError(404, "not-found", f"there is no {what} {name!r}; {remedy}")


def conflict(field: str, known: Any, got: Any, remedy: str) -> RefusedError:
    """Return the refusal of a repeated request that says something else than the first."""
    return RefusedError(
        409, "conflict", f"{field} was {known!r} the first time, got {got!r}; {remedy}", field
    )


def invalid(message: str, field: str | None = None) -> RefusedError:
    """Return the refusal of a body that breaks a rule."""
    return RefusedError(422, "invalid", message, field)


def unready(message: str) -> RefusedError:
    """Return the refusal of anything while the service cannot keep what it would promise."""
    return RefusedError(503, "unready", message)

"""What a service writes to its log: one object of JSON a line, or plain text; never what people said, or a key.

Of an error the log has its kind and where it came up, not its words, for those may quote a request. Warnings that
agents raise are lines of the log, too.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TextIO

LOG = logging.getLogger("tacit.service")
MOST_FRAMES = 12
"""Calls of an error that are told, the innermost."""
AGENT: ContextVar[str | None] = ContextVar("agent", default=None)
"""The agent that the present request is of."""


def note(level: int, event: str, **fields: Any) -> None:
    """Write one line: what happened, and what belongs to it."""
    if LOG.isEnabledFor(level):
        LOG.log(level, event, extra={"fields": fields})


def describe_record(record: logging.LogRecord) -> dict[str, Any]:
    """Return a record as an object: time, level, event, then what belongs to it.

    >>> record = logging.LogRecord("tacit", logging.INFO, "", 0, "started", (), None)
    >>> record.created = 0.0
    >>> describe_record(record)
    {'time': '1970-01-01T00:00:00.000+00:00', 'level': 'info', 'event': 'started'}
    """
    time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    told: dict[str, Any] = {"time": time, "level": record.levelname.lower()}
    told["event"] = record.getMessage().strip()
    told |= getattr(record, "fields", {})
    if AGENT.get() is not None:
        told.setdefault("agent", AGENT.get())
    if record.exc_info and record.exc_info[0] is not None:
        frames = traceback.extract_tb(record.exc_info[2])[-MOST_FRAMES:]
        told["event"] = told["event"].partition("\n")[0]  # what follows may hold the error's words
        told["error"] = record.exc_info[0].__name__
        told["where"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return told


class JsonLines(logging.Formatter):
    """One object of JSON a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return json.dumps(describe_record(record), ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """The same for people."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        told = describe_record(record)
        time, level, event = told.pop("time"), told.pop("level"), told.pop("event")
        more = "".join(f" {name}={value}" for name, value in told.items())
        return f"{time} {level:<7} {event}{more}".replace("\n", " ")


@contextmanager
def logging_to(kind: str = "json", stream: TextIO | None = None) -> Iterator[None]:
    """Let everything that is logged or warned of go to a stream, standard error by default."""
    handler = logging.StreamHandler(stream if stream is not None else sys.stderr)
    handler.setFormatter(JsonLines() if kind == "json" else TextLines())
    root, level = logging.getLogger(), LOG.level
    root.addHandler(handler)
    LOG.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)  # each agent's, not one for all
            warnings.showwarning = _log_warning
            yield
    finally:
        root.removeHandler(handler)
        LOG.setLevel(level)


def _log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    note(logging.WARNING, "warning", kind=category.__name__, text=str(message))

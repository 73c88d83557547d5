"""Decoded rewards as OpenTelemetry's events of evaluations, `gen_ai.evaluation.result`; an option.

An evaluation names the agent and the episode, the reward that feedback was decoded to and how sure that is; it holds
nothing of what was said. Which exporter takes it is the business of OpenTelemetry, as its own variables say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tacit.service.accounts import END, ENDED
from tacit.service.host import Host
from tacit.service.journal import JournalEvent

EVENT = "gen_ai.evaluation.result"

Emit = Callable[[str, Mapping[str, Any]], None]
"""Takes the name of an event and its attributes."""


class Evaluations:
    """Emits an evaluation for each episode whose feedback was decoded.

    >>> told = []
    >>> evaluations = Evaluations(lambda name, attributes: told.append((name, attributes)))
    >>> decoded = b'{"decoded": {"reward": 0.9, "confidence": 0.9, "low": 0.8, "high": 1.0}}'
    >>> evaluations.evaluate("shop", JournalEvent(1, "e1", "end", decoded, 0.0))
    >>> told[0][0], told[0][1]["gen_ai.evaluation.score.value"], told[0][1]["gen_ai.evaluation.score.label"]
    ('gen_ai.evaluation.result', 0.9, 'pass')
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def observe(self, host: Host, event: JournalEvent) -> None:
        """Take an event of the journal."""
        if event.kind == END:
            self.evaluate(host.row.name, event)

    def evaluate(self, agent: str, event: JournalEvent) -> None:
        """Emit the evaluation of an episode, if there is one."""
        decoded = ENDED.decode(event.body).decoded
        if decoded is None:
            return
        attributes = {
            "gen_ai.evaluation.name": "tacit.reward",
            "gen_ai.evaluation.score.value": decoded.reward,
            "gen_ai.evaluation.score.label": "pass" if decoded.reward >= 0.5 else "fail",
            "gen_ai.conversation.id": event.episode,
            "gen_ai.agent.name": agent,
            "tacit.evaluation.confidence": decoded.confidence,
        }
        self._emit(EVENT, attributes)


def open_telemetry() -> Emit:
    """Return what hands events to OpenTelemetry, or raise ImportError that says what to install."""
    try:
        from opentelemetry._logs import LogRecord, SeverityNumber, get_logger
    except ImportError as error:
        raise ImportError(
            f"`telemetry` needs the package opentelemetry-api: {error}; pip install opentelemetry-api, or leave it off"
        ) from None
    logger = get_logger("tacit.service")

    def emit(name: str, attributes: Mapping[str, Any]) -> None:
        logger.emit(
            LogRecord(event_name=name, attributes=dict(attributes), severity_number=SeverityNumber.INFO)
        )

    return emit

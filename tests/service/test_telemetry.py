"""Evaluations for OpenTelemetry, by an exporter of the tests' own: the package is an option."""

import sys
import types

import pytest
from operating import operating, shop_with

from tacit.service.journal import JournalEvent
from tacit.service.telemetry import Evaluations, open_telemetry

DECODED = b'{"feedback":"thanks","decoded":{"reward":0.25,"confidence":0.75,"low":0.1,"high":0.4}}'


class FakeRecord:
    def __init__(self, **told):
        self.told = told


@pytest.fixture
def emitted(monkeypatch):
    """Give what reaches a logger of a package that has the names that Tacit uses, and no more."""
    records = []
    logger = types.SimpleNamespace(emit=lambda record: records.append(record.told))
    logs = types.ModuleType("opentelemetry._logs")
    logs.LogRecord, logs.SeverityNumber = FakeRecord, types.SimpleNamespace(INFO=9)
    logs.get_logger = lambda name: logger
    package = types.ModuleType("opentelemetry")
    package._logs = logs
    monkeypatch.setitem(sys.modules, "opentelemetry", package)
    monkeypatch.setitem(sys.modules, "opentelemetry._logs", logs)
    return records


def test_an_evaluation_tells_the_reward_and_nothing_of_what_was_said(emitted):
    Evaluations(open_telemetry()).evaluate("shop", JournalEvent(1, "e1", "end", DECODED, 0.0))
    assert emitted == [
        {
            "event_name": "gen_ai.evaluation.result",
            "severity_number": 9,
            "attributes": {
                "gen_ai.evaluation.name": "tacit.reward",
                "gen_ai.evaluation.score.value": 0.25,
                "gen_ai.evaluation.score.label": "fail",
                "gen_ai.conversation.id": "e1",
                "gen_ai.agent.name": "shop",
                "tacit.evaluation.confidence": 0.75,
            },
        }
    ]


def test_a_service_emits_what_was_decoded_and_nothing_else(tmp_path, emitted):
    with shop_with(tmp_path, telemetry=True) as caller:
        caller.play("new", ["start", "cart"], "thanks")  # too early to be decoded
        assert emitted == []
        host = caller.host
        event = JournalEvent(host.row.number, "e9", "end", DECODED, 0.0)
        caller.client.app.state.house._tell(host, [event, event._replace(kind="abandon")])
        assert [told["attributes"]["gen_ai.conversation.id"] for told in emitted] == ["e9"]


def test_without_the_package_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.setitem(sys.modules, "opentelemetry._logs", None)
    with (
        pytest.raises(ImportError, match="pip install opentelemetry-api"),
        operating(tmp_path, telemetry=True),
    ):
        pass

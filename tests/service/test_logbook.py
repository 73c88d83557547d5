"""The log: lines of JSON or text, with nothing of what people said, and no key."""

import io
import json
import logging
import warnings
from contextlib import closing

import pytest
from operating import Running, bearer, shop_with
from serving import SHOP

from tacit.service.keys import Keys
from tacit.service.logbook import logging_to, note


def written(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_an_object():
    stream = io.StringIO()
    with logging_to("json", stream):
        note(logging.INFO, "started", address="http://x", keys=2)
        note(logging.DEBUG, "not shown")
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    first, second = written(stream)
    assert first["time"].endswith("+00:00")
    assert {**first, "time": 0} == {
        "time": 0,
        "level": "info",
        "event": "started",
        "address": "http://x",
        "keys": 2,
    }
    assert (second["level"], second["event"]) == ("warning", "Invalid HTTP request received.")
    note(logging.INFO, "after")
    assert len(written(stream)) == 2


def test_text_is_one_line_as_well():
    stream = io.StringIO()
    with logging_to("text", stream):
        note(logging.WARNING, "odd\nthing", n=1)
    assert stream.getvalue().endswith("warning odd thing n=1\n")


def test_warnings_of_agents_are_lines_each_time():
    stream = io.StringIO()
    with logging_to("json", stream):
        for _ in range(2):
            warnings.warn("feedback tells little", stacklevel=1)
    assert [(line["event"], line["kind"], line["text"]) for line in written(stream)] == [
        ("warning", "UserWarning", "feedback tells little")
    ] * 2
    with pytest.warns(UserWarning, match="after"):
        warnings.warn("after", stacklevel=1)


def test_errors_are_told_without_their_words():
    stream = io.StringIO()
    with logging_to("json", stream):
        try:
            raise KeyError("what somebody said")
        except KeyError:
            logging.getLogger("asyncio").exception("Task failed\nfuture: KeyError('what somebody said')")
    (line,) = written(stream)
    assert (line["level"], line["event"], line["error"]) == ("error", "Task failed", "KeyError")
    assert "test_logbook.py" in line["where"][-1]
    assert "somebody" not in stream.getvalue()


def test_requests_are_logged_by_their_pattern_if_that_is_wanted(tmp_path):
    stream = io.StringIO()
    with logging_to("json", stream), shop_with(tmp_path, access_log=True) as caller:
        caller.play("new", ["start", "cart"], "thanks", id="visit-17", user="ann")
    lines = [line for line in written(stream) if line["event"] == "request"]
    assert lines[-1]["route"] == "/v1/agents/{name}/episodes/{episode}/feedback"
    assert (lines[-1]["status"], lines[-1]["agent"], lines[-1]["method"]) == (200, "shop", "POST")
    assert lines[-1]["milliseconds"] > 0
    for said in ("thanks", "cart", "ann", "visit-17"):
        assert said not in stream.getvalue()
    quiet = io.StringIO()
    with logging_to("json", quiet), shop_with(tmp_path) as caller:
        caller.begin("new")
    assert not [line for line in written(quiet) if line["event"] == "request"]


def test_a_running_service_logs_no_key_and_nothing_that_was_said(tmp_path):
    token = Keys(tmp_path).create("k", ["admin"], [], 0.0)
    running = Running(tmp_path, "--access-log")
    try:
        head = bearer(token)
        assert running.ask("PUT", "/v1/agents/shop", SHOP, headers=head)[0] == 201
        assert running.ask("POST", "/v1/agents/shop/episodes", {"context": "novelty"}, headers=head)[0] == 422
        assert running.ask("GET", "/v1/agents", headers=bearer(token[:-2] + "zz"))[0] == 401
        with closing(running.connect()) as connection:
            connection.connect()
            connection.sock.sendall(b"NONSENSE\r\n\r\n")
            connection.sock.recv(100)
    finally:
        assert running.stop() == 0
    log = (tmp_path / "stderr.log").read_text()
    lines = [json.loads(line) for line in log.splitlines()]
    assert [lines[0]["event"], lines[-1]["event"]] == ["started", "stopped"]
    assert [line["status"] for line in lines if line["event"] == "request"] == [201, 422, 401]
    assert token[-30:-2] not in log
    assert "novelty" not in log

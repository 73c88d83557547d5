"""A pass that is remembered is the next one, to the last byte that is set aside, and files are read once for both."""

import gzip
import json

import pytest

from tacit.logs import remembered
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource
from tacit.logs.record import Fault
from tacit.offline.fit import diagnose_logs
from tacit.offline.passes import read_through

STEPS = [{"state": "start", "action": "ask", "actions": ["ask", "tell"], "probability": 0.5}]


def lines(begin=0, end=40):
    """Return lines of which some break a rule, some come twice, and some are no JSON or empty."""
    for n in range(begin, end):
        record = {"episode": n, "context": f"user-{n % 3}", "steps": STEPS, "feedback": n % 2, "note": [n]}
        if n % 10 == 3:
            record.pop("context")
        text = json.dumps(record)
        yield {4: text[:-9], 5: "  ", 6: text.replace(" ", "  ")}.get(n % 10, text)
        if n % 10 == 7:
            yield text


@pytest.fixture
def logs(tmp_path):
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"]
    files[0].write_text("\n".join(lines()))
    packed = bytearray(gzip.compress("\n".join(lines(30, 80)).encode(), mtime=0))
    packed[-6] ^= 1  # of the checksum
    files[1].write_bytes(packed)
    return files


def told(source):
    return [(raw.file, raw.place, raw.text(), found) for raw, found in source]


def test_the_next_pass_is_the_same(logs):
    source = LogSource(logs)
    anew = told(source)
    assert told(source.remember()) == anew
    assert told(source) == anew
    rules = {found.rule for *_, found in anew if isinstance(found, Fault)}
    assert rules == {"no-context", "not-json", "duplicate-episode", "damaged-file"}


def test_the_next_pass_needs_no_files_and_the_one_after_that_reads_them(logs):
    source = LogSource(logs)
    first = [(raw.file, raw.place, found) for raw, found in source.remember()]
    for file in logs:
        file.write_bytes(b"")
    assert [(raw.file, raw.place, found) for raw, found in source] == first
    assert list(source) == []


def test_lines_that_are_no_longer_there_have_no_text(logs):
    source = LogSource(logs)
    list(source.remember())
    logs[0].write_bytes(b"")
    rejected = [raw for raw, found in source if isinstance(found, Fault)]
    assert rejected[0].text() == b""


def test_what_a_reader_sets_aside_is_written_as_it_stood(logs, tmp_path):
    def read(record, line):
        return Fault("odd", "must be even") if record["episode"] % 4 == 1 else record["episode"]

    sides = []
    for name, is_kept in (("anew", False), ("kept", True)):
        source, side = LogSource(logs), tmp_path / f"{name}.rejected.jsonl"
        if is_kept:
            list(source.remember())
        with Problems(side=side) as problems:
            list(read_through(source, read, problems))
        sides.append(side.read_bytes())
    assert sides[0] == sides[1]
    assert sides[0].count(b"must be even") > 10


def test_beyond_the_memory_there_is_nothing_is_kept(logs, monkeypatch):
    monkeypatch.setattr(remembered, "MOST_BYTES", 20_000)
    source = LogSource(logs)
    anew = told(source)
    assert told(source.remember()) == anew
    logs[0].write_bytes(b"")
    assert len(told(source)) < len(anew)


def test_a_pass_that_was_not_finished_is_not_kept(logs):
    source = LogSource(logs)
    anew = told(source)
    next(source.remember())
    assert told(source) == anew


def test_more_than_labels_weighs_more(logs):
    """Of a line whose record holds lists, objects take many times its bytes; of rows nobody knows."""
    raw, found = next(entry for entry in LogSource(logs) if not isinstance(entry[1], Fault))
    plain = {key: value for key, value in found.items() if key != "note"}
    assert remembered.weigh(raw, plain) == remembered.ENTRY + len(raw.line_text)
    assert remembered.weigh(raw, found) == remembered.ENTRY + remembered.OBJECTS * len(raw.line_text)
    assert remembered.weigh(raw._replace(record=found), found) > remembered.MOST_BYTES


def test_a_diagnosis_reads_files_once(logs, monkeypatch):
    from tacit.logs import reading

    passes, iterate = [], reading.iterate_raw

    def counted(files, csv=None):
        for number, raw in enumerate(iterate(files, csv)):
            if number == 0:
                passes.append(files)
            yield raw

    monkeypatch.setattr(reading, "iterate_raw", counted)
    whole = [
        json.dumps({"episode": n, "context": n % 2, "steps": STEPS, "feedback": n % 3}) for n in range(60)
    ]
    logs[0].write_text("\n".join(whole))
    diagnose_logs(logs[0])
    assert len(passes) == 1

"""Steps that come again are checked once, shared by their records, and no others are taken for them."""

import json

import pytest

from tacit.logs import common_steps
from tacit.logs.common_steps import CommonSteps, KnownSteps
from tacit.logs.encoding import LogReader
from tacit.logs.files import RawRecord
from tacit.logs.reading import check_raws
from tacit.logs.record import Fault, find_fault
from tacit.problem.layout import Layout

SOUND = [{"state": 0, "action": 1, "actions": [0, 1], "probability": 0.5}]
BROKEN = [[], None, 5, [5], [{"state": 0}], [{**SOUND[0], "probability": 2}], [{**SOUND[0], "action": 9}]]


def line(number, steps, **more):
    return json.dumps({"episode": number, "context": "new", "steps": steps, "feedback": 1, **more}).encode()


def check(lines):
    return [
        found for _, found in check_raws(RawRecord("a.jsonl", n, each) for n, each in enumerate(lines, 1))
    ]


def test_steps_that_are_written_alike_are_one_list():
    first, spaced, other = check([line(1, SOUND), line(2, SOUND).replace(b" ", b""), line(3, SOUND * 2)])
    assert first["steps"] is spaced["steps"]
    assert first["steps"] is not other["steps"]
    assert [first["steps"], other["steps"]] == [SOUND, SOUND * 2]


@pytest.mark.parametrize("value", [1, 1.0, True, "1"])
def test_values_that_python_takes_for_equal_are_told_apart(value):
    records = check([line(n, [{"state": each, "action": 0}]) for n, each in enumerate((1, 1.0, True, "1"))])
    alike = [record for record in records if type(record["steps"][0]["state"]) is type(value)]
    assert len({id(record["steps"]) for record in records}) == 4
    assert [record["steps"][0]["state"] for record in alike] == [value]


@pytest.mark.parametrize("steps", BROKEN)
def test_broken_steps_are_told_every_time(steps):
    """As they would be without sharing, and after sound ones of the same file."""
    found = check([line(1, SOUND), line(2, steps), line(3, steps), line(4, SOUND)])
    assert found[1] == found[2] == find_fault(json.loads(line(2, steps)))
    assert isinstance(found[1], Fault)
    assert found[0]["steps"] is found[3]["steps"]


def test_the_first_rule_that_is_broken_is_told_whether_steps_are_known_or_not():
    lines = [
        line(1, SOUND),
        line(2, SOUND, feedback=[]),
        line(3, SOUND, context=None),
        line(4, [], context=None),
    ]
    for text, found in zip(lines[1:], check(lines)[1:], strict=True):
        assert found == find_fault(json.loads(text))


def test_steps_nested_deeper_than_can_be_written_are_checked():
    deep = '{"episode": 1, "context": "new", "steps": ' + "[" * 300 + "]" * 300 + "}"
    assert check([deep.encode()])[0].rule == "not-a-step"


def test_only_so_many_are_known(monkeypatch):
    monkeypatch.setattr(common_steps, "MOST_BYTES", 0)
    first, second, again, broken = check([line(1, SOUND), line(2, SOUND * 2), line(3, SOUND), line(4, [5])])
    assert first["steps"] is again["steps"]  # the first is taken in whatever it weighs
    assert not isinstance(second["steps"], CommonSteps)
    assert broken.rule == "not-a-step"


def test_rows_keep_their_own_steps():
    """NaN and null are written alike, and rows of Parquet files may hold either."""
    rows = [
        {"episode": n, "context": 0, "steps": [{**SOUND[0], "probability": p}]}
        for n, p in ((1, None), (2, float("nan")))
    ]
    found = [
        found
        for _, found in check_raws(RawRecord("a.parquet", n, record=row) for n, row in enumerate(rows, 1))
    ]
    assert found[0]["steps"] is rows[0]["steps"]
    assert found[1].rule == "bad-probability"


def test_readers_make_of_shared_steps_what_they_make_of_others():
    """By layout, and by whether the episode broke off: a path is found once for each."""
    one = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    two = Layout.regular([1, 2], n_actions=2, n_contexts=1, n_feedback=2)
    readers = [LogReader(one), LogReader(two)]
    plain = {"episode": 1, "context": 0, "steps": SOUND, "feedback": 1}
    shared = json.loads(json.dumps(plain))
    assert KnownSteps().find_fault(shared) is None
    assert isinstance(shared["steps"], CommonSteps)
    for more in ({}, {"abandoned": True, "feedback": None}):
        for reader in [*readers, *readers]:
            assert reader.read(shared | more, 7) == reader.read(plain | more, 7)
    assert readers[0].read(shared, 1).states == [0]
    assert readers[1].read(shared, 1).rule == "mixed-horizon"

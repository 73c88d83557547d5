"""Episodes that come twice count once, whatever they are read from, and it is said."""

import json

import numpy as np
import pytest

from tacit.logs import repeats
from tacit.logs.dsjson import events_of
from tacit.logs.dsjson_joining import read_dsjson
from tacit.logs.episode import LoggedEpisode, LoggedStep
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource, read_logs
from tacit.logs.record import Fault, LogError
from tacit.logs.repeats import ANOTHER, NEW, REPEATED, KnownNames, Signatures, digest
from tacit.logs.writing import LogWriter


def episode(name, feedback="y"):
    return LoggedEpisode(name, "x", (LoggedStep("s", "a", ("a", "b"), 0.5),), feedback)


def write(path, *episodes):
    with LogWriter(path) as writer:
        for each in episodes:
            writer.write(each)
    return path


def enter_slowly(known, names, records):
    """What a dictionary says of names and records."""
    verdicts = []
    for name, record in zip(names, records, strict=True):
        verdicts.append(NEW if name not in known else REPEATED if known[name] == record else ANOTHER)
        known.setdefault(name, record)
    return verdicts


def test_names_are_known_again_as_a_dictionary_knows_them(monkeypatch):
    monkeypatch.setattr(repeats, "SMALLEST", 8)
    generator, known, slow = np.random.default_rng(0), KnownNames(), {}
    for n in (0, 1, 3, 400, 70):
        names = [b"%d" % name for name in generator.integers(0, 300, n)]
        records = [b"record %d" % record for record in generator.integers(0, 2, n)]
        found = known.enter(Signatures(digest(names), digest(records))).tolist()
        assert found == enter_slowly(slow, names, records)
    assert len(known) == len(slow)
    assert {NEW, REPEATED, ANOTHER} == set(found)


def test_many_names_are_told_apart_in_little_memory():
    known, n = KnownNames(), 100_000
    for begin in range(0, n, 10_000):
        names = digest([b"episode %d" % k for k in range(begin, begin + 10_000)])
        assert not known.enter(Signatures(names, names)).any()
    assert len(known) == n
    assert (known._names.nbytes + known._records.nbytes) / n < 60


def test_digests_depend_on_every_byte_and_on_the_length():
    texts = [b"x" * n for n in range(40)] + [b"0" * n + b"1" + b"0" * (19 - n) for n in range(20)]
    texts += [text + b"\0" for text in texts]
    assert len(set(digest(texts).tolist())) == len(texts)
    assert digest(texts).tolist() == [digest([text])[0] for text in texts]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "parquet"])
def test_the_first_of_a_name_is_taken_and_the_others_are_told(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(repeats, "AT_ONCE", 2)
    first = write(tmp_path / f"a.{ending}", episode(8), episode("8"), episode(8), episode("b", "first"))
    second = write(tmp_path / f"b.{ending}", episode("8"), episode("b", "second"), episode("c"))
    with Problems(side=tmp_path / "side.rejected.jsonl") as problems:
        found = list(read_logs([first, second], problems=problems))
    assert [each.episode for each in found] == [8, "8", "b", "c"]
    assert found[2].feedback == "first"
    told = [(problem.line, problem.rule) for problem in problems.first]
    assert told == [(3, "duplicate-episode"), (1, "duplicate-episode"), (2, "duplicate-name")]
    (kept,) = map(json.loads, (tmp_path / "side.rejected.jsonl").read_text().splitlines())
    assert json.loads(kept["raw"])["feedback"] == "second"
    assert "read the logs one by one" in kept["problem"]
    with pytest.raises(LogError, match="line 3: an episode counts once, got 8 again"):
        list(read_logs([first, second], strict=True))


def test_episodes_in_memory_count_once_too_and_in_every_pass():
    source = LogSource([episode(1), episode(2), episode(1)])
    for _ in range(2):
        assert [isinstance(found, Fault) for _, found in source] == [False, False, True]


def test_a_bad_record_does_not_take_a_name(tmp_path):
    bad = episode("a").to_json() | {"feedback": {}}
    path = tmp_path / "logs.jsonl"
    path.write_text(json.dumps(bad) + "\n" + json.dumps(episode("a").to_json()))
    problems = Problems()
    assert len(list(read_logs(path, problems=problems))) == 1
    assert dict(problems.by_rule) == {"bad-feedback": 1}


def test_events_of_an_episode_that_come_again_are_told(tmp_path):
    lines = [json.dumps(event) for name in ("a", "b", "a") for event in events_of(episode(name))]
    (tmp_path / "events.dsjson").write_text("\n".join(lines))
    problems = Problems()
    found = [each.episode for each in read_dsjson(tmp_path / "events.dsjson", problems=problems)]
    assert (found, dict(problems.by_rule)) == (["a", "b"], {"duplicate-episode": 1})

"""Side files: no two logs share one, nothing that is not Tacit's is touched, and no work is lost for one."""

import errno
import json
import os

import pytest

from tacit.base.files import WriteError
from tacit.logs import side_files
from tacit.logs.problems import Problem, Problems
from tacit.logs.side_files import is_side_file, remove_stale, side_file

PROBLEM = Problem("a\udcff.jsonl", 3, "no-feedback", "an episode must end with feedback")


def test_no_two_logs_share_a_side_file(tmp_path):
    (tmp_path / "a").mkdir()
    names = ["a", "a.jsonl", "a.jsonl.gz", "a.parquet", "a.ndjson", "a.b.jsonl", "a.b.jsonl.zst"]
    logs = [[tmp_path / name] for name in names]
    logs += [[tmp_path / "a.jsonl", tmp_path / other] for other in ("b.jsonl", "c.jsonl")]
    places = [side_file(each) for each in logs]
    assert len(set(places)) == len(places)
    assert all(place.name.endswith(".rejected.jsonl") and place.parent == tmp_path for place in places)
    assert side_file([tmp_path / "2026.01.jsonl"]).name == "2026.01.rejected.jsonl"


def test_a_directory_that_is_here_has_a_side_file_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert side_file(["."]) == tmp_path.parent / f"{tmp_path.name}.directory.rejected.jsonl"


def test_what_is_stale_is_removed_if_it_is_ours(tmp_path):
    ours, orders = tmp_path / "a.rejected.jsonl", tmp_path / "orders.rejected.jsonl"
    with Problems(side=ours) as problems:
        problems.add(PROBLEM, b"{}")
    assert json.loads(ours.read_text())["file"] == "a\\udcff.jsonl"
    orders.write_text('{"order": 1}\n')
    assert is_side_file(ours)
    for path in (ours, orders, tmp_path / "gone.rejected.jsonl"):
        remove_stale(path)
    assert [file.name for file in tmp_path.iterdir()] == ["orders.rejected.jsonl"]


def test_what_was_wrong_is_kept_where_a_call_fails_and_not_where_it_is_interrupted(tmp_path):
    def fail(error):
        with Problems(side=tmp_path / f"{error.__name__}.rejected.jsonl") as problems:
            problems.add(PROBLEM, b"{}")
            raise error

    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            fail(error)
    assert [file.name for file in tmp_path.iterdir()] == ["ValueError.rejected.jsonl"]


class FullDisk:
    """A writer that fails when it is opened, at its second line, or when it is closed."""

    def __init__(self, path):
        self.n = 0
        self._fail("open")

    def _fail(self, where):
        if where == self.where:
            raise WriteError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def write(self, row):
        self.n += 1
        if self.n == 2:
            self._fail("write")

    def close(self, keep=True):
        self._fail("close" if keep else "")


@pytest.mark.parametrize("where", ["open", "write", "close"])
def test_a_side_file_that_cannot_be_written_does_not_stop_the_work(tmp_path, monkeypatch, where):
    monkeypatch.setattr(FullDisk, "where", where, raising=False)
    monkeypatch.setattr(side_files, "LineWriter", FullDisk)
    with Problems(side=tmp_path / "a.rejected.jsonl", go_on=True) as problems:
        for _ in range(3):
            problems.add(PROBLEM, b"{}")
    assert (problems.total, problems.written) == (3, 0)
    assert "No space left" in problems.unwritten

    def insist():
        with Problems(side=tmp_path / "a.rejected.jsonl") as problems:
            for _ in range(3):
                problems.add(PROBLEM, b"{}")

    with pytest.raises(WriteError, match="No space left"):
        insist()

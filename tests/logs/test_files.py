"""What paths stand for: regular files alone, and words for everything else."""

import os
import socket

import pytest
from log_files import draw_episodes, write_log

from tacit.logs.dsjson_joining import find_events
from tacit.logs.files import LogError, find_logs


def test_a_folder_stands_for_its_regular_files(tmp_path):
    whole = write_log(tmp_path / "b.jsonl", draw_episodes(2))
    os.mkfifo(tmp_path / "a.jsonl")
    (tmp_path / "c.jsonl").mkdir()
    (tmp_path / "d.jsonl").symlink_to(tmp_path / "gone")
    (tmp_path / "e.jsonl").symlink_to(whole)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "f.jsonl"))
    assert [file.name for file in find_logs(tmp_path)] == ["b.jsonl", "e.jsonl"]
    assert [file.name for file in find_events(tmp_path)] == ["b.jsonl", "e.jsonl"]


@pytest.mark.parametrize("find", [find_logs, find_events])
def test_a_folder_of_nothing_but_pipes_is_refused_and_names_them(tmp_path, find):
    os.mkfifo(tmp_path / "a.jsonl")
    with pytest.raises(LogError, match=r"and be regular files, got .a\.jsonl"):
        find(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(LogError, match="there are no"):
        find(tmp_path / "empty")


@pytest.mark.parametrize("find", [find_logs, find_events])
@pytest.mark.parametrize(
    "name", ["a.jsonl", "gone.jsonl", "nul\0l.jsonl", "x" * 300 + ".jsonl", "a.jsonl/b.jsonl"]
)
def test_a_pipe_and_what_is_not_there_are_refused_in_a_sentence(tmp_path, find, name):
    os.mkfifo(tmp_path / "a.jsonl")
    with pytest.raises(LogError, match=r"must be regular files|there is no file"):
        find(tmp_path / name)

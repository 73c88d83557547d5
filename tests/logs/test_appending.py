"""Appending: what a kill or a full disk leaves is mended, and what could be read before can be read after."""

import errno
import gzip
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest
from log_files import draw_episodes, lines_of, pack_as_others, read_all, write_log

from tacit.base.files import WriteError
from tacit.logs import appending
from tacit.logs.files import LogError
from tacit.logs.writing import LogWriter

ENDINGS = ["jsonl", "jsonl.gz", "jsonl.zst"]
PACKINGS = ENDINGS[1:]
EPISODES = draw_episodes(300)
RECORDS = [episode.to_json() for episode in EPISODES]


def append(path, episodes):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with LogWriter(path, append=True) as writer:
            for episode in episodes:
                writer.write(episode)
    return [str(each.message) for each in told]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("make", [write_log, lambda path, them: pack_as_others(path, lines_of(them))])
def test_wherever_a_file_was_torn_it_can_be_appended_to(tmp_path, ending, make):
    if ending == "jsonl":
        make = write_log
    path = make(tmp_path / f"logs.{ending}", EPISODES[:200])
    whole = path.read_bytes()
    for end in range(0, len(whole), len(whole) // 40):
        path.write_bytes(whole[:end])
        before, rules = read_all(path)
        told = append(path, EPISODES[200:])
        after, wrong = read_all(path)
        assert after == before + RECORDS[200:]
        assert not wrong
        assert len(told) == len(rules), "what is cut off is told, and nothing else"
        assert not told or "bytes that were never finished" in told[0]


@pytest.mark.parametrize("ending", PACKINGS)
def test_garbage_at_the_end_is_cut_off(tmp_path, ending):
    path = write_log(tmp_path / f"logs.{ending}", EPISODES[:200])
    path.write_bytes(path.read_bytes() + b"garbage")
    (told,) = append(path, EPISODES[200:])
    assert "7 bytes that were never finished" in told
    assert read_all(path) == (RECORDS, [])


@pytest.mark.parametrize("ending", PACKINGS)
def test_damage_within_a_file_stays_and_is_told_again(tmp_path, ending):
    """It is no doing of a kill: packed anew it would pass for sound."""
    path = write_log(tmp_path / f"logs.{ending}", EPISODES[:200])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    before, rules = read_all(path)
    assert append(path, EPISODES[200:]) == []
    after, still = read_all(path)
    assert after == before + RECORDS[200:]
    assert still == rules != []


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_last_line_without_its_end_gets_one(tmp_path, ending):
    path, lines = tmp_path / f"logs.{ending}", lines_of(EPISODES[:200]).rstrip(b"\n")
    path.write_bytes(lines) if ending == "jsonl" else pack_as_others(path, lines)
    assert append(path, EPISODES[200:]) == []
    assert read_all(path) == (RECORDS, [])


WRITER = """
import itertools, sys
sys.path[:0] = sys.argv[3:]
from log_files import draw_episodes
from tacit.logs import writing
writing.MEMBER = 20_000
with writing.LogWriter(sys.argv[1], append=True) as writer:
    for number, episode in enumerate(itertools.cycle(draw_episodes(500, int(sys.argv[2]))), 1):
        writer.write(episode)
        if number % 50 == 0:
            writer.flush()
            print(number, flush=True)
"""


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_kill_while_appending_loses_nothing_that_was_flushed(tmp_path, ending):
    """By SIGKILL, several times on one file, in the middle of whatever the writer does."""
    path, flushed, tests = tmp_path / f"logs.{ending}", [], str(Path(__file__).parents[1])
    for session in range(3):
        command = [sys.executable, "-W", "ignore", "-c", WRITER, str(path), str(session), tests]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            lines = [process.stdout.readline() for _ in range(5 + session)]
            time.sleep(0.02 * session)
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.readlines()
        acknowledged = max(int(line) for line in lines if line.endswith("\n"))
        drawn = [episode.to_json() for episode in draw_episodes(500, session)]
        expected = (drawn * (acknowledged // 500 + 1))[:acknowledged]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            LogWriter(path, append=True).close()
        records, rules = read_all(path)
        known = len(flushed)
        assert rules == []
        assert records[:known] == flushed
        assert records[known : known + acknowledged] == expected
        flushed = records


@pytest.mark.parametrize("ending", ENDINGS)
def test_flushed_episodes_are_on_disk_and_can_be_read(tmp_path, ending, monkeypatch):
    path, synced, fsync = tmp_path / f"logs.{ending}", [], os.fsync
    writer = LogWriter(path, append=True)
    monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.append(descriptor), fsync(descriptor)))
    for number, episode in enumerate(EPISODES[:3], 1):
        writer.write(episode)
        writer.flush()
        assert len(synced) == number
        assert read_all(path) == (RECORDS[:number], [])
    writer.close()


def test_what_is_written_whole_is_not_flushed(tmp_path):
    for name in ("logs.jsonl", "logs.parquet"):
        writer = LogWriter(tmp_path / name)
        with pytest.raises(LogError, match="is on disk when it is closed"):
            writer.flush()
        writer.close(keep=False)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_leaves_no_half_block_and_nothing_is_lost_when_there_is_room(
    tmp_path, ending, monkeypatch
):
    path = write_log(tmp_path / f"logs.{ending}", EPISODES[:100])
    before = path.read_bytes()
    with LogWriter(path, append=True) as writer:
        room = HalfFull(writer._writer._file._file)
        monkeypatch.setattr(writer._writer._file, "_file", room)
        for episode in EPISODES[100:]:
            try:
                writer.write(episode)
            except WriteError:
                assert path.read_bytes() == before
        with pytest.raises(WriteError, match="cannot be added to: No space left on device; make room"):
            writer.flush()
        assert path.read_bytes() == before
        room.full = False
    assert read_all(path) == (RECORDS, [])


class HalfFull:
    """A file on a disk that takes some bytes and no more, while it is full."""

    def __init__(self, file):
        self._file, self.full = file, True

    def write(self, content):
        if not self.full:
            return self._file.write(content)
        if len(content) > 10:
            return self._file.write(content[: len(content) - 10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fileno(self):
        return self._file.fileno()

    def close(self):
        self._file.close()


@pytest.mark.parametrize("ending", ENDINGS)
def test_threads_share_a_writer(tmp_path, ending, monkeypatch):
    monkeypatch.setattr("tacit.logs.writing.MEMBER", 500)
    path = tmp_path / f"logs.{ending}"
    with LogWriter(path, append=True) as writer:
        threads = [
            threading.Thread(target=lambda n=n: [writer.write(episode) for episode in EPISODES[n::4]])
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    records, rules = read_all(path)
    assert sorted(record["episode"] for record in records) == sorted(each.episode for each in EPISODES)
    assert not rules


def test_a_torn_end_is_replaced_in_a_copy(tmp_path, monkeypatch):
    """A kill while a file is mended leaves it as it was."""
    path = tmp_path / "logs.jsonl.gz"
    torn = gzip.compress(lines_of(EPISODES))[:-100]
    path.write_bytes(torn)

    def fail(*names):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        appending.mend(path)
    assert path.read_bytes() == torn
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_is_not_appended_to(tmp_path):
    os.mkfifo(tmp_path / "logs.jsonl")
    with pytest.raises(LogError, match="regular files"):
        LogWriter(tmp_path / "logs.jsonl", append=True)

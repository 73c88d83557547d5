"""Whatever is written is on disk when it has its name, and so is the name: a power cut leaves the old or the new."""

import os
from collections import namedtuple

import pytest

import tacit
from tacit.agent import Agent
from tacit.envs.drawn_logs import draw_logs
from tacit.envs.synthetic import synthetic_mdp
from tacit.logs.convert import convert
from tacit.logs.writing import LogWriter
from tacit.offline.fit import diagnose_logs

Deed = namedtuple("Deed", "name place")
EPISODES = 300


@pytest.fixture(scope="module")
def logs():
    return list(draw_logs(synthetic_mdp(), EPISODES, seed=4))


@pytest.fixture(scope="module")
def model(logs):
    return tacit.fit(logs)


@pytest.fixture
def deeds(monkeypatch):
    """Return a list that tells in which order files and folders are brought to disk, and files take their names."""
    told, fsync, replace = [], os.fsync, os.replace

    def note_sync(descriptor):
        told.append(Deed("sync", os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    def note_replace(old, new):
        told.append(Deed("name", (os.fspath(old), os.path.realpath(new))))
        replace(old, new)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", note_replace)
    return told


def is_on_disk(file, deeds):
    """Return whether a file was brought to disk before it took its name, and its folder after."""
    named = [n for n, deed in enumerate(deeds) if deed.name == "name" and deed.place[1] == str(file)]
    if not named:
        return False
    before, after = deeds[: named[-1]], deeds[named[-1] :]
    return Deed("sync", deeds[named[-1]].place[0]) in before and Deed("sync", str(file.parent)) in after


def write_log(path, episodes):
    with LogWriter(path) as writer:
        for episode in episodes:
            writer.write(episode)


WRITERS = {
    "agent": lambda path, logs, model: Agent(synthetic_mdp().layout).save(path),
    "model": lambda path, logs, model: model.save(path),
    "labels.jsonl": lambda path, logs, model: model.label(logs, path),
    "labels.jsonl.gz": lambda path, logs, model: model.label(logs, path),
    "labels.parquet": lambda path, logs, model: model.label(logs, path),
    "logs.jsonl": lambda path, logs, model: write_log(path, logs),
    "logs.jsonl.zst": lambda path, logs, model: write_log(path, logs),
    "logs.parquet": lambda path, logs, model: write_log(path, logs),
    "value.json": lambda path, logs, model: model.evaluate(logs).write(path),
    "page.html": lambda path, logs, model: diagnose_logs(logs).write(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_written_is_on_disk_when_it_has_its_name(name, logs, model, deeds, tmp_path):
    WRITERS[name](tmp_path / name, logs, model)
    (file,) = tmp_path.iterdir()
    assert is_on_disk(file, deeds)


def test_a_conversion_is_on_disk_when_it_has_its_name(logs, deeds, tmp_path):
    write_log(tmp_path / "logs.jsonl", logs)
    convert(tmp_path / "logs.jsonl", tmp_path / "events.dsjson", "dsjson")
    assert all(is_on_disk(file, deeds) for file in tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) == 2


def test_control_a_file_that_is_not_brought_to_disk_is_found(deeds, tmp_path):
    (tmp_path / "plain").write_text("1")
    (tmp_path / "part").write_text("1")
    os.replace(tmp_path / "part", tmp_path / "renamed")
    assert not any(is_on_disk(file, deeds) for file in tmp_path.iterdir())

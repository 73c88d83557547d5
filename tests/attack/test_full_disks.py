"""Disks that are full, or fail at the last moment: what was there stays, nothing is left half written, users are told.

A limit on the size of files stands for a full disk: it reaches every writer, those that are not in Python, too. Beside
it, the calls by which a file becomes whole fail: the flush to the disk, and the new name.
"""

import contextlib
import errno
import os
import resource

from attack_subjects import agent_file, model_file, table_episodes
from campaign import Outcome, changed, drawn, lost, soft_limit
from commanding import check_ending, invoke, run

from tacit.agent import Agent
from tacit.logs.problems import Problems
from tacit.logs.reading import read_logs
from tacit.logs.writing import LogWriter

EPISODES = 200
GOOD = b"something good"
OUTPUTS = {
    "fit": ("model.out",),
    "label": ("l.jsonl", "l.jsonl.gz", "l.jsonl.zst", "l.parquet"),
    "diagnose": ("page.html",),
    "evaluate": ("value.json",),
    "train": ("agent.out",),
    "convert": ("c.jsonl", "c.jsonl.gz", "c.jsonl.zst", "c.parquet"),
    "dsjson": ("c.dsjson",),
}
LEAST = {
    "fit": 1500,
    "label": 2000,
    "diagnose": 20_000,
    "evaluate": 300,
    "train": 2000,
    "convert": 3000,
    "dsjson": 3000,
}
"""Bytes that every output of a command is certain to have."""


def least_size(command, out):
    return LEAST[command] * (0.2 if out.endswith((".gz", ".zst", ".parquet")) else 1)


def words_of(command, folder, out):
    log, model = folder / "logs.jsonl", ("--model", folder / "model")
    return {
        "fit": ("fit", log, "--out", out),
        "label": ("label", log, *model, "--out", out),
        "diagnose": ("diagnose", log, "--out", out),
        "evaluate": ("evaluate", log, *model, "--out", out),
        "train": ("train", log, *model, "--out", out),
        "convert": ("convert", log, out, "--to", "logs"),
        "dsjson": ("convert", log, out, "--to", "dsjson"),
    }[command]


def prepare(folder, bad_lines):
    for old in folder.iterdir():
        old.unlink()
    (folder / "model").write_bytes(model_file("table model"))
    with LogWriter(folder / "logs.jsonl") as writer:
        for episode in table_episodes()[:EPISODES]:
            writer.write(episode)
    with open(folder / "logs.jsonl", "a") as file:
        file.write('{"bad": 1}\n' * bad_lines)


@contextlib.contextmanager
def failing(name, number):
    """Let a call of the system fail with an error from now on."""
    true = getattr(os, name)

    def fail(*given, **more):
        raise OSError(number, os.strerror(number))

    setattr(os, name, fail)
    try:
        yield
    finally:
        setattr(os, name, true)


def trouble(kind, size):
    """Return the trouble that a command meets."""
    return soft_limit(resource.RLIMIT_FSIZE, size) if kind == "full" else failing(*kind)


KINDS = ("full", "full", ("fsync", errno.EIO), ("fsync", errno.ENOSPC), ("replace", errno.EDQUOT))


def draw(chance):
    commands = [c for c in OUTPUTS if c != "diagnose" or chance.random() < 0.3]
    command = commands[chance.integers(len(commands))]
    out = OUTPUTS[command][chance.integers(len(OUTPUTS[command]))]
    kind = KINDS[chance.integers(len(KINDS))]
    size = int(least_size(command, out) * chance.random())
    bad = int(chance.integers(3))
    return f"{command} to {out}: {kind}, {size} bytes fit, {bad} bad lines", (command, out, kind, size, bad)


def test_a_full_disk_leaves_what_was_there(attack, tmp_path):
    def judge(given):
        command, name, kind, size, bad = given
        prepare(tmp_path, bad)
        out = tmp_path / name
        out.write_bytes(GOOD)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        with trouble(kind, size):
            done = invoke(*words_of(command, tmp_path, out))
        after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        if gone := [name for name, content in before.items() if after.get(name) != content]:
            raise lost(f"exit code {done.exit_code}, and {gone} are not what they were")
        if left := [name for name in after if name.endswith(".part")]:
            raise lost(f"half written files are left: {left}")
        if done.exit_code == 0:
            raise changed("it says that all went well")
        check_ending(done)
        return Outcome.REFUSED

    attack("disks, commands", drawn(40, draw), judge)


def draw_save(chance):
    size, kind = int(chance.integers(1500)), KINDS[chance.integers(len(KINDS))]
    return f"{kind}, {size} bytes fit", (kind, size)


def test_a_full_disk_leaves_the_agent_that_was_saved(attack, tmp_path):
    def judge(given):
        kind, size = given
        path = tmp_path / "agent"
        path.write_bytes(agent_file("fast"))
        agent = Agent.load(path)
        agent.begin(0)
        try:
            with trouble(kind, size):
                agent.save(path)
        except OSError:
            if path.read_bytes() != agent_file("fast"):
                raise lost("the agent that was saved before is gone") from None
            if left := [file.name for file in tmp_path.iterdir() if file != path]:
                raise lost(f"files are left: {left}") from None
            agent.save(path)
            Agent.load(path)
            return Outcome.REFUSED
        raise changed("it says that it was saved")

    attack("disks, saving", drawn(60, draw_save), judge)


def draw_append(chance):
    ending = (".jsonl", ".jsonl.gz", ".jsonl.zst")[chance.integers(3)]
    more = int(chance.integers(1, 8000))
    return f"{ending}, {more} bytes fit after what was closed", (ending, more)


def test_a_disk_that_fills_while_appending_keeps_what_was_closed(attack, tmp_path):
    def judge(given):
        ending, more = given
        path = tmp_path / f"log{ending}"
        path.unlink(missing_ok=True)
        first, second, third = (table_episodes()[n : n + 100] for n in (0, 100, 200))
        append(path, first)
        refused = False
        with soft_limit(resource.RLIMIT_FSIZE, path.stat().st_size + more):
            try:
                append(path, second)
            except OSError:
                refused = True
        append(path, third)
        read = [episode.episode for episode in read_logs(path, problems=Problems())]
        closed = [*first, *third] if refused else [*first, *second, *third]
        if missing := {episode.episode for episode in closed} - set(read):
            raise lost(f"{len(missing)} of {len(closed)} episodes that were closed cannot be read")
        if len(read) > len(set(read)):
            raise changed("an episode is read twice")
        return Outcome.REFUSED if refused else Outcome.SOUND

    attack("disks, appending", drawn(40, draw_append), judge)


def append(path, episodes):
    with LogWriter(path, append=True) as writer:
        for episode in episodes:
            writer.write(episode)


def test_control_without_trouble_every_command_writes(tmp_path):
    prepare(tmp_path, 1)
    for command, names in OUTPUTS.items():
        for name in names:
            (tmp_path / name).write_bytes(GOOD)
            assert run(*words_of(command, tmp_path, tmp_path / name)).exit_code == 0
            assert (tmp_path / name).stat().st_size >= least_size(command, name)

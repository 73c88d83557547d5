"""Commands given hostile places: outputs that are inputs, folders that cannot be written, logs with nothing in them.

An input is never touched, whatever name leads to it. What a user had before stays unless something better is there. A
command that could use nothing has failed, and its exit code says so.
"""

import contextlib
import gzip
import json
import os
import shutil

import pytest
from attack_subjects import agent_file, model_file, table_episodes
from campaign import Outcome, changed, drawn, listed, lost, raw, sampled
from commanding import check_ending, invoke, outcome, run

from tacit.logs.writing import LogWriter

EPISODES = 60
NOBODY = 65534
"""Whose rights a test takes that runs as root, for whom every folder is open."""


@pytest.fixture
def place(tmp_path):
    """Return a folder with a log, a model, an agent and labels, made anew when it is called."""
    tmp_path.chmod(0o755)

    def make():
        for old in tmp_path.iterdir():
            old.chmod(0o755)
            shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
        (tmp_path / "model").write_bytes(model_file("table model"))
        (tmp_path / "agent").write_bytes(agent_file("fast"))
        (tmp_path / "day").mkdir()
        write_log(tmp_path / "day" / "logs.jsonl")
        run("label", tmp_path / "day", "--model", tmp_path / "model", "--out", tmp_path / "labels.jsonl")
        return tmp_path

    return make


def write_log(path):
    with LogWriter(path) as writer:
        for episode in table_episodes()[:EPISODES]:
            writer.write(episode)


def commands(place, log, out, rejected=None):
    """Return every command that writes, reading `log` and writing `out`."""
    model, extra = place / "model", ("--rejected", rejected) if rejected else ()
    return {
        "fit": ("fit", log, "--out", out, *extra),
        "label": ("label", log, "--model", model, "--out", out, *extra),
        "diagnose": ("diagnose", log, "--out", out, *extra),
        "evaluate": ("evaluate", log, "--model", model, "--out", out, *extra),
        "train": ("train", log, "--model", model, "--out", out, *extra),
        "convert": ("convert", log, out, "--to", "logs", *extra),
    }


def contents(folder):
    """Return all files of a folder with their bytes; links as where they lead."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def same_name(place, target):
    return target


def symlink(place, target):
    (place / "link.jsonl").symlink_to(target)
    return place / "link.jsonl"


def hard_link(place, target):
    os.link(target, place / "link.jsonl")
    return place / "link.jsonl"


def roundabout(place, target):
    return place / "day" / ".." / target.relative_to(place)


def linked_folder(place, target):
    (place / "linked").symlink_to(target.parent)
    return place / "linked" / target.name


NAMES = (same_name, symlink, hard_link, roundabout, linked_folder)
TARGETS = {
    "the log": lambda place: place / "day" / "logs.jsonl",
    "the model": lambda place: place / "model",
}


def collisions():
    """Yield every command with an input as its output, or as its side file, under every name that it can have."""
    for command in ("fit", "label", "diagnose", "evaluate", "train", "convert"):
        for name in NAMES:
            for target in TARGETS:
                if target == "the log" or command in ("label", "evaluate", "train"):
                    yield f"{command} onto {target} by {name.__name__}", (command, name, target, "out", False)
            yield (
                f"{command}, folder read, onto a file in it by {name.__name__}",
                (command, name, "the log", "out", True),
            )
            yield (
                f"{command} --rejected the log by {name.__name__}",
                (command, name, "the log", "rejected", False),
            )
        yield f"{command} --rejected onto --out", (command, same_name, "the log", "both", False)


def test_no_output_replaces_an_input(attack, place):
    def judge(given):
        command, name, target, where, folder = given
        here = place()
        broken = here / "day" / "logs.jsonl"
        if where != "out":
            broken.write_text(broken.read_text() + "{}\n")
        alias = name(here, TARGETS[target](here))
        before = contents(here)
        out = here / "out.jsonl" if where != "out" else alias
        side = {"rejected": alias, "both": out}.get(where)
        done = invoke(*commands(here, here / "day" if folder else broken, out, side)[command])
        gone = [path for path, content in before.items() if contents(here).get(path) != content]
        if gone:
            raise lost(f"exit code {done.exit_code}, and {gone} are not what they were")
        if done.exit_code == 0 and where != "both":
            raise changed("it is not refused")
        if done.exit_code == 0 and where == "both" and command != "diagnose":
            raise lost("the side file and the output are one file, and it is not refused")
        check_ending(done)
        return outcome(done)

    attack("commands, output is input", listed(sampled(collisions(), 30)), judge)


USELESS = {
    "empty": b"",
    "blank lines": b"\n\n\n",
    "UTF-16": "\n".join(json.dumps(e.to_json()) for e in table_episodes()[:20]).encode("utf-16"),
    "garbage": bytes(range(256)) * 20,
    "NULs": bytes(5000),
    "no episodes": b'{"a": 1}\n' * 30,
    "a CSV": b"episode,context,feedback\n1,2,3\n",
    "lists": b"[1, 2]\n" * 10,
}


def useless():
    for ending in (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet"):
        for words, content in USELESS.items():
            packed = gzip.compress(content) if ending == ".jsonl.gz" and words != "garbage" else content
            yield words, ending, packed


def test_a_log_with_nothing_usable_fails_and_what_was_there_stays(attack, place):
    inputs = [
        (f"{command} on {words} as {ending}", (command, ending, content))
        for words, ending, content in useless()
        for command in ("fit", "label", "evaluate", "train", "convert")
        if ending in (".jsonl", ".jsonl.gz") or command in ("label", "train")
    ]

    def judge(given):
        command, ending, content = given
        here = place()
        log = here / f"useless{ending}"
        log.write_bytes(content)
        out = here / "good.jsonl"
        out.write_text("something good")
        done = run(*commands(here, log, out)[command])
        if out.read_bytes() != b"something good":
            raise lost(f"exit code {done.exit_code}, and what was there is replaced by what came of nothing")
        if done.exit_code == 0:
            raise changed("it says that all went well")
        check_side_file(here, done.output)
        return Outcome.REFUSED

    attack("commands, nothing usable", listed(sampled(inputs, 24)), judge)


def check_side_file(here, said):
    """Raise if a side file is named that is not there."""
    for word in said.split():
        named = word.strip(".,;:'\"")
        if named.endswith(".rejected.jsonl") and not os.path.exists(named):
            raise changed(f"{named!r} is named, and is not there")


@contextlib.contextmanager
def as_nobody():
    """Give up the rights of root for a while, if there are any."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def unwritable():
    for command in ("fit", "label", "diagnose", "evaluate", "train", "convert"):
        for where in ("read-only folder", "missing folder", "a folder", "below a file", "name too long"):
            yield f"{command} into: {where}", (command, where)


def test_an_output_that_cannot_be_written_is_told(attack, place):
    def judge(given):
        command, where = given
        here = place()
        (here / "closed").mkdir()
        (here / "closed").chmod(0o555)
        out = {
            "read-only folder": here / "closed" / "out.jsonl",
            "missing folder": here / "gone" / "out.jsonl",
            "a folder": here / "folder.jsonl",
            "below a file": here / "model" / "out.jsonl",
            "name too long": here / f"{'x' * 300}.jsonl",
        }[where]
        (here / "folder.jsonl").mkdir()
        with as_nobody() if where == "read-only folder" else contextlib.nullcontext():
            done = run(*commands(here, here / "day", out)[command])
        if done.exit_code == 0 and not out.is_file():
            raise lost("it says that all went well, and nothing is there")
        if done.exit_code and out.name[:20] not in done.output and str(out.parent) not in done.output:
            raise raw(f"it does not say which file: {done.output[-200:]!r}")
        return outcome(done)

    attack("commands, unwritable outputs", listed(sampled(unwritable(), 10)), judge)


def test_one_bad_line_in_a_read_only_folder_stops_nothing_or_names_the_remedy(attack, place):
    def judge(command):
        here = place()
        log = here / "day" / "logs.jsonl"
        log.write_text(log.read_text() + "{}\n")
        (here / "results").mkdir()
        (here / "results").chmod(0o777)
        (here / "day").chmod(0o555)
        with as_nobody():
            done = run(*commands(here, log, here / "results" / "out.jsonl")[command])
        if done.exit_code and "--rejected" not in done.output:
            raise raw(f"it stops and does not say that --rejected helps: {done.output[-200:]!r}")
        return outcome(done)

    names = ("fit", "label", "diagnose", "evaluate", "train", "convert")
    attack("commands, read-only logs", listed((name, name) for name in names), judge)


def test_side_files_do_not_meet(attack, place):
    """What is set aside of one log stays when another is read, also of logs with dots in their names."""

    def judge(names):
        here = place()
        for n, name in enumerate(names):
            write_log(here / name)
            with open(here / name, "a") as file:
                file.write(f'{{"bad": {n}}}\n')
            run("convert", here / name, here / f"out{n}.jsonl", "--to", "logs")
        kept = "".join(path.read_text() for path in here.rglob("*.rejected.jsonl"))
        if missing := [n for n in range(len(names)) if f'bad\\": {n}' not in kept]:
            raise lost(f"the side files of {[names[n] for n in missing]} are gone")

    inputs = [
        ("dots", ("2026.01.jsonl", "2026.02.jsonl")),
        ("endings", ("a.jsonl", "a.ndjson")),
        ("plain", ("a.jsonl", "b.jsonl")),
        ("hidden", (".a.jsonl", ".b.jsonl")),
    ]
    attack("commands, side files", listed(inputs), judge)


def test_a_side_file_goes_with_the_lines_that_it_held(attack, place):
    """A log whose bad lines were mended leaves no side file behind that still tells of them."""

    def judge(command):
        here = place()
        log = here / "day" / "logs.jsonl"
        good = log.read_text()
        for text in (good + "{}\n", good):
            log.write_text(text)
            done = run(*commands(here, log, here / "out.jsonl")[command])
        if stale := list(here.rglob("*.rejected.jsonl")):
            raise changed(f"{stale[0].name} still tells of lines that are no more")
        return outcome(done)

    attack("commands, stale side files", listed((name, name) for name in ("fit", "label", "convert")), judge)


def strange_inputs(here):
    """Yield folders and files that stand where logs should, and whether nothing usable is in them."""
    day = here / "day"
    os.mkfifo(day / "pipe.jsonl")
    yield "a FIFO in the folder", day
    yield "a FIFO itself", day / "pipe.jsonl"
    (here / "devices").mkdir()
    (here / "devices" / "zero.jsonl").symlink_to("/dev/zero")
    yield "a device in the folder", here / "devices"
    (here / "dangling").mkdir()
    (here / "dangling" / "gone.jsonl").symlink_to("nowhere")
    yield "a link to nowhere", here / "dangling"
    (here / "loop").mkdir()
    (here / "loop" / "loop.jsonl").symlink_to("loop.jsonl")
    yield "a link to itself", here / "loop"
    (here / "nested" / "logs.jsonl").mkdir(parents=True)
    yield "a folder named like a log", here / "nested"
    (here / "[red]day[bold]").mkdir()
    write_log(here / "[red]day[bold]" / "[bold]logs.jsonl")
    yield "brackets", here / "[red]day[bold]"
    (here / "empty").mkdir()
    yield "an empty folder", here / "empty"


WORDS = (
    *(
        "a FIFO in the folder",
        "a FIFO itself",
        "a device in the folder",
        "a link to nowhere",
        "a link to itself",
    ),
    *("a folder named like a log", "brackets", "an empty folder"),
)


def test_strange_files_in_folders_are_passed_over_or_told(attack, place):
    def judge(given):
        words, command = given
        here = place()
        log = dict(strange_inputs(here))[words]
        out = here / "[green]out.jsonl"
        done = run(*commands(here, log, out)[command])
        if done.exit_code == 0 and str(out) not in "".join(done.output.split("\n")):
            raise changed(f"the path that it prints lacks something: {done.output[-200:]!r}")
        return outcome(done)

    inputs = [
        (f"{command} on {words}", (words, command))
        for words in WORDS
        for command in ("fit", "label", "convert")
    ]
    attack("commands, strange files", listed(inputs), judge, seconds=15)


def test_the_folder_one_stands_in_is_a_place_for_logs(attack, place, monkeypatch):
    """`tacit fit .` reads the logs of this folder; with a bad line in them, the side file has a name."""

    def judge(given):
        command, bad = given
        here = place()
        if bad:
            log = here / "day" / "logs.jsonl"
            log.write_text(log.read_text() + "{}\n")
        monkeypatch.chdir(here / "day")
        return outcome(run(*commands(here, ".", here / "out.jsonl")[command]))

    names = ("fit", "label", "diagnose", "evaluate", "train", "convert")
    attack(
        "commands, this folder",
        listed((f"{n} ., {b} bad lines", (n, b)) for n in names for b in (0, 1)),
        judge,
    )


def draw_plain(chance):
    names = ("fit", "label", "diagnose", "evaluate", "train", "convert")
    name = names[chance.integers(6)]
    return name, name


def test_control_plain_commands_go_well(attack, place):
    def judge(command):
        here = place()
        done = run(*commands(here, here / "day", here / "out.jsonl")[command])
        if done.exit_code or not (here / "out.jsonl").is_file():
            raise lost(done.output)

    attack("commands, control", drawn(6, draw_plain), judge)

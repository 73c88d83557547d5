"""Ctrl-C and kills at any moment of a command, from its first imports on: no traceback, and files that are old or new.

The moment is one of the events by which Python tells auditors what it does (files opened, code executed, modules
imported), so that it repeats. What comes before the command's own code has begun to import other packages is Python's.
"""

import os
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path

from attack_subjects import model_file, table_episodes
from campaign import Broken, Outcome, changed, drawn, listed, lost, raw
from commanding import check_words, run

from tacit.logs.writing import LogWriter

ROOT = Path(__file__).parents[2]
GOOD = b"something good"
EPISODES = 300
INTERRUPTED = 130

DRIVER = """
import os, signal, sys
module, name, number, at = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
sys.argv = ["tacit", *sys.argv[5:]]
seen, begun, over = 0, False, False

def audit(event, arguments):
    global seen, begun
    if over or module not in sys.modules:
        return
    if event == "import" and not begun:
        top = arguments[0].split(".")[0]
        begun = top != "tacit" and top not in sys.stdlib_module_names
    if begun:
        seen += 1
        if seen == at:
            os.kill(os.getpid(), number)

sys.addaudithook(audit)
try:
    __import__(module)
    getattr(sys.modules[module], name)()
finally:
    over = True
    if not at:
        print("EVENTS", seen, file=sys.stderr)
"""


def entry_point():
    """Return module and function of the command, as it is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return project["project"]["scripts"]["tacit"].split(":")


def start(number, at, *words, **more):
    command = [sys.executable, "-c", DRIVER, *entry_point(), str(int(number)), str(at), *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def perform(number, at, *words):
    """Return (exit code, output) of a command that gets a signal at an event; 0 gives none."""
    process = start(number, at, *words)
    try:
        said, complained = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Broken(Outcome.HANG, "the command did not end within a minute") from None
    return process.returncode, said + complained


def prepare(folder):
    (folder / "model").write_bytes(model_file("table model"))
    with LogWriter(folder / "logs.jsonl") as writer:
        for episode in table_episodes()[:EPISODES]:
            writer.write(episode)
    return ("label", folder / "logs.jsonl", "--model", folder / "model", "--out", folder / "out.jsonl")


def count_events(words):
    code, said = perform(signal.SIGINT, 0, *words)
    assert code == 0, said
    return int(said.split("EVENTS")[1])


def test_signals_leave_whole_files_and_no_traceback(attack, tmp_path):
    words, out = prepare(tmp_path), tmp_path / "out.jsonl"
    events = count_events(words)
    whole = out.read_bytes()

    def draw(chance):
        number = signal.SIGINT if chance.random() < 0.75 else signal.SIGKILL
        first, last = ((1, events // 20), (1, events // 20), (1, events), (events - 300, events))[
            chance.integers(4)
        ]
        at = int(chance.integers(first, last))
        return f"{number.name} at event {at} of {events}", (number, at)

    def judge(given):
        number, at = given
        out.write_bytes(GOOD)
        code, said = perform(number, at, *words)
        if out.read_bytes() not in (GOOD, whole):
            raise lost("the output is neither the old nor the new")
        parts = list(tmp_path.glob("*.part"))
        for part in parts:
            part.unlink()
        if number == signal.SIGKILL:
            return Outcome.REFUSED
        if parts:
            raise lost(f"half written files are left: {[part.name for part in parts]}")
        if "Exception ignored" not in said:  # where Python itself cannot pass an interrupt on
            judge_interrupt(code, said)
        return Outcome.REFUSED

    attack("signals, label", drawn(6, draw), judge, seconds=90)
    assert run(*words).exit_code == 0


def judge_interrupt(code, said):
    if "Traceback" in said:
        raise raw(f"Ctrl-C shows a traceback that ends with {said.strip().splitlines()[-1]!r}")
    if code == 0:
        raise changed("a command that was interrupted says that all went well")
    if code not in (INTERRUPTED, -signal.SIGINT, 1):
        raise changed(f"a command that was interrupted ends with {code}: {said[-200:]!r}")


def workers_of(process):
    """Return the workers in a session: all but its leader, and the process in which Python tracks resources."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != process.pid:
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                tracker = b"resource_tracker" in (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if int(fields[3]) == process.pid and fields[0] != "Z" and not tracker:
                found.append(int(entry.name))
    return found


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    return None


MANY = 20_000
"""Episodes that keep two workers busy for seconds."""


def write_many(path):
    with LogWriter(path) as writer:
        for number in range(MANY):
            writer.write(replace(table_episodes()[number % EPISODES], episode=number))


def test_workers_end_with_their_parent_and_a_killed_worker_is_told(attack, tmp_path):
    words = (*prepare(tmp_path), "--processes", 2)
    write_many(tmp_path / "logs.jsonl")

    def judge(whom):
        process = start(signal.SIGINT, -1, *words, start_new_session=True)
        try:
            wait_for(lambda: len(workers_of(process)) >= 2, 30)
            workers = workers_of(process)
            time.sleep(0.5)
            for victim in [process.pid] if whom == "the parent" else workers[:1]:
                os.kill(victim, signal.SIGKILL)
            said = "".join(process.communicate(timeout=40))
            if not wait_for(lambda: not workers_of(process), 15):
                raise lost(f"{len(workers_of(process))} workers outlive their parent")
        except (subprocess.TimeoutExpired, ProcessLookupError) as error:
            raise Broken(
                Outcome.HANG, f"{whom} was killed, and the command does not end ({error!r:.60})"
            ) from None
        finally:
            if process.poll() is None:
                process.kill()
            for left in workers_of(process):
                os.kill(left, signal.SIGKILL)
        if whom != "the parent":
            check_words(process.returncode, said)
        return Outcome.REFUSED

    cases = [("the parent", "the parent"), ("a worker", "a worker")]
    attack("signals, workers", listed(cases), judge, seconds=120)

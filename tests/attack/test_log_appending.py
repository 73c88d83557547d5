"""Programs that append to a log and are killed at it: what was closed before and after is read, all of it.

`LogWriter.close` acknowledges what was written; of a program that was killed before, any whole episodes from its first
on may be there. No episode may be there that nobody wrote, or twice.
"""

import os
import shutil
import signal

from attack_subjects import table_episodes
from campaign import Outcome, changed, drawn, lost

from tacit.logs.problems import Problems
from tacit.logs.reading import read_logs
from tacit.logs.writing import LogWriter

ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")
FIRST, LAST = 30, 20


def append(path, episodes):
    with LogWriter(path, append=True) as writer:
        for episode in episodes:
            writer.write(episode)


def append_until_killed(path, episodes):
    """Append in a process of its own, which is killed before it can close the file."""
    child = os.fork()
    if child == 0:
        writer = LogWriter(path, append=True)
        for episode in episodes:
            writer.write(episode)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def append_torn(path, episodes, share):
    """Append, and leave of it what a kill leaves that comes when a share of the bytes has reached the disk."""
    before = path.stat().st_size if path.exists() else 0
    append(path, episodes)
    os.truncate(path, before + int((path.stat().st_size - before) * share))


def draw(chance):
    ending = ENDINGS[chance.integers(len(ENDINGS))]
    first = FIRST if chance.random() < 0.8 else 0
    torn = [int(n) for n in chance.integers(1, 150, size=chance.integers(1, 4))]
    shares = [None if chance.random() < 0.3 else float(chance.random()) for _ in torn]
    how = ["killed" if share is None else f"torn at {share:.2f}" for share in shares]
    between = ", ".join(f"{n} {h}" for n, h in zip(torn, how, strict=True))
    return f"{ending}: {first} closed, then {between}, {LAST} closed", (ending, first, torn, shares)


def judge_in(folder):
    def judge(given):
        ending, first, torn, shares = given
        shutil.rmtree(folder / "log", ignore_errors=True)
        (folder / "log").mkdir()
        path, supply = folder / "log" / f"log{ending}", iter(table_episodes())
        take = lambda n: [next(supply) for _ in range(n)]  # noqa: E731
        closed, begun = take(first), []
        if closed:
            append(path, closed)
        for n, share in zip(torn, shares, strict=True):
            begun += (episodes := take(min(n, 100)))
            append_until_killed(path, episodes) if share is None else append_torn(path, episodes, share)
        closed += (last := take(LAST))
        append(path, last)
        return check_read(path, closed, begun)

    return judge


def check_read(path, closed, begun):
    problems = Problems()
    read = list(read_logs(path, problems=problems))
    known = {episode.episode: episode for episode in [*closed, *begun]}
    if any(known.get(episode.episode) != episode for episode in read):
        raise changed("an episode is read that nobody wrote")
    names = [episode.episode for episode in read]
    if len(names) > len(set(names)):
        raise changed("an episode is read twice")
    missing = {episode.episode for episode in closed} - set(names)
    if missing:
        raise lost(f"{len(missing)} of {len(closed)} episodes that were closed cannot be read")
    return Outcome.REFUSED if problems.total else Outcome.SOUND


def test_what_was_closed_is_read_whatever_was_killed_between(attack, tmp_path):
    attack("logs, kills while appending", drawn(100, draw), judge_in(tmp_path))


def test_control_closed_without_a_kill_all_is_read(tmp_path):
    for ending in ENDINGS:
        assert judge_in(tmp_path)((ending, FIRST, [], [])) is Outcome.SOUND

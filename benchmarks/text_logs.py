"""How long `tacit fit` and `tacit label` take on a log of conversations, how much memory, and how long one decision.

A hard case: people at a helpdesk who hardly ever say a thing twice. Requests and remarks are each lengthened by a
clause that is drawn anew, four fixes of a catalogue of 20 to 24 are on offer, and nothing was encoded before. Each
command runs in processes of its own; printed are seconds by the clock and of processor, the peak memory of its largest
process, and of all together (looked at every half second, with what they share counted for each).

Run: python benchmarks/text_logs.py [--episodes 5000] [--decisions 0] [--keep DIR]. Log, model, labels and encodings go
     to a temporary folder, or are kept. With decisions, an agent learns online from such people, and then the time of
     that many choices for requests it has never met is printed, beside that of MiniLM reading each request alone.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from text_world.families import draw_world
from text_world.halves import JUDGE, draw_one
from text_world.logs import draw_line
from text_world.remarks import Voice
from text_world.visits import OneTurn, World, context_of

import tacit
from tacit.logs.writing import LogWriter
from tacit.text import Conversations, TextSettings
from tacit.text.small.encoder import bundled_encoder

FAMILY = "helpdesk.plain"
LEARNED = 400
"""Episodes that an agent learns from before its decisions are timed: it has evidence after some 70."""
WHO = "I|my sister|the colleague next door|our intern|my neighbour|a friend|the caretaker|my boss|our cook|the twins"
WHEN = "on Monday|last night|at noon|in spring|before lunch|on the train|after work|twice a week|during the call|again"
DID = "read about it|asked around|waited|called|noted it down|made tea|looked it up|told the others|walked over|wrote"
WHERE = "in the kitchen|on the third floor|at home|by the window|in the archive|downstairs|in Leeds|at the desk|outside"
WHY = "for the report|for the fair|because of the move|as planned|for a customer|out of habit|for the council|by chance"


class Cost(NamedTuple):
    """What a command took: seconds by the clock and of processor; peak memory of its largest process and of all, MB."""

    clock: float
    processor: float
    largest: float
    together: float


@dataclass(frozen=True)
class Talkative:
    """A voice whose every remark goes on about something else."""

    voice: Voice

    def say(self, chance: np.random.Generator, pleased: bool, ironic: bool) -> str:
        """Return a remark and a clause."""
        return f"{self.voice.say(chance, pleased, ironic)} {draw_clause(chance)}"


@dataclass(frozen=True)
class TalkativeWorld:
    """A world whose people each tell something else beside their wish."""

    world: World
    horizon: int = 1
    uniform: float = 0.25

    def draw_visit(self, chance: np.random.Generator) -> OneTurn:
        """Return somebody who comes."""
        visit = self.world.draw_visit(chance)
        assert isinstance(visit, OneTurn)
        return replace(visit, request=f"{visit.request} {draw_clause(chance)}")


def draw_clause(chance: np.random.Generator) -> str:
    """Return a sentence that has nothing to do with anything: one of some 70,000."""
    who, when, did, where, why = (
        draw_one(chance, words.split("|")) for words in (WHO, WHEN, DID, WHERE, WHY)
    )
    return f"{when[0].upper()}{when[1:]} {who} {did} {where}, {why}."


def write_log(file: Path, episodes: int) -> list[int]:
    """Write a log of uniform choices, and return the rewards, which it does not hold."""
    world, voice = draw_world(FAMILY, JUDGE)
    chance, rewards = np.random.default_rng(0), []
    with LogWriter(file) as log:
        for n in range(episodes):
            line = draw_line(TalkativeWorld(world), Talkative(voice), chance, n)
            log.write(line.logged)
            rewards.append(line.reward)
    return rewards


def run(words: Sequence[str | Path], folder: Path) -> Cost:
    """Return what a command of Tacit took, whose encodings are kept in a folder."""
    begin, peak, ended = time.perf_counter(), 0.0, 0
    command, environment = [sys.executable, "-m", "tacit", *map(str, words)], {"TACIT_CACHE": str(folder)}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, env=os.environ | environment, stdout=said, stderr=said)
        while not ended:
            peak = max(peak, sum(map(resident, family_of(process.pid))))
            time.sleep(0.5)
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if os.waitstatus_to_exitcode(status):
            said.seek(0)
            raise SystemExit(f"tacit {words[0]} failed:\n{said.read().decode()[-3000:]}")
    return Cost(time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, peak)


def family_of(process: int) -> Iterator[int]:
    """Yield a process and those that it began."""
    yield process
    with suppress(OSError):
        for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            yield from family_of(int(child))


def resident(process: int) -> float:
    """Return the memory of a process in MB, 0 if it is gone."""
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    return 0.0


def measure_logs(folder: Path, episodes: int) -> None:
    """Print what it takes to fit and label a log, and how right the labels are."""
    log, model, labels = (folder / name for name in ("log.jsonl", "model.tacit", "labels.jsonl"))
    rewards = write_log(log, episodes)
    print(f"{episodes:,} episodes, {log.stat().st_size / 1e6:.1f} MB", flush=True)
    print(f"{'':<8}{'clock':>10}{'processor':>12}{'a thousand':>13}{'largest':>11}{'together':>11}")
    fit: list[str | Path] = ["fit", log, "--out", model]
    label: list[str | Path] = ["label", log, "--model", model, "--out", labels]
    for name, words in (("fit", fit), ("label", label)):
        cost = run(words, folder / "encodings")
        print(
            f"{name:<8}{cost.clock:>8.0f} s{cost.processor:>10.0f} s{1_000 * cost.processor / episodes:>11.1f} s"
            f"{cost.largest:>8.0f} MB{cost.together:>8.0f} MB",
            flush=True,
        )
    found = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]
    decoded = np.array([row["decoded_reward"] if row["decoded_reward"] is not None else 0 for row in found])
    right = (decoded.round() == [rewards[row["episode"]] for row in found]).mean()
    print(f"labels: {len(found):,}, right in {right:.3f}")


def measure_decisions(decisions: int) -> None:
    """Print how long an agent that acts on what it learned takes for a choice, each for a request never met."""
    world, voice = draw_world(FAMILY, JUDGE)
    chance, people, speech = np.random.default_rng(1), TalkativeWorld(world), Talkative(voice)
    agent = tacit.Agent(Conversations(TextSettings(horizon=1)), seed=0)
    encoder, taken, alone = bundled_encoder(), list[tuple[float, float]](), list[tuple[float, float]]()
    for n in range(LEARNED + decisions):
        visit = people.draw_visit(chance)
        episode = agent.begin(context_of(visit))
        begin = clocks()
        choice = visit.offer.index(str(agent.act(episode, visit.heard, list(visit.offer))))
        taken.append(since(begin))
        if n < LEARNED:
            agent.end(episode, speech.say(chance, bool(visit.rewards()[choice]), visit.ironic))
    for _ in range(decisions):
        request, begin = people.draw_visit(chance).request, clocks()
        encoder.words([request])
        alone.append(since(begin))
    print(f"{decisions} decisions in {agent.stage.name}")
    for name, times in {"act, a fresh request": taken[LEARNED:], "MiniLM alone": alone}.items():
        (clock, processor), (slow, busy) = 1e3 * np.percentile(np.array(times), [50, 99], axis=0)
        print(
            f"{name:<22}median {clock:.2f} ms by the clock, {processor:.2f} of processor; "
            f"99 of 100 below {slow:.2f} and {busy:.2f}"
        )


def clocks() -> tuple[float, float]:
    """Return the time by the clock and of the processor."""
    return time.perf_counter(), time.process_time()


def since(begin: tuple[float, float]) -> tuple[float, float]:
    """Return how long ago that was, by both."""
    clock, processor = clocks()
    return clock - begin[0], processor - begin[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=5_000)
    parser.add_argument("--decisions", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if options.episodes:
            measure_logs(folder, options.episodes)
        if options.decisions:
            os.environ["TACIT_CACHE"] = str(folder / "online")
            measure_decisions(options.decisions)


if __name__ == "__main__":
    main()

"""Tacit where feedback is as it really is: silence, many words, overlap, locks, drift, endings at any turn, verdicts.

For each family of problems: how much of the way from uniform play to the optimum is earned, in the last tenth and over
all episodes, from the exact values of the policies played, beside a learner that sees the reward; what the verdict is;
how far decoded and true reward are apart; how many episodes explore; and the slowest `end()`. Problems are drawn by
seed. Those that judge are never looked at while anything is chosen; `--choose` draws the others.

Run: python benchmarks/real_feedback.py [--choose] [--families silence words.20] [--seeds 3] [--episodes 8000]
     [--jobs 2] [--today] [--out FILE]. Every result is written as soon as it is there; run again to go on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from real_world.families import CHOOSE, EPISODES, FAMILIES, JUDGE
from real_world.playing import CEILING, Task, make_work
from real_world.table import write_table

from tacit.base.files import write_atomically
from tacit.engines.dealing import deal
from tacit.engines.task import Done
from tacit.experiments.code_digest import digest_module

QUIET = 15.0
"""Seconds between two lines that say how far it is."""
HERE = Path(__file__).parent / "real_world"


class Journal:
    """The file of results: read to go on, written after every run; what other code computed is left out."""

    def __init__(self, path: Path) -> None:
        self.path, self.code = path, digest_code()
        self.results: dict[Task, dict[str, Any]] = {}
        kept: dict[str, Any] = (
            json.loads(path.read_text()) if path.exists() else {"code": self.code, "results": []}
        )
        if kept["code"] == self.code:
            self.results = {task_of(row): row for row in kept["results"]}
        else:
            print(f"{path} was computed by other code; its {len(kept['results'])} runs are played again")

    def add(self, task: Task, result: dict[str, Any]) -> None:
        """Write down what came of a task."""
        self.results[task] = asdict(task) | result
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = {"code": self.code, "results": list(self.results.values())}
        write_atomically(self.path, json.dumps(content, indent=1).encode())

    def rows(self, tasks: Sequence[Task]) -> list[dict[str, Any]]:
        """Return the results of some tasks."""
        return [self.results[task] for task in tasks if task in self.results]


class Progress:
    """Says which run ended, and now and then how far all are; keeps each result."""

    def __init__(self, journal: Journal, tasks: Sequence[Task]) -> None:
        self._journal, self._left = journal, len(tasks)
        self._total, self._played = sum(task.episodes for task in tasks), 0
        self._begun = self._spoke = time.monotonic()

    def begun(self, task: Task) -> None:
        """Do nothing: runs are short."""

    def advanced(self, task: Task, amount: int, stage: str) -> None:
        """Count episodes."""
        self._played += amount

    def ended(self, done: Done[Task, dict[str, Any]]) -> None:
        """Keep the result, and say what it is."""
        task, self._left = done.task, self._left - 1
        if done.failure is not None:
            print(f"{task.family} {task.seed} {task.learner} FAILED: {done.failure.reason}", flush=True)
            return
        self._journal.add(task, done.result)
        last, verdict = done.result.get("last"), done.result["verdict"]
        shown = "" if last is None else f"{last:.3f} in the last tenth, "
        seconds = done.result["seconds"]
        print(f"{task.family} {task.seed} {task.learner}: {shown}{verdict} ({seconds:.0f} s)", flush=True)

    def tick(self) -> None:
        """Say how far all are, if it was quiet for long."""
        now = time.monotonic()
        if now - self._spoke < QUIET:
            return
        self._spoke = now
        pace = self._played / (now - self._begun)
        rest = f", {(self._total - self._played) / pace / 60:,.0f} minutes left" if pace else ""
        print(f"  {self._played:,} of {self._total:,} episodes, {self._left} runs left{rest}", flush=True)


def task_of(row: dict[str, Any]) -> Task:
    """Return the task that a result came of."""
    return Task(**{field.name: row[field.name] for field in fields(Task)})


def digest_code() -> str:
    """Return a digest of all code that decides a result: Tacit's and the problems'."""
    digest = hashlib.sha256(digest_module("tacit.experiments.learners").encode())
    for path in sorted(HERE.glob("*.py")):
        if path.name != "table.py":
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def list_tasks(options: argparse.Namespace) -> list[Task]:
    """Return the runs that were asked for; families are named whole or by what stands before a full stop."""
    first = CHOOSE if options.choose else JUDGE
    tasks = []
    for name, family in FAMILIES.items():
        if options.families and not any(_within(name, asked) for asked in options.families):
            continue
        episodes = family.episodes if family.fixed else max(family.episodes * options.episodes // EPISODES, 1)
        for seed in range(first, first + (options.seeds or family.seeds)):
            learners = ("tacit", CEILING) if family.asks == "share" and not options.alone else ("tacit",)
            tasks += [Task(name, seed, learner, episodes, options.today) for learner in learners]
    return tasks


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--choose", action="store_true", help="problems to choose by, not those that judge")
    parser.add_argument("--families", nargs="*", help=f"of {', '.join(FAMILIES)}, or what they begin with")
    parser.add_argument("--seeds", type=int, help="problems of each family, by default 10, for verdicts 100")
    parser.add_argument(
        "--episodes",
        type=int,
        default=EPISODES,
        help=f"in place of {EPISODES:,}; other lengths in proportion",
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes, 0 for this one alone")
    parser.add_argument(
        "--today", action="store_true", help="as if silence, outcomes, endings were unheard of"
    )
    parser.add_argument("--alone", action="store_true", help="without the learner that sees the reward")
    parser.add_argument("--table", action="store_true", help="only the table of what was played so far")
    parser.add_argument("--out", type=Path, help="by default results/real_feedback/{judge,choose}.json")
    return parser.parse_args()


def main(options: argparse.Namespace) -> None:
    named = "choose.json" if options.choose else "judge.json"
    journal = Journal(options.out or Path("results") / "real_feedback" / named)
    tasks = list_tasks(options)
    if not tasks:
        raise SystemExit(f"no family is called {options.families}; there are {', '.join(FAMILIES)}")
    open_ones = [] if options.table else [task for task in tasks if task not in journal.results]
    print(f"{len(tasks)} runs, {len(open_ones)} to be played; results go to {journal.path}", flush=True)
    progress = Progress(journal, open_ones)
    for _ in deal(open_ones, make_work, jobs=options.jobs, listener=progress, keep_going=True):
        pass
    print("\n" + write_table(journal.rows(tasks)))


def _within(name: str, asked: str) -> bool:
    return name == asked or name.startswith(asked + ".")


if __name__ == "__main__":
    main(read_options())

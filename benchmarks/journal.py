"""What benchmarks of many runs share: a file of results that can go on, progress in words, and the seeds."""

from __future__ import annotations

import gc
import hashlib
import json
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from tacit.base.files import write_atomically
from tacit.engines.dealing import deal
from tacit.engines.task import Done, Work
from tacit.experiments.code_digest import digest_module

QUIET = 15.0
"""Seconds between two lines that say how far it is."""
CODE = (".py", ".json")
"""How files of a package of problems end that decide results: modules, and the words they read."""
NOT_PLAYED = "table.py"
"""The module of a package of problems that decides no result."""


class Run(Protocol):
    """One run, a frozen dataclass: a learner in the problem of a family and seed, for so many episodes."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def family(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def learner(self) -> str: ...
    @property
    def episodes(self) -> int: ...


@dataclass(frozen=True)
class Task:
    """A run with no more to it."""

    family: str
    seed: int
    learner: str
    episodes: int


RunT = TypeVar("RunT", bound=Run)


class Journal(Generic[RunT]):
    """The file of results: read to go on, written after every run; what other code computed is left out."""

    def __init__(self, path: Path, kind: type[RunT], code: str) -> None:
        self.path, self.code = path, code
        self.results: dict[RunT, dict[str, Any]] = {}
        kept: dict[str, Any] = (
            json.loads(path.read_text()) if path.exists() else {"code": code, "results": []}
        )
        if kept["code"] == self.code:
            self.results = {task_of(row, kind): row for row in kept["results"]}
        else:
            print(f"{path} was computed by other code; its {len(kept['results'])} runs are played again")

    def add(self, task: RunT, result: dict[str, Any]) -> None:
        """Write down what came of a task."""
        self.results[task] = asdict(task) | result
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = {"code": self.code, "results": list(self.results.values())}
        write_atomically(self.path, json.dumps(content, indent=1).encode())

    def rows(self, tasks: Sequence[RunT]) -> list[dict[str, Any]]:
        """Return the results of some tasks."""
        return [self.results[task] for task in tasks if task in self.results]


class Progress(Generic[RunT]):
    """Says which run ended, and now and then how far all are; keeps each result."""

    def __init__(self, journal: Journal[RunT], tasks: Sequence[RunT]) -> None:
        self._journal, self._left = journal, len(tasks)
        self._total, self._played = sum(task.episodes for task in tasks), 0
        self._begun = self._spoke = time.monotonic()

    def begun(self, task: RunT) -> None:
        """Do nothing: runs are short."""

    def advanced(self, task: RunT, amount: int, stage: str) -> None:
        """Count episodes."""
        self._played += amount

    def ended(self, done: Done[RunT, dict[str, Any]]) -> None:
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


def play_open(
    journal: Journal[RunT],
    tasks: Sequence[RunT],
    make_work: Callable[[], Work[RunT, dict[str, Any]]],
    jobs: int,
    only_table: bool,
) -> list[dict[str, Any]]:
    """Return the results of all tasks, after those were played that the journal does not hold."""
    open_ones = [] if only_table else [task for task in tasks if task not in journal.results]
    print(f"{len(tasks)} runs, {len(open_ones)} to be played; results go to {journal.path}", flush=True)
    progress = Progress(journal, open_ones)
    for _ in deal(open_ones, make_work, jobs=jobs, listener=progress, keep_going=True):
        pass
    return journal.rows(tasks)


def task_of(row: Mapping[str, Any], kind: type[RunT]) -> RunT:
    """Return the task that a result came of."""
    return kind(**{field.name: row[field.name] for field in fields(kind)})


def digest_code(*packages: str, learner: str = "tacit.experiments.learners") -> str:
    """Return a digest of all code that decides a result: Tacit's, from the learner's module on, and the problems'."""
    return digest_packages(*packages, beside=digest_module(learner))


def digest_packages(*packages: str, beside: str = "") -> str:
    """Return a digest of packages of problems, with their folders: all that decides what learners of their own earn."""
    digest = hashlib.sha256(beside.encode())
    for package in packages:
        for path in sorted((Path(__file__).parent / package).rglob("*")):
            if path.suffix in CODE and path.name != NOT_PLAYED:
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def is_asked(name: str, asked: Sequence[str] | None) -> bool:
    """Return whether a family is asked for: by none at all, by its name, or by what stands before a full stop.

    >>> is_asked("words.20", ["words"]), is_asked("words.20", ["word"]), is_asked("words.20", None)
    (True, False, True)
    """
    return not asked or any(name == one or name.startswith(one + ".") for one in asked)


def make_parser(
    described: str | None, families: Sequence[str], seeds: str, name: str, episodes: int | Sequence[int]
) -> ArgumentParser:
    """Return the options that such benchmarks share; `seeds` says how many there are by default.

    `episodes` is the usual length, in proportion to which others are played, or several that are all played.
    """
    parser = ArgumentParser(description=described.partition("\n")[0] if described else None)
    parser.add_argument("--choose", action="store_true", help="problems to choose by, not those that judge")
    parser.add_argument("--families", nargs="*", help=f"of {', '.join(families)}, or what they begin with")
    parser.add_argument("--seeds", type=int, help=f"problems of each family, by default {seeds}")
    if isinstance(episodes, int):
        length = f"in place of {episodes:,}; other lengths in proportion"
        parser.add_argument("--episodes", type=int, default=episodes, help=length)
    else:
        length = f"each played, by default {', '.join(f'{n:,}' for n in episodes)}"
        parser.add_argument("--episodes", type=int, nargs="+", default=list(episodes), help=length)
    parser.add_argument("--jobs", type=int, default=1, help="processes, 0 for this one alone")
    parser.add_argument("--table", action="store_true", help="only the table of what was played so far")
    parser.add_argument("--out", type=Path, help=f"by default results/{name}/{{judge,choose}}.json")
    return parser


def warm_up(perform: Work[RunT, dict[str, Any]], runs: Iterable[RunT]) -> None:
    """Play short runs that load compiled code, and leave what they loaded out of garbage collection.

    A service does so that must answer in time: looking through all of it takes longer than any `end`.
    """
    for run in runs:
        perform(run, lambda amount, stage: None)
    gc.collect()
    gc.freeze()

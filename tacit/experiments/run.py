"""Performing a study: expand it into tasks, perform those that are not stored yet, gather all results."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from rich.console import Console

from tacit.engines.dealing import deal
from tacit.engines.task import Done, Failure, Listener
from tacit.experiments.fingerprints import expand
from tacit.experiments.progress import Display, Tally
from tacit.experiments.store import Store
from tacit.experiments.study import Request, Runs, Study
from tacit.experiments.tasks import StudyTask, make_performer


def perform(request: Request, console: Console) -> Runs:
    """Return the results of every task of the study, computing only those that are not stored.

    Each is stored as soon as it is finished, so that a call that is interrupted loses only what it was at.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    study, store = request.study.scaled(request.fraction), request.store
    tasks = expand(study, request.n_seeds)
    store.begin()
    missing = _find_missing(tasks, store, console)
    failures = _perform_missing(missing, study, request, console)
    stored = {task: store.load(task) for task in tasks}
    results = {task: result for task, result in stored.items() if result is not None}
    return Runs(request, study, results, len(missing), started, time.perf_counter() - clock, failures)


def _find_missing(tasks: list[StudyTask], store: Store, console: Console) -> list[StudyTask]:
    """Return the tasks without a result, and say of which there is one that is damaged or wrong."""
    missing = []
    for task in tasks:
        result, fault = store.look_up(task)
        if result is None:
            missing.append(task)
        if fault:
            console.print(f"note: {task.label} runs again: {fault}", markup=False, highlight=False)
    return missing


def _perform_missing(
    missing: list[StudyTask], study: Study, request: Request, console: Console
) -> list[Failure[StudyTask]]:
    if not missing:
        return []
    study.prepare(missing, console)
    tally = Tally({task: study.expect(task) for task in missing})
    make_work = partial(make_performer, study.play)
    with Display(tally, study.unit, console) as display:
        dealt = deal(
            missing,
            make_work,
            engine=request.engine,
            jobs=request.jobs,
            listener=Keeper(request.store, display),
            keep_going=True,
        )
        return [done.failure for done in dealt if done.failure is not None]


@dataclass(frozen=True)
class Keeper:
    """Stores each result as soon as there is one, whatever task it has to wait for, and lets the display know."""

    store: Store
    display: Listener[StudyTask]

    def begun(self, task: StudyTask) -> None:
        """Pass it on."""
        self.display.begun(task)

    def advanced(self, task: StudyTask, amount: int, stage: str) -> None:
        """Pass it on."""
        self.display.advanced(task, amount, stage)

    def ended(self, done: Done[StudyTask, Any]) -> None:
        """Store what came of a task."""
        if done.failure is None:
            self.store.save(done.task, done.result)
        self.display.ended(done)

    def tick(self) -> None:
        """Pass it on."""
        self.display.tick()

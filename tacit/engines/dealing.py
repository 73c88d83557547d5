"""Deals tasks out: in this process, over processes of this machine, or over a Ray cluster."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

from tacit.engines.ray import deal_with_ray

UNDER_WAY = 3
"""Tasks for each process that are read ahead."""

Report = Callable[[int, str], None]
"""Called by work with how much further it has got, and with what."""
Work = Callable[[Any, Report], Any]
"""Performs one task and returns its result."""


class Done(NamedTuple):
    """A task with its result, or with why there is none."""

    task: Any
    result: Any
    failure: Any


def deal(
    tasks: Iterable[Any],
    make_work: Callable[[], Work],
    *,
    engine: str = "local",
    jobs: int | None = None,
    listener: Any = None,
    keep_going: bool = False,
) -> Iterator[Done]:
    """Yield every task with its result, in the order of the tasks; `make_work` is called once in each worker.

    >>> [done.result for done in deal([1, 2], lambda: lambda task, report: 10 * task, jobs=0)]
    [10, 20]
    """
    if engine == "ray":
        yield from (Done(task, result, None) for task, result in deal_with_ray(list(tasks), make_work))
        return
    if jobs == 0:
        work = make_work()
        yield from (Done(task, work(task, _ignore), None) for task in tasks)
        return
    n = jobs or os.cpu_count() or 1
    with ProcessPoolExecutor(n, get_context("spawn"), _begin_worker, (make_work,)) as pool:
        waiting: deque[tuple[Any, Future[Any]]] = deque()
        for task in tasks:
            waiting.append((task, pool.submit(_perform, task)))
            if len(waiting) >= UNDER_WAY * n:
                done, future = waiting.popleft()
                yield Done(done, future.result(), None)
        while waiting:
            done, future = waiting.popleft()
            yield Done(done, future.result(), None)


_work: Work | None = None
"""The work of a worker process, made when it begins."""


def _begin_worker(make_work: Callable[[], Work]) -> None:
    global _work
    _work = make_work()


def _perform(task: Any) -> Any:
    assert _work is not None
    return _work(task, _ignore)


def _ignore(amount: int, stage: str) -> None:
    """Hear nothing."""
